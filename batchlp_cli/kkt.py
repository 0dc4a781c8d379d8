"""The referee: what a backend claims is measured anew on original data, in float64, a batch at a time.

Sign conventions and the meaning of every vector are in problem.py and solution.py. Nothing a backend computed is trusted:
reduced costs, residuals, objective and bounds are recomputed from x, y and the ray. A contestant may not judge itself, so
backends never import this module. Optimal needs, with b the finite row bounds, p = c @ x and D the dual value (no offset),
    ||Ax - proj(Ax)|| <= tol (1 + ||b||),   |x_j - proj(x_j)| <= tol (1 + |bound_j|),
    ||y and r where they price an infinite bound|| <= tol (1 + ||c||),   |p - D| <= tol (1 + |p| + |D|),
a claimed r within tol (1 + ||c||) of c - A.T @ y, and no bounds that cross.
[D. Applegate et al., Practical large-scale linear programming using primal-dual hybrid gradient, arXiv 2106.04756]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from batchlp_cli.batch import Field, Indices, LPBatch
from batchlp_cli.certificates import Word, check_farkas, check_unbounded, crossing
from batchlp_cli.dual_repair import repaired_bound
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.products import Matrix, Numbers, from_zero
from batchlp_cli.safe_bound import lower_bound
from batchlp_cli.solution import DECIDED, Residuals, Solution, Status, Verdict
from batchlp_cli.status import no_verdict

SLICE_BYTES = 16 << 20
"""Dense arrays of a slice of members stay near this: memory is bounded, and smaller arrays stay in cache."""

ARRAYS = 16
"""Dense arrays of one member that are alive at once, roughly."""

NEEDED = {Status.OPTIMAL: ("x", "y"), Status.UNBOUNDED: ("x", "ray"), Status.INFEASIBLE: ("ray",)}


def verify(batch: LPBatch, solutions: Sequence[Solution], tol: float, matrix: Matrix | None = None) -> list[Verdict]:
    """Returns the referee's word on each member's solution, in order. tol: relative tolerance.

    matrix: what was made of the base's A for an earlier call, so that members that come in small lists share it.

    A claim that cannot be checked (no vectors, wrong lengths, NaN) is refused in words, never an exception.
    Raises ValueError where the number of solutions is not that of the members, or the matrix is not that of the base.
    """
    if len(solutions) != len(batch):
        raise ValueError(f"{len(solutions)} solutions for a batch of {len(batch)} members")
    if matrix is not None and not matrix.rows.shares(batch.base.rows):
        raise ValueError("the matrix given is not that of the batch's base")
    verdicts: list[Verdict] = []
    for part, numbers, offset in _slices(batch, matrix or Matrix(batch.base.rows, len(batch))):
        verdicts += _verify_slice(numbers, offset, solutions[len(verdicts) : len(verdicts) + len(part)], tol)
    return verdicts


def dual_bound(batch: LPBatch, Y: Vector) -> Vector:
    """Returns the rigorous lower bound [B], with offset, that Y [B, m] gives each member; -inf where it gives none.

    Raises ValueError where Y has another shape.
    """
    expected = (len(batch), batch.base.m)
    if np.shape(Y) != expected:
        raise ValueError(f"the row duals have shape {np.shape(Y)}, expected {expected}")
    bounds = np.full(len(batch), -np.inf)
    done = 0
    for part, numbers, offset in _slices(batch, Matrix(batch.base.rows, len(batch))):
        here = slice(done, done + len(part))
        bounds[here] = lower_bound(numbers, np.asarray(Y[here], dtype=np.float64), offset)
        done += len(part)
    return bounds


def _slices(batch: LPBatch, matrix: Matrix) -> Iterator[tuple[LPBatch, Numbers, Vector]]:
    """Yields pieces of the batch in order, with their numbers and their offsets [B]."""
    width = max(1, SLICE_BYTES // (8 * ARRAYS * max(1, batch.base.m + batch.base.n)))
    for start in range(0, len(batch), width):
        part = batch if len(batch) <= width else batch.take(range(start, min(start + width, len(batch))))
        fields = (Field.COST, Field.ROW_LOWER, Field.ROW_UPPER, Field.COL_LOWER, Field.COL_UPPER)
        yield part, Numbers(matrix, *(_values(part, code) for code in fields)), part.dense(Field.OFFSET)[:, 0]


def _values(batch: LPBatch, code: Field) -> Vector:
    if (batch.changes.field == code).any():
        return batch.dense(code)
    shared: Vector = getattr(batch.base, code.attribute)[None, :]
    return shared


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Residuals of a slice, arrays [B]; NaN where a member has no finite vectors to measure.

    objective: with offset. bound: the safe bound, with offset. wrong_r: largest difference of the claimed r, relative.
    own_rel: largest violation of a row relative to that row's own bound; worst_row: [B] int, the row.
    """

    residuals: Vector
    objective: Vector
    bound: Vector
    wrong_r: Vector
    own_rel: Vector
    worst_row: Indices


