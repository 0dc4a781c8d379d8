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
from batchlp_cli.certificates import Word, check_farkas, check_unbounded, crosses, crossing
from batchlp_cli.dual_repair import repaired_bound
from batchlp_cli.measures import FewColumns, Measures, Points, measure
from batchlp_cli.optima import Optima
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.products import Matrix, Numbers
from batchlp_cli.safe_bound import lower_bound
from batchlp_cli.solution import DECIDED, Residuals, Solution, Status, Verdict
from batchlp_cli.status import no_verdict

SLICE_BYTES = 16 << 20
"""Dense arrays of a slice of members stay near this: memory is bounded, and smaller arrays stay in cache."""

ARRAYS = 16
"""Dense arrays of one member that are alive at once, roughly."""

FEW_ARRAYS = 3
"""Those of one member of which only the reduced costs that matter are looked at."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Proofs:
    """The referee's word on optima as arrays. proved: [s] bool, which are optimal, with a bound and nothing to note.

    Of those, objective: [s], with offset; dual_bound: [s], rigorous; residuals: [s, 6], in the order of `Residuals`. The rest
    needs the words of `verify`.
    """

    proved: Mask
    objective: Vector
    dual_bound: Vector
    residuals: Vector

    def take(self, which: Indices) -> Proofs:
        """Returns the word on some of them."""
        return Proofs(self.proved[which], self.objective[which], self.dual_bound[which], self.residuals[which])

    def verdicts(self) -> list[Verdict]:
        """Returns the word on each, all of which are proved."""
        each = zip(self.objective.tolist(), self.dual_bound.tolist(), self.residuals.tolist(), strict=True)
        return [Verdict(True, objective, bound, Residuals(*residuals)) for objective, bound, residuals in each]


def prove(batch: LPBatch, optima: Optima, tol: float, matrix: Matrix | None = None) -> Proofs:
    """Returns the referee's word on optima of members of a batch; tol and matrix as in `verify`."""
    done, none = 0, np.zeros(0)
    parts: list[tuple[Mask, Vector, Vector, Vector]] = [(np.zeros(0, dtype=np.bool_), none, none, np.zeros((0, 6)))]
    matrix = matrix or Matrix(batch.base.rows, len(optima))
    few = FewColumns(optima, matrix) if optima.used is not None and matrix.needs_scipy else None
    for part, numbers, offset in _slices(batch.take(optima.members), matrix, FEW_ARRAYS):
        here = slice(done, done + len(part))
        fit = few is not None and few.fit(numbers)
        x = optima.values[here].copy() if fit else optima.x(here)
        points = Points.of_optima(x, optima.y[here].copy(), few if fit else None)
        measures = measure(numbers, offset, points)
        proved = points.has_x & points.has_y & _all_within(measures, tol) & ~crosses(numbers, len(part))
        proved &= ~np.isneginf(measures.bound)  # `verify` moves such a y
        parts.append((proved, measures.objective, measures.bound, measures.residuals.T))
        done += len(part)
    return Proofs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


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


def _slices(batch: LPBatch, matrix: Matrix, arrays: int = ARRAYS) -> Iterator[tuple[LPBatch, Numbers, Vector]]:
    """Yields pieces of the batch in order, with their numbers and their offsets [B]."""
    width = max(1, SLICE_BYTES // (8 * arrays * max(1, batch.base.m + batch.base.n)))
    for start in range(0, len(batch), width):
        part = batch if len(batch) <= width else batch.take(range(start, min(start + width, len(batch))))
        fields = (Field.COST, Field.ROW_LOWER, Field.ROW_UPPER, Field.COL_LOWER, Field.COL_UPPER)
        yield part, Numbers(matrix, *(_values(part, code) for code in fields)), part.dense(Field.OFFSET)[:, 0]


def _values(batch: LPBatch, code: Field) -> Vector:
    if (batch.changes.field == code).any():
        return batch.dense(code)
    shared: Vector = getattr(batch.base, code.attribute)[None, :]
    return shared


def _verify_slice(numbers: Numbers, offset: Vector, solutions: Sequence[Solution], tol: float) -> list[Verdict]:
    m, n = numbers.matrix.rows.shape
    points = Points.of(solutions, m, n)
    measures = measure(numbers, offset, points)
    crossed = crossing(numbers, len(solutions))
    faults = ["" if fine else _fault(s, m, n) for s, fine in zip(solutions, points.in_form(solutions), strict=True)]
    sound = [k for k, s in enumerate(solutions) if not faults[k] and not crossed[k]]
    infeasible = [k for k in sound if solutions[k].status is Status.INFEASIBLE]
    unbounded = [k for k in sound if solutions[k].status is Status.UNBOUNDED]
    rays = {word[0]: word for word in check_farkas(numbers, solutions, infeasible, tol)}
    rays |= {word[0]: word for word in check_unbounded(numbers, solutions, unbounded, tol)}
    proved = _all_within(measures, tol).tolist()
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
    for k in np.flatnonzero(points.has_y & np.isneginf(measures.bound)).tolist():
        solution, verdict = solutions[k], verdicts[k]
        if (solution.status is Status.OPTIMAL and verdict.verified) or solution.status is Status.CUTOFF:
            moved = repaired_bound(numbers.take([k]), points.y[k : k + 1], offset[k : k + 1])
            verdicts[k] = replace(verdict, dual_bound=moved)
    return verdicts


def _all_within(measures: Measures, tol: float) -> Mask:
    """Returns for each member whether every test of `_why_not_optimal` passes and there is nothing to note."""
    r = measures.residuals
    tested = np.stack([r[1], r[3], r[5], measures.wrong_r])
    fine = (np.isfinite(tested) & (tested <= tol)).all(axis=0) & np.isfinite(measures.objective)
    return np.asarray(fine & ~(measures.own_rel > np.sqrt(tol)), dtype=np.bool_)


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
