"""Two ways of solving against each other: the same members, the same tolerance, every answer judged, repeats interleaved.

Time is that of a batch on all cores, reading left out, divided by its members. What takes time once (processes, loading,
compiling) is measured apart, by solving the first members before. A member without a proved verdict counts with the limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from batchlp_cli.backends.base import Backend, load_backend
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.highs.session import Mode
from batchlp_cli.batch import LPBatch
from batchlp_cli.errors import BackendMissing, UsageError
from batchlp_cli.kkt import verify
from batchlp_cli.settings import BackendName, Device, Precision, SolveSettings
from batchlp_cli.solution import Solution, Status, Verdict
from batchlp_cli.studies.crossover import Timed

Make = Callable[[SolveSettings], Backend]
WARM_UP = 16
"""Members that are solved before the clock of a batch starts: enough for what a full batch needs to be loaded and compiled."""

SLACK = 10.0
"""Objectives of two verified optima may differ by this many tolerances, relative to 1 + |a| + |b|: each is off by what its
residuals allow."""


def _highs(mode: Mode | None) -> Make:
    return lambda settings: HighsBackend(settings.jobs, mode=mode)


def _lanes(precision: Precision, device: Device) -> Make:
    def make(settings: SolveSettings) -> Backend:
        return load_backend(BackendName.PDHG, replace(settings, precision=precision, device=device, fallback=False))

    return make


SIDES: dict[str, Make] = {
    "simplex": _highs(None),
    "simplex-warm": _highs(Mode.WARM),
    "simplex-cold": _highs(Mode.COLD),
    "ipm": _highs(Mode.IPM),
    "pdhg": _lanes(Precision.AUTO, Device.CPU),
    "pdhg-float64": _lanes(Precision.FLOAT64, Device.CPU),
    "pdhg-mixed": _lanes(Precision.MIXED, Device.CPU),
    "gpu": _lanes(Precision.AUTO, Device.CUDA),
    "auto": lambda settings: load_backend(BackendName.AUTO, settings),
}


def parse_sides(text: str) -> tuple[str, str]:
    """Returns the two sides of A-vs-B; raises UsageError where they are none."""
    first, separator, second = text.partition("-vs-")
    names = ", ".join(SIDES)
    if not separator or first not in SIDES or second not in SIDES:
        raise UsageError(f"{text!r} names no comparison; expected A-vs-B with A and B of {names}, such as pdhg-vs-simplex")
    if first == second:
        raise UsageError(f"{text!r} compares {first} with itself; name two different sides of {names}")
    return first, second


def make_sides(sides: tuple[str, str], settings: SolveSettings) -> tuple[Backend, Backend]:
    """Returns the backends of both sides; raises BackendMissing where one cannot run, naming what would."""
    made: list[Backend] = []
    try:
        for side in sides:
            made.append(SIDES[side](settings))
    except BackendMissing as error:
        for backend in made:
            backend.close()
        instead = "-vs-".join("pdhg" if side == "gpu" else side for side in sides)
        would = f"; batchlp compare {instead} would run" if "gpu" in sides and len(set(instead.split("-vs-"))) == 2 else ""
        raise BackendMissing(f"{error}{would}") from error
    return made[0], made[1]


@dataclass(slots=True)
class Side:
    """What one side did on one batch. seconds: a member, one entry a repeat; cold: what it took once; failed: members without
    a verdict in some repeat; worst: largest relative residual or gap of a verified optimum of any repeat, or None."""

    seconds: list[float] = field(default_factory=list)
    cold: float = 0.0
    failures: set[int] = field(default_factory=set)
    worst: float | None = None
    words: str = ""

    @property
    def failed(self) -> int:
        """How many members have no verdict in some repeat."""
        return len(self.failures)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One group or size. disagreements: members on which both sides have a proved verdict, and not the same, in words."""

    label: str
    batch: LPBatch
    sides: tuple[Side, Side]
    disagreements: tuple[str, ...]

    @property
    def timed(self) -> Timed:
        """The times as the estimate of the crossover wants them: none where neither side solved a member, as the limit alone
        says nothing of the two."""
        if all(side.failed == len(self.batch) for side in self.sides):
            return Timed(self.batch.base.nnz, (), ())
        first, second = (tuple(side.seconds) for side in self.sides)
        return Timed(self.batch.base.nnz, first, second)


