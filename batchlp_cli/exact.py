"""What is true of an LP and of vectors in rational arithmetic, with no rounding at all. Who judges by it is not known here.

The data are the float64 numbers of the LP as read: the nearest ones to the decimals of a file. Each is an integer times a
power of 2, so sums of products need integers and shifts only, and a greatest common divisor only where something is divided.
Signs are those of problem.py, values those of minimisation. Vectors with a NaN or an infinity are refused with ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from batchlp_cli.exact_implied import implied_box
from batchlp_cli.exact_sums import Dyadics, dyadics, float_at_least, sum_of_products
from batchlp_cli.problem import LinearProgram, Vector

ZERO = Fraction(0)

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class ExactViolation:
    """By how much a point leaves the bounds, exactly: each row's distance [m] and each column's [n]."""

    rows: tuple[Fraction, ...]
    columns: tuple[Fraction, ...]

    @property
    def worst_row(self) -> Fraction:
        """The largest distance of a row."""
        return max(self.rows, default=ZERO)

    @property
    def worst_column(self) -> Fraction:
        """The largest distance of a column."""
        return max(self.columns, default=ZERO)


@dataclass(frozen=True, slots=True)
class ExactBound:
    """What row duals prove, exactly.

    value: the dual value with offset, without the terms that are -infinity. loose: the |y_i| and |r_j| that price an infinite
    side, so that value is a lower bound on the optimal value only where loose is empty.
    """

    value: Fraction
    loose: tuple[Fraction, ...]

    @property
    def bound(self) -> Fraction | None:
        """The lower bound, or None where a term is -infinity."""
        return None if self.loose else self.value


@dataclass(frozen=True, slots=True)
class ExactRay:
    """A direction d, scaled by 1 / max |d|: slope c @ d, and by how much A @ d and d leave the recession cones at most."""

    slope: Fraction
    violation: Fraction


def exact_value(lp: LinearProgram, x: Vector) -> Fraction:
    """Returns c @ x + offset."""
    _check(x, lp.n, "x")
    return sum_of_products(dyadics(lp.c), dyadics(x)) + Fraction(lp.offset)


def exact_violation(lp: LinearProgram, x: Vector) -> ExactViolation:
    """Returns by how much x [n] leaves the bounds of rows and columns."""
    _check(x, lp.n, "x")
    rows = (_outside(a, lo, up) for a, lo, up in zip(_times(lp.A, x), lp.row_lower.tolist(), lp.row_upper.tolist(), strict=True))
    sides = zip(x.tolist(), lp.col_lower.tolist(), lp.col_upper.tolist(), strict=True)
    columns = (ZERO if lower <= value <= upper else _outside(Fraction(value), lower, upper) for value, lower, upper in sides)
    return ExactViolation(tuple(rows), tuple(columns))


def exact_dual_value(lp: LinearProgram, y: Vector) -> ExactBound:
    """Returns the dual value of y [m] as it is, r = c - A.T @ y, and what of y and r prices an infinite side."""
    _check(y, lp.m, "y")
    prices, reduced = _ends(lp, y, np.zeros(lp.m), ())
    rows, loose_rows = _price(prices, lp.row_lower, lp.row_upper)
    columns, loose_columns = _price(reduced, lp.col_lower, lp.col_upper)
    return ExactBound(Fraction(lp.offset) + rows + columns, (*loose_rows, *loose_columns))


def exact_bound_parts(lp: LinearProgram, y: Vector, radius: Vector | None = None, zero: Sequence[int] = ()) -> ExactBound:
    """Returns the bound that y [m] gives once y_i = 0 where it prices an infinite side, and the rows help where r_j does.

    A column whose r_j prices an infinite side is given the bound that the rows imply, and the row c @ x <= U: either no x
    costs less than U, or all that do obey what is implied, so that min(value, U) is a lower bound. See safe_bound.py.
    radius: [m], for the worst bound of all duals in [y - radius, y + radius] with r_j = 0 in the columns `zero`.
    """
    _check(y, lp.m, "y")
    lost = ((y > 0) & np.isneginf(lp.row_lower)) | ((y < 0) & np.isposinf(lp.row_upper))
    y = np.where(lost, 0.0, y)
    prices, reduced = _ends(lp, y, np.zeros(lp.m) if radius is None else radius, zero)
    rows, loose_rows = _price(prices, lp.row_lower, lp.row_upper)
    columns, loose = _price(reduced, lp.col_lower, lp.col_upper)
    plain = ExactBound(rows + columns, (*loose_rows, *loose))
    if not loose:
        return replace(plain, value=plain.value + Fraction(lp.offset))
    cutoff = float_at_least(plain.value + 1 + abs(plain.value))
    lower, upper = implied_box(lp, cutoff, [high > 0 for _, high in reduced], [low < 0 for low, _ in reduced])
    columns, loose = _price(reduced, lower, upper)
    value = rows + columns
    if math.isfinite(cutoff):
        value = min(value, Fraction(cutoff))
    return ExactBound(value + Fraction(lp.offset), (*loose_rows, *loose))


def exact_bound(lp: LinearProgram, y: Vector) -> Fraction | None:
    """Returns the lower bound on the optimal value, with offset, that y [m] proves; None where it proves none.

    It holds whatever y is: y_i that prices an infinite side counts as 0. None means that some r_j which is not 0 meets an
    infinite bound for which the rows imply no finite one.
    """
    return exact_bound_parts(lp, y).bound


def exact_farkas(lp: LinearProgram, ray: Vector) -> ExactBound:
    """Returns the cost-free bound of a row ray y [m], scaled to max |y| = 1: above 0 with nothing loose, no x is feasible.

    Where something is loose, no x with |x_j| < value / sum(loose) in those columns is feasible.
    """
    _check(ray, lp.m, "ray")
    no_cost = replace(lp, c=np.zeros(lp.n), offset=0.0)
    found = exact_bound_parts(no_cost, ray)
    if found.loose:  # a bound that the rows imply may be so large that the ray proves more without it
        lost = ((ray > 0) & np.isneginf(lp.row_lower)) | ((ray < 0) & np.isposinf(lp.row_upper))
        plain = exact_dual_value(no_cost, np.where(lost, 0.0, ray))
        found = max((found, plain), key=lambda b: b.value / sum(b.loose) if b.loose else b.value)
    size = Fraction(float(np.abs(ray).max(initial=0.0))) or Fraction(1)
    return ExactBound(found.value / size, tuple(v / size for v in found.loose))


def exact_ray(lp: LinearProgram, d: Vector) -> ExactRay:
    """Returns what a direction d [n] does: it proves an unbounded LP where slope < 0, violation = 0 and some x is feasible."""
    _check(d, lp.n, "ray")
    size = Fraction(float(np.abs(d).max(initial=0.0))) or Fraction(1)
    off = ZERO
    sides = ((_times(lp.A, d), lp.row_lower, lp.row_upper), (map(Fraction, d.tolist()), lp.col_lower, lp.col_upper))
    for values, lower, upper in sides:
        for value, low, high in zip(values, np.isfinite(lower).tolist(), np.isfinite(upper).tolist(), strict=True):
            if (value < 0 and low) or (value > 0 and high):
                off = max(off, abs(value))
    return ExactRay(sum_of_products(dyadics(lp.c), dyadics(d)) / size, off / size)


def reduced_costs(lp: LinearProgram, y: Vector) -> list[Fraction]:
    """Returns r = c - A.T @ y [n]."""
    return [Fraction(c) - a for c, a in zip(lp.c.tolist(), _times(sp.csr_array(lp.A.T), y), strict=True)]


def _times(A: sp.csr_array, x: Vector) -> Iterator[Fraction]:
    """Yields the entries of A @ x."""
    entries, taken = dyadics(A.data), dyadics(np.asarray(x, dtype=np.float64)[A.indices])
    starts = A.indptr.tolist()
    for begin, end in pairwise(starts):
        yield sum_of_products(_part(entries, begin, end), _part(taken, begin, end))


def _part(numbers: Dyadics, begin: int, end: int) -> Dyadics:
    return numbers[0][begin:end], numbers[1][begin:end]


def _ends(lp: LinearProgram, y: Vector, radius: Vector, zero: Sequence[int]) -> tuple[list[Interval], list[Interval]]:
    """Returns the least and the greatest y_i and r_j over [y - radius, y + radius], r_j = 0 in the columns `zero`."""
    prices = [(Fraction(v) - Fraction(e), Fraction(v) + Fraction(e)) for v, e in zip(y.tolist(), radius.tolist(), strict=True)]
    r = reduced_costs(lp, y)
    spread = _times(sp.csr_array(abs(lp.A.T)), radius) if radius.any() else iter([ZERO] * lp.n)
    reduced = [(v - e, v + e) for v, e in zip(r, spread, strict=True)]
    for j in zero:
        reduced[j] = ZERO, ZERO
    return prices, reduced


def _price(ends: Sequence[Interval], lower: Vector, upper: Vector) -> tuple[Fraction, list[Fraction]]:
    """Returns sum over (price > 0 ? price * lower : price * upper), and |price| where that side is infinite.

    ends: the least and the greatest that each price may be; the worse of them counts.
    """
    total, loose = ZERO, []
    for (least, most), low, high in zip(ends, lower.tolist(), upper.tolist(), strict=True):
        if (least < 0 and math.isinf(high)) or (most > 0 and math.isinf(low)):
            loose.append(max(abs(least), abs(most)))
        elif least or most:
            total += min(price * Fraction(low if price > 0 else high) if price else ZERO for price in {least, most})
    return total, loose


def _outside(value: Fraction, lower: float, upper: float) -> Fraction:
    """Returns the distance of a value to [lower, upper], 0 inside; an infinite side on the wrong end counts as none."""
    below = Fraction(lower) - value if math.isfinite(lower) else ZERO
    above = value - Fraction(upper) if math.isfinite(upper) else ZERO
    return max(below, above, ZERO)


def _check(vector: Vector, size: int, name: str) -> None:
    if np.shape(vector) != (size,):
        raise ValueError(f"{name} has shape {np.shape(vector)}, expected ({size},)")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} holds a NaN or an infinity")
