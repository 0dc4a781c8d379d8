"""The referee: what a backend claims is measured anew on original data, in float64, a batch at a time.

Sign conventions and the meaning of every vector are in problem.py and solution.py. Nothing a backend computed is trusted:
reduced costs, residuals, objective and bounds are recomputed from x, y and the ray. A contestant may not judge itself, so
backends never import this module. Optimal needs, with b the finite row bounds, p = c @ x and D the dual value (no offset),
    ||Ax - proj(Ax)|| <= tol (1 + ||b||),   |x_j - proj(x_j)| <= tol (1 + |bound_j|),
    ||y and r where they price an infinite bound|| <= tol (1 + ||c||),   |p - D| <= tol (1 + |p| + |D|).
[D. Applegate et al., Practical large-scale linear programming using PDHG, arXiv 2106.04756, section 2.1]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from batchlp_cli.batch import Field, LPBatch
from batchlp_cli.certificates import check_farkas, check_unbounded, crossing
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.safe_bound import Numbers, lower_bound, times
from batchlp_cli.solution import DECIDED, Residuals, Solution, Status, Verdict

SLICE_BYTES = 64 << 20
"""Dense arrays of a slice of members stay below this, so that a batch of any size needs bounded memory."""

ARRAYS = 16
"""Dense arrays of one member that are alive at once, roughly."""

NO_NOTES: tuple[str, ...] = ()


def verify(batch: LPBatch, solutions: Sequence[Solution], tol: float) -> list[Verdict]:
    """Returns the referee's word on each member's solution, in order. tol: relative tolerance.

    A claim that cannot be checked (no vectors, wrong lengths, NaN) is refused in words, never an exception.
    """
    if len(solutions) != len(batch):
        raise ValueError(f"{len(solutions)} solutions for a batch of {len(batch)} members")
    m, n = batch.base.A.shape
    width = max(1, SLICE_BYTES // (8 * ARRAYS * max(1, m + n)))
    verdicts: list[Verdict] = []
    for start in range(0, len(batch), width):
        members = range(start, min(start + width, len(batch)))
        verdicts += _verify_slice(batch.take(members), solutions[start : start + width], tol)
    return verdicts


def numbers_of(batch: LPBatch) -> tuple[Numbers, Vector]:
    """Returns the numbers of all members, one row for what they share, and their offsets [B]."""
    values = [_values(batch, code) for code in (Field.COST, Field.ROW_LOWER, Field.ROW_UPPER, Field.COL_LOWER, Field.COL_UPPER)]
    return Numbers(batch.base.A, *values), batch.dense(Field.OFFSET)[:, 0]


def _values(batch: LPBatch, code: Field) -> Vector:
    if (batch.changes.field == code).any():
        return batch.dense(code)
    shared: Vector = getattr(batch.base, code.attribute)[None, :]
    return shared


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Residuals of a slice, arrays [B]; NaN where a member has no finite vectors to measure."""

    primal_abs: Vector
    primal_rel: Vector
    dual_abs: Vector
    dual_rel: Vector
    gap_abs: Vector
    gap_rel: Vector
    objective: Vector
    bound: Vector
    wrong_r: Vector

    def residuals(self, k: int) -> Residuals:
        """Returns the residuals of member k."""
        names = ("primal_abs", "primal_rel", "dual_abs", "dual_rel", "gap_abs", "gap_rel")
        return Residuals(*(float(getattr(self, name)[k]) for name in names))


