"""Safe bounds for row duals that give none as they are: a small move of y makes the reduced costs fit. See safe_bound.py.

A solver's y leaves r_j of the size of rounding where it should be 0 or have one sign; where x_j has no bound on that side and
the rows imply none, the bound is -inf. Any y gives a valid bound, so y may be moved:

 1. shift: y + dy with r_j some roundings inside its sign in one-sided columns and nearly 0 in free ones, by projecting in turn
    on the y that attain given r_j (weighted least squares) and on the r_j that are allowed;
 2. enclose: r_j = 0 is wanted where a shift leaves no bound, in a set F of columns: free ones, and pairs of one-sided ones that
    are each other's negative (a free variable split into two). Where some rows I make A[I, F].T regular, exactly one y*
    differs from y in I only and has r_F = 0. It is not computed but enclosed in [y - e, y + e] by an approximate inverse C with
    ||I - C A[I, F].T|| < 1, and the bound is taken at its worst over this box: y* gives at least that.

[C. Jansson, Rigorous lower and upper bounds in linear programming, SIAM J. Optim. 14 (2004), 914-935;
 S. M. Rump, Verification methods, Acta Numerica 19 (2010), 287-449, section 10]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.products import TINY, Numbers, gamma
from batchlp_cli.safe_bound import BoundParts, bound_parts, column_terms, plus_offset, priced, product, with_implied_bounds

if TYPE_CHECKING:
    import scipy.sparse as sp

ROUNDS = 2
"""Most times that the least-squares system is made, the second with the columns that have lost their sign by then."""

PROJECTIONS = 12
"""Most projections with one system; where r_j can be kept inside its sign at all, four are mostly enough. Of 67 Netlib optima
of simplex 22 have no bound without a repair; all have one with it, within 8e-10 of the optimum (relative)."""

BOXES = 2
"""Most times that y* is enclosed, the second with r_j further inside its sign, so that it stays there all over the box."""

MARGIN = 64.0
"""Distance of r_j from 0 that is aimed at in one-sided columns, in roundings of r_j; a bound loses about as much."""

WITHIN = 100.0
"""Columns whose r_j is nearer to 0 than this multiple of the largest wrong one are in the system from the start."""

REGULAR = 1e-12
"""What the system is regularised by, since its columns may depend on each other; they have norm 1."""

MOST_SHIFTED = 20_000
"""Most rows and columns of the least-squares system; to factorise it takes a second or so then."""

MOST_ENCLOSED = 400
"""Most columns of F, whose inverse is dense."""

MOST_DENSE = 4_000_000
"""Most entries of the dense matrix from which the rows I are chosen."""


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Where y* is: within radius [k] of y in rows [k], equal to y in the others.

    columns: [k] those whose r_j = 0 defines y*. inverse: [k, k] near that of A[rows, columns].T. zero: [z] columns with r_j = 0
    at y*, which are `columns` and the negatives of them.
    """

    rows: Indices
    columns: Indices
    inverse: Vector
    radius: Vector
    zero: Indices


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """Row duals y [m], or those of a box around them where there is one, that prove a finite bound, without offset."""

    y: Vector
    bound: float
    box: Box | None = None


def repaired_bound(one: Numbers, y: Vector, offset: Vector) -> float:
    """Returns the bound, with offset [1], that a move of y [1, m] gives one member; -inf where none is found."""
    found = repair(one, y)
    return -np.inf if found is None else float(plus_offset(np.array([found.bound]), offset)[0])


def repair(one: Numbers, y: Vector) -> Repair | None:
    """Returns the first move of finite row duals y [1, m] that proves a bound of one member; None where none is found."""
    size = np.abs(priced(one, y)[0])
    both = np.isfinite(one.row_lower[0]) & np.isfinite(one.row_upper[0])
    with np.errstate(all="ignore"):
        # y_i of a row with one side keeps its sign, one of an equation may be anything; but those that are 0 are first left
        # alone, which keeps r_j that are 0
        for weight in (size, np.where(both, 1 + size, size)):
            found = _repair_by(one, priced(one, y), weight)
            if found is not None:
                return found
    return None


def _repair_by(one: Numbers, y: Vector, weight: Vector) -> Repair | None:
    """Returns what `repair` does, y [1, m] moved in proportion to a weight [m]."""
    least = np.zeros(one.matrix.rows.shape[1])
    for _ in range(BOXES):
        moved = _shifted(one, y, weight, least)
        if moved is None:
            return None
        parts = with_implied_bounds(one, bound_parts(one, moved))
        if np.isfinite(parts.value[0]):
            return Repair(moved[0], float(parts.value[0]))
        box = _box(one, moved, weight, np.flatnonzero(parts.endless[0]))
        if box is None:
            return None
        over = _parts_over_box(one, moved, box)
        value = float(with_implied_bounds(one, over).value[0])
        if np.isfinite(value):
            return Repair(moved[0], value, box)
        # r_j of one-sided columns must stay inside their sign all over the box
        y, least = moved, np.maximum(least, (over.high - over.low)[0])
    return None


