"""Long steps, tried now and then: along the way that a lane goes, and to the point that its active set defines.

Between two changes of its active set a lane drifts along nearly the same direction for thousands of steps, so points far ahead
on its way are looked at, each with and without least-squares steps on what is active there.

PDHG's projections leave exact bounds and exact zeros, so an iterate names its active set: F, the columns between their bounds,
and R, the rows with a price. An optimum with that set has A[R, F] x_F = b_R - (rest) and A[R, F]' y_R = c_F, two systems
with one matrix. The step is the least one; what leaves its bounds is put back and the next round goes on without it. Nothing
is believed of the result: whoever asked measures it. [B. Stellato et al., OSQP, Math. Prog. Comp. 12 (2020), section 4.1]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.backends.pdhg.termination import errors_of
from batchlp_cli.problem import LinearProgram, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class PolishParameters:
    """When and how points are polished.

    first: iterations of a lane before the first try (default 1000); spacing: growth of the iterations between tries
    (default 1.25). rounds: least-squares steps a try (default 6). repairs: such steps towards a feasible point (default 8), of at
    most `passes` products with the matrix each (default 2000). regular: weight of the regularisation (default 1e-9).
    refinements: steps that take it out again (default 3). most_entries: nonzeros of the matrix above which there is no try
    (default 500,000). ahead: how far along the last move points are looked at, as powers of 2 (default 16); polished: those
    that are polished too. gain: a merit below this share of the lane's lets the lane go on from the polished point (default
    0.5).
    """

    first: int = 1000
    spacing: float = 1.25
    rounds: int = 6
    repairs: int = 8
    passes: int = 2000
    regular: float = 1e-9
    refinements: int = 3
    most_entries: int = 500_000
    ahead: int = 16
    polished: tuple[float, ...] = (0.0, 4.0, 64.0, 1024.0)
    gain: float = 0.5


Point = tuple[Vector, Vector]


def best_point(p: PolishParameters, matrix: ScaledMatrix, lp: LinearProgram, point: Point, move: Point) -> Point:
    """Returns the best of the points x [n], y [m] ahead of a lane and of their polished ones, x and y chosen each for itself.

    move: how far x and y went since the last restart.
    """
    best, best_merit = point, np.inf
    for t in (0.0, *(2.0**k for k in range(p.ahead))):
        ahead = _ahead(lp, point, move, t)
        pairs = [ahead, (ahead[0], point[1]), (point[0], ahead[1])]
        if t in p.polished:
            near = polish(p, matrix, lp, *ahead)
            pairs += [near, (near[0], ahead[1]), (ahead[0], near[1])]
        for pair in pairs:
            errors = errors_of(lp, matrix.At, *pair)
            merit = float(errors.max()) if np.isfinite(errors).all() else np.inf
            if merit < best_merit:
                best, best_merit = pair, merit
    return best


def _ahead(lp: LinearProgram, point: Point, move: Point, t: float) -> Point:
    """Returns the point t moves ahead, within its bounds and signs; prices stop at 0."""
    x = np.clip(point[0] + t * move[0], lp.col_lower, lp.col_upper)
    y = _signed(lp.row_lower, lp.row_upper, point[1] + t * move[1])
    return x, np.where((np.sign(y) * np.sign(point[1]) < 0) & (lp.row_lower != lp.row_upper), 0.0, y)


def _signed(lower: Vector, upper: Vector, y: Vector) -> Vector:
    """Returns y with 0 where it prices an infinite side."""
    return np.clip(y, np.where(np.isfinite(upper), -np.inf, 0.0), np.where(np.isfinite(lower), np.inf, 0.0))


def polish(p: PolishParameters, matrix: ScaledMatrix, lp: LinearProgram, x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Returns x [n], y [m] moved towards the optimum with their active set; both within their bounds and signs."""
    D1, D2 = matrix.row_scale, matrix.col_scale
    c, lv, uv, lc, uc = D2 * lp.c, lp.col_lower / D2, lp.col_upper / D2, D1 * lp.row_lower, D1 * lp.row_upper
    x, y = np.clip(x / D2, lv, uv), y / D1
    for _ in range(p.rounds):
        F, R = np.flatnonzero((x > lv) & (x < uv)), np.flatnonzero((y != 0) | (lc == uc))
        side = np.where(lc == uc, lc, np.where(y > 0, lc, uc))
        b, g = (side - matrix.scaled @ x)[R], (c - matrix.scaled_t @ y)[F]
        if F.size == 0 or R.size == 0 or not (np.isfinite(b).all() and np.isfinite(g).all()):
            break
        step = _least_steps(p, matrix.scaled[R][:, F], b, g)
        if step is None:
            break
        before = x[F], y[R]
        x[F] += step[0]
        y[R] += step[1]
        x = np.clip(x, lv, uv)
        # a price keeps the sign that its finite sides allow, and does not cross 0 unless both are
        y = _signed(lc, uc, y)
        crossed = (np.sign(y[R]) * np.sign(before[1]) < 0) & (lc != uc)[R]
        y[R[crossed]] = 0.0
        if np.array_equal(before[0], x[F]) and np.array_equal(before[1], y[R]):
            break
    return np.clip(D2 * x, lp.col_lower, lp.col_upper), D1 * y


