"""Lower bounds on the optimal value that hold whatever y is, rounding errors included. Who asks for one is not known here.

For any y with y_i = 0 where the side that it prices is infinite, and r = c - A.T @ y,
    L(y) = sum_i (y_i > 0 ? y_i lc_i : y_i uc_i) + sum_j min over x_j in [lv_j, uv_j] of r_j x_j  <=  optimal value.
r is known only up to a rounding error, so r_j is an interval; the inner minimum is concave in r_j and is taken at its ends.
Where a column's bound is infinite and its r_j may not be 0, a bound that the rows imply is used, if there is one. The row
c @ x <= U may help to imply it, for any U: either no feasible x costs less than U, or those that do obey what is implied,
so that min(L, U) <= optimal value.
[A. Neumaier, O. Shcherbina, Safe bounds in linear and mixed-integer linear programming, Math. Program. 99 (2004), 283-296]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.implied_bounds import bounds_by_cost, implied_bounds
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.products import TINY, Numbers, from_zero, gamma

CHUNK = 1 << 19
"""Entries of the matrix, over all members, that are gathered at once for implied bounds; about 10 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundParts:
    """What a safe bound is made of.

    rows [B, m], columns [B, n]: its terms, 0 for the columns whose term is -inf: endless [B, n]. told [t]: the columns that have
    terms other than 0.
    low, high [B, n]: ends of the interval that holds each reduced cost. cutoff [B]: the bound holds only up to this value.
    """

    rows: Vector
    columns: Vector
    endless: Mask
    low: Vector
    high: Vector
    cutoff: Vector
    told: Indices

    @property
    def finite(self) -> Vector:
        """The bound [B] without the terms that are -inf, the rounding of the sum subtracted; NaN where it overflows."""
        columns = self.columns[:, self.told] if 2 * self.told.size < self.columns.shape[1] else self.columns
        # every term is one rounded product, all are added: |error| <= gamma_(m + n + 1) * sum of |terms|
        size = np.abs(columns).sum(axis=1) + np.abs(self.rows).sum(axis=1)
        error = gamma(self.rows.shape[1] + self.columns.shape[1] + 4.0) * size
        bound: Vector = columns.sum(axis=1) + self.rows.sum(axis=1) - error
        return bound

    @property
    def value(self) -> Vector:
        """The bound [B]: -inf where a term is."""
        finite = np.minimum(self.finite, self.cutoff)
        return np.where(self.endless.any(axis=1) | ~np.isfinite(finite), -np.inf, finite)


def lower_bound(numbers: Numbers, Y: Vector, offset: Vector, R: Vector | None = None) -> Vector:
    """Returns a rigorous lower bound [B] on each member's optimal value with its offset [B]; -inf where Y [B, m] gives none.

    R: [B, n] what `numbers.cost - numbers.matrix.transposed_times(Y)` gave, where that is there already.
    """
    usable: Mask = np.asarray(np.isfinite(Y).all(axis=1), dtype=np.bool_)
    if not usable.all():
        Y, R = np.where(usable[:, None], Y, 0.0), None
    with np.errstate(over="ignore", invalid="ignore"):
        below = plus_offset(with_implied_bounds(numbers, bound_parts(numbers, Y, R)).value, offset)
    return np.where(usable, below, -np.inf)


def plus_offset(value: Vector, offset: Vector) -> Vector:
    """Returns value + offset [B], rounded downwards; -inf where that is not finite."""
    shifted = value + offset
    exact = (value == 0) | (offset == 0)
    below = np.where(exact, shifted, np.nextafter(shifted, -np.inf))
    return np.where(np.isfinite(below), below, -np.inf)


def priced(numbers: Numbers, Y: Vector) -> Vector:
    """Returns Y [B, m] with 0 where the side that it prices is infinite, and where a product with it could underflow."""
    lost = ((Y > 0) & np.isneginf(numbers.row_lower)) | ((Y < 0) & np.isposinf(numbers.row_upper))
    lost |= (np.abs(Y) < numbers.matrix.negligible) & (Y != 0)
    return np.where(lost, 0.0, Y) if lost.any() else Y


