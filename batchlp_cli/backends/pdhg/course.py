"""One batch on its way through the lanes: who waits, where a member starts, and what its answer is made of."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np

from batchlp_cli.backends.pdhg import termination
from batchlp_cli.backends.pdhg.certificates import Prover
from batchlp_cli.backends.pdhg.kernels.base import Kernel
from batchlp_cli.backends.pdhg.mending import mended_points
from batchlp_cli.backends.pdhg.parameters import PdhgParameters
from batchlp_cli.backends.pdhg.polish import Point, best_point, repair
from batchlp_cli.backends.pdhg.reduction import Reduction
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.batch import LPBatch
from batchlp_cli.nearness import is_near
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import SETTLED, Solution, Status

Answer = tuple[int, Solution]


@dataclass(slots=True, eq=False)
class Race:
    """A member that is on several ways at once. running: how many; best: the best dual bound of those that ended undecided, and
    what they came to; decided: whether one of them was."""

    running: int = 1
    best: tuple[float, Solution] | None = None
    decided: bool = False


@dataclass(slots=True, eq=False)
class Entry:
    """A member that waits for a lane or is in one.

    label: the member's number in the batch asked for, where that is another. ray: a direction of unboundedness that was
    proved; the lane then looks for a feasible point, without costs. x, y, omega: where to start, None for the batch's
    start. iterations: those of earlier lanes. entered: time.perf_counter() of the first. marginal: it met the tolerance,
    but no feasible point was found. prices: of the y [m] looked at, as of the member given, that with the best dual bound.
    race: its other ways, shared with them; branched: how many have begun.
    """

    member: int
    label: int | None = None
    ray: Vector | None = None
    x: Vector | None = None
    y: Vector | None = None
    omega: float | None = None
    iterations: int = 0
    entered: float = 0.0
    marginal: bool = False
    prices: Vector | None = None
    bound: float = -np.inf
    race: Race | None = None
    branched: int = 0

    @property
    def number(self) -> int:
        """The member in the batch that was asked for."""
        return self.member if self.label is None else self.label

    @property
    def code(self) -> int:
        """The member as `numbers_of` wants it."""
        return self.member if self.ray is None else -2 - self.member


class Feed(Protocol):
    """Where members come from that others may take too; asked from the threads of the tiles."""

    def take(self) -> int | None:
        """Returns the next member, None where there is none now."""
        ...

    @property
    def waiting(self) -> int:
        """Number of members that could be taken now."""
        ...


@dataclass(slots=True, eq=False)
class Course:
    """What the tiles of one batch share. A tile takes entries from a queue and puts answers, None at its end, or its exception.

    given: the batch as it was asked for; reduction: what the lanes work on, and the way back. waiting: by precision,
    entries that wait for a lane of that precision. feed: where more members come from, if not all were waiting from the
    start. cancelled: members that are to leave their lanes without an answer. branches: whether members that take
    long go on as LPs of their own, too. polishes: whether points are polished now and then. width: most lanes of a tile; a
    narrower tile grows to it where more members wait. steps: iterations of the tile that has worked longest.
    """

    given: LPBatch
    reduction: Reduction
    settings: SolveSettings
    parameters: PdhgParameters
    kernel: Kernel
    matrix: ScaledMatrix
    prover: Prover
    warm_start: tuple[Vector, Vector] | None
    waiting: dict[str, deque[Entry]]
    answers: SimpleQueue[Any]
    stop: threading.Event
    entries: dict[str, Any]
    feed: Feed | None = None
    cancelled: set[int] = field(default_factory=set)
    branches: bool = False
    polishes: bool = False
    width: int = 1
    steps: int = 0

    @property
    def batch(self) -> LPBatch:
        """The members as the lanes know them."""
        return self.reduction.batch

    @property
    def iteration_limit(self) -> int:
        """Most iterations of a member."""
        given = self.settings.iteration_limit
        return self.parameters.iteration_limit if given is None else given

    @property
    def check_every(self) -> int:
        """Iterations between two checks, the same for all members."""
        return max(1, min(self.parameters.check_every, self.iteration_limit))

    def next_entry(self, precision: str) -> Entry | None:
        """Returns the next entry that waits, None where there is none."""
        try:
            entry = self.waiting[precision].popleft()  # a deque bears many threads
        except IndexError:
            member = self.feed.take() if self._feeds(precision) and self.feed is not None else None
            if member is None:
                return None
            entry = Entry(member)
        if entry.entered == 0.0:
            entry.entered = time.perf_counter()
        return entry

    def waits(self, precision: str) -> bool:
        """Tells whether somebody waits for a lane of that precision."""
        return self.number_waiting(precision) > 0

    def number_waiting(self, precision: str) -> int:
        """Returns how many wait for a lane of that precision."""
        fed = self.feed.waiting if self.feed is not None and self._feeds(precision) else 0
        return len(self.waiting[precision]) + fed

    def _feeds(self, precision: str) -> bool:
        return precision == next(iter(self.waiting))

    def lp_of(self, entry: Entry) -> LinearProgram:
        """Returns the entry's member, reduced."""
        return self.batch.member(entry.member)

    def given_of(self, entry: Entry) -> LinearProgram:
        """Returns the entry's member as it was asked for."""
        return self.given.member(entry.member)

    def start(self, entry: Entry, lp: LinearProgram) -> tuple[Vector, Vector]:
        """Returns where the entry starts, x [n] and y [m] of its reduced member lp, in original units."""
        if entry.x is not None and entry.y is not None:
            return entry.x, entry.y
        saved = self.settings.starts.point(self.batch.names[entry.member], lp) if self.settings.starts is not None else None
        given = saved or self.warm_start  # neither is there where a member goes on alone: its entry has x and y
        zeros: tuple[Vector, Vector] = (np.zeros(lp.n), np.zeros(lp.m))
        x, y = zeros if given is None else self.reduction.restoration.reduced_start(*given)
        # a column without entries is best at the bound that its cost prices
        alone = np.diff(self.matrix.At.indptr) == 0
        best = np.where(lp.c > 0, lp.col_lower, np.where(lp.c < 0, lp.col_upper, x))
        x = np.where(alone & np.isfinite(best), best, x)
        return np.clip(x, lp.col_lower, lp.col_upper), y

    def refuted(self, entry: Entry, given: LinearProgram) -> bool:
        """Answers a member that is infeasible by its bounds, or by what presolve saw."""
        crossed = crosses(given)
        if crossed:
            self.answer(entry, Status.INFEASIBLE, 0, message=crossed)
            return True
        for hint in self.reduction.hints:
            ray = self.prover.farkas(given, hint)
            if ray is not None:
                self.answer(entry, Status.INFEASIBLE, 0, ray=ray, message="proved in presolve")
                return True
        return False

    def restored(self, entry: Entry, given: LinearProgram, x: Vector, y: Vector) -> Point:
        """Returns x, y of the entry's reduced member as those of its member as given; y without costs where it has a ray."""
        restoration = self.reduction.restoration
        cost = given.c if entry.ray is None else np.zeros(given.n)
        return restoration.point(given, x), restoration.prices(cost, y)

    def polished(self, entry: Entry, point: Point, move: Point) -> tuple[Point, Point, float]:
        """Returns the best point ahead of a lane, reduced and as given, with the merit of the latter."""
        given, restoration = self.given_of(entry), self.reduction.restoration
        x, y = best_point(self.parameters.polish, self.matrix, self.lp_of(entry), point, move)
        X, Y = restoration.point(given, x), restoration.prices(given.c, y)
        merit = termination.merit(termination.errors_of(given, restoration.At, X, Y))
        return (x, y), (X, Y), float(merit[0])

    def mended(self, entry: Entry, x: Vector, y: Vector) -> Point | None:
        """Returns a point of the member as given that is accepted, with an x near that of a lane; None where there is none."""
        given, tol = self.given_of(entry), self.parameters.termination.margin * self.settings.tol
        for z in mended_points(self.parameters.mending, self.matrix, self.lp_of(entry), x):
            point = self.restored(entry, given, z, y)
            errors = termination.errors_of(given, self.reduction.restoration.At, *point)[:, 0]
            if not errors[1:].max() <= tol:
                return None  # the way to the rows leads away from the bound
            if errors[0] <= tol:
                return point if self.accepts(entry, given, *point) else None
        return None

    def accepts(self, entry: Entry, given: LinearProgram, x: Vector, y: Vector) -> bool:
        """Tells whether a point of the member as given meets the tolerances, and is an optimum rather than only nearly one."""
        p, tol = self.parameters.termination, self.settings.tol
        errors = termination.errors_of(given, self.reduction.restoration.At, x, y)
        if entry.ray is not None:
            return bool(termination.merit(errors[:1])[0] <= p.margin * tol)  # only a feasible point is asked for
        merit = float(termination.merit(errors)[0])
        if not merit <= p.margin * tol:
            return False
        entry.marginal = termination.sensitivity(given, x, y) > p.most_slope and not self._is_feasible(entry, given, x)
        return not entry.marginal and (not self.settings.near or self._near(given, x, y, merit))

    def _near(self, given: LinearProgram, x: Vector, y: Vector, merit: float) -> bool:
        """Tells whether a point that meets the tolerances is near enough for studies, or as near as is worth waiting for."""
        tol = self.settings.tol
        if merit <= self.parameters.termination.strictest * tol:
            return True
        return is_near(given, x, y, self.prover.bound(given, y), tol)

    def _is_feasible(self, entry: Entry, given: LinearProgram, x: Vector) -> bool:
        """Tells whether the member as given has a point near x that is feasible up to rounding."""
        restoration, none = self.reduction.restoration, np.zeros(given.m)
        points = repair(self.parameters.polish, self.matrix, self.lp_of(entry), x[restoration.cols])
        errors = (termination.errors_of(given, restoration.At, restoration.point(given, z), none)[0, 0] for z in points)
        return any(error <= self.parameters.termination.exact for error in errors)

    def is_over(self, entry: Entry, needed: float) -> bool:
        """Tells whether an entry is to go on no more: it was cancelled, or less than the seconds needed are left to it."""
        left = entry.entered + self.settings.time_limit - time.perf_counter()
        return self.stop.is_set() or entry.number in self.cancelled or left < needed

    def branches_off(self, entry: Entry, iterations: int) -> bool:
        """Tells whether an entry after so many iterations is to begin one more way, and counts it."""
        after = self.parameters.alone_after if self.branches else ()
        if entry.branched >= len(after) or iterations < after[entry.branched]:
            return False
        entry.branched += 1
        return True

    def branch(self, entry: Entry, x: Vector, y: Vector, iterations: int) -> Entry:
        """Returns a second way of an entry, from x, y of its member as given after so many iterations."""
        entry.race = entry.race or Race()
        entry.race.running += 1
        return replace(entry, x=x, y=y, omega=None, iterations=iterations)

    def keep_bound(self, entry: Entry, y: Vector) -> None:
        """Remembers prices y [m] of the member as given where their dual bound is the best so far.

        With a fallback nothing is kept: who helps brings a bound of its own, and one here costs 100 iterations and more.
        """
        if self.settings.fallback:
            return
        bound = self.prover.bound(self.given_of(entry), y)
        if bound > entry.bound:
            entry.prices, entry.bound = y, bound

    def answer(self, entry: Entry, status: Status, iterations: int, **given: Any) -> None:
        """Puts the answer of a member; given: x, y, ray of the member as it was asked for, message."""
        if entry.marginal and status not in SETTLED:
            given["message"] = f"{given['message']}; met the tolerance once, but no feasible point was found: perhaps infeasible"
        y = given.get("y")
        if y is not None and status not in SETTLED:
            self.keep_bound(entry, y)
            if entry.prices is not None and entry.prices is not y:
                given["y"] = y = entry.prices
                given["message"] += "; y is an earlier one, with a better bound"
        r = self.given_of(entry).c - self.reduction.restoration.At @ y if y is not None else None
        seconds = time.perf_counter() - entry.entered if entry.entered else 0.0
        method = f"{self.kernel.name} {self.parameters.precision}"
        solution = Solution(
            status, r=r, iterations=entry.iterations + iterations, seconds=seconds, backend="pdhg", method=method, **given
        )
        self._settle(entry, solution)

    def _settle(self, entry: Entry, solution: Solution) -> None:
        """Puts a member's answer; one that is undecided waits for the member's other ways, whose best is taken."""
        race = entry.race
        if race is not None:
            race.running -= 1
            if race.decided:
                return
            race.decided = solution.status in SETTLED
            if race.decided:
                self.cancelled.add(entry.number)  # the other ways end without an answer
            else:
                if race.best is None or entry.bound > race.best[0]:
                    race.best = entry.bound, solution
                if race.running:
                    return
                solution = race.best[1]
        self.answers.put((entry.number, solution))


def crosses(lp: LinearProgram) -> str:
    """Returns which bounds of an LP cross, empty where none do: then it is infeasible without a ray."""
    for kind, lower, upper in (("row", lp.row_lower, lp.row_upper), ("column", lp.col_lower, lp.col_upper)):
        crossed = (lower > upper) | np.isposinf(lower) | np.isneginf(upper)
        if crossed.any():
            i = int(np.argmax(crossed))
            return f"the bounds {float(lower[i])!r} and {float(upper[i])!r} of {kind} {i + 1} cross"
    return ""