def _verify_slice(batch: LPBatch, solutions: Sequence[Solution], tol: float) -> list[Verdict]:
    m, n = batch.base.A.shape
    numbers, offset = numbers_of(batch)
    faults = [_fault(s, m, n) for s in solutions]
    X = _stack([s.x for s in solutions], n)
    Y = _stack([s.y for s in solutions], m)
    measures = measure(numbers, offset, X, Y, _stack([s.r for s in solutions], n))
    crossed = crossing(numbers, len(batch))
    farkas = [k for k, s in enumerate(solutions) if s.status is Status.INFEASIBLE and not faults[k] and not crossed[k]]
    endless = [k for k, s in enumerate(solutions) if s.status is Status.UNBOUNDED and not faults[k]]
    rays = {k: (reason, notes) for k, reason, notes in check_farkas(numbers, solutions, farkas, tol)}
    rays |= {k: (reason, notes) for k, reason, notes in check_unbounded(numbers, solutions, endless, tol)}
    verdicts = []
    for k, solution in enumerate(solutions):
        reason, notes = faults[k], NO_NOTES
        if solution.status not in DECIDED:
            reason = reason or f"{solution.status} is no verdict"
        elif solution.status is Status.INFEASIBLE and crossed[k]:
            reason, notes = "", (crossed[k],)
        elif not reason and solution.status is Status.OPTIMAL:
            reason = _why_not_optimal(measures, k, tol, solution.r is not None)
        elif not reason:
            reason, notes = rays[k]
            if solution.status is Status.UNBOUNDED:
                reason = reason or _why_not_feasible(measures, k, tol)
        proved = solution.status is Status.OPTIMAL and not reason
        objective = float(measures.objective[k]) if proved else None
        verdicts.append(Verdict(not reason, objective, float(measures.bound[k]), measures.residuals(k), reason, notes))
    return verdicts


def _fault(solution: Solution, m: int, n: int) -> str:
    """Returns what is wrong with the form of a decided claim's vectors, empty where it can be measured."""
    needed = {
        Status.OPTIMAL: (("x", n), ("y", m)),
        Status.UNBOUNDED: (("x", n), ("ray", n)),
        Status.INFEASIBLE: (("ray", m),),
    }
    wanted = dict(needed.get(solution.status, ()))
    for name in ("x", "y", "r", "ray"):
        vector: Vector | None = getattr(solution, name)
        length = wanted.get(name, {"x": n, "y": m, "r": n}.get(name, len(vector) if vector is not None else 0))
        if vector is None:
            if name in wanted:
                return f"{solution.status} was claimed without {name}"
        elif np.shape(vector) != (length,):
            return f"{name} has shape {np.shape(vector)}, expected ({length},)"
        elif not np.isfinite(vector).all():
            return f"{name} holds a NaN or an infinity"
    return ""


def _stack(vectors: Sequence[Vector | None], size: int) -> Vector:
    """Returns the vectors as rows [B, size], NaN for those that are missing, of wrong length or not finite."""
    rows = np.full((len(vectors), size), np.nan)
    for k, vector in enumerate(vectors):
        if vector is not None and np.shape(vector) == (size,) and np.isfinite(vector).all():
            rows[k] = vector
    return rows


