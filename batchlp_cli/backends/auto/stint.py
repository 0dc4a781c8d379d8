"""A stint of the lanes: which members of a batch they may take, and why they were started."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from enum import StrEnum

from batchlp_cli.backends.highs.convoy import Convoy
from batchlp_cli.backends.highs.course import Course


class Purpose(StrEnum):
    """Why lanes work: to be measured, for the answers, or against HiGHS on members that it has too."""

    PROBE = "probe"
    WORK = "work"
    RACE = "race"


class Stint:
    """The feed of one stint on batch k; members come from the end of what HiGHS has not begun, or are given.

    Filled and read from several threads; `held` maps members that lanes have to the time at which they took them.
    """

    def __init__(
        self,
        k: int,
        purpose: Purpose,
        tiles: int,
        course: Course | Convoy,
        *,
        most: int | None = None,
        given: Iterable[int] | None = None,
    ) -> None:
        self.k, self.purpose, self.tiles = k, purpose, tiles
        self.started = time.perf_counter()
        self.held: dict[int, float] = {}
        self.taken = 0
        self.iterations: list[int] = []  # of the members that came to an answer
        self.expected = self.budget = float("inf")
        self.ended = False
        self.grown = most is None  # lanes are as many as the work asks for, not a probe
        self._course, self._most = course, most
        self._given = None if given is None else deque(given)

    def take(self) -> int | None:
        """Returns the next member for a lane, None where there is none now."""
        if self.waiting == 0:
            return None
        try:
            member = self._given.popleft() if self._given is not None else self._course.withdraw()
        except IndexError:
            return None
        if member is not None:
            self.taken += 1
            self.held[member] = time.perf_counter()
        return member

    def go_on(self, tiles: int, expected: float) -> None:
        """Makes work of a probe: it gives out all members. expected: seconds until a round of them should be done."""
        self.purpose, self.tiles, self.expected, self._most = Purpose.WORK, tiles, expected, None

    @property
    def solved(self) -> int:
        """Number of members that came to an answer."""
        return len(self.iterations)

    @property
    def waiting(self) -> int:
        """Number of members that lanes could still take."""
        if self.ended:
            return 0
        left = self._course.waiting if self._given is None else len(self._given)
        return left if self._most is None else min(left, self._most - self.taken)

    def end(self) -> None:
        """Gives out no more members."""
        self.ended = True

    def left_over(self) -> list[int]:
        """Returns the members given to this stint that no lane took."""
        return [] if self._given is None or self.purpose is Purpose.RACE else list(self._given)