def compare_batch(label: str, batch: LPBatch, backends: Sequence[Backend], settings: SolveSettings, repeats: int) -> Comparison:
    """Solves a batch with both backends, in turn, so many times, and judges every answer of both."""
    sides = (Side(), Side())
    judged: list[list[tuple[Solution, Verdict]]] = [[], []]
    disagreements: dict[int, str] = {}
    for side, backend in zip(sides, backends, strict=True):
        begun = time.perf_counter()
        list(backend.solve_many([batch.take(range(min(WARM_UP, len(batch))))], settings))
        side.cold = time.perf_counter() - begun
    for repeat in range(repeats):
        for k in (0, 1) if repeat % 2 == 0 else (1, 0):
            seconds, claims, words = _solve(backends[k], batch, settings)
            verdicts = verify(batch, claims, settings.tol)
            judged[k] = list(zip(claims, verdicts, strict=True))
            _take_in(sides[k], seconds, judged[k], settings, words)
        disagreements = dict(_disagreements(batch, judged[0], judged[1], settings.tol)) | disagreements
    return Comparison(label, batch, sides, tuple(disagreements[member] for member in sorted(disagreements)))


def _solve(backend: Backend, batch: LPBatch, settings: SolveSettings) -> tuple[float, list[Solution], str]:
    claims: dict[int, Solution] = {}
    begun = time.perf_counter()
    for _, member, claim in backend.solve_many([batch], settings):
        claims[member] = claim
    seconds = time.perf_counter() - begun
    missing = Solution(Status.CRASHED, message="the backend gave no answer")
    return seconds, [claims.get(i, missing) for i in range(len(batch))], "; ".join(filter(None, backend.choices()))


def _take_in(side: Side, seconds: float, judged: Sequence[tuple[Solution, Verdict]], settings: SolveSettings, words: str) -> None:
    """Adds a repeat to a side. Members without a verdict bring their time up to the limit, spread over the cores.

    Members in lanes run side by side, so that their times are more than all cores had: each counts with its share of that.
    """
    failed = {i: solution for i, (solution, verdict) in enumerate(judged) if not verdict.verified}
    limit = settings.time_limit if math.isfinite(settings.time_limit) else 0.0
    share = min(1.0, seconds * settings.jobs / (sum(solution.seconds for solution, _ in judged) or 1.0))
    lost = sum(max(0.0, limit - share * solution.seconds) for solution in failed.values()) / settings.jobs
    side.seconds.append((seconds + lost) / len(judged))
    side.failures |= failed.keys()
    side.words = words
    for solution, verdict in judged:
        if verdict.verified and solution.status is Status.OPTIMAL:
            r = verdict.residuals
            side.worst = max(side.worst or 0.0, r.primal_rel, r.dual_rel, r.gap_rel)


def _disagreements(
    batch: LPBatch, first: Sequence[tuple[Solution, Verdict]], second: Sequence[tuple[Solution, Verdict]], tol: float
) -> Iterator[tuple[int, str]]:
    """Yields the members on which two verified answers differ, each with how."""
    for i, (name, (a, u), (b, v)) in enumerate(zip(batch.names, first, second, strict=True)):
        if not (u.verified and v.verified):
            continue
        if a.status is not b.status:
            yield i, f"{name}: {a.status} and {b.status}, both verified"
        elif u.objective is not None and v.objective is not None:
            off = abs(u.objective - v.objective) / (1 + abs(u.objective) + abs(v.objective))
            if not np.isfinite(off) or off > SLACK * tol:
                sign = batch.base.sign
                yield (
                    i,
                    f"{name}: objectives {sign * u.objective:.10g} and {sign * v.objective:.10g} differ by {off:.2g} relative",
                )
