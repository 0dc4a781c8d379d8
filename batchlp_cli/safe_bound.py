"""Lower bounds on the optimal value that hold whatever y is, rounding errors included. Who asks for one is not known here.

For any y with y_i = 0 where the side that it prices is infinite, and r = c - A.T @ y,
    L(y) = sum_i (y_i > 0 ? y_i lc_i : y_i uc_i) + sum_j min over x_j in [lv_j, uv_j] of r_j x_j  <=  optimal value.
r is known only up to a rounding error, so r_j is an interval; the inner minimum is concave in r_j and is taken at its ends.
[A. Neumaier, O. Shcherbina, Safe bounds in linear and mixed-integer linear programming, Math. Program. 99 (2004), eq. (8)-(12)]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from batchlp_cli.problem import Mask, Vector

UNIT_ROUNDOFF = 2.0**-53


def gamma(operations: Vector | float) -> Vector:
    """Returns 1.01 k u / (1 - k u), which bounds the relative error of k rounded operations [Higham, ch. 3]."""
    ku = np.asarray(operations, dtype=np.float64) * UNIT_ROUNDOFF
    return 1.01 * ku / (1.0 - ku)


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of some members of a batch: A [m, n]; the others [B, m] or [B, n], or [1, .] where all members agree."""

    A: sp.csr_array
    cost: Vector
    row_lower: Vector
    row_upper: Vector
    col_lower: Vector
    col_upper: Vector


@dataclass(frozen=True, slots=True, eq=False)
class BoundParts:
    """What a safe bound is made of. finite: [B], the bound without the terms that are -inf, rounding subtracted.

    low, high: [B, n], ends of the interval of each reduced cost. endless: [B, n], the columns whose term is -inf.
    """

    finite: Vector
    low: Vector
    high: Vector
    endless: Mask

    @property
    def value(self) -> Vector:
        """Returns the bound: -inf where a term is."""
        return np.where(self.endless.any(axis=1), -np.inf, self.finite)


def times(A: sp.csr_array, rows: Vector) -> Vector:
    """Returns rows @ A.T, that is A @ x for every row x: [B, n] -> [B, m]."""
    return np.ascontiguousarray((A @ rows.T).T)


def priced(numbers: Numbers, Y: Vector) -> Vector:
    """Returns Y [B, m] with 0 where the side that it prices is infinite."""
    lost = ((Y > 0) & np.isneginf(numbers.row_lower)) | ((Y < 0) & np.isposinf(numbers.row_upper))
    return np.where(lost, 0.0, Y)


def bound_parts(numbers: Numbers, Y: Vector, implied: tuple[Vector, Vector] | None = None) -> BoundParts:
    """Returns the safe bound of every member from any finite Y [B, m], without offset, in parts.

    implied: finite bounds [B, n] that every feasible x obeys, used where a column's own bound is infinite.
    """
    Y = priced(numbers, Y)
    At, absolute_At = sp.csr_array(numbers.A.T), sp.csr_array(abs(numbers.A).T)
    # r = c - A.T @ y,   |error| <= gamma_(k+2) (|c| + |A|.T @ |y|),   k = entries of the column
    R = numbers.cost - times(At, Y)
    entries = np.diff(At.indptr).astype(np.float64)
    error = gamma(entries + 4) * (np.abs(numbers.cost) + times(absolute_At, np.abs(Y)))
    low, high = R - error, R + error
    lower, upper = numbers.col_lower, numbers.col_upper
    if implied is not None:
        lower = np.where(np.isneginf(lower), implied[0], lower)
        upper = np.where(np.isposinf(upper), implied[1], upper)
    endless = ((high > 0) & np.isneginf(lower)) | ((low < 0) & np.isposinf(upper))
    columns = np.minimum(_term(low, lower, upper), _term(high, lower, upper))
    columns = np.where(endless, 0.0, columns)
    rows = _product(Y, np.where(Y > 0, numbers.row_lower, numbers.row_upper))
    size = np.abs(columns).sum(axis=1) + np.abs(rows).sum(axis=1)
    count = rows.shape[1] + columns.shape[1] + 4
    finite = columns.sum(axis=1) + rows.sum(axis=1) - gamma(count) * size
    return BoundParts(np.nextafter(finite, -np.inf), low, high, endless)


def lower_bound(numbers: Numbers, Y: Vector, offset: Vector) -> Vector:
    """Returns a rigorous lower bound [B] on each member's optimal value with its offset [B], -inf where there is none.

    Where infinite column bounds would make it -inf, bounds that the rows imply are tried. Y must be finite.
    """
    value = best_parts(numbers, Y).value
    # one more rounded addition for the offset
    return np.nextafter(value + offset - 2 * UNIT_ROUNDOFF * (np.abs(value) + np.abs(offset)), -np.inf)


