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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.matrix import Csr, Ints, by_rows
from batchlp_cli.problem import Mask, Vector

if TYPE_CHECKING:
    import scipy.sparse as sp

UNIT_ROUNDOFF = 2.0**-53
TINY = 2.0**-960
"""Products below this are not trusted: those above it, and the bounds of their rounding errors, are safe from underflow."""

CHUNK = 1 << 19
"""Entries of the matrix, over all members, that are gathered at once for implied bounds; about 10 MB."""

PASSES = 11
"""Most passes for implied bounds, the first over the cost only. Of 59 Netlib optima 2, 5, 11, 51 give 11, 29, 41, 44 a bound."""


SCIPY_PAYS = 1 << 22
"""Entries of the matrix, over all members, from which on scipy's products gain more than its import takes."""


def needs_scipy(rows: Csr, members: int) -> bool:
    """Tells whether so many members of a matrix are judged with scipy's products."""
    return rows.nnz * members > SCIPY_PAYS


def gamma(operations: Vector | Indices | float) -> Vector:
    """Returns 1.01 k u / (1 - k u): bounds the relative error of k rounded operations [Higham, Accuracy and Stability, 3.1].

    The hundredth more is for the rounding of the sum of absolute terms that it is multiplied with.
    """
    ku = np.asarray(operations, dtype=np.float64) * UNIT_ROUNDOFF
    return 1.01 * ku / (1.0 - ku)


class Matrix:
    """A [m, n] and what the referee needs of it again and again, made once, when first needed.

    members: how many LPs will be judged with it, None for many. Few products are made by numpy alone, in the same order of
    terms, since importing scipy would take longer than they do.
    """

    def __init__(self, rows: Csr, members: int | None = None) -> None:
        self.rows = rows
        self.needs_scipy = members is None or needs_scipy(rows, members)

    @cached_property
    def row_counts(self) -> Indices:
        """Entries of each row: [m] int64."""
        return np.diff(self.rows.indptr).astype(np.int64)

    @cached_property
    def column_counts(self) -> Indices:
        """Entries of each column: [n] int64."""
        return np.bincount(self.rows.indices, minlength=self.rows.shape[1]).astype(np.int64)

    def times(self, X: Vector, *, absolute: bool = False) -> Vector:
        """Returns A @ x, or |A| @ x, for every row x of X: [B, n] -> [B, m]."""
        if self.needs_scipy:
            return times(abs(self.rows.scipy) if absolute else self.rows.scipy, X)
        return self.rows.times_all(X, absolute=absolute)

    def transposed_times(self, Y: Vector, *, absolute: bool = False) -> Vector:
        """Returns A.T @ y, or |A|.T @ y, for every row y of Y: [B, m] -> [B, n]."""
        if self.needs_scipy:
            return times(self._abs_At if absolute else self.At, Y)
        return self.rows.transposed_times_all(Y, absolute=absolute)

    @cached_property
    def At(self) -> sp.csr_array:
        """A.T, by rows."""
        return self.rows.scipy.T.tocsr()

    @cached_property
    def _abs_At(self) -> sp.csr_array:
        return abs(self.At)

    @cached_property
    def negligible(self) -> float:
        """A product of an entry and a number of at least this size is not below TINY."""
        return TINY / min(1.0, float(np.abs(self.rows.data).min(initial=1.0)))

    @cached_property
    def doubled(self) -> Doubled:
        """The matrix M of the doubled columns [x, -x]."""
        (m, n), data = self.rows.shape, self.rows.data
        rows, cols = self.rows.row_of, self.rows.indices
        near, far = np.where(data > 0, cols, cols + n), np.where(data > 0, cols + n, cols)
        row, column, value = np.concatenate((rows, rows + m)), np.concatenate((near, far)), np.abs(np.concatenate((data, data)))
        by_column = np.argsort(column, kind="stable")
        by_column = by_column[value[by_column] != 0]
        row, column, value = row[by_column], column[by_column], value[by_column]
        M = by_rows((2 * m, 2 * n), row, column, value)
        pattern = Csr(M.shape, M.indptr, M.indices, np.ones_like(M.data))
        members = None if self.needs_scipy else 0
        return Doubled(Matrix(M, members), Matrix(pattern, members), row, column, value)


