"""What every backend is asked for: the list of backends, and batches whose answers are known. A new backend is one line below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from batchlp_cli.backends.auto.policy import PolicyParameters
from batchlp_cli.backends.auto.together import AutoBackend, LanesFirst
from batchlp_cli.backends.base import Backend
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status, Verdict

INF = np.inf
TOL = SolveSettings().tol

EAGER = PolicyParameters(worth=0.0, least_iterations=0, race_after=0.0, probe_share=1e9, clearly=1e9)
"""Tries lanes on everything and lets both sides work, so that claims come from races, probes and both ends of a queue."""

BACKENDS: dict[str, Callable[[], Backend]] = {
    "highs": lambda: HighsBackend(jobs=2),
    "pdhg": lambda: PdhgBackend(jobs=2),
    "auto": lambda: AutoBackend(jobs=2),
    "lanes first": lambda: LanesFirst(jobs=2),
    "eager auto": lambda: AutoBackend(jobs=2, parameters=EAGER),
}


def solve_all(backend: Backend, batch: LPBatch, settings: SolveSettings | None = None) -> list[Solution]:
    """Returns the claims in the order of the members; fails where a member is missing or comes twice."""
    claims: dict[int, Solution] = {}
    for member, solution in backend.solve(batch, settings or SolveSettings()):
        assert member not in claims, f"member {member} came twice"
        claims[member] = solution
    assert sorted(claims) == list(range(len(batch)))
    return [claims[i] for i in range(len(batch))]


def judge(batch: LPBatch, claims: list[Solution]) -> list[Verdict]:
    """Returns the referee's verdicts; fails with its reason where it refuses a claim."""
    verdicts = verify(batch, claims, TOL)
    for name, claim, verdict in zip(batch.names, claims, verdicts, strict=True):
        assert verdict.verified, f"{name}: {claim.status} refused: {verdict.reason}; {claim.message}"
    return verdicts


def lp_of(name: str, c: object, A: object, rows: tuple[object, object], cols: tuple[object, object]) -> LinearProgram:
    """Returns an LP from lists: rows and cols are (lower, upper)."""
    cost, rl, ru, cl, cu = (np.asarray(v, dtype=np.float64) for v in (c, *rows, *cols))
    matrix = sp.csr_array(np.asarray(A, dtype=np.float64).reshape(rl.size, cost.size))
    return LinearProgram(name, cost, matrix, rl, ru, cl, cu)


def optimal_by_construction(seed: int, m: int = 12, n: int = 18, name: str = "built") -> tuple[LinearProgram, float]:
    """Returns a random LP and its optimal value, both made from a complementary pair x, (y, r)."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((m, n)) < 0.4, rng.integers(-4, 5, (m, n)), 0).astype(np.float64)
    x, y, r = rng.normal(size=n), rng.normal(size=m), rng.normal(size=n)
    y[rng.random(m) < 0.3] = 0.0
    r[rng.random(n) < 0.4] = 0.0
    row_lower, row_upper = _bounds_at(rng, A @ x, y)
    col_lower, col_upper = _bounds_at(rng, x, r)
    c = A.T @ y + r
    return lp_of(name, c, A, (row_lower, row_upper), (col_lower, col_upper)), float(c @ x)


def _bounds_at(rng: np.random.Generator, value: np.ndarray, price: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns bounds with the value at its lower side where the price is positive, at its upper where it is negative."""
    lower, upper = value - rng.uniform(0.5, 2.0, value.size), value + rng.uniform(0.5, 2.0, value.size)
    lower[rng.random(value.size) < 0.2], upper[rng.random(value.size) < 0.2] = -INF, INF
    return np.where(price > 0, value, lower), np.where(price < 0, value, upper)


def scenario_batch(seed: int, members: int) -> LPBatch:
    """Returns random members with one matrix and different costs and bounds; each has a bounded feasible set or none."""
    rng = np.random.default_rng(seed)
    base, _ = optimal_by_construction(seed, name="base")
    base = replace(base, col_lower=np.maximum(base.col_lower, -20.0), col_upper=np.minimum(base.col_upper, 20.0))
    lps = []
    for k in range(members):
        shift = rng.normal(scale=0.3, size=base.m) * (rng.random(base.m) < 0.3)
        cost = base.c + rng.normal(scale=0.3, size=base.n) * (rng.random(base.n) < 0.3)
        moved = replace(base, row_lower=base.row_lower + shift, row_upper=base.row_upper + shift)
        lps.append(replace(moved, name=f"scenario{k}", c=cost, offset=float(k)))
    return LPBatch.of(lps)


def mixed_batch() -> tuple[LPBatch, list[Status]]:
    """Returns members of one matrix that are optimal, infeasible, unbounded and crossing in turn, and what each is."""
    # min c@x, x1 + x2 <= u, x1 - x2 >= l, x in the given box
    base = lp_of("optimal", [-1, -2], [[1, 1], [1, -1]], ([-INF, -2], [4, INF]), ([0, 0], [INF, INF]))
    infeasible = replace(base, name="infeasible", row_upper=np.array([-1.0, INF]))
    unbounded = replace(base, name="unbounded", row_upper=np.array([INF, INF]))
    crossing = replace(base, name="crossing", col_lower=np.array([3.0, 0.0]), col_upper=np.array([2.0, INF]))
    hair = replace(base, name="crossing by a hair", row_lower=np.array([4.0 + 1e-9, -2.0]))
    plus = replace(base, name="lower is +inf", row_lower=np.array([-INF, INF]))
    kinds = [Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED, Status.INFEASIBLE, Status.INFEASIBLE, Status.INFEASIBLE]
    lps = [base, infeasible, unbounded, crossing, hair, plus]
    return LPBatch.of([replace(lp, name=f"{lp.name} {k}") for k in range(3) for lp in lps]), kinds * 3


def hard_lp(seed: int = 5, size: int = 150) -> LinearProgram:
    """Returns an LP that no presolve solves and no solver solves in one iteration: a dense packing problem."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.1, 1.0, (size, size))
    free, full = np.full(size, -INF), np.full(size, INF)
    return lp_of("hard", -rng.uniform(0.5, 1.0, size), A, (free, A.sum(axis=1) / 3), (np.zeros(size), full))
