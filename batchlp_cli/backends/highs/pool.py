"""HiGHS on a pool of worker processes: which worker works on which batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import cast

from batchlp_cli.backends.highs.convoy import Convoy
from batchlp_cli.backends.highs.course import Course
from batchlp_cli.batch import LPBatch
from batchlp_cli.processes import Task, WorkerPool
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Basis, Solution

WORKER = "batchlp_cli.backends.highs.worker:make_handler"


class HighsBackend:
    """Simplex on every core. Members of a batch go on from the last basis or start cold, whichever is measured faster.

    A batch of one brings its basis back; a larger one only with want_basis, since fetching it can cost more than solving.
    """

    name = "highs"

    def __init__(self, jobs: int, want_basis: bool = False, worker: str = WORKER) -> None:
        self._pool = WorkerPool(worker, jobs, ahead=2)
        self._want_basis = want_basis
        self._batches = 0  # given so far: what numbers them, so that a worker never takes one batch for another
        self._courses: list[Course | Convoy] = []
        self._jobs = jobs

    def solve(
        self, batch: LPBatch, settings: SolveSettings, warm_start: Solution | None = None
    ) -> Iterator[tuple[int, Solution]]:
        """Yields (member, claim) once for every member as members finish; see `Backend.solve`."""
        for _, member, claim in self._run([batch], settings, warm_start):
            yield member, claim

    def solve_many(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, int, Solution]]:
        """Yields (batch, member, claim) once for every member of every batch; see `Backend.solve_many`."""
        yield from self._run(batches, settings, None)

    def _run(
        self, batches: Sequence[LPBatch], settings: SolveSettings, warm_start: Solution | None
    ) -> Iterator[tuple[int, int, Solution]]:
        basis = warm_start.basis if warm_start is not None else None
        first = self._batches
        self._batches += len(batches)
        self._courses = [self._course(first + k, batch, settings, basis) for k, batch in enumerate(batches)]
        rota = Rota(self._courses)
        for outcome in self._pool.run(rota.next_task):
            k = cast(tuple[int, int], outcome.key)[0] - first
            if not 0 <= k < len(batches):
                continue  # left over from a run that was given up
            course = self._courses[k]
            answers = course.take_in(outcome) if isinstance(course, Convoy) else [course.take_in(outcome)]
            yield from ((k, *answer) for answer in answers if answer is not None)

    def _course(self, number: int, batch: LPBatch, settings: SolveSettings, basis: Basis | None) -> Course | Convoy:
        course = Course(number, batch, settings, basis, self._want_basis or len(batch) == 1)
        return Convoy(course, number, batch, self._jobs) if not self._want_basis and Convoy.suits(batch, settings) else course

    def choices(self) -> list[str]:
        """Returns for each batch of the last run whether members started warm or cold, with what was measured."""
        return [course.choice() for course in self._courses]

    def close(self) -> None:
        """Ends all worker processes at once."""
        self._pool.close()


class Rota:
    """Gives each worker its batch: it stays with one while that has members, then begins a new one, then helps out."""

    def __init__(self, courses: Sequence[Course | Convoy]) -> None:
        self._untouched = deque(courses)
        self._begun: list[Course | Convoy] = []
        self._at: dict[int, Course | Convoy] = {}

    def next_task(self, slot: int, fresh: bool) -> Task | None:
        """Returns the next member for a worker, None while there is none for it."""
        own = self._at.get(slot)
        if own is not None and own.has_waiting:
            return own.next_task(slot, fresh)
        self._begun = [course for course in self._begun if course.has_waiting]
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
