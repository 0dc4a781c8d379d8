"""The referee once more in rational arithmetic: the tests of kkt.py on one member, every comparison without rounding.

Tolerances remain where float64 vectors cannot do without: an exact optimum is hardly ever a float64 vector. Thresholds such as
tol (1 + ||c||) are computed in float64 and then compared exactly. Infeasible needs no tolerance where no r_j is loose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from batchlp_cli.exact import (
    ZERO,
    ExactViolation,
    exact_dual_value,
    exact_farkas,
    exact_ray,
    exact_value,
    exact_violation,
)
from batchlp_cli.exact_repair import exact_repaired_bound
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import Solution, Status
from batchlp_cli.status import no_verdict


class Word(StrEnum):
    """PROVED holds with no tolerance at all; TOLERANCE holds within tol; REFUSED does not hold."""

    PROVED = "proved"
    TOLERANCE = "within_tolerance"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactVerdict:
    """What rational arithmetic says of a claim, for minimisation; None where it does not apply.

    reason: why a claim is refused, else empty. note: what a proof depends on. objective: c @ x + offset. dual_bound: the lower
    bound that y proves. row_violation, column_violation: the largest of x. dual_violation: the largest |y_i| or |r_j| that
    prices an infinite side. gap: |c @ x - dual value|. farkas_bound: of the ray scaled to max |y| = 1. ray_slope, ray_violation:
    of the direction scaled to max |d| = 1.
    """

    word: Word
    reason: str = ""
    note: str = ""
    objective: Fraction | None = None
    dual_bound: Fraction | None = None
    row_violation: Fraction | None = None
    column_violation: Fraction | None = None
    dual_violation: Fraction | None = None
    gap: Fraction | None = None
    farkas_bound: Fraction | None = None
    ray_slope: Fraction | None = None
    ray_violation: Fraction | None = None


def judge_exactly(lp: LinearProgram, solution: Solution, tol: float) -> ExactVerdict:
    """Returns the exact verdict on a claim. Its vectors must be finite and of the LP's size where they are there."""
    crossed = bool(((lp.row_lower > lp.row_upper).any()) or (lp.col_lower > lp.col_upper).any())
    if solution.status is Status.INFEASIBLE:
        return ExactVerdict(word=Word.PROVED, note="bounds cross") if crossed else _judge_farkas(lp, solution.ray, tol)
    if crossed:
        return _refused(f"{solution.status} was claimed, but bounds cross")
    if solution.status is Status.OPTIMAL:
        return _judge_optimal(lp, solution.x, solution.y, tol)
    if solution.status is Status.UNBOUNDED:
        return _judge_unbounded(lp, solution.x, solution.ray, tol)
    return _refused(no_verdict(solution.status))


def _refused(reason: str) -> ExactVerdict:
    return ExactVerdict(word=Word.REFUSED, reason=reason)


def _judge_optimal(lp: LinearProgram, x: Vector | None, y: Vector | None, tol: float) -> ExactVerdict:
    if x is None or y is None:
        return _refused("optimal was claimed without x or y")
    violation, dual, offset = exact_violation(lp, x), exact_dual_value(lp, y), Fraction(lp.offset)
    objective = exact_value(lp, x)
    gap = abs(objective - dual.value)
    # |p - D| <= tol (1 + |p| + |D|), without the offset
    most_gap = Fraction(tol) * (1 + abs(objective - offset) + abs(dual.value - offset))
    reason = _why_infeasible(lp, x, violation, tol)
    if not reason and not _norm_within(dual.loose, tol * (1 + float(np.linalg.norm(lp.c)))):
        reason = f"prices of infinite bounds are up to {float(max(dual.loose)):.3g}, more than the tolerance allows"
    if not reason and gap > most_gap:
        reason = f"the duality gap is {float(gap):.3g}, expected at most {float(most_gap):.3g}"
    perfect = not (violation.worst_row or violation.worst_column or gap or dual.loose)
    return ExactVerdict(
        word=Word.REFUSED if reason else Word.PROVED if perfect else Word.TOLERANCE,
        reason=reason,
        objective=objective,
        dual_bound=exact_repaired_bound(lp, y),
        row_violation=violation.worst_row,
        column_violation=violation.worst_column,
        dual_violation=max(dual.loose, default=ZERO),
        gap=gap,
    )


