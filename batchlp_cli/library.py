"""The door for Python: solve, branch and tighten linear programs, scipy arrays or files, with the referee of the command line.

Everything here shows values in the model's own sense, as the rows of the command line do.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.dispatch import choose_backend
from batchlp_cli.errors import ModelError, ReadError
from batchlp_cli.events import Event
from batchlp_cli.files.discover import discover
from batchlp_cli.files.read import ModelReader, ReadRequest
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.report.rows import Row, Source
from batchlp_cli.settings import BackendName, SolveSettings, available_cores
from batchlp_cli.solution import Status
from batchlp_cli.solving import Solver, Tries
from batchlp_cli.studies.branching import BranchOptions
from batchlp_cli.studies.incumbent import objective_of
from batchlp_cli.studies.pipeline import Study, branching, tightening
from batchlp_cli.studies.scores import ScoreRule
from batchlp_cli.studies.tightening import TightenOptions

__all__ = ["Answer", "LPBatch", "LinearProgram", "Studied", "branch", "linear_program", "solve", "tighten"]

Path = str | os.PathLike[str]
Model = LinearProgram | LPBatch | Path


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What became of one LP, in its own sense. verified: the referee proved the status; objective: only of a proved optimum;
    dual_bound: rigorous, infinite where there is none; x, reduced_cost [n], dual [m], ray: as status.py says, None if missing."""

    name: str
    status: Status
    verified: bool
    objective: float | None
    dual_bound: float
    x: Vector | None
    dual: Vector | None
    reduced_cost: Vector | None
    ray: Vector | None
    reason: str
    tries: Tries


@dataclass(frozen=True, slots=True, eq=False)
class Studied:
    """What a study came to. rows: a candidate, column or row each; model: the row of the model; both with the keys of
    docs/results.md. tightened: the model with its new bounds, None where there are none."""

    rows: list[Row]
    model: Row
    tightened: LinearProgram | None


def linear_program(
    c: Any,
    A: Any,
    row_lower: Any = -math.inf,
    row_upper: Any = math.inf,
    *,
    col_lower: Any = 0.0,
    col_upper: Any = math.inf,
    integer: Any = False,
    offset: float = 0.0,
    maximize: bool = False,
    name: str = "model",
) -> LinearProgram:
    """Returns the LP of arrays: c [n], A [m, n] (scipy sparse or dense), sides and bounds as arrays or one number for all.

    maximize: c and offset are those of a maximisation. Raises ModelError where shapes disagree or a number is not finite.
    """
    m, n = A.shape if hasattr(A, "shape") else np.shape(A)
    sign = -1.0 if maximize else 1.0
    return LinearProgram(
        name=name,
        c=sign * np.array(c, dtype=np.float64),
        A=A,
        row_lower=_full(row_lower, m),
        row_upper=_full(row_upper, m),
        col_lower=_full(col_lower, n),
        col_upper=_full(col_upper, n),
        offset=sign * offset,
        maximize=maximize,
        integer=_full(integer, n).astype(np.bool_),
    )


def _full(value: Any, size: int) -> Vector:
    """Returns a copy of an array, or an array of that size that holds one number everywhere."""
    array = np.array(value, dtype=np.float64)
    return np.full(size, array) if array.ndim == 0 else array


def solve(
    models: Model | Iterable[Model],
    *,
    backend: str = "auto",
    tol: float = 1e-6,
    jobs: int | None = None,
    time_limit: float = math.inf,
    iteration_limit: int | None = None,
) -> list[Answer]:
    """Returns an answer for each LP: programs, batches (an answer a member), paths of files or folders, or a sequence of these.

    Raises ReadError for a path that is no readable LP, UsageError for settings out of range, BackendMissing.
    """
    settings = _settings(backend, tol, jobs, time_limit, iteration_limit)
    batches = [batch for model in _listed(models) for batch in _batches(model, settings)]
    answers: list[list[Answer | None]] = [[None] * len(batch) for batch in batches]
    with Solver(settings) as solver:
        name = choose_backend(batches[0], settings).backend if batches else settings.backend
        for k, member, tries in solver.solve_many(batches, name):
            answers[k][member] = _answer(batches[k].member(member), tries)
    return [answer for found in answers for answer in found if answer is not None]