def _verify_slice(numbers: Numbers, offset: Vector, solutions: Sequence[Solution], tol: float) -> list[Verdict]:
    m, n = numbers.matrix.rows.shape
    points = _Points.of(solutions, m, n)
    measures = _measure(numbers, offset, points)
    crossed = crossing(numbers, len(solutions))
    faults = ["" if fine else _fault(s, m, n) for s, fine in zip(solutions, points.in_form(solutions), strict=True)]
    sound = [k for k, s in enumerate(solutions) if not faults[k] and not crossed[k]]
    infeasible = [k for k in sound if solutions[k].status is Status.INFEASIBLE]
    unbounded = [k for k in sound if solutions[k].status is Status.UNBOUNDED]
    rays = {word[0]: word for word in check_farkas(numbers, solutions, infeasible, tol)}
    rays |= {word[0]: word for word in check_unbounded(numbers, solutions, unbounded, tol)}
    proved = _all_within(measures, tol)
    residuals = measures.residuals.T.tolist()
    objectives, bounds = measures.objective.tolist(), measures.bound.tolist()
    verdicts = []
    for k, solution in enumerate(solutions):
        is_optimal = solution.status is Status.OPTIMAL
        if is_optimal and proved[k] and not faults[k] and not crossed[k]:
            verdicts.append(Verdict(True, objectives[k], bounds[k], Residuals(*residuals[k])))
            continue
        reason, notes = _judge(solution, faults[k], crossed[k], rays.get(k))
        if not reason and k not in rays and not crossed[k]:
            reason, notes = _why_not_optimal(measures, k, tol), _row_notes(measures, k, tol)
        elif not reason and solution.status is Status.UNBOUNDED:
            reason, notes = _why_not_feasible(measures, k, tol), (*notes, *_row_notes(measures, k, tol))
        objective = objectives[k] if is_optimal and not reason else None
        verdict = Verdict(not reason, objective, bounds[k], Residuals(*residuals[k]), reason, () if reason else notes)
        verdicts.append(verdict)
    return list(_with_repaired_bounds(numbers, offset, points, solutions, verdicts))


def _with_repaired_bounds(
    numbers: Numbers, offset: Vector, points: _Points, solutions: Sequence[Solution], verdicts: Sequence[Verdict]
) -> Iterator[Verdict]:
    """Yields the verdicts; those on an optimum, or a bound, whose y gives no bound have that of a y that was moved."""
    for k, (solution, verdict) in enumerate(zip(solutions, verdicts, strict=True)):
        wanted = (solution.status is Status.OPTIMAL and verdict.verified) or solution.status is Status.CUTOFF
        if wanted and points.has_y[k] and verdict.dual_bound == -np.inf:
            bound = repaired_bound(numbers.take([k]), points.y[k : k + 1], offset[k : k + 1])
            verdict = replace(verdict, dual_bound=bound)
        yield verdict


def _all_within(measures: Measures, tol: float) -> list[bool]:
    """Returns for each member whether every test of `_why_not_optimal` passes and there is nothing to note."""
    r = measures.residuals
    tested = np.stack([r[1], r[3], r[5], measures.wrong_r])
    fine = (np.isfinite(tested) & (tested <= tol)).all(axis=0) & np.isfinite(measures.objective)
    passes: list[bool] = (fine & ~(measures.own_rel > np.sqrt(tol))).tolist()
    return passes


def _judge(solution: Solution, fault: str, crossed: str, ray: Word | None) -> tuple[str, tuple[str, ...]]:
    """Returns why a claim is refused before its points are looked at (empty where it is not), and notes."""
    if solution.status not in DECIDED:
        return no_verdict(solution.status), ()
    if crossed:
        return ("", (crossed,)) if solution.status is Status.INFEASIBLE else (f"{solution.status} was claimed, but {crossed}", ())
    if fault:
        return fault, ()
    return ("", ()) if ray is None else ray[1:]