def measure(numbers: Numbers, offset: Vector, X: Vector, Y: Vector, claimed: Vector) -> Measures:
    """Returns residuals, objective and safe bound of every member from X [B, n], Y [B, m] and the claimed R [B, n]."""
    has_x, has_y = _complete(X), _complete(Y)
    x, y = np.where(has_x[:, None], X, 0.0), np.where(has_y[:, None], Y, 0.0)
    lc, uc, lv, uv, c = numbers.row_lower, numbers.row_upper, numbers.col_lower, numbers.col_upper, numbers.cost
    with np.errstate(over="ignore", invalid="ignore"):
        activity = times(numbers.A, x)
        rows = np.maximum(np.maximum(lc - activity, activity - uc), 0.0)
        cols = np.maximum(np.maximum(lv - x, x - uv), 0.0)
        b = np.maximum(_finite(np.abs(lc)), _finite(np.abs(uc)))
        nearest = np.where(x < lv, _finite(np.abs(lv)), _finite(np.abs(uv)))
        row_norm = _norm(rows)
        primal_rel = np.maximum(row_norm / (1 + _norm(b)), (cols / (1 + nearest)).max(axis=1, initial=0.0))
        primal_abs = np.hypot(row_norm, _norm(cols))
        r = c - times(numbers.A.T.tocsr(), y)
        low_r, low_y = np.isneginf(lv), np.isneginf(lc)
        loose_r = ((r > 0) & low_r) | ((r < 0) & np.isposinf(uv))
        loose_y = ((y > 0) & low_y) | ((y < 0) & np.isposinf(uc))
        dual_abs = np.hypot(_norm(np.where(loose_r, r, 0.0)), _norm(np.where(loose_y, y, 0.0)))
        scale = 1 + _norm(c)
        p = (c * x).sum(axis=1)
        D = _priced(y, lc, uc, loose_y) + _priced(r, lv, uv, loose_r)
        gap = np.abs(p - D)
        wrong = np.where(np.isnan(claimed), 0.0, np.abs(claimed - r)).max(axis=1, initial=0.0) / scale
        bound = np.where(has_y, lower_bound(numbers, y, offset), -np.inf)
    both = has_x & has_y
    bound = np.where(np.isnan(bound), -np.inf, bound)
    return Measures(
        primal_abs=_where(has_x, primal_abs),
        primal_rel=_where(has_x, primal_rel),
        dual_abs=_where(has_y, dual_abs),
        dual_rel=_where(has_y, dual_abs / scale),
        gap_abs=_where(both, gap),
        gap_rel=_where(both, gap / (1 + np.abs(p) + np.abs(D))),
        objective=_where(has_x, p + offset),
        bound=bound,
        wrong_r=wrong,
    )


def _why_not_optimal(measures: Measures, k: int, tol: float, has_r: bool) -> str:
    """Returns the first test that member k fails, empty where it is optimal within tol."""
    tests = (
        ("relative primal residual", measures.primal_rel[k]),
        ("relative dual residual", measures.dual_rel[k]),
        ("relative duality gap", measures.gap_rel[k]),
        ("reduced costs do not match c - A.T @ y: relative difference", measures.wrong_r[k] if has_r else 0.0),
    )
    for name, value in tests:
        if not np.isfinite(value):  # finite first: a comparison with NaN decides nothing
            return f"{name} is {value}"
        if value > tol:
            return f"{name} {value:.3g} above {tol:g}"
    return "" if np.isfinite(measures.objective[k]) else f"the objective is {measures.objective[k]}"


def _complete(rows: Vector) -> Mask:
    """Tells for each row whether it is free of NaN: [B, size] -> [B]."""
    return np.asarray(np.isfinite(rows).all(axis=1), dtype=np.bool_)


def _why_not_feasible(measures: Measures, k: int, tol: float) -> str:
    """Returns why the point of an unbounded claim is not feasible, empty where it is."""
    value = float(measures.primal_rel[k])
    return "" if value <= tol else f"the point is not feasible: relative primal residual {value:.3g} above {tol:g}"


def _priced(price: Vector, lower: Vector, upper: Vector, loose: Mask) -> Vector:
    """Returns sum over (price > 0 ? price * lower : price * upper), leaving out what prices an infinite bound."""
    side = np.where(price > 0, lower, upper)
    dropped = loose | (price == 0)
    terms = np.where(dropped, 0.0, price * np.where(dropped, 0.0, side))
    return np.asarray(terms.sum(axis=1))


def _finite(values: Vector) -> Vector:
    return np.where(np.isfinite(values), values, 0.0)


def _norm(values: Vector) -> Vector:
    return np.asarray(np.linalg.norm(values, axis=1))


def _where(there: Mask, values: Vector) -> Vector:
    return np.where(there, values, np.nan)


def dual_bound(batch: LPBatch, Y: Vector) -> Vector:
    """Returns the rigorous lower bound [B], with offset, that Y [B, m] gives each member; -inf where it gives none."""
    numbers, offset = numbers_of(batch)
    return lower_bound(numbers, Y, offset)
