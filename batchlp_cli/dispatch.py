"""Which backend a batch goes to, with the reason in words, and when a member gets its second try."""

from __future__ import annotations

from dataclasses import dataclass

from batchlp_cli.batch import LPBatch
from batchlp_cli.settings import BackendName, SolveSettings
from batchlp_cli.solution import DECIDED, Solution, Status, Verdict


@dataclass(frozen=True, slots=True)
class Choice:
    """A backend for a batch and why it was chosen."""

    backend: BackendName
    reason: str


def choose_backend(batch: LPBatch, settings: SolveSettings) -> Choice:
    """Returns the backend that a batch goes to."""
    if settings.backend is BackendName.AUTO:
        return Choice(settings.backend, "measured on the first members")
    if settings.backend is BackendName.PDHG:
        return Choice(settings.backend, "restarted PDHG over lanes, as asked for")
    start = "each member goes on from the last basis, or starts cold with presolve, whichever is measured faster"
    alone = "one member: cold with presolve" + ", or from its stored basis" * (settings.starts is not None)
    reason = alone if len(batch) == 1 else start
    return Choice(settings.backend, f"HiGHS dual simplex; {reason}")


def wants_crossover(solution: Solution, verdict: Verdict, settings: SolveSettings) -> bool:
    """Tells whether a member's proved optimum is to become a basic solution: only lanes bring others."""
    has_start = solution.x is not None and solution.y is not None and solution.r is not None
    optimal = verdict.verified and solution.status is Status.OPTIMAL
    return settings.crossover and optimal and has_start and solution.backend == BackendName.PDHG


def deserves_second_try(solution: Solution, verdict: Verdict, settings: SolveSettings) -> bool:
    """Tells whether a member is solved once more, carefully: its claim was refused or its backend gave up.

    A limit that the user set is an answer, and so is a cutoff that the proved bound passes; a member whose workers died had its
    two tries already.
    """
    if not settings.fallback or verdict.verified:
        return False
    if solution.status is Status.ITERATION_LIMIT and settings.iteration_limit is None:
        return True  # the backend's own limit, which nobody asked for
    if solution.status is Status.CUTOFF:
        return settings.cutoff is None or not verdict.dual_bound >= settings.cutoff
    return solution.status in DECIDED or solution.status is Status.NUMERICAL_ERROR