def _fault(solution: Solution, m: int, n: int) -> str:
    """Returns what is wrong with the form of a claim's vectors, empty where they can be measured."""
    needed = NEEDED.get(solution.status, ())
    sizes = {"x": n, "y": m, "r": n, "ray": m if solution.status is Status.INFEASIBLE else n}
    for name, size in sizes.items():
        vector: Vector | None = getattr(solution, name)
        if name == "ray" and "ray" not in needed:
            continue
        if vector is None:
            if name in needed:
                return f"{solution.status} was claimed without {name}"
        elif np.shape(vector) != (size,):
            return f"{name} has shape {np.shape(vector)}, expected ({size},)"
        elif not np.isfinite(vector).all():
            return f"{name} holds a NaN or an infinity"
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """The vectors of claims as rows, x [B, n], y [B, m], r [B, n], and which of them are usable [B]; the others are rows of 0."""

    x: Vector
    y: Vector
    r: Vector
    has_x: Mask
    has_y: Mask
    has_r: Mask

    @staticmethod
    def of(solutions: Sequence[Solution], m: int, n: int) -> _Points:
        """Returns what the claims hold."""
        (x, has_x), (y, has_y) = _stack([s.x for s in solutions], n), _stack([s.y for s in solutions], m)
        r, has_r = _stack([s.r for s in solutions], n)
        return _Points(x, y, r, has_x, has_y, has_r)

    def in_form(self, solutions: Sequence[Solution]) -> list[bool]:
        """Tells which claims are optimal ones with nothing wrong in the form of their vectors; of the others it says nothing."""
        whole = (self.has_x & self.has_y & self.has_r).tolist()
        return [fine and s.status is Status.OPTIMAL for s, fine in zip(solutions, whole, strict=True)]


def _stack(vectors: Sequence[Vector | None], size: int) -> tuple[Vector, Mask]:
    """Returns the vectors as rows [B, size], and which are usable; missing, of wrong length or not finite are rows of 0."""
    if all(vector is not None and np.shape(vector) == (size,) for vector in vectors):
        whole = np.array(vectors, dtype=np.float64).reshape(len(vectors), size)
        # a NaN becomes both the least and the largest
        ends = whole.min(axis=1, initial=0.0), whole.max(axis=1, initial=0.0)
        finite: Mask = np.asarray(np.isfinite(ends).all(axis=0), dtype=np.bool_)
        whole[~finite] = 0.0
        return whole, finite
    rows, usable = np.zeros((len(vectors), size)), np.zeros(len(vectors), dtype=np.bool_)
    for k, vector in enumerate(vectors):
        if vector is not None and np.shape(vector) == (size,) and np.isfinite(vector).all():
            rows[k], usable[k] = vector, True
    return rows, usable


def _measure(numbers: Numbers, offset: Vector, points: _Points) -> Measures:
    """Returns residuals, objective and safe bound of every member from its claimed x, y and r."""
    x, y = points.x, points.y
    with np.errstate(over="ignore", invalid="ignore"):
        p = (numbers.cost * x).sum(axis=1)
        primal_abs, primal_rel, own_rel, worst_row = _primal(numbers, x)
        r = numbers.cost - numbers.matrix.transposed_times(y)
        dual_abs, D = _dual(numbers, y, r)
        scale = 1 + _norm(numbers.cost)
        gap = np.abs(p - D)
        gap_rel = _ratio(gap, 1 + np.abs(p) + np.abs(D))
        away = points.r - r
        wrong_r = np.where(points.has_r, _ratio(np.abs(away, out=away).max(axis=1, initial=0.0), scale), 0.0)
        objective = p + offset
    columns = [primal_abs, primal_rel, dual_abs, _ratio(dual_abs, scale), gap, gap_rel]
    has_x, has_y = points.has_x, points.has_y
    there = np.stack([has_x, has_x, has_y, has_y, has_x & has_y, has_x & has_y])
    residuals = np.where(there, np.stack(columns), np.nan)
    bound = np.where(has_y, lower_bound(numbers, y, offset, r), -np.inf)
    return Measures(residuals, objective, bound, wrong_r, own_rel, worst_row)