def _shifted(one: Numbers, y: Vector, weight: Vector, least: Vector) -> Vector | None:
    """Returns y [1, m] moved so that |r_j| >= least_j [n] in one-sided columns, as far as may be; None without a system."""
    columns, moved = _columns_in_question(one, bound_parts(one, y)), None
    rows = np.flatnonzero(weight > 0)
    for _ in range(ROUNDS):
        if not (rows.size and columns.size and rows.size + columns.size <= MOST_SHIFTED):
            return moved
        solver = _LeastSquares.of(one.matrix.rows.scipy[rows][:, columns], weight[rows])
        found = None if solver is None else _projected(one, y, rows, columns, least[columns], solver)
        if found is None:
            return moved
        moved = priced(one, found)
        grown = np.union1d(columns, np.flatnonzero(bound_parts(one, moved).endless[0]))
        if grown.size == columns.size:
            return moved
        columns = grown
    return moved


def _columns_in_question(one: Numbers, parts: BoundParts) -> Indices:
    """Returns the columns that have no bound on a side and whose r_j is on that side, or could be moved there."""
    lower, upper = (np.isfinite(side[0]) for side in (one.col_lower, one.col_upper))
    wrong = np.where(parts.endless, np.maximum(-parts.low, parts.high), 0.0).max(initial=0.0)
    inside = np.where(lower, 1.0, -1.0) * (parts.low + parts.high)[0] / 2
    return np.flatnonzero(~(lower & upper) & ((lower == upper) | (inside <= WITHIN * wrong)))


def _projected(one: Numbers, y: Vector, rows: Indices, columns: Indices, least: Vector, solver: _LeastSquares) -> Vector | None:
    """Returns y [1, m] moved in some rows until |r| >= least in the one-sided ones of the columns, if that comes about."""
    sign, free = np.where(np.isfinite(one.col_lower[0, columns]), 1.0, -1.0), _must_be_zero(one, columns)
    moved, now = y.copy(), bound_parts(one, y)
    for _ in range(PROJECTIONS):
        r, radius = (now.high + now.low)[0, columns] / 2, (now.high - now.low)[0, columns] / 2
        # radius is that of this column's own rounding; 0 where all its terms are
        inside = np.maximum(MARGIN * np.maximum(radius, np.median(radius)) + TINY, 2 * least)
        aim = np.where(free, 0.0, sign * np.maximum(sign * r, inside))
        moved[0, rows] += solver.solve(r - aim)
        if not np.isfinite(moved).all():
            return None
        now = bound_parts(one, moved)
        fits = (free | (sign * (now.low + now.high)[0, columns] / 2 > radius + least)).all()
        # r = 0 in free columns is reached by steps that only rounding ends
        if fits and (np.abs((now.low + now.high)[0, columns]) <= (now.high - now.low)[0, columns])[free].all():
            break
    return moved


@dataclass(frozen=True, slots=True, eq=False)
class _LeastSquares:
    """Solves  A.T @ dy = g  in the least-squares sense with  sum (dy_i / weight_i)^2  small.

    factors: of the augmented matrix [I, B; B.T, -REGULAR I], where B = diag(weight) A diag(scale) has columns of norm 1.
    """

    factors: Any
    weight: Vector
    scale: Vector

    @staticmethod
    def of(A: sp.csr_array, weight: Vector) -> _LeastSquares | None:
        """Returns the solver of a matrix [rows, columns]; None where it cannot be factorised."""
        import scipy.sparse as sp  # most members need no repair, and most runs no scipy
        from scipy.sparse.linalg import splu

        B = A.multiply(weight[:, None]).tocsr()
        norm = np.sqrt(np.asarray((B * B).sum(axis=0)).ravel())
        scale = 1 / np.where(norm > 0, norm, 1.0)
        B = B.multiply(scale).tocsr()
        above = sp.hstack([sp.eye_array(A.shape[0]), B])
        below = sp.hstack([B.T, -REGULAR * sp.eye_array(A.shape[1])])
        try:
            return _LeastSquares(splu(sp.csc_matrix(sp.vstack([above, below]))), weight, scale)
        except (RuntimeError, ValueError):
            return None

    def solve(self, g: Vector) -> Vector:
        """Returns dy."""
        rhs = np.concatenate([np.zeros(self.weight.size), self.scale * g])
        found: Vector = self.weight * self.factors.solve(rhs)[: self.weight.size]
        return found


def _box(one: Numbers, y: Vector, weight: Vector, endless: Indices) -> Box | None:
    """Returns a box around y [1, m] that holds a y* with r = 0 in some columns; None where none is proved to exist."""
    columns = _independent(one, endless)
    chosen = _regular_rows(one, weight, columns) if 0 < columns.size <= MOST_ENCLOSED else None
    if chosen is None:
        return None
    rows, M = chosen
    parts = bound_parts(one, y)
    enclosed = _enclose(M, np.maximum(np.abs(parts.low[0, columns]), np.abs(parts.high[0, columns])))
    return None if enclosed is None else Box(rows, columns, *enclosed, endless)


