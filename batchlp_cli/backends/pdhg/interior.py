"""Interior steps: what an LP gets that has long gone alone in a lane without reaching its tolerances.

First-order steps stall where an LP is badly conditioned; Newton steps don't mind, but each solves a system with the matrix. So
few of them are taken, late, from where the lane is: a primal-dual interior point method with proximal terms around the current
x and y, which make every system solvable, whatever the rank of the matrix and however many columns are free. It works on
    min c @ x    s.t.  A x = b,   x_j >= 0 in L,   x_j <= w_j in U,
the scaled LP with a column for the activity of each row that is no equation, without fixed columns, moved so that bounds are 0.
Prices zl, zu >= 0 of the bounds have zl_j gl_j = zu_j gu_j = mu on the way, gl = x and gu = w - x. Nothing is believed of the
result: whoever asked measures it. [S. Pougkakiotis, J. Gondzio, An interior point-proximal method of multipliers for convex
quadratic programming, Comput. Optim. Appl. 78 (2021); S. Mehrotra, On the implementation of a primal-dual interior point method,
SIAM J. Optim. 2 (1992)]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu

from batchlp_cli.backends.pdhg.polish import Point
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.batch import Indices
from batchlp_cli.problem import LinearProgram, Mask, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class InteriorParameters:
    """When and how interior steps are taken.

    first: iterations of a lane alone before they are tried, once (default 10,000). steps: most of them (default 100).
    most_entries, most_size: nonzeros of the matrix and the smaller of its sizes above which there are none, since one system
    may take seconds there (default 200,000 and 8,000). proximal: weight of the proximal terms at first (default 1e-8); least,
    most: between these it falls where it holds steps back, and rises where systems are solved badly; all steps are taken with
    the first `least`, and anew with the next where that was in vain (default 1e-13, 1e-9 and 1e-4): neither is better everywhere.
    accurate, inaccurate: relative residuals of a system below which, and above which, that is so (default 1e-9 and 1e-6).
    refinements: of each solution (default 5). centre: least mu that is aimed at (default 1e-11). inside: least distance from
    all bounds at first (default 0.1). back: share of the way to the nearest bound that a step may go (default 0.995).
    proofs: steps between two looks at whether the prices prove that there is no feasible point (default 5).
    """

    first: int = 10_000
    steps: int = 100
    most_entries: int = 200_000
    most_size: int = 8_000
    proximal: float = 1e-8
    least: tuple[float, ...] = (1e-13, 1e-9)
    most: float = 1e-4
    accurate: float = 1e-9
    inaccurate: float = 1e-6
    refinements: int = 5
    centre: float = 1e-11
    inside: float = 0.1
    back: float = 0.995
    proofs: int = 5

    def suits(self, matrix: ScaledMatrix) -> bool:
        """Tells whether a matrix is small enough."""
        return matrix.A.nnz <= self.most_entries and min(matrix.m, matrix.n) <= self.most_size


def interior_points(p: InteriorParameters, matrix: ScaledMatrix, lp: LinearProgram, x: Vector, y: Vector) -> Iterator[Point]:
    """Yields a point x [n], y [m] a step, from near the one given towards an optimum, all finite, within their bounds and signs.

    Ends where no step can be taken, or after p.steps of them for each p.least.
    """
    form = _form_of(matrix, lp)
    if form.c.size > 0 and np.isfinite(x).all() and np.isfinite(y).all():
        start = _start(p, form, *form.inner(x, y))
        for least in p.least:
            yield from _way(p, form, start, least)


def _way(p: InteriorParameters, form: _Form, state: _State, least: float) -> Iterator[Point]:
    rho = delta = p.proximal
    for _ in range(p.steps):
        step = _step(p, form, state, rho, delta)
        if step is None or step.error > p.inaccurate:
            # solved badly, or not at all
            if step is None and max(rho, delta) >= p.most:
                return
            rho, delta = min(10 * rho, p.most), min(10 * delta, p.most)
        elif step.error < p.accurate:
            # rho |dx| is what the step leaves of the dual residual, delta |dy| of the primal one
            primal, dual = (np.abs(a).max(initial=0.0) for a in form.residuals(state))
            rho = max(rho / 10, least) if rho * np.abs(step.dx).max() > 0.1 * dual else rho
            delta = max(delta / 10, least) if delta * np.abs(step.dy).max(initial=0.0) > 0.1 * primal else delta
        if step is not None:
            state = _moved(p, form, state, step)
            point = form.outer(state.x, state.y)
            if not (state.is_finite and np.isfinite(point[0]).all() and np.isfinite(point[1]).all()):
                return
            yield point


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """The LP in the form above, and the way back. A: CSR [m, N], At its transpose; L, U, w [N] as above.

    cols: which columns of the matrix come first; rows: whose activities come after them; at: [n] where fixed columns are,
    in scaled units; shift [N], size and price: x of the scaled LP is shift + size x, its y is price y.
    """

    matrix: ScaledMatrix
    lp: LinearProgram
    A: sp.csr_array
    At: sp.csr_array
    b: Vector
    c: Vector
    L: Mask
    U: Mask
    w: Vector
    cols: Indices
    rows: Indices
    at: Vector
    shift: Vector
    size: float
    price: float

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def inner(self, x: Vector, y: Vector) -> Point:
        """Returns x [N], y [m] of this form from those of the LP."""
        activity = (self.matrix.row_scale * (self.matrix.A @ x))[self.rows]
        scaled = np.append((x / self.matrix.col_scale)[self.cols], activity)
        return (scaled - self.shift) / self.size, y / self.matrix.row_scale / self.price

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def outer(self, x: Vector, y: Vector) -> Point:
        """Returns x [n], y [m] of the LP, within bounds and signs."""
        lp, full = self.lp, self.at.copy()
        full[self.cols] = (self.shift + self.size * x)[: self.cols.size]
        least = np.where(np.isfinite(lp.row_upper), -np.inf, 0.0)
        most = np.where(np.isfinite(lp.row_lower), np.inf, 0.0)
        prices = self.matrix.row_scale * (self.price * y)
        return np.clip(self.matrix.col_scale * full, lp.col_lower, lp.col_upper), np.clip(prices, least, most)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def residuals(self, state: _State) -> tuple[Vector, Vector]:
        """Returns b - A x [m] and c - A'y - zl + zu [N]."""
        return self.b - self.A @ state.x, self.c - self.At @ state.y - state.zl + state.zu


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """x, gaps gl, gu and prices zl, zu [N], y [m]; gaps of columns without that bound are 1, their prices 0."""

    x: Vector
    y: Vector
    gl: Vector
    gu: Vector
    zl: Vector
    zu: Vector

    @property
    def is_finite(self) -> bool:
        """Whether all is."""
        return all(bool(np.isfinite(a).all()) for a in (self.x, self.y, self.gl, self.gu, self.zl, self.zu))


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """Changes of a state; error: the relative residual of the systems that gave them."""

    dx: Vector
    dy: Vector
    dzl: Vector
    dzu: Vector
    error: float


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _form_of(matrix: ScaledMatrix, lp: LinearProgram) -> _Form:
    D1, D2 = matrix.row_scale, matrix.col_scale
    lc, uc, lv, uv = D1 * lp.row_lower, D1 * lp.row_upper, lp.col_lower / D2, lp.col_upper / D2
    cols, rows = np.flatnonzero(lv < uv), np.flatnonzero(lc < uc)
    at = np.where(lv < uv, 0.0, lv)
    activities = sp.csr_array((-np.ones(rows.size), (rows, np.arange(rows.size))), shape=(matrix.m, rows.size))
    A = sp.csr_array(sp.hstack([matrix.scaled[:, cols], activities]))
    lower, upper = np.append(lv[cols], lc[rows]), np.append(uv[cols], uc[rows])
    b, c = np.where(lc < uc, 0.0, lc) - matrix.scaled @ at, np.append((D2 * lp.c)[cols], np.zeros(rows.size))
    L, U = np.isfinite(lower), np.isfinite(upper)
    shift = np.where(L, lower, np.where(U, upper, 0.0))
    size, price = max(1.0, float(np.abs(b).max(initial=0.0))), max(1.0, float(np.abs(c).max(initial=0.0)))
    w = np.where(U, (np.where(U, upper, 0.0) - shift) / size, np.inf)
    At = sp.csr_array(A.T)
    return _Form(matrix, lp, A, At, (b - A @ shift) / size, c / price, L, U, w, cols, rows, at, shift, size, price)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _start(p: InteriorParameters, form: _Form, x: Vector, y: Vector) -> _State:
    """Returns a state around the point nearest to x with A x = b, and as far inside as that is outside. [Mehrotra, section 7]"""
    L, U, w = form.L, form.U, form.w
    factors = _factors(form, np.ones(x.size), p.proximal)
    if factors is not None:
        x = x + factors.solve(np.append(np.zeros(x.size), form.b - form.A @ x))[: x.size]
    outside = max(0.0, float(np.where(L, -x, 0.0).max()), float(np.where(U, x - np.where(U, w, 0.0), 0.0).max()))
    r = form.c - form.At @ y
    loose = max(0.0, float(np.where(L & ~U, -r, 0.0).max()), float(np.where(U & ~L, r, 0.0).max()))
    far, dear = max(p.inside, 1.5 * outside), max(p.inside, 1.5 * loose)
    between = np.clip(x, np.minimum(far, w / 2), np.maximum(w - far, w / 2))
    x = np.where(L & U, between, np.where(L, np.maximum(x, 0.0) + far, np.where(U, np.minimum(x, 0.0) - far, x)))
    zl, zu = np.where(L, np.maximum(r, 0.0) + dear, 0.0), np.where(U, np.maximum(-r, 0.0) + dear, 0.0)
    return _State(x, y, np.where(L, x, 1.0), np.where(U, w - x, 1.0), zl, zu)