def branch(
    model: Model,
    *,
    candidates: Sequence[str] = (),
    limit: int | None = None,
    score: str = "product",
    cutoff: float | None = None,
    incumbent: Vector | None = None,
    backend: str = "auto",
    tol: float = 1e-6,
    jobs: int | None = None,
) -> Studied:
    """Returns full strong branching at the root of a model: see `batchlp branch`.

    incumbent: a feasible and integral x [n] whose objective is the cutoff. Raises ModelError for an unknown name.
    """
    settings = _settings(backend, tol, jobs, math.inf, None)
    lp = _only(model, settings)
    cutoff = _cutoff(lp, cutoff, incumbent)
    options = BranchOptions(candidates=tuple(candidates), limit=limit, rule=ScoreRule(score), cutoff=cutoff)
    return _study(lp, branching(options), settings)


def tighten(
    model: Model,
    *,
    columns: Sequence[str] = (),
    rows: Sequence[str] = (),
    cutoff: float | None = None,
    incumbent: Vector | None = None,
    fraction_of_optimum: float | None = None,
    rounds: int = 1,
    backend: str = "auto",
    tol: float = 1e-6,
    jobs: int | None = None,
) -> Studied:
    """Returns the ranges of columns and rows over a model's relaxation: see `batchlp tighten`.

    incumbent: a feasible and integral x [n] whose objective is the cutoff. Raises ModelError for an unknown name.
    """
    settings = _settings(backend, tol, jobs, math.inf, None)
    lp = _only(model, settings)
    options = TightenOptions(
        columns=tuple(columns),
        rows=tuple(rows),
        cutoff=_cutoff(lp, cutoff, incumbent),
        fraction_of_optimum=fraction_of_optimum,
        rounds=rounds,
    )
    return _study(lp, tightening(options), settings)


def _settings(backend: str, tol: float, jobs: int | None, time_limit: float, iteration_limit: int | None) -> SolveSettings:
    return SolveSettings(
        backend=BackendName(backend),
        tol=tol,
        jobs=jobs or available_cores(),
        time_limit=time_limit,
        iteration_limit=iteration_limit,
    )


def _listed(models: Model | Iterable[Model]) -> list[Model]:
    if isinstance(models, LinearProgram | LPBatch | str | os.PathLike):
        return [models]
    return list(models)


def _batches(model: Model, settings: SolveSettings) -> list[LPBatch]:
    if isinstance(model, LPBatch):
        return [model]
    if isinstance(model, LinearProgram):
        return [LPBatch(model, Changes(), (model.name,))]
    return [LPBatch(lp, Changes(), (lp.name,)) for lp in _read(model, settings)]


def _read(path: Path, settings: SolveSettings) -> list[LinearProgram]:
    """Returns the LPs of a file, folder or pattern; raises ReadError for the first that cannot be read."""
    discovery = discover([os.fspath(path)])
    for problem in (i for i in discovery.inputs if i.problem):
        raise ReadError(f"{problem.shown}: {problem.problem}")
    found = []
    with ModelReader(settings) as reader:
        for outcome in reader.read(ReadRequest.of(i) for i in discovery.readable):
            if outcome.lp is None:
                raise ReadError(outcome.error)
            found.append(outcome.lp)
    return found


def _only(model: Model, settings: SolveSettings) -> LinearProgram:
    """Returns the one LP that a model is; raises ModelError where it is several or none."""
    batches = _batches(model, settings)
    count = sum(map(len, batches))
    if count != 1:
        raise ModelError(f"{count} linear programs were given, expected one")
    return batches[0].member(0)


def _cutoff(lp: LinearProgram, cutoff: float | None, incumbent: Vector | None) -> float | None:
    if incumbent is None:
        return cutoff
    if np.shape(incumbent) != (lp.n,):
        raise ModelError(f"the incumbent has shape {np.shape(incumbent)}, expected ({lp.n},)")
    return lp.sign * objective_of(lp, np.asarray(incumbent, dtype=np.float64))


def _study(lp: LinearProgram, study: Study, settings: SolveSettings) -> Studied:
    with Solver(settings) as solver:
        return Studied(*study.study(lp, Source(lp.name, lp.name), "", solver, _unheard))


def _unheard(_: Event) -> None:
    """Hears an event and does nothing: a library is silent."""


def _answer(lp: LinearProgram, tries: Tries) -> Answer:
    solution, verdict = tries[-1]
    return Answer(
        name=lp.name,
        status=solution.status,
        verified=verdict.verified,
        objective=None if verdict.objective is None else lp.sign * verdict.objective,
        dual_bound=lp.sign * verdict.dual_bound,
        x=solution.x,
        dual=None if solution.y is None else lp.sign * solution.y,
        reduced_cost=None if solution.r is None else lp.sign * solution.r,
        ray=solution.ray,
        reason=verdict.reason or solution.message,
        tries=tries,
    )
