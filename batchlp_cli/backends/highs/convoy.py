"""A large batch on its way through the workers: single members until the mode is known, then many in one task."""

from __future__ import annotations

import math
import pickle
import time
from functools import partial
from typing import cast

import numpy as np

from batchlp_cli.backends.highs.chunk import METHOD as SHARED
from batchlp_cli.backends.highs.chunk import ChunkAnswer, ChunkTask
from batchlp_cli.backends.highs.course import Course
from batchlp_cli.backends.highs.session import Mode
from batchlp_cli.backends.highs.sifting import METHOD as SIFTED
from batchlp_cli.batch import LPBatch
from batchlp_cli.optima import Claim
from batchlp_cli.processes import Ending, Outcome, Task
from batchlp_cli.settings import SolveSettings

LEAST = 64  # members of a batch that travels in chunks
MOST = 512  # members of a chunk
CHUNK_SECONDS = 0.2  # that a chunk may take, as members were measured: in chunks so far, alone before the first
CHUNK_BYTES = 60_000  # of a task, so that it fits into the pipe of a worker that is still busy
SAMPLE = 64  # members whose changes tell how large a task is


class Convoy:
    """A course of single members, from the end of which chunks are taken. A chunk that ends badly goes back member by member."""

    def __init__(self, course: Course, batch_id: int, batch: LPBatch, jobs: int) -> None:
        self.course = course
        self._id, self._batch, self._jobs = batch_id, batch, jobs
        self._out: dict[range, float] = {}  # chunks that workers have, with the time at which each was given
        self._shared, self._sifted = 0, 0
        self._back, self._seconds = 0, 0.0  # members that came back in chunks, and what workers took for them
        sample = np.linspace(0, len(batch) - 1, min(SAMPLE, len(batch))).astype(np.int64)
        self._bytes = 1 + len(pickle.dumps(batch.changes.take(sample))) // sample.size  # of a member in a task

    @staticmethod
    def suits(batch: LPBatch, settings: SolveSettings) -> bool:
        """Tells whether a batch may travel in chunks: it is large, and no member has a deadline of its own."""
        return len(batch) >= LEAST and math.isinf(settings.time_limit) and not settings.careful

    def next_task(self, slot: int, fresh: bool) -> Task | None:
        """Returns the next chunk or member for a worker."""
        size = self._size()
        mode = self.course.mode
        if mode is None or size < 2:
            return self.course.next_task(slot, fresh)
        members = self.course.withdraw_many(size)
        if not members:
            return self.course.next_task(slot, fresh)
        self._out[members] = time.perf_counter()
        return Task((self._id, members), payload_for=partial(self._payload, members, mode))

    def _size(self) -> int:
        """Returns how many members a chunk may have now: no more than leaves work for every worker."""
        waiting, seconds = self.course.waiting, self.seconds_a_member
        if seconds is None:
            return 0
        return min(MOST, waiting // (2 * self._jobs), int(CHUNK_SECONDS / max(seconds, 1e-5)), CHUNK_BYTES // self._bytes)

    def _payload(self, members: range, mode: Mode, slot: int, fresh: bool) -> ChunkTask:
        opening = self.course.opening_for(slot, fresh)
        ahead = (self.course.waiting + len(members)) * (self.course.seconds_a_member or 0.0) / self._jobs
        return ChunkTask(self._id, self._batch.changes.take(members), len(members), mode, opening, ahead)

    def take_in(self, outcome: Outcome) -> list[Claim]:
        """Returns what is claimed of members."""
        what = cast(tuple[int, object], outcome.key)[1]
        if isinstance(what, int):
            answer = self.course.take_in(outcome)
            return [answer] if answer is not None else []
        members = cast(range, what)
        del self._out[members]
        if outcome.ending is not Ending.DONE:
            for member in members:
                self.course.give_back(member)
            return []
        self._back, self._seconds = self._back + len(members), self._seconds + outcome.seconds
        answers = cast(ChunkAnswer, outcome.value)
        for part in answers.optima:
            self._shared += len(part) if part.method == SHARED else 0
            self._sifted += len(part) if part.method == SIFTED else 0
        own = ((members[k], claim) for k, claim in answers.claims)
        return [*own, *(part.renumbered(members) for part in answers.optima if len(part))]

    def leave(self, slot: int) -> None:
        """Notes that a worker went on to another batch."""
        self.course.leave(slot)

    @property
    def has_waiting(self) -> bool:
        """Tells whether members wait to be given out."""
        return self.course.has_waiting

    @property
    def waiting(self) -> int:
        """Number of members that wait to be given out and could be withdrawn."""
        return self.course.waiting

    @property
    def is_measured(self) -> bool:
        """Tells whether enough members were timed to know the faster mode."""
        return self.course.is_measured

    @property
    def has_both_modes(self) -> bool:
        """Tells whether a member was timed in each mode."""
        return self.course.has_both_modes

    @property
    def seconds_a_member(self) -> float | None:
        """Mean time of a member in chunks so far; before the first in the faster mode, None before that."""
        return self._seconds / self._back if self._back else self.course.seconds_a_member

    def withdraw(self) -> int | None:
        """Takes a member from the end of those that wait, as `Course.withdraw` does."""
        return self.course.withdraw()

    def give_back(self, member: int) -> None:
        """Lets a member wait before all others, as `Course.give_back` does."""
        self.course.give_back(member)

    def has_returned(self, member: int | None = None) -> bool:
        """Tells whether a member (None: any) that was given back still waits."""
        return self.course.has_returned(member)

    def put_back(self, member: int) -> None:
        """Lets a member wait that was withdrawn, as `Course.put_back` does."""
        self.course.put_back(member)

    def call_back(self, member: int) -> None:
        """Lets a member that is out wait again once its work is cancelled, as `Course.call_back` does; none of a chunk."""
        self.course.call_back(member)

    def retract(self, member: int) -> None:
        """Takes a member away again, as `Course.retract` does."""
        self.course.retract(member)

    def at_work(self) -> list[tuple[range, float]]:
        """Returns the members that workers have, alone or in chunks, with the time at which they were given. From any thread."""
        return [*self.course.at_work(), *list(self._out.items())]

    def is_at_work(self, member: int) -> bool:
        """Tells whether a worker has a member, alone or in a chunk. From any thread."""
        return self.course.is_at_work(member) or any(member in members for members in list(self._out))

    def choice(self) -> str:
        """Returns the choice of mode in words, and how many members needed no solver, or one of a few columns only."""
        members = len(self._batch)
        ways = [
            f"{self._shared} of {members} members by the basis of another one" if self._shared else "",
            f"{self._sifted} of {members} members sifted: solved over a few columns, the others priced" if self._sifted else "",
        ]
        return "; ".join(words for words in (self.course.choice(), *ways) if words)
