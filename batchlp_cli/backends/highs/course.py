"""One batch on its way through the workers: which member next and in which mode, and what becomes of those that end badly."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import cast

from batchlp_cli.backends.highs.session import Mode
from batchlp_cli.backends.highs.trial import ModeTrial
from batchlp_cli.backends.highs.worker import MemberTask, Opening
from batchlp_cli.batch import LPBatch
from batchlp_cli.processes import Ending, Outcome, Task
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Basis, Solution, Status

TRIES = 2  # how often a member may take a worker process down
GRACE = (2.0, 0.1)  # seconds, and share of the limit, that a worker may take beyond its limit before it is ended from outside
LOADING = 1e-6  # seconds a nonzero that passing the base may take on top


class Course:
    """One batch on its way through the pool of workers, each of which holds the session of one batch at a time."""

    def __init__(
        self,
        batch_id: int,
        batch: LPBatch,
        settings: SolveSettings,
        basis: Basis | None,
        want_basis: bool,
        starts: Sequence[Solution] | None = None,
        mode: Mode | None = None,
    ) -> None:
        self._id, self._batch, self._settings, self._starts = batch_id, batch, settings, starts
        self._fixed = Mode.CAREFUL if settings.careful else Mode.CROSSOVER if starts is not None else mode
        self._opening = Opening(batch.base, settings, basis, want_basis)
        self._waiting = range(len(batch))  # taken from both ends
        self._lock = threading.Lock()  # of those that wait
        self._returned: deque[int] = deque()  # given back: next in turn, and not to be withdrawn
        self._late: deque[int] = deque()  # called or put back: last in turn, and first to be withdrawn
        self._given: dict[int, tuple[int, Mode, float]] = {}  # member -> (worker slot, mode, when) while it is out
        self._load: Counter[int] = Counter()  # members out by worker slot
        self._holders: set[int] = set()  # worker slots that were sent the opening
        self._crashes: Counter[int] = Counter()
        self._called_back: set[int] = set()  # members that are out and shall wait again once their work is cancelled
        self._trial = ModeTrial()
        if settings.cutoff is not None and basis is not None and self._fixed is None:
            self._trial.decided = Mode.WARM  # a start with presolve does not stop at a cutoff

    def next_task(self, slot: int, fresh: bool) -> Task | None:
        """Returns the next member for a worker, None while it should wait: one at a time until the mode is decided."""
        measuring = self._trial.decided is None and self._fixed is None
        if measuring and self._load[slot]:
            return None
        member = self._next_member()
        if member is None:
            return None
        mode = self._fixed
        if mode is None:
            mode = self._trial.assign(without_basis=self._opening.basis is None and (fresh or slot not in self._holders))
        self._given[member] = slot, mode, time.perf_counter()
        self._load[slot] += 1
        return Task((self._id, member), deadline=self._deadline(), payload_for=partial(self._payload, member, mode))

    def leave(self, slot: int) -> None:
        """Notes that a worker went on to another batch, and with that dropped this one's session."""
        self._holders.discard(slot)

    @property
    def has_waiting(self) -> bool:
        """Tells whether members wait to be given out."""
        return bool(self._returned or self._waiting or self._late)

    @property
    def waiting(self) -> int:
        """Number of members that wait to be given out and could be withdrawn."""
        return len(self._waiting) + len(self._late)

    def _next_member(self) -> int | None:
        with suppress(IndexError):
            return self._returned.popleft()
        with self._lock:
            first, self._waiting = self._waiting[:1], self._waiting[1:]
        if first:
            return first[0]
        with suppress(IndexError):
            return self._late.popleft()
        return None

    def withdraw(self) -> int | None:
        """Takes a member from the end of those that wait, for whoever else solves it; None where none waits. From any thread."""
        with suppress(IndexError):
            return self._late.pop()
        last = self.withdraw_many(1)
        return last[0] if last else None

    def withdraw_many(self, most: int) -> range:
        """Takes members from the end of those that have not been out yet, ascending; fewer where fewer wait. From any thread."""
        with self._lock:
            kept = max(0, len(self._waiting) - most)
            self._waiting, taken = self._waiting[:kept], self._waiting[kept:]
        return taken

    def give_back(self, member: int) -> None:
        """Lets a member wait that was withdrawn, or is elsewhere too; it comes before all others. From any thread."""
        self._returned.append(member)

    def put_back(self, member: int) -> None:
        """Lets a member wait that was withdrawn and is with nobody now; either side may take it. From any thread."""
        self._late.append(member)

    def has_returned(self, member: int | None = None) -> bool:
        """Tells whether a member (None: any) that was given back still waits. From any thread."""
        return bool(self._returned) if member is None else member in list(self._returned)

    def call_back(self, member: int) -> None:
        """Lets a member that is out wait again, as soon as its work is cancelled. From any thread."""
        self._called_back.add(member)

    def retract(self, member: int) -> None:
        """Takes a member away again that was given back and still waits, or was to wait. From any thread."""
        self._called_back.discard(member)
        with suppress(ValueError):
            self._returned.remove(member)

    def at_work(self) -> list[tuple[range, float]]:
        """Returns the members that workers have, with the time.perf_counter() at which each was given. From any thread."""
        return [(range(member, member + 1), when) for member, (_, _, when) in list(self._given.items())]

    def is_at_work(self, member: int) -> bool:
        """Tells whether a worker has a member. From any thread."""
        return member in self._given

    @property
    def is_measured(self) -> bool:
        """Tells whether enough members were timed to know the faster mode."""
        return self._trial.decided is not None

    @property
    def has_both_modes(self) -> bool:
        """Tells whether a member was timed in each mode."""
        return self._trial.has_both

    @property
    def mode(self) -> Mode | None:
        """The mode that was measured to be faster, None while that is open."""
        return self._trial.decided

    @property
    def seconds_a_member(self) -> float | None:
        """Mean time of a member in the faster mode so far, None before the first."""
        return self._trial.seconds_a_member

    def opening_for(self, slot: int, fresh: bool) -> Opening | None:
        """Returns the opening where a worker does not hold it, and notes that it then does."""
        first = fresh or slot not in self._holders
        self._holders.add(slot)
        return self._opening if first else None

    def _payload(self, member: int, mode: Mode, slot: int, fresh: bool) -> MemberTask:
        """Returns what a worker is sent for a member; the opening goes along if its process does not hold it."""
        start = self._starts[member] if self._starts is not None else None
        return MemberTask(self._id, self._batch.changes.of_member(member), mode, self.opening_for(slot, fresh), start)

    def _deadline(self) -> float | None:
        limit = self._settings.time_limit
        if math.isinf(limit):
            return None
        return limit + max(GRACE[0], GRACE[1] * limit) + LOADING * self._batch.base.nnz

    def take_in(self, outcome: Outcome) -> tuple[int, Solution] | None:
        """Returns the member and its claim, or None where it waits again or nobody asks for it any more."""
        _, member = cast(tuple[int, int], outcome.key)
        slot, mode, _ = self._given.pop(member)
        self._load[slot] -= 1
        called_back = member in self._called_back
        self._called_back.discard(member)
        if outcome.ending is Ending.CANCELLED:
            if self._fixed is None:
                self._trial.record(mode)
            if called_back:
                self._late.append(member)
            return None
        claim = self._claim(member, mode, outcome)
        if self._fixed is None:
            timed = claim if claim and claim.status not in (Status.CRASHED, Status.NUMERICAL_ERROR) else None
            self._trial.record(mode, timed.method if timed else "", timed.seconds if timed else 0.0)
        if claim is None:
            self._returned.appendleft(member)
            return None
        return member, claim

    def _claim(self, member: int, mode: Mode, outcome: Outcome) -> Solution | None:
        """Returns what an outcome means for its member; None: once more, after a first crash."""
        if outcome.ending is Ending.DONE:
            return cast(Solution, outcome.value)
        if outcome.ending is Ending.RAISED:
            return _failure(Status.NUMERICAL_ERROR, mode, outcome, f"solving raised {outcome.message}")
        if outcome.ending is Ending.TIMED_OUT:
            limit = self._settings.time_limit
            message = f"HiGHS did not stop at its limit of {limit:g} s; its process was killed from outside"
            return _failure(Status.TIME_LIMIT, mode, outcome, message)
        self._crashes[member] += 1
        if self._crashes[member] < TRIES:
            return None
        return _failure(Status.CRASHED, mode, outcome, f"the worker process died on each of {TRIES} tries: {outcome.message}")

    def choice(self) -> str:
        """Returns the choice of mode in words; empty for a single member, which has none."""
        if self._settings.careful:
            return "careful: cold without presolve, tolerances tightened"
        if self._settings.cutoff is not None and self._opening.basis is not None and self._fixed is None:
            return "warm: every member from the given basis, since a start with presolve does not stop at the cutoff"
        return self._trial.words() if len(self._batch) > 1 else ""


def _failure(status: Status, mode: Mode, outcome: Outcome, message: str) -> Solution:
    return Solution(status, seconds=outcome.seconds, backend="highs", method=str(mode), message=message)
