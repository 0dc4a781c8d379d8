"""Solves batches to tried answers: a backend claims, the referee judges, what it refuses is tried once more.

A run and every study go through here. Where members come from and where answers go does not belong here.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from batchlp_cli.backends.base import Backend
from batchlp_cli.backlog import Backlog
from batchlp_cli.batch import LPBatch
from batchlp_cli.dispatch import deserves_second_try, wants_crossover
from batchlp_cli.kkt import verify
from batchlp_cli.memory import keep_freed_memory
from batchlp_cli.preparation import Preparation
from batchlp_cli.products import Matrix
from batchlp_cli.pump import ready_lists
from batchlp_cli.settings import BackendName, SolveSettings
from batchlp_cli.solution import Solution, Status, Verdict

if TYPE_CHECKING:
    from batchlp_cli.backends.highs.pool import HighsBackend

WAITING_BYTES = 128 << 20
"""Vectors of claims that may wait for the referee while members are begun."""

LEAST_WAITING = 16

Tried = tuple[Solution, Verdict]
Tries = list[Tried]


class Stages:
    """Wall time of the main thread by stage, in seconds."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the time that the block takes to a stage."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - begun


class Solver:
    """The backends in use, each made when first asked for, and the way of a batch through them. Close it, or use `with`."""

    def __init__(
        self,
        settings: SolveSettings,
        stages: Stages | None = None,
        preparation: Preparation | None = None,
        before_waiting: Callable[[], None] | None = None,
    ) -> None:
        keep_freed_memory()
        self.settings = settings
        self._preparation = preparation or Preparation(settings)
        self._before_waiting = before_waiting
        self.stages = stages if stages is not None else Stages()
        self.choices: list[str] = []  # what the backend chose for each batch of the last call, in words
        self._backends: dict[BackendName, Backend] = {}

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops all backends; may be called twice."""
        self._preparation.close()
        for backend in self._backends.values():
            backend.close()

    def backend(self, name: BackendName) -> Backend:
        """Returns the backend of that name; raises BackendMissing where what it needs is not installed."""
        if name not in self._backends:
            self._backends[name] = self._preparation.backend(name)
        return self._backends[name]

    def solve_many(
        self,
        batches: Sequence[LPBatch],
        name: BackendName,
        *,
        settings: SolveSettings | None = None,
        warm_start: Solution | None = None,
    ) -> Iterator[tuple[int, int, Tries]]:
        """Yields (batch, member, tries) once for every member, as they finish; the last try is the one that counts.

        settings: others than the solver's own. warm_start: a solution of the base, for a single batch only.
        """
        settings = settings or self.settings
        backend = self.backend(name)
        again: defaultdict[int, dict[int, Tries]] = defaultdict(dict)
        inner: defaultdict[int, dict[int, Tried]] = defaultdict(dict)
        for k, member, tried in self._attempt(batches, backend, settings, warm_start):
            if deserves_second_try(*tried, settings):
                again[k][member] = [tried]
            elif wants_crossover(*tried, settings):
                inner[k][member] = tried
            else:
                yield k, member, [tried]
        self.choices = list(backend.choices())
        for k, found in sorted(inner.items()):
            yield from ((k, member, tries) for member, tries in self._cross_over(batches[k], found, settings))
        refused = [(k, sorted(members)) for k, members in sorted(again.items())]
        if not refused:
            return
        careful = replace(settings, careful=True, cutoff=None)
        for position, i, tried in self._attempt([batches[k].take(members) for k, members in refused], backend, careful, None):
            k, members = refused[position]
            yield k, members[i], [*again[k][members[i]], tried]

    def _cross_over(self, batch: LPBatch, found: dict[int, Tried], settings: SolveSettings) -> Iterator[tuple[int, Tries]]:
        """Yields (member, tries): the basic solution last where the referee accepts it, else the one that was found."""
        highs = cast("HighsBackend", self.backend(BackendName.HIGHS))
        members = sorted(found)
        inner = batch.take(members)
        starts = [found[member][0] for member in members]
        claims = ((0, i, claim) for i, claim in highs.cross_over(inner, starts, settings))
        for _, i, (claim, verdict) in self._judged([inner], claims, settings.tol):
            if verdict.verified and claim.status is Status.OPTIMAL:
                yield members[i], [found[members[i]], (claim, verdict)]
                continue
            solution, proved = found[members[i]]
            why = claim.message or verdict.reason or f"it ended with {claim.status}"
            note = f"the optimum of the lanes stays, since crossover brought no verified basic solution: {why}"
            yield members[i], [(claim, verdict), (solution, replace(proved, notes=(*proved.notes, note)))]

    def solve_batch(
        self, batch: LPBatch, name: BackendName, *, settings: SolveSettings | None = None, warm_start: Solution | None = None
    ) -> Iterator[tuple[int, Tries]]:
        """Yields (member, tries) once for every member of one batch; see `solve_many`."""
        for _, member, tries in self.solve_many([batch], name, settings=settings, warm_start=warm_start):
            yield member, tries

    def _attempt(
        self, batches: Sequence[LPBatch], backend: Backend, settings: SolveSettings, warm_start: Solution | None
    ) -> Iterator[tuple[int, int, Tried]]:
        """Yields (batch, member) with the backend's claim and the referee's word on it."""
        backlog = Backlog(_most_waiting(batches))
        claims = _claims(batches, backend, replace(settings, backlog=backlog), warm_start)
        yield from self._judged(batches, claims, settings.tol, backlog)

    def _judged(
        self,
        batches: Sequence[LPBatch],
        claimed: Iterator[tuple[int, int, Solution]],
        tol: float,
        backlog: Backlog | None = None,
    ) -> Iterator[tuple[int, int, Tried]]:
        """Yields claims about members of batches with the referee's word on them, as they come."""
        claims = ready_lists(claimed, backlog=backlog)
        matrix: Matrix | None = None  # of the batch judged last; of one only, as memory is bounded
        while True:
            if self._before_waiting is not None:
                self._before_waiting()
            with self.stages.timed("solve"):
                ready = next(claims, None)
            if ready is None:
                return
            for k in dict.fromkeys(batch for batch, _, _ in ready):
                members, solutions = zip(*((member, s) for batch, member, s in ready if batch == k), strict=True)
                with self.stages.timed("verify"):
                    if matrix is None or matrix.rows is not batches[k].base.rows:
                        matrix = Matrix(batches[k].base.rows, len(batches[k]))
                    verdicts = verify(batches[k].take(members), solutions, tol, matrix)
                for member, solution, verdict in zip(members, solutions, verdicts, strict=True):
                    yield k, member, (solution, verdict)


def _most_waiting(batches: Sequence[LPBatch]) -> int:
    """Returns how many claims may wait for the referee before no member is begun, by the vectors of the largest."""
    size = max((8 * (batch.base.m + 2 * batch.base.n) for batch in batches), default=1)
    return max(LEAST_WAITING, WAITING_BYTES // max(1, size))


def _claims(
    batches: Sequence[LPBatch], backend: Backend, settings: SolveSettings, warm_start: Solution | None
) -> Iterator[tuple[int, int, Solution]]:
    if warm_start is None:
        return backend.solve_many(batches, settings)
    (batch,) = batches
    return ((0, member, claim) for member, claim in backend.solve(batch, settings, warm_start))