def _independent(one: Numbers, columns: Indices) -> Indices:
    """Returns one column of each set that have the same entries and cost, or exactly the negative ones."""
    chosen, known = [], set()
    for j in columns.tolist():
        itself, negative = (written(one.matrix.At, one.cost[0], j, sign) for sign in (1.0, -1.0))
        if itself not in known:
            known |= {itself, negative}
            chosen.append(j)
    return np.array(chosen, dtype=np.int64)


def written(At: sp.csr_array, cost: Vector, j: int, sign: float) -> tuple[bytes, bytes, float]:
    """Returns the entries and the cost of a column of A, times 1 or -1, as something that can be compared."""
    part = slice(At.indptr[j], At.indptr[j + 1])
    # + 0.0: there is a negative zero
    return At.indices[part].tobytes(), (sign * At.data[part]).tobytes(), sign * float(cost[j]) + 0.0


def _must_be_zero(one: Numbers, columns: Indices) -> Mask:
    """Tells which r_j can only be 0: of free columns, and of those whose negative is among the columns too."""
    lower, upper = (np.isfinite(side[0, columns]) for side in (one.col_lower, one.col_upper))
    At, cost = one.matrix.At, one.cost[0]
    known = {written(At, cost, j, 1.0) for j in columns.tolist()}
    paired: Mask = np.array([written(At, cost, j, -1.0) in known for j in columns.tolist()], dtype=np.bool_)
    return np.asarray((lower == upper) | paired, dtype=np.bool_)


def _regular_rows(one: Numbers, weight: Vector, columns: Indices) -> tuple[Indices, Vector] | None:
    """Returns as many rows I as columns F, and A[I, F].T dense and hopefully regular; None where there are none."""
    from scipy.linalg import qr

    part = one.matrix.rows.scipy[:, columns]
    rows = np.flatnonzero((weight > 0) & (np.diff(part.indptr) > 0))
    if rows.size < columns.size or rows.size * columns.size > MOST_DENSE:
        return None
    dense = part[rows].toarray().T
    pivots = qr(dense * weight[rows], mode="r", pivoting=True)[1][: columns.size]
    return rows[pivots], dense[:, pivots]


def _enclose(M: Vector, rho: Vector) -> tuple[Vector, Vector] | None:
    """Returns C near M^-1 and e [k] with |z| < e for every solution of M z = g, |g| <= rho; None where M may be singular.

    With a = ||I - C M||_inf < 1:  |z| <= |C| rho + a / (1 - a) max(|C| rho).
    """
    try:
        C: Vector = np.asarray(np.linalg.inv(M), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    k = len(M)
    rounding = gamma(k + 4.0) * (np.abs(C) @ np.abs(M) + 1)
    a = float((np.abs(np.eye(k) - C @ M) + rounding).sum(axis=1).max()) * (1 + float(gamma(k + 4.0)))
    if not a < 0.5:
        return None
    size = (np.abs(C) @ rho) * (1 + gamma(k + 4.0)) + TINY
    e: Vector = (size + 1.01 * a / (1 - a) * size.max()) * 1.01
    return (C, e) if np.isfinite(e).all() else None


def _parts_over_box(one: Numbers, y: Vector, box: Box) -> BoundParts:
    """Returns the parts of the bound that holds for every y* of a box around y [1, m] with r = 0 in its columns.

    A row's term is concave in y_i and is taken at the ends, which must price finite sides.
    """
    start, A = bound_parts(one, y), one.matrix.rows.scipy
    e = np.zeros_like(y)
    e[0, box.rows] = box.radius
    touched: Mask = np.zeros(A.shape[1], dtype=np.bool_)
    touched[A[box.rows].indices] = True
    low_y, high_y = (np.where(e > 0, np.nextafter(y + s * e, s * np.inf), y) for s in (-1.0, 1.0))
    ends = [product(v, np.where(v > 0, one.row_lower, one.row_upper)) for v in (low_y, high_y)]
    spread = 1.01 * one.matrix.transposed_times(e, absolute=True) * (1 + gamma(e.size + 4.0)) + TINY
    # a sum rounds by at most u of itself
    ends_r = (np.nextafter(r + s * spread, s * np.inf) for s, r in ((-1.0, start.low), (1.0, start.high)))
    low, high = (np.where(touched, moved, r) for moved, r in zip(ends_r, (start.low, start.high), strict=True))
    low[:, box.zero] = high[:, box.zero] = 0.0
    columns, endless, told = column_terms(low, high, one.col_lower, one.col_upper)
    return replace(start, rows=np.minimum(*ends), columns=columns, endless=endless, low=low, high=high, told=told)