@dataclass(frozen=True, slots=True, eq=False)
class Doubled:
    """M [2m, 2n] >= 0 with  M @ [x, -x] = [A @ x, -A @ x],  by rows and by columns.

    pattern: M with every entry 1. row_of, column_of, values: [nnz] each, the entries of M column by column.
    """

    M: Matrix
    pattern: Matrix
    row_of: Ints
    column_of: Ints
    values: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of some members of a batch: [B, m] or [B, n] each, or [1, .] where all members agree."""

    matrix: Matrix
    cost: Vector
    row_lower: Vector
    row_upper: Vector
    col_lower: Vector
    col_upper: Vector

    def take(self, members: Sequence[int] | Indices) -> Numbers:
        """Returns the numbers of some members."""
        names = ("cost", "row_lower", "row_upper", "col_lower", "col_upper")
        arrays: list[Vector] = [getattr(self, name) for name in names]
        return Numbers(self.matrix, *(a if len(a) == 1 else a[np.asarray(members)] for a in arrays))


@dataclass(frozen=True, slots=True, eq=False)
class BoundParts:
    """What a safe bound is made of.

    rows [B, m], columns [B, n]: its terms, 0 for the columns whose term is -inf: endless [B, n].
    low, high [B, n]: ends of the interval that holds each reduced cost. cutoff [B]: the bound holds only up to this value.
    """

    rows: Vector
    columns: Vector
    endless: Mask
    low: Vector
    high: Vector
    cutoff: Vector

    @property
    def finite(self) -> Vector:
        """The bound [B] without the terms that are -inf, the rounding of the sum subtracted; NaN where it overflows."""
        # every term is one rounded product, all are added: |error| <= gamma_(m + n + 1) * sum of |terms|
        size = np.abs(self.columns).sum(axis=1) + np.abs(self.rows).sum(axis=1)
        error = gamma(self.rows.shape[1] + self.columns.shape[1] + 4.0) * size
        bound: Vector = self.columns.sum(axis=1) + self.rows.sum(axis=1) - error
        return bound

    @property
    def value(self) -> Vector:
        """The bound [B]: -inf where a term is."""
        finite = np.minimum(self.finite, self.cutoff)
        return np.where(self.endless.any(axis=1) | ~np.isfinite(finite), -np.inf, finite)


def times(A: sp.csr_array, rows: Vector) -> Vector:
    """Returns A @ x for every row x of `rows`: [B, n] -> [B, m]."""
    return np.ascontiguousarray((A @ rows.T).T)


def lower_bound(numbers: Numbers, Y: Vector, offset: Vector) -> Vector:
    """Returns a rigorous lower bound [B] on each member's optimal value with its offset [B]; -inf where Y [B, m] gives none."""
    usable: Mask = np.asarray(np.isfinite(Y).all(axis=1), dtype=np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        value = with_implied_bounds(numbers, bound_parts(numbers, np.where(usable[:, None], Y, 0.0))).value
        shifted = value + offset
        exact = (value == 0) | (offset == 0)
        below = np.where(exact, shifted, np.nextafter(shifted, -np.inf))
    return np.where(usable & np.isfinite(below), below, -np.inf)


def priced(numbers: Numbers, Y: Vector) -> Vector:
    """Returns Y [B, m] with 0 where the side that it prices is infinite, and where a product with it could underflow."""
    lost = ((Y > 0) & np.isneginf(numbers.row_lower)) | ((Y < 0) & np.isposinf(numbers.row_upper))
    return np.where(lost | (np.abs(Y) < numbers.matrix.negligible), 0.0, Y)


def bound_parts(numbers: Numbers, Y: Vector) -> BoundParts:
    """Returns the safe bound that any finite Y [B, m] gives each member with its own bounds, without offset, in parts."""
    matrix, Y = numbers.matrix, priced(numbers, Y)
    # r = c - A.T @ y,   |error| <= gamma_(k+2) (|c| + |A|.T @ |y|),   k = entries of the column
    R = numbers.cost - matrix.transposed_times(Y)
    size = np.abs(numbers.cost) + matrix.transposed_times(np.abs(Y), absolute=True)
    error = gamma(matrix.column_counts + 4) * size
    low, high = R - error, R + error
    rows = _product(Y, np.where(Y > 0, numbers.row_lower, numbers.row_upper))
    columns, endless = _column_terms(low, high, numbers.col_lower, numbers.col_upper)
    return BoundParts(rows, columns, endless, low, high, np.full(len(Y), np.inf))


def _column_terms(low: Vector, high: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Mask]:
    """Returns min of r x over r in [low, high], x in [lower, upper], and where it is -inf; the value is 0 there."""
    endless = ((high > 0) & np.isneginf(lower)) | ((low < 0) & np.isposinf(upper))
    at_low, at_high = (_product(r, np.where(r > 0, lower, upper)) for r in (low, high))
    return np.where(endless, 0.0, np.minimum(at_low, at_high)), endless


def _product(a: Vector, b: Vector) -> Vector:
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
    lower, upper = _bounds_by_cost(numbers, cutoff, member, column)
    terms = _column_terms(parts.low[member, column], parts.high[member, column], lower, upper)
    columns[member, column], endless[member, column] = terms
    needing = np.flatnonzero(endless.any(axis=1))
    width = max(1, CHUNK // max(1, numbers.matrix.doubled.M.rows.nnz)) if needing.size else 1
    for k in np.split(needing, range(width, needing.size, width)):
        lower, upper = _implied_bounds(numbers.take(k), cutoff[k], parts.low[k], parts.high[k])
        columns[k], endless[k] = _column_terms(parts.low[k], parts.high[k], lower, upper)
    return replace(parts, columns=columns, endless=endless, cutoff=cutoff)


def _bounds_by_cost(numbers: Numbers, cutoff: Vector, member: Indices, column: Indices) -> tuple[Vector, Vector]:
    """Returns bounds of columns [k] of members [k] in which those that c @ x <= cutoff [B] implies stand for infinite ones."""
    n = numbers.cost.shape[1]
    z, cost = _doubled_columns(numbers, max(len(a) for a in (numbers.cost, numbers.col_lower, numbers.col_upper)))
    row = _CostRow.of(z, cost)
    mine = member if len(z) > 1 else np.zeros_like(member)
    left = row.left(cutoff)[member]
    sides = []
    for w, other in ((column, column + n), (column + n, column)):
        own, opposite, price = z[mine, w], z[mine, other], cost[mine, other]
        usable = (price > 0) & (row.count[mine] == np.isinf(opposite)) & np.isfinite(left)
        room = np.full(w.shape, np.inf)
        np.divide(left, price, out=room, where=usable)
        implied = -_raised(opposite, room)
        sides.append(np.where(np.isinf(own) & np.isfinite(implied), implied, own))
    return sides[0], -sides[1]


def _implied_bounds(numbers: Numbers, cutoff: Vector, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Returns column bounds [B, n] in which those that the rows and c @ x <= cutoff imply stand for infinite ones."""
    n = low.shape[1]
    # w = [x, -x] >= z,   M @ w <= cap,   cost @ w <= cutoff,   with M >= 0 and cost >= 0
    z, cost = _doubled_columns(numbers, len(low))
    cap = _stacked(len(low), numbers.row_upper, -numbers.row_lower)
    needed = np.concatenate([high > 0, low < 0], axis=1)
    active = np.arange(len(low))
    for attempt in range(PASSES):
        # the cost alone is cheap and often enough, so it goes first
        above = _room_of_cost(z[active], cost[active], cutoff[active])
        if attempt:
            above = np.minimum(above, _room_of_rows(numbers.matrix.doubled, z[active], cap[active]))
        above = _raised(z[active], above)
        # -w_q is another column of w: its lower bound is minus the upper bound of w_q
        implied = -np.roll(above, n, axis=1)
        found = np.isinf(z[active]) & np.isfinite(implied)
        z[active] = np.where(found, implied, z[active])
        missing = (needed[active] & np.isinf(z[active])).any(axis=1)
        active = active[missing & (found.any(axis=1) | (attempt == 0))]
        if active.size == 0:
            break
    return z[:, :n], -z[:, n:]


def _doubled_columns(numbers: Numbers, members: int) -> tuple[Vector, Vector]:
    """Returns z and cost [B, 2n] of the doubled columns w = [x, -x]: w >= z, and c @ x = cost @ w with cost >= 0."""
    z = _stacked(members, numbers.col_lower, -numbers.col_upper)
    return z, _stacked(members, np.maximum(numbers.cost, 0.0), np.maximum(-numbers.cost, 0.0))


def _stacked(members: int, first: Vector, second: Vector) -> Vector:
    """Returns [first, second] for each member: [B, 2 size]."""
    both = [np.broadcast_to(a, (members, a.shape[1])) for a in (first, second)]
    return np.concatenate(both, axis=1)


def _raised(z: Vector, room: Vector) -> Vector:
    """Returns z + room (0 for an infinite z), padded for this addition and for the division that made room: [B, 2n]."""
    bound = np.where(np.isinf(z), 0.0, z) + room
    bound = bound + 4 * UNIT_ROUNDOFF * (np.abs(bound) + np.abs(room)) + TINY
    return np.where(np.isfinite(bound), bound, np.inf)


def _room_of_rows(doubled: Doubled, z: Vector, cap: Vector) -> Vector:
    """Returns what M @ w <= cap with w >= z leaves to each w_q above z_q, but for the last roundings: [B, 2n]; inf if nothing.

    It is (cap_i - M_i @ z) / M_iq where z is finite on row i; where only z_q is infinite, with 0 in its place.
    """
    M = doubled.M
    infinite = np.isinf(z)
    # upper bounds of w that the box does not give
    wanted = np.asarray(np.roll(infinite, z.shape[1] // 2, axis=1).any(axis=0), dtype=np.bool_)
    lone = np.asarray(infinite.any(axis=0), dtype=np.bool_) & wanted
    z = np.where(infinite, 0.0, z)
    left = cap - M.times(z) + _padding(M.row_counts, M.times(np.abs(z)), cap)
    count = np.where(np.isfinite(left), doubled.pattern.times(infinite.astype(np.float64)), np.inf)
    room = _smallest_room(doubled, np.where(count == 0, left, np.inf), wanted)
    alone = _smallest_room(doubled, np.where(count == 1, left, np.inf), lone)
    return np.where(infinite, np.minimum(room, alone), room)


@dataclass(frozen=True, slots=True, eq=False)
class _CostRow:
    """What the one row  cost @ w <= cutoff  of each member, w >= z, is made of.

    start: [B] sum of cost * z over the finite z, size: [B] of its absolute values, count: [B] infinite z that have a cost;
    entries: how many terms the sums have.
    """

    start: Vector
    size: Vector
    count: Indices
    entries: int

    @staticmethod
    def of(z: Vector, cost: Vector) -> _CostRow:
        """Returns what z and cost [B, 2n] come to."""
        infinite = np.isinf(z)
        terms = cost * np.where(infinite, 0.0, z)
        count = (infinite & (cost > 0)).sum(axis=1)
        return _CostRow(terms.sum(axis=1), np.abs(terms).sum(axis=1), count, cost.shape[1])

    def left(self, cutoff: Vector) -> Vector:
        """Returns what the finite z leave of the cutoff [B], rounded up: [B]."""
        left = cutoff - self.start
        return np.asarray(left + _padding(self.entries, self.size, cutoff), dtype=np.float64)


def _room_of_cost(z: Vector, cost: Vector, cutoff: Vector) -> Vector:
    """Returns what `_room_of_rows` does, for the one row  cost @ w <= cutoff  of each member."""
    row = _CostRow.of(z, cost)
    left = row.left(cutoff)
    counted = np.isinf(z) & (cost > 0)
    usable = (cost > 0) & (row.count[:, None] == counted) & np.isfinite(left)[:, None]
    room = np.full(z.shape, np.inf)
    np.divide(left[:, None], cost, out=room, where=usable)
    return room


def _padding(entries: Indices | int, size: Vector, cap: Vector) -> Vector:
    """Returns a bound of the rounding error of  cap - sum of `entries` products  whose absolute values add up to size."""
    return gamma(np.asarray(entries) + 4.0) * size + 4 * UNIT_ROUNDOFF * np.abs(cap) + TINY


def _smallest_room(doubled: Doubled, left: Vector, wanted: Mask) -> Vector:
    """Returns for each wanted column q of M the smallest left_i / M_iq over its rows i: [B, 2m] -> [B, 2n]; else inf."""
    room = np.full((len(left), wanted.size), np.inf)
    # rows that say nothing for any member are left out, which is most of them
    telling = np.asarray(np.isfinite(left).any(axis=0), dtype=np.bool_)
    keep = np.flatnonzero(telling[doubled.row_of] & wanted[doubled.column_of])
    if keep.size:
        column = doubled.column_of[keep]
        starts = np.flatnonzero(np.diff(column, prepend=-1))
        ratios = np.take(left, doubled.row_of[keep], axis=1) / doubled.values[keep]
        room[:, column[starts]] = np.minimum.reduceat(ratios, starts, axis=1)
    return room