def _primal(numbers: Numbers, x: Vector) -> tuple[Vector, Vector, Vector, Indices]:
    """Returns the absolute and the relative primal residual, and the worst row relative to its own bound, with its index."""
    lc, uc, lv, uv = numbers.row_lower, numbers.row_upper, numbers.col_lower, numbers.col_upper
    activity = numbers.matrix.times(x)
    rows = np.maximum(np.maximum(lc - activity, activity - uc), 0.0)  # maximum hands a NaN on
    b = np.maximum(_finite_size(lc), _finite_size(uc))
    row_norm = _norm(rows)
    relative = _ratio(row_norm, 1 + _norm(b))
    col_norm: Vector = np.zeros(len(x))
    if not ((x >= lv).all() and (x <= uv).all()):  # a vertex seldom leaves its box at all
        cols = np.maximum(np.maximum(lv - x, x - uv), 0.0)
        nearest = np.where(x < lv, _finite_size(lv), _finite_size(uv))
        relative = np.maximum(relative, (cols / (1 + nearest)).max(axis=1, initial=0.0))
        col_norm = _norm(cols)
    own: Vector = rows / (1 + b)
    worst = own.argmax(axis=1).astype(np.int64) if own.shape[1] else np.zeros(len(own), dtype=np.int64)
    return np.hypot(row_norm, col_norm), relative, own.max(axis=1, initial=0.0), worst


def _dual(numbers: Numbers, y: Vector, r: Vector) -> tuple[Vector, Vector]:
    """Returns the absolute dual residual and the dual value D; what prices an infinite bound is in the one, not the other."""
    rows, loose_y = _price(y, numbers.row_lower, numbers.row_upper)
    cols, loose_r = _price(r, numbers.col_lower, numbers.col_upper)
    return np.hypot(_norm(loose_y), _norm(loose_r)), rows + cols


def _price(price: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Returns sum over (price > 0 ? price * lower : price * upper) where that side is finite, and the other prices."""
    told = np.flatnonzero(~from_zero(lower, upper))
    if 2 * told.size >= price.shape[1]:
        return _price_boxes(price, lower, upper)
    loose = np.minimum(price, 0.0)
    if not told.size:
        return np.zeros(len(price)), loose
    value, loose[:, told] = _price_boxes(price[:, told], lower[:, told], upper[:, told])
    return value, loose


def _price_boxes(price: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    side = np.where(price > 0, lower, upper)
    infinite = np.isinf(side)
    terms = price * np.where(infinite, 0.0, side)
    return terms.sum(axis=1), np.where(infinite, price, 0.0)


def _why_not_optimal(measures: Measures, k: int, tol: float) -> str:
    """Returns the first test that member k fails, empty where it is optimal within tol."""
    tests = (
        ("relative primal residual", measures.residuals[1, k]),
        ("relative dual residual", measures.residuals[3, k]),
        ("relative duality gap", measures.residuals[5, k]),
        ("reduced costs do not match c - A.T @ y: relative difference", measures.wrong_r[k]),
    )
    for name, value in tests:
        if not np.isfinite(value):  # finite first: a comparison with NaN decides nothing
            return f"{name} is {value}, expected a finite number"
        if value > tol:
            return f"{name} {value:.3g} above {tol:g}"
    return "" if np.isfinite(measures.objective[k]) else f"the objective is {measures.objective[k]}, expected a finite number"


def _why_not_feasible(measures: Measures, k: int, tol: float) -> str:
    """Returns why the point of an unbounded claim is not feasible, empty where it is."""
    value = float(measures.residuals[1, k])
    return "" if value <= tol else f"the point is not feasible: relative primal residual {value:.3g} above {tol:g}"


def _row_notes(measures: Measures, k: int, tol: float) -> tuple[str, ...]:
    """Returns a note where a row is far off by its own measure and passes only because other rows have large bounds."""
    off = float(measures.own_rel[k])
    if not off > np.sqrt(tol):
        return ()
    row = int(measures.worst_row[k]) + 1
    return (f"row {row} is off by {off:.3g} relative to its own bound; it passes beside the largest row bounds",)


def _finite_size(values: Vector) -> Vector:
    """Returns |values| with 0 for infinities."""
    return np.where(np.isfinite(values), np.abs(values), 0.0)


def _norm(values: Vector) -> Vector:
    """Returns the Euclidean norm of each row: [B, size] -> [B], also where the squares overflow."""
    norm: Vector = np.sqrt(np.einsum("bj,bj->b", values, values))
    large = ~np.isfinite(norm)
    if large.any():
        size = np.abs(values[large]).max(axis=1, initial=0.0)
        norm[large] = size * np.linalg.norm(values[large] / size[:, None], axis=1)
    return norm


def _ratio(value: Vector, scale: Vector) -> Vector:
    """Returns value / scale; NaN where the scale has overflowed, which would make anything small."""
    return np.where(np.isfinite(scale), value / scale, np.nan)
