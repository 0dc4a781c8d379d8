"""HiGHS on a pool of worker processes: which worker works on which batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from batchlp_cli.backends.highs.convoy import Convoy
from batchlp_cli.backends.highs.course import Course
from batchlp_cli.backends.highs.session import Mode
from batchlp_cli.backlog import Backlog
from batchlp_cli.batch import LPBatch
from batchlp_cli.optima import Claim, one_by_one
from batchlp_cli.processes import Task, WorkerPool
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Basis, Solution

WORKER = "batchlp_cli.backends.highs.worker:make_handler"


class Reins(Protocol):
    """How whoever shares the machine and the members with a run steers it; asked from the thread of the run."""

    def may_work(self, slot: int) -> bool:
        """Tells whether a worker may have another member now."""
        ...

    def more(self) -> bool:
        """Tells whether members may still come back, so that the run must not end."""
        ...


class HighsBackend:
    """Simplex on every core. Members of a batch go on from the last basis or start cold, whichever is measured faster.

    With a mode that is the way of every member, and nothing is measured. A batch of one brings its basis back; a larger one
    only with want_basis, since fetching it can cost more than solving.
    """

    name = "highs"

    def __init__(self, jobs: int, want_basis: bool = False, worker: str = WORKER, mode: Mode | None = None) -> None:
        self._pool = WorkerPool(worker, jobs, ahead=2)
        self._want_basis, self._mode = want_basis, mode
        self._batches = 0  # given so far: what numbers them, so that a worker never takes one batch for another
        self._first = 0  # the number of the first batch of the run
        self.courses: list[Course | Convoy] = []
        self._jobs = jobs
        self._backlog: Backlog | None = None

    @classmethod
    def of(cls, settings: SolveSettings) -> HighsBackend:
        """Returns the backend that settings ask for."""
        return cls(settings.jobs)

    def solve(
        self, batch: LPBatch, settings: SolveSettings, warm_start: Solution | None = None
    ) -> Iterator[tuple[int, Solution]]:
        """Yields (member, claim) once for every member as members finish; see `Backend.solve`."""
        self.open([batch], settings, warm_start.basis if warm_start is not None else None)
        for _, member, claim in one_by_one(self.run(), [batch]):
            yield member, claim

    def solve_many(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, int, Solution]]:
        """Yields (batch, member, claim) once for every member of every batch; see `Backend.solve_many`."""
        yield from one_by_one(self.solve_together(batches, settings), batches)

    def solve_together(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, Claim]]:
        """Yields (batch, claims) until every member of every batch had one; see `Backend.solve_together`."""
        self.open(batches, settings)
        yield from self.run()

    def cross_over(self, batch: LPBatch, starts: Sequence[Solution], settings: SolveSettings) -> Iterator[tuple[int, Solution]]:
        """Yields (member, claim) once for every member, going from its optimal solution to a basic one."""
        self._first, self._batches, self._backlog = self._batches, self._batches + 1, None
        self.courses = [Course(self._first, batch, settings, None, want_basis=True, starts=starts)]
        for _, member, claim in one_by_one(self.run(), [batch]):
            yield member, claim

    def open(self, batches: Sequence[LPBatch], settings: SolveSettings, basis: Basis | None = None) -> None:
        """Puts batches in the place of those before; `run` solves them."""
        self._first, self._batches = self._batches, self._batches + len(batches)
        self._backlog = settings.backlog
        self.courses = [self._course(self._first + k, batch, settings, basis) for k, batch in enumerate(batches)]

    def _course(self, number: int, batch: LPBatch, settings: SolveSettings, basis: Basis | None) -> Course | Convoy:
        if basis is None and not settings.careful:
            basis = _saved_basis(batch, settings)
        course = Course(number, batch, settings, basis, self._want_basis or len(batch) == 1, mode=self._mode)
        chunks = not self._want_basis and self._mode is None and Convoy.suits(batch, settings)
        return Convoy(course, number, batch, self._jobs) if chunks else course

    def run(self, reins: Reins | None = None) -> Iterator[tuple[int, Claim]]:
        """Yields (batch, claim) for the members of the open batches as they finish, for one or for several members at once.

        With reins a run may be steered from another thread: `courses` tell who is at work and let members be withdrawn
        and given back; `wake` makes the run look again; `cancel` stops a member, which then has no claim.
        """
        rota = Rota(self.courses, reins)
        paused = self._backlog.is_full if self._backlog is not None else None
        for outcome in self._pool.run(rota.next_task, reins.more if reins is not None else None, paused):
            k = cast(tuple[int, int], outcome.key)[0] - self._first
            if not 0 <= k < len(self.courses):
                continue  # left over from a run that was given up
            course = self.courses[k]
            answers = course.take_in(outcome) if isinstance(course, Convoy) else [course.take_in(outcome)]
            yield from ((k, answer) for answer in answers if answer is not None)

    def cancel(self, k: int, member: int) -> None:
        """Stops the work at a member of the run's batch k; from any thread."""
        self._pool.cancel((self._first + k, member))

    def call_back(self, k: int, member: int) -> None:
        """Stops the work at a member of the run's batch k, which then waits as if it had not begun; from any thread."""
        self.courses[k].call_back(member)
        self.cancel(k, member)

    def put_back(self, k: int, member: int) -> None:
        """Lets a member of the run's batch k wait that was withdrawn from it; from any thread."""
        self.courses[k].put_back(member)
        self.wake()

    def wake(self) -> None:
        """Makes the run ask its reins again; from any thread."""
        self._pool.wake()

    @property
    def busy(self) -> int:
        """Number of workers that have work; from any thread."""
        return self._pool.busy

    @property
    def ready_since(self) -> float | None:
        """time.perf_counter() at which the first worker was there; None: members that were given out still wait for it."""
        return self._pool.ready_since

    def choices(self) -> list[str]:
        """Returns for each batch of the last run whether members started warm or cold, with what was measured."""
        return [course.choice() for course in self.courses]

    def prepare(self, members: int) -> None:
        """Starts the worker processes that so many members will need, so that they are there when the members are."""
        self._pool.prepare(members)

    def close(self) -> None:
        """Ends all worker processes at once."""
        self._pool.close()