def _factors(form: _Form, diagonal: Vector, delta: float) -> SuperLU | None:
    """Returns the factors of [-diagonal  A'; A  delta I], None where there are none."""
    K = _system(form, diagonal, delta)
    try:
        # quasidefinite, so pivots can be taken from the diagonal in any order
        return splu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except (RuntimeError, MemoryError):
        return None  # singular to working precision, or too large


def _system(form: _Form, diagonal: Vector, delta: float) -> sp.csc_array:
    m, N = form.A.shape
    corner = sp.csr_array((-diagonal, (np.arange(N), np.arange(N))), shape=(N, N))
    return sp.csc_array(sp.block_array([[corner, form.At], [form.A, sp.csr_array(delta * sp.eye_array(m))]]))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _step(p: InteriorParameters, form: _Form, state: _State, rho: float, delta: float) -> _Step | None:
    """Returns Mehrotra's step, None where its system cannot be solved."""
    L, U, N = form.L, form.U, form.c.size
    diagonal = state.zl / state.gl + state.zu / state.gu + rho
    if not np.isfinite(diagonal).all():
        return None
    K, factors = _system(form, diagonal, delta), _factors(form, diagonal, delta)
    if factors is None:
        return None
    primal, dual = form.b - form.A @ state.x, form.c - form.At @ state.y

    def towards(low: Vector, high: Vector) -> _Step:
        """Returns the step to where zl gl = low and zu gu = high, to first order."""
        # (rho + zl/gl + zu/gu) dx - A'dy = -(c - A'y) + low/gl - high/gu,   A dx + delta dy = b - A x
        right = np.concatenate([dual - low / state.gl + high / state.gu, primal])
        z = factors.solve(right)
        for _ in range(p.refinements):
            z += factors.solve(right - K @ z)
        dx, norm = z[:N], float(np.linalg.norm(right))
        error = float(np.linalg.norm(right - K @ z)) / norm if norm > 0 else 0.0
        dzl = np.where(L, (low - state.zl * state.gl - state.zl * dx) / state.gl, 0.0)
        dzu = np.where(U, (high - state.zu * state.gu + state.zu * dx) / state.gu, 0.0)
        return _Step(dx, z[N:], dzl, dzu, error)

    affine = towards(np.zeros(N), np.zeros(N))
    if not np.isfinite(affine.error):
        return None
    mu = _complementarity(form, state)
    ahead = _complementarity(form, _moved(p, form, state, affine, 1.0))
    # sigma = (mu_affine / mu)^3
    target = max(np.clip((ahead / mu) ** 3, 1e-6, 0.8) * mu, min(p.centre, mu))
    # zl gl = sigma mu - dzl dx,   zu gu = sigma mu + dzu dx,   at most 10 mu
    low = np.where(L, np.clip(target - affine.dx * affine.dzl, -10 * mu, 10 * mu), 0.0)
    high = np.where(U, np.clip(target + affine.dx * affine.dzu, -10 * mu, 10 * mu), 0.0)
    step = towards(low, high)
    return step if np.isfinite(step.error) else None


