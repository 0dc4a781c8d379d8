"""Solves batches to tried answers: a backend claims, the referee judges, what it refuses is tried once more.

A run and every study go through here. Where members come from and where answers go does not belong here.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from batchlp_cli.backends.base import Backend
from batchlp_cli.backlog import Backlog
from batchlp_cli.batch import LPBatch
from batchlp_cli.dispatch import deserves_second_try, wants_crossover
from batchlp_cli.kkt import Proofs, prove, verify
from batchlp_cli.memory import keep_freed_memory
from batchlp_cli.optima import Claim, Optima, joined
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


@dataclass(frozen=True, slots=True, eq=False)
class Proved:
    """Optima of members of one batch that were proved at the first try, with nothing to note, and the proofs."""

    optima: Optima
    proofs: Proofs

    def tried(self, batch: LPBatch, matrix: Matrix) -> Iterator[tuple[int, Tried]]:
        """Yields (member, claim and verdict) one by one; batch: of whose members they are, matrix: made of its base's A."""
        claims = self.optima.solutions(batch, matrix)
        for (member, solution), verdict in zip(claims, self.proofs.verdicts(), strict=True):
            yield member, (solution, verdict)


Answer = Proved | tuple[int, Tries]


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
        self._matrix: Matrix | None = None

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
        for k, answer in self.solve_together(batches, name, settings=settings, warm_start=warm_start):
            if isinstance(answer, Proved):
                yield from ((k, member, [tried]) for member, tried in answer.tried(batches[k], self._matrix_of(batches[k])))
            else:
                yield k, *answer

    def solve_together(
        self,
        batches: Sequence[LPBatch],
        name: BackendName,
        *,
        settings: SolveSettings | None = None,
        warm_start: Solution | None = None,
    ) -> Iterator[tuple[int, Answer]]:
        """Yields (batch, answer) until every member had one, as `solve_many`, but ordinary ones of a large batch together."""
        settings = settings or self.settings
        backend = self.backend(name)
        again: defaultdict[int, dict[int, Tries]] = defaultdict(dict)
        inner: defaultdict[int, dict[int, Tried]] = defaultdict(dict)
        for k, found in self._attempt(batches, backend, settings, warm_start):
            if isinstance(found, Proved):
                yield k, found
                continue
            member, tried = found
            if deserves_second_try(*tried, settings):
                again[k][member] = [tried]
            elif wants_crossover(*tried, settings):
                inner[k][member] = tried
            else:
                yield k, (member, [tried])
        self.choices = list(backend.choices())
        for k, optimal in sorted(inner.items()):
            yield from ((k, each) for each in self._cross_over(batches[k], optimal, settings))
        refused = [(k, sorted(members)) for k, members in sorted(again.items())]
        if not refused:
            return
        careful = replace(settings, careful=True, cutoff=None)
        parts = [batches[k].take(members) for k, members in refused]
        for position, i, tried in self._one_by_one(self._attempt(parts, backend, careful, None), parts):
            k, members = refused[position]
            yield k, (members[i], [*again[k][members[i]], tried])

    def _one_by_one(
        self, found: Iterable[tuple[int, Proved | tuple[int, Tried]]], batches: Sequence[LPBatch]
    ) -> Iterator[tuple[int, int, Tried]]:
        for k, each in found:
            if isinstance(each, Proved):
                yield from ((k, *tried) for tried in each.tried(batches[k], self._matrix_of(batches[k])))
            else:
                yield k, *each

    def _matrix_of(self, batch: LPBatch) -> Matrix:
        """Returns what the referee needs of a batch's matrix, kept for the next call; of one batch only, as memory is bounded."""
        if self._matrix is None or self._matrix.rows is not batch.base.rows:
            self._matrix = Matrix(batch.base.rows, len(batch))
        return self._matrix

    def _cross_over(self, batch: LPBatch, found: dict[int, Tried], settings: SolveSettings) -> Iterator[tuple[int, Tries]]:
        """Yields (member, tries): the basic solution last where the referee accepts it, else the one that was found."""
        highs = cast("HighsBackend", self.backend(BackendName.HIGHS))
        members = sorted(found)
        inner = batch.take(members)
        starts = [found[member][0] for member in members]
        claims = ((0, each) for each in highs.cross_over(inner, starts, settings))
        for _, i, (claim, verdict) in self._one_by_one(self._judged([inner], claims, settings.tol), [inner]):
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
    ) -> Iterator[tuple[int, Proved | tuple[int, Tried]]]:
        """Yields (batch, what was claimed and the referee's word on it)."""
        backlog = Backlog(_most_waiting(batches), _members)
        claims = _claims(batches, backend, replace(settings, backlog=backlog), warm_start)
        yield from self._judged(batches, claims, settings.tol, backlog)

    def _judged(
        self,
        batches: Sequence[LPBatch],
        claimed: Iterator[tuple[int, Claim]],
        tol: float,
        backlog: Backlog | None = None,
    ) -> Iterator[tuple[int, Proved | tuple[int, Tried]]]:
        """Yields claims about members of batches with the referee's word on them, as they come."""
        backlog = backlog or Backlog(_most_waiting(batches), _members)
        claims = ready_lists(claimed, backlog=backlog)
        while True:
            if self._before_waiting is not None and not backlog.has_items():
                self._before_waiting()
            with self.stages.timed("solve"):
                ready = next(claims, None)
            if ready is None:
                return
            singles: defaultdict[int, list[tuple[int, Solution]]] = defaultdict(list)
            together: defaultdict[int, list[Optima]] = defaultdict(list)
            for k, claim in ready:
                if isinstance(claim, Optima):
                    together[k].append(claim)
                else:
                    singles[k].append(claim)
            for k, optima in ((k, optima) for k, parts in together.items() for optima in joined(parts)):
                proved, refused = self._prove(batches[k], optima, tol)
                singles[k] += refused
                if proved is not None:
                    yield k, proved
            for k, own in singles.items():
                yield from ((k, tried) for tried in self._verify(batches[k], own, tol))

    def _prove(self, batch: LPBatch, optima: Optima, tol: float) -> tuple[Proved | None, list[tuple[int, Solution]]]:
        """Returns the optima with nothing more to tell, None where there are none, and the others as single claims."""
        with self.stages.timed("verify"):
            matrix = self._matrix_of(batch)
            proofs = prove(batch, optima, tol, matrix)
            if proofs.proved.all():
                return Proved(optima, proofs), []
            kept, others = np.flatnonzero(proofs.proved), np.flatnonzero(~proofs.proved)
            refused = optima.take(others).solutions(batch, matrix)
            return Proved(optima.take(kept), proofs.take(kept)) if kept.size else None, refused

    def _verify(self, batch: LPBatch, claims: Sequence[tuple[int, Solution]], tol: float) -> list[tuple[int, Tried]]:
        if not claims:
            return []
        members, solutions = zip(*claims, strict=True)
        with self.stages.timed("verify"):
            verdicts = verify(batch.take(members), solutions, tol, self._matrix_of(batch))
        return list(zip(members, zip(solutions, verdicts, strict=True), strict=True))


def _members(item: object) -> int:
    """Returns of how many members a claim on its way to the referee is."""
    return len(item[1]) if isinstance(item, tuple) and isinstance(item[1], Optima) else 1


def _most_waiting(batches: Sequence[LPBatch]) -> int:
    """Returns how many claims may wait for the referee before no member is begun, by the vectors of the largest."""
    size = max((8 * (batch.base.m + 2 * batch.base.n) for batch in batches), default=1)
    return max(LEAST_WAITING, WAITING_BYTES // max(1, size))


def _claims(
    batches: Sequence[LPBatch], backend: Backend, settings: SolveSettings, warm_start: Solution | None
) -> Iterator[tuple[int, Claim]]:
    if warm_start is None:
        return backend.solve_together(batches, settings)
    (batch,) = batches
    return ((0, each) for each in backend.solve(batch, settings, warm_start))