def best_parts(numbers: Numbers, Y: Vector) -> BoundParts:
    """Returns the parts of the safe bound, with implied column bounds where the columns' own ones do not do."""
    parts = bound_parts(numbers, Y)
    return bound_parts(numbers, Y, implied_bounds(numbers)) if parts.endless.any() else parts


def implied_bounds(numbers: Numbers) -> tuple[Vector, Vector]:
    """Returns bounds [B or 1, n] that the rows imply for the columns, padded outwards; infinite where there are none.

    Row i and column j:  a_ij x_j <= uc_i - (smallest value of the rest of the row), and likewise from lc_i, one pass.
    """
    A = numbers.A
    m, n = A.shape
    rows, cols, a = np.repeat(np.arange(m), np.diff(A.indptr)), A.indices, A.data
    members = max(len(numbers.col_lower), len(numbers.col_upper), len(numbers.row_lower), len(numbers.row_upper))
    if a.size == 0:
        return np.full((members, n), -np.inf), np.full((members, n), np.inf)
    lower, upper = numbers.col_lower[:, cols], numbers.col_upper[:, cols]
    rest_low, pad_low = _rest_of_row(A.indptr, rows, _product(a, np.where(a > 0, lower, upper)))
    rest_high, pad_high = _rest_of_row(A.indptr, rows, _product(a, np.where(a > 0, upper, lower)))
    most = _padded(numbers.row_upper[:, rows], rest_low, pad_low, 1.0)
    least = _padded(numbers.row_lower[:, rows], rest_high, pad_high, -1.0)
    slack = 8 * UNIT_ROUNDOFF
    above, below = np.where(a > 0, most, least) / a, np.where(a > 0, least, most) / a
    above = np.where(np.isfinite(above), above + slack * np.abs(above), np.inf)
    below = np.where(np.isfinite(below), below - slack * np.abs(below), -np.inf)
    by_column = np.argsort(cols, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(cols, minlength=n))[:-1]])
    filled = np.bincount(cols, minlength=n) > 0
    implied_lower, implied_upper = np.full((members, n), -np.inf), np.full((members, n), np.inf)
    implied_lower[:, filled] = np.maximum.reduceat(below[:, by_column], starts[filled], axis=1)
    implied_upper[:, filled] = np.minimum.reduceat(above[:, by_column], starts[filled], axis=1)
    return implied_lower, implied_upper


def _padded(side: Vector, rest: Vector, pad: Vector, sign: float) -> Vector:
    """Returns side - rest moved outwards (up for sign 1, down for -1) by its rounding error; NaN where both are infinite."""
    with np.errstate(invalid="ignore"):
        value = side - rest
        return value + sign * (pad + 4 * UNIT_ROUNDOFF * (np.abs(side) + np.abs(rest)))


def _rest_of_row(indptr: np.ndarray, rows: np.ndarray, terms: Vector) -> tuple[Vector, Vector]:
    """For each entry: sum of the other terms of its row (infinite if one is), and a bound of that sum's rounding error.

    terms: [B, nnz] in the order of the rows.
    """
    entries = np.diff(indptr)
    filled = np.flatnonzero(entries)
    position = np.cumsum(entries > 0)[rows] - 1  # of the entry's row among those that are not empty

    def per_row(values: Vector) -> Vector:
        return np.add.reduceat(values, indptr[filled], axis=1)[:, position]

    infinite = np.isinf(terms)
    finite = np.where(infinite, 0.0, terms)
    direction = np.sign(np.where(infinite, terms, 0.0))
    others = per_row(infinite.astype(np.float64)) - infinite
    # all infinite terms of one row have one sign here: smallest values are -inf, largest +inf
    rest = np.where(others > 0, np.copysign(np.inf, per_row(direction)), per_row(finite) - finite)
    return rest, gamma(entries[rows] + 4.0) * per_row(np.abs(finite))


def _term(r: Vector, lower: Vector, upper: Vector) -> Vector:
    """Returns the smallest r x over x in [lower, upper], 0 where r is 0, and 0 where it would be -inf (masked by the caller)."""
    return _product(r, np.where(r > 0, lower, upper))


def _product(a: Vector, b: Vector) -> Vector:
    """Returns a * b with 0 where a is 0, and infinities only where a is not."""
    with np.errstate(invalid="ignore"):
        return np.where(a == 0, 0.0, a * b)
