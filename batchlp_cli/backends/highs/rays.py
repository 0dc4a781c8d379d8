"""Rays: which vector proves that an LP is infeasible or unbounded, and LPs that find one where the solver brought none.

The tests here only tell a backend whether to look further; whether a proof holds is the referee's word, never a backend's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from batchlp_cli.backends.highs.engine import Effort, Engine, ModelStatus, Refused
from batchlp_cli.problem import LinearProgram, Mask, Vector

NEGLIGIBLE = 1e-9  # relative to the sum of the absolute terms, for rays of largest entry 1: what is smaller may be rounding
_TOLERANCE = 1e-9  # feasibility tolerance of the auxiliary LPs; HiGHS takes 1e-10 and more


@dataclass(frozen=True, slots=True, eq=False)
class Auxiliary:
    """What an auxiliary LP ended with: HiGHS' status and its x, y (None where it has none)."""

    status: ModelStatus
    x: Vector | None
    y: Vector | None

    @property
    def optimal(self) -> bool:
        """True where x and y are an optimal point."""
        return self.status == ModelStatus.kOptimal


def solve_auxiliary(lp: LinearProgram, deadline: float) -> Auxiliary:
    """Solves a small question beside the member in a model of its own, until `deadline` (time.perf_counter() seconds)."""
    engine = Engine()
    try:
        engine.tell(lp)
    except Refused:
        return Auxiliary(ModelStatus.kModelError, None, None)
    status = engine.run(Effort(presolve=False, tolerance=_TOLERANCE, seconds=deadline - time.perf_counter()))
    x, y, _ = engine.vectors()
    return Auxiliary(status, x, y)


def proven_farkas(lp: LinearProgram, ray: Vector | None) -> Vector | None:
    """Returns the ray, its sign and scale put right, if it proves infeasibility; else None."""
    if ray is None or not np.isfinite(ray).all() or not ray.any():
        return None
    scaled = ray / np.abs(ray).max()
    for y in (scaled, -scaled):
        cleaned = _without_noise(lp, y)
        if _farkas_bound(lp, cleaned) > 0:
            return cleaned
    return None


def _without_noise(lp: LinearProgram, y: Vector) -> Vector:
    """Returns y with 0 where a negligible entry prices a side that is infinite."""
    priced = np.where(y > 0, lp.row_lower, lp.row_upper)
    return np.where(np.isinf(priced) & (np.abs(y) <= NEGLIGIBLE), 0.0, y)


def _farkas_bound(lp: LinearProgram, y: Vector) -> float:
    """Returns the dual bound of y [m], |y| <= 1, without costs, less what may be rounding; -inf if it prices an infinite one."""
    # r = -A'y;  D(y) = sum_i (y_i>0 ? y_i*lc_i : y_i*uc_i) + sum_j (r_j>0 ? r_j*lv_j : r_j*uv_j)
    r = -lp.rows.transposed_times(y)
    r[np.abs(r) <= NEGLIGIBLE * lp.rows.transposed_times(np.ones(lp.m), absolute=True)] = 0.0
    terms = np.concatenate([_priced(y, lp.row_lower, lp.row_upper), _priced(r, lp.col_lower, lp.col_upper)])
    if not np.isfinite(terms).all():
        return -np.inf
    return float(terms.sum() - NEGLIGIBLE * np.abs(terms).sum())


def _priced(price: Vector, lower: Vector, upper: Vector) -> Vector:
    side = np.where(price > 0, lower, upper)
    return np.multiply(price, side, out=np.zeros_like(price), where=price != 0)


def construct_farkas(lp: LinearProgram, deadline: float) -> Vector | None:
    """Returns row duals that prove infeasibility, from the elastic LP, or None where it finds the rows can be met."""
    import scipy.sparse as sp  # late, since hardly any LP comes to this

    # min sum(s) + sum(t)  s.t.  lc <= A x + s - t <= uc,  lv <= x <= uv,  s, t >= 0: y in [-1, 1], D(y) = the optimal value
    below, above = np.isfinite(lp.row_lower), np.isfinite(lp.row_upper)
    identity = sp.eye_array(lp.m, format="csc")
    A = sp.csr_array(sp.hstack([lp.A, identity[:, below], -identity[:, above]]))
    slacks = int(below.sum() + above.sum())
    elastic = LinearProgram(
        f"{lp.name} (elastic)",
        np.concatenate([np.zeros(lp.n), np.ones(slacks)]),
        A,
        lp.row_lower,
        lp.row_upper,
        np.concatenate([lp.col_lower, np.zeros(slacks)]),
        np.concatenate([lp.col_upper, np.full(slacks, np.inf)]),
    )
    answer = solve_auxiliary(elastic, deadline)
    return proven_farkas(lp, answer.y) if answer.optimal else None


def proven_direction(lp: LinearProgram, ray: Vector | None) -> Vector | None:
    """Returns the ray [n], scaled, if along it the cost falls for ever and no row or bound is left; else None."""
    if ray is None or not np.isfinite(ray).all() or not ray.any():
        return None
    d = ray / np.abs(ray).max()
    lower, upper = recession_cone(lp.col_lower, lp.col_upper)
    inside = np.clip(d, lower, upper)
    if np.abs(inside - d).max() > NEGLIGIBLE:
        return None
    move = lp.rows.times(inside)
    lower, upper = recession_cone(lp.row_lower, lp.row_upper)
    leaves = np.abs(move - np.clip(move, lower, upper)) > NEGLIGIBLE * lp.rows.times(np.ones(lp.n), absolute=True)
    falls = lp.c @ inside < -NEGLIGIBLE * (np.abs(lp.c) @ np.abs(inside))
    return inside if falls and not leaves.any() else None


def recession_cone(lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Returns the bounds of the directions along which [lower, upper] is never left: 0 where a side is finite."""
    below: Mask = np.isfinite(lower)
    above: Mask = np.isfinite(upper)
    return np.where(below, 0.0, -np.inf), np.where(above, 0.0, np.inf)


def construct_direction(lp: LinearProgram, deadline: float) -> Vector | None:
    """Returns a direction of unboundedness from the box LP, or None where there is none."""
    # min c'd  s.t.  A d in the recession cone of the rows,  d in that of the bounds,  -1 <= d <= 1
    row_lower, row_upper = recession_cone(lp.row_lower, lp.row_upper)
    col_lower, col_upper = recession_cone(lp.col_lower, lp.col_upper)
    box = replace(
        lp,
        A=lp.rows.as_scipy_later(),
        row_lower=row_lower,
        row_upper=row_upper,
        col_lower=np.maximum(col_lower, -1.0),
        col_upper=np.minimum(col_upper, 1.0),
    )
    answer = solve_auxiliary(box, deadline)
    return proven_direction(lp, answer.x) if answer.optimal else None


def feasible_point(lp: LinearProgram, deadline: float) -> Auxiliary:
    """Solves the LP without its costs: optimal brings a feasible x, infeasible means that there is none."""
    return solve_auxiliary(replace(lp, A=lp.rows.as_scipy_later(), c=np.zeros(lp.n)), deadline)