def _complementarity(form: _Form, state: _State) -> float:
    """Returns mu, the mean of zl gl and zu gu."""
    bounds = int(form.L.sum() + form.U.sum())
    return float(state.zl @ state.gl + state.zu @ state.gu) / max(1, bounds)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _moved(p: InteriorParameters, form: _Form, state: _State, step: _Step, back: float | None = None) -> _State:
    """Returns the state a step further; gaps move by themselves, so that small ones keep their digits."""
    back = p.back if back is None else back
    by = min(1.0, back * min(_room(state.gl, np.where(form.L, step.dx, 0.0)), _room(state.gu, np.where(form.U, -step.dx, 0.0))))
    price_by = min(1.0, back * min(_room(state.zl, step.dzl), _room(state.zu, step.dzu)))
    gl, gu = np.where(form.L, state.gl + by * step.dx, 1.0), np.where(form.U, state.gu - by * step.dx, 1.0)
    x, y = state.x + by * step.dx, state.y + price_by * step.dy
    return _State(x, y, gl, gu, state.zl + price_by * step.dzl, state.zu + price_by * step.dzu)


def _room(values: Vector, move: Vector) -> float:
    """Returns how many moves values can take before one of them is 0."""
    falling = move < 0
    return float((values[falling] / -move[falling]).min(initial=np.inf))