def repair(p: PolishParameters, matrix: ScaledMatrix, lp: LinearProgram, x: Vector) -> Iterator[Vector]:
    """Yields x [n], then points within the column bounds that should meet the rows better and better.

    A step is the least one of the columns between their bounds that brings all rows to their bounds that have left them so far.
    """
    from scipy.sparse.linalg import lsmr  # late, as below: a tenth of a second that few lanes need

    D1, D2 = matrix.row_scale, matrix.col_scale
    lv, uv, lc, uc = lp.col_lower / D2, lp.col_upper / D2, D1 * lp.row_lower, D1 * lp.row_upper
    z, rows = np.clip(x / D2, lv, uv), lc == uc
    for _ in range(p.repairs):
        yield np.clip(D2 * z, lp.col_lower, lp.col_upper)
        activity = matrix.scaled @ z
        missing = np.clip(activity, lc, uc) - activity
        rows |= missing != 0
        F, R = np.flatnonzero((z > lv) & (z < uv)), np.flatnonzero(rows)
        if F.size == 0 or not missing.any():
            return
        z[F] += lsmr(matrix.scaled[R][:, F], missing[R], atol=1e-15, btol=1e-15, conlim=0, maxiter=p.passes)[0]
        z = np.clip(z, lv, uv)
    yield np.clip(D2 * z, lp.col_lower, lp.col_upper)


def _least_steps(p: PolishParameters, M: sp.csr_array, b: Vector, g: Vector) -> tuple[Vector, Vector] | None:
    """Returns the least dx with M dx = b and a dy with M' dy = g, both in the sense of least squares; None where it fails."""
    from scipy.sparse.linalg import splu

    rows, cols = M.shape
    # [I  M'; M  -delta I] [dx; u] = [0; b],   and with [g; 0] on the right  [.; dy]
    Mt = sp.csr_array(M.T)
    K = sp.csc_array(sp.block_array([[sp.csr_array(sp.eye_array(cols)), Mt], [M, sp.csr_array(-p.regular * sp.eye_array(rows))]]))
    right = np.zeros((cols + rows, 2))
    right[cols:, 0], right[:cols, 1] = b, g
    try:
        factors = splu(K)
    except (RuntimeError, MemoryError):
        return None  # singular to working precision, or too large
    z = factors.solve(right)
    exact = sp.csc_array(sp.block_array([[sp.csr_array(sp.eye_array(cols)), Mt], [M, sp.csr_array((rows, rows))]]))
    for _ in range(p.refinements):
        z += factors.solve(right - exact @ z)
    return (z[:cols, 0], z[cols:, 1]) if np.isfinite(z).all() else None