def _judge_farkas(lp: LinearProgram, ray: Vector | None, tol: float) -> ExactVerdict:
    if ray is None:
        return _refused("infeasible was claimed without a ray, and no bounds cross")
    found = exact_farkas(lp, ray)
    if found.value <= 0:
        reason = f"the cost-free dual bound of the ray is {float(found.value):.3g}, not above 0"
        return ExactVerdict(word=Word.REFUSED, reason=reason, farkas_bound=found.value)
    if not found.loose:
        return ExactVerdict(word=Word.PROVED, farkas_bound=found.value)
    radius, far = found.value / sum(found.loose), (1 + _largest_bound(lp)) / Fraction(tol)
    note = f"the proof covers points with |x_j| up to {float(radius):.3g}"
    if radius < far:
        reason = f"the ray proves infeasibility only for |x| up to {float(radius):.3g}, expected at least {float(far):.3g}"
        return ExactVerdict(word=Word.REFUSED, reason=reason, farkas_bound=found.value)
    return ExactVerdict(word=Word.TOLERANCE, note=note, farkas_bound=found.value)


def _judge_unbounded(lp: LinearProgram, x: Vector | None, d: Vector | None, tol: float) -> ExactVerdict:
    if x is None or d is None:
        return _refused("unbounded was claimed without x or a ray")
    violation, ray = exact_violation(lp, x), exact_ray(lp, d)
    reason = _why_infeasible(lp, x, violation, tol)
    if not reason and ray.slope >= 0:
        reason = f"the ray does not improve: c @ d is {float(ray.slope):.3g}, expected below 0"
    # V (1 + ||c||) <= tol |c @ d|: a ray that near to the cone improves even after it is moved into it
    most = Fraction(tol) * abs(ray.slope) / Fraction(1 + float(np.linalg.norm(lp.c)))
    if not reason and ray.violation > most:
        reason = f"the ray leaves the feasible directions by {float(ray.violation):.3g}, expected at most {float(most):.3g}"
    perfect = not (violation.worst_row or violation.worst_column or ray.violation)
    return ExactVerdict(
        word=Word.REFUSED if reason else Word.PROVED if perfect else Word.TOLERANCE,
        reason=reason,
        row_violation=violation.worst_row,
        column_violation=violation.worst_column,
        ray_slope=ray.slope,
        ray_violation=ray.violation,
    )


def _why_infeasible(lp: LinearProgram, x: Vector, violation: ExactViolation, tol: float) -> str:
    """Returns why a point is not feasible within tol by the measures of kkt.py, empty where it is."""
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (lp.row_lower, lp.row_upper)))
    if not _norm_within(violation.rows, tol * (1 + float(np.linalg.norm(size)))):
        return f"rows are violated by up to {float(violation.worst_row):.3g}, more than the tolerance allows"
    for j in (j for j, off in enumerate(violation.columns) if off):
        bound = lp.col_lower[j] if x[j] < lp.col_lower[j] else lp.col_upper[j]
        if violation.columns[j] > Fraction(tol) * (1 + abs(Fraction(float(bound)))):
            return f"column {j + 1} is off its bound {bound} by {float(violation.columns[j]):.3g}"
    return ""


def _norm_within(values: Iterable[Fraction], most: float) -> bool:
    """Tells whether the Euclidean norm of the values is at most a number."""
    return sum((v * v for v in values if v), ZERO) <= Fraction(most) ** 2


def _largest_bound(lp: LinearProgram) -> Fraction:
    sides = np.abs(np.concatenate([lp.row_lower, lp.row_upper, lp.col_lower, lp.col_upper]))
    return Fraction(float(sides[np.isfinite(sides)].max(initial=0.0)))
