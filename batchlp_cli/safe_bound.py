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
from batchlp_cli.matrix import sums
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.products import TINY, Numbers, from_zero, gamma

MOST_ELSEWHERE = 4
"""Reduced costs are picked only where at least so many times as many columns start at 0."""

HUGE = 2.0**1000
"""Sums of which every term is below this do not overflow."""

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


def lower_bound(numbers: Numbers, Y: Vector, offset: Vector, R: Vector | None = None, near: NearPrices | None = None) -> Vector:
    """Returns a rigorous lower bound [B] on each member's optimal value with its offset [B]; -inf where Y [B, m] gives none.

    R: [B, n] what `numbers.cost - numbers.matrix.transposed_times(Y)` gave, where that is there already. near: what
    `near_prices` gave for Y, all of which is finite; R is not looked at then.
    """
    usable: Mask = np.asarray(np.isfinite(Y).all(axis=1), dtype=np.bool_)
    if not usable.all():
        Y, R, near = np.where(usable[:, None], Y, 0.0), None, None
    with np.errstate(over="ignore", invalid="ignore"):
        if near is None:
            value = with_implied_bounds(numbers, bound_parts(numbers, Y, R)).value
        else:
            value = _bound_by_near(numbers, Y, near)
        below = plus_offset(value, offset)
    return np.where(usable, below, -np.inf)


def plus_offset(value: Vector, offset: Vector) -> Vector:
    """Returns value + offset [B], rounded downwards; -inf where that is not finite."""
    shifted = value + offset
    exact = (value == 0) | (offset == 0)
    below = np.where(exact, shifted, np.nextafter(shifted, -np.inf))
    return np.where(np.isfinite(below), below, -np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class NearPrices:
    """Reduced costs of a slice of members, only those that can matter: of all others r > 0 beyond any rounding, and x_j >= 0 is
    their column's lower bound, so that they add 0 to every bound and every dual value.

    member, column: [k] whose; r: [k] as computed; error: [k] how far rounding may have led it.
    """

    member: Indices
    column: Indices
    r: Vector
    error: Vector

    def sides(self, numbers: Numbers) -> tuple[Vector, Vector]:
        """Returns the bounds of their columns: [k] each."""
        at = [self.member if len(side) > 1 else 0 for side in (numbers.col_lower, numbers.col_upper)]
        return numbers.col_lower[at[0], self.column], numbers.col_upper[at[1], self.column]


def near_prices(numbers: Numbers, Y: Vector) -> NearPrices | None:
    """Returns the reduced costs that matter at Y [B, m], finite; None where most may, or where numbers are too large to tell.

    They are few at a vertex of an LP with x >= 0: those of basic columns.
    """
    matrix, members = numbers.matrix, len(Y)
    elsewhere = np.flatnonzero((numbers.col_lower != 0).any(axis=0))
    cost = np.abs(numbers.cost).max(axis=1, initial=0.0)
    size = cost + matrix.column_size * np.abs(Y).max(axis=1, initial=0.0)
    if not matrix.needs_scipy or MOST_ELSEWHERE * elsewhere.size > matrix.rows.shape[1] or not (size < HUGE).all():
        return None
    # |error| <= gamma_(k+2) (|c| + |A|.T @ |y|) <= gamma_(k+2) (max |c| + max |y| max of |A|.T @ 1), each column's twice over
    limit = 2.0 * gamma(float(matrix.column_counts.max(initial=0)) + 4.0) * size
    r = matrix.by_columns(Y)
    np.subtract(numbers.cost.T, r, out=r)
    is_near = r <= limit
    is_near[elsewhere] = True
    place = np.flatnonzero(is_near)
    column, member = np.divmod(place, members)
    error = matrix.absolute_at(Y, member, column)
    error += np.abs(numbers.cost[member if len(numbers.cost) > 1 else 0, column])
    error *= gamma(matrix.column_counts[column] + 4)
    return NearPrices(member, column, r.ravel()[place], error)


def _bound_by_near(numbers: Numbers, Y: Vector, near: NearPrices) -> Vector:
    """Returns the bound [B] that `bound_parts` and `with_implied_bounds` give, from the reduced costs that matter."""
    kept = priced(numbers, Y)
    rows = product(kept, np.where(kept > 0, numbers.row_lower, numbers.row_upper))
    low, high = near.r - near.error, near.r + near.error
    terms, endless, _ = column_terms(low[None], high[None], *(side[None] for side in near.sides(numbers)))
    value = _sum_of_terms(numbers, rows, near.member, terms[0])
    is_open = np.zeros(len(Y), dtype=np.bool_)
    which = np.flatnonzero(endless[0])
    if which.size:
        is_open[near.member[which]] = True
        cutoff = np.where(is_open, value + 1 + np.abs(value), np.inf)  # as in `with_implied_bounds`
        implied = bounds_by_cost(numbers, cutoff, near.member[which], near.column[which])
        terms[:, which], still, _ = column_terms(low[None, which], high[None, which], *(side[None] for side in implied))
        value = np.minimum(_sum_of_terms(numbers, rows, near.member, terms[0]), cutoff)
        is_open[:] = False
        is_open[near.member[which[still[0]]]] = True
    value = np.where(np.isfinite(value), value, -np.inf)
    # where rows have to imply bounds, or y loses an entry and prices change with it, everything is looked at
    again = np.flatnonzero(is_open | (kept != Y).any(axis=1))
    if again.size:
        part = numbers.take(again)
        value[again] = with_implied_bounds(part, bound_parts(part, Y[again])).value
    return value


def _sum_of_terms(numbers: Numbers, rows: Vector, member: Indices, terms: Vector) -> Vector:
    """Returns the sum [B] of the terms of rows [B, m] and of columns [k], of which member each, less its rounding."""
    members = len(rows)
    size = sums(member, np.abs(terms), members) + np.abs(rows).sum(axis=1)
    # at most m + n terms, each a rounded product: as in `BoundParts.finite`
    error = gamma(rows.shape[1] + numbers.matrix.rows.shape[1] + 4.0) * size
    value: Vector = sums(member, terms, members) + rows.sum(axis=1) - error
    return value


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