def bound_parts(numbers: Numbers, Y: Vector, R: Vector | None = None) -> BoundParts:
    """Returns the safe bound that any finite Y [B, m] gives each member with its own bounds, without offset, in parts.

    R: as in `lower_bound`.
    """
    matrix, given = numbers.matrix, Y
    Y = priced(numbers, given)
    # r = c - A.T @ y,   |error| <= gamma_(k+2) (|c| + |A|.T @ |y|),   k = entries of the column
    if R is None or Y is not given:
        R = numbers.cost - matrix.transposed_times(Y)
    error = matrix.transposed_times(np.abs(Y), absolute=True)
    error += np.abs(numbers.cost)
    error *= gamma(matrix.column_counts + 4)
    low, high = R - error, np.add(R, error, out=error)
    rows = product(Y, np.where(Y > 0, numbers.row_lower, numbers.row_upper))
    columns, endless, told = column_terms(low, high, numbers.col_lower, numbers.col_upper)
    return BoundParts(rows, columns, endless, low, high, np.full(len(Y), np.inf), told)


def column_terms(low: Vector, high: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Mask, Indices]:
    """Returns min of r x over r in [low, high], x in [lower, upper], where it is -inf (the value is 0 there), and the columns
    where it is not always 0."""
    endless = (low < 0) & np.isposinf(upper)
    from_below = np.isneginf(lower)
    if from_below.any():
        endless |= (high > 0) & from_below
    # where every member's column is [0, inf], which is most often so, the term is 0 or -inf
    some = np.flatnonzero(~from_zero(lower, upper))
    terms = np.zeros(low.shape)
    if some.size:
        sides = lower[:, some], upper[:, some]
        at_low, at_high = (product(r, np.where(r > 0, *sides)) for r in (low[:, some], high[:, some]))
        terms[:, some] = np.where(endless[:, some], 0.0, np.minimum(at_low, at_high))
    return terms, endless, some


def product(a: Vector, b: Vector) -> Vector:
    """Returns a * b, rounded once: 0 where a is 0, though b be infinite; -TINY where it is nearer to 0 than that."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        value = a * b
    zero = a == 0
    small = (np.abs(value) < TINY) & (b != 0) & ~zero
    if small.any():
        value = np.where(small, -TINY, value)
    return np.where(zero, 0.0, value)


def with_implied_bounds(numbers: Numbers, parts: BoundParts) -> BoundParts:
    """Returns the parts in which columns whose term is -inf have used bounds that the rows imply, where there are any."""
    needing = np.flatnonzero(parts.endless.any(axis=1))
    if needing.size == 0:
        return parts
    columns, endless, cutoff = parts.columns.copy(), parts.endless.copy(), parts.cutoff.copy()
    # U may be any number; this one leaves room above what the bound will be
    finite = parts.finite[needing]
    cutoff[needing] = finite + 1 + np.abs(finite)
    # the cost alone is cheap and often enough, so it goes first, and over those columns only
    member, column = np.nonzero(parts.endless)
    lower, upper = bounds_by_cost(numbers, cutoff, member, column)
    ends = parts.low[member, column][None], parts.high[member, column][None]
    terms, open_, _ = column_terms(*ends, lower[None], upper[None])
    columns[member, column], endless[member, column] = terms, open_
    needing = np.flatnonzero(endless.any(axis=1))
    width = max(1, CHUNK // max(1, numbers.matrix.doubled.M.rows.nnz)) if needing.size else 1
    for k in np.split(needing, range(width, needing.size, width)):
        lower, upper = implied_bounds(numbers.take(k), cutoff[k], parts.low[k], parts.high[k])
        columns[k], endless[k], _ = column_terms(parts.low[k], parts.high[k], lower, upper)
    return replace(parts, columns=columns, endless=endless, cutoff=cutoff, told=_united(parts.told, column, columns.shape[1]))


def _united(some: Indices, others: Indices, size: int) -> Indices:
    """Returns which of `size` places are among some or others, ascending."""
    is_there = np.zeros(size, dtype=np.bool_)
    is_there[some] = is_there[others] = True
    return np.flatnonzero(is_there)