def _saved_basis(batch: LPBatch, settings: SolveSettings) -> Basis | None:
    """Returns the basis that an earlier run kept of the batch's first member, if any; the others go on from there."""
    if settings.starts is None or not len(batch):
        return None
    codes = settings.starts.basis(batch.names[0], batch.member(0))
    return None if codes is None else Basis(*codes)


class Rota:
    """Gives each worker its batch: it stays with one while that has members, then begins a new one, then helps out."""

    def __init__(self, courses: Sequence[Course | Convoy], reins: Reins | None = None) -> None:
        self._courses, self._reins = courses, reins
        self._untouched = deque(courses)
        self._begun: list[Course | Convoy] = []
        self._at: dict[int, Course | Convoy] = {}

    def next_task(self, slot: int, fresh: bool) -> Task | None:
        """Returns the next member for a worker, None while there is none for it."""
        if self._reins is not None and not self._reins.may_work(slot):
            return None
        own = self._at.get(slot)
        if own is not None and own.has_waiting:
            return own.next_task(slot, fresh)
        while self._untouched and not self._untouched[0].has_waiting:
            self._untouched.popleft()  # all its members went to somebody else
        self._begun = [course for course in self._begun if course.has_waiting]
        if not self._untouched and not self._begun and self._reins is not None:
            self._begun = [course for course in self._courses if course.has_waiting]  # members that came back
        if self._untouched:
            self._begun.append(self._untouched.popleft())
            other = self._begun[-1]
        elif self._begun:
            other = self._begun[slot % len(self._begun)]
        else:
            return None
        if own is not None and own is not other:
            own.leave(slot)
        self._at[slot] = other
        return other.next_task(slot, fresh)
