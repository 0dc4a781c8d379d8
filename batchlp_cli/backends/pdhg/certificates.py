"""Proofs that a member is infeasible or unbounded, looked for in the iterates; only what is proved here is claimed.

A Farkas ray is any y whose dual bound without costs is above 0. PDHG on an infeasible LP sends y, and y - y0 since the last
restart, along such a ray; on an unbounded one x - x0 goes along an improving direction. What is left of noise in the reduced
costs (or rows) that ought to be 0 is taken off by least squares. The judge of all claims is elsewhere; its tests are stricter
or the same, so none is refused for rounding.
[D. Applegate et al., Infeasibility detection with primal-dual hybrid gradient, arXiv 2102.04592]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from batchlp_cli.backends.pdhg.kernels.base import Direction, Measured
from batchlp_cli.matrix import Csr
from batchlp_cli.problem import LinearProgram, Mask, Vector
from batchlp_cli.products import Matrix, Numbers, gamma
from batchlp_cli.safe_bound import bound_parts, lower_bound, with_implied_bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateParameters:
    """How proofs are looked for.

    loose: most that loose prices may add up to, times the largest of 1 and the finite bounds, as a share of a Farkas value
    that is worth a proof (default 0.1). leaves: most that a direction may leave the cone by, as a share of its slope (default
    0.1). small: entries below this share of the largest may be noise (default 1e-3). passes: iterations of least
    squares (default 500); rounds: how often columns that became loose are added to them (default 10). spacing: iterations
    between two proofs of one lane grow by this factor (default 1.5).
    """

    loose: float = 0.1
    leaves: float = 0.1
    small: float = 1e-3
    passes: int = 500
    rounds: int = 10
    spacing: float = 1.5


def farkas_candidates(p: CertificateParameters, value: Vector, terms: Vector, loose: Vector) -> Mask:
    """Returns the lanes [W] whose prices are near enough to a Farkas ray that a proof is worth its time."""
    with np.errstate(invalid="ignore"):
        near: Mask = (value > 1e-6 * terms) & (value > 0) & (loose <= p.loose * value) & np.isfinite(terms)
    return near


def farkas_of_prices(p: CertificateParameters, measured: Vector) -> Mask:
    """Returns the lanes whose Y is near a Farkas ray, from the sums of `Kernel.measure`."""
    rows = (Measured.FARKAS_VALUE, Measured.FARKAS_TERMS, Measured.FARKAS_LOOSE)
    return farkas_candidates(p, *(measured[row] for row in rows))


def farkas_of_directions(p: CertificateParameters, directions: Vector) -> Mask:
    """Returns the lanes whose Y - Y0 is near a Farkas ray, from the sums of `Kernel.directions`."""
    rows = (Direction.FARKAS_VALUE, Direction.FARKAS_TERMS, Direction.FARKAS_LOOSE)
    return farkas_candidates(p, *(directions[row] for row in rows))


def improving(p: CertificateParameters, directions: Vector, cost_norm: Vector) -> Mask:
    """Returns the lanes whose X - X0 is near a direction of unboundedness, from the sums of `Kernel.directions`."""
    slope, leaves, largest = (directions[row] for row in (Direction.SLOPE, Direction.LEAVES, Direction.LARGEST))
    with np.errstate(invalid="ignore"):
        near: Mask = (slope < 0) & (leaves * (1 + cost_norm) <= p.leaves * -slope) & (largest > 0) & np.isfinite(slope)
    return near


class Prover:
    """Proves rays of members of one batch; what it needs of the matrix is made when first needed."""

    def __init__(self, A: sp.csr_array, parameters: CertificateParameters, tol: float) -> None:
        self._matrix = Matrix(Csr.of(A))
        self._abs_A = sp.csr_array(abs(A))
        self._parameters = parameters
        self._tol = tol

    def farkas(self, lp: LinearProgram, y: Vector) -> Vector | None:
        """Returns a ray [m] that proves the member infeasible, y itself or y without noise, or None."""
        if not np.isfinite(y).all() or not y.any():
            return None
        y = y / np.abs(y).max()
        side = np.where(y > 0, lp.row_lower, lp.row_upper)
        y = np.where(np.isinf(side), 0.0, y)
        if self._proves_infeasible(lp, y):
            return y
        N = np.zeros(lp.n, dtype=np.bool_)
        for _ in range(self._parameters.rounds):
            loose = self._loose(lp, y)
            if not (loose & ~N).any():
                return None
            N |= loose
            y = self._without_prices(lp, y, N)
            if self._proves_infeasible(lp, y):
                return y
        return None

    def bound(self, lp: LinearProgram, y: Vector) -> float:
        """Returns the rigorous lower bound on the member's optimal value that y [m] gives, -inf where it gives none."""
        numbers = Numbers(self._matrix, *(a[None, :] for a in (lp.c, lp.row_lower, lp.row_upper, lp.col_lower, lp.col_upper)))
        return float(lower_bound(numbers, y[None, :], np.array([lp.offset]))[0])

    def _proves_infeasible(self, lp: LinearProgram, y: Vector) -> bool:
        bounds = (lp.row_lower, lp.row_upper, lp.col_lower, lp.col_upper)
        numbers = Numbers(self._matrix, np.zeros((1, lp.n)), *(a[None, :] for a in bounds))
        with np.errstate(over="ignore", invalid="ignore"):
            plain = bound_parts(numbers, y[None, :])
            largest = max((float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) for a in bounds), default=0.0)
            for parts in (plain, with_implied_bounds(numbers, plain)):
                value = float(parts.finite[0])
                loose = float(np.where(parts.endless, np.maximum(-parts.low, parts.high), 0.0).sum())
                # no x with |x_j| <= value / loose is feasible, which must be as far as the tolerance can see
                if np.isfinite(value) and value > 0 and (loose == 0 or value / loose >= 1.01 * (1 + largest) / self._tol):
                    return True
        return False

    def _loose(self, lp: LinearProgram, y: Vector) -> Mask:
        """Returns the columns [n] whose reduced cost -A'y prices an infinite bound."""
        a = self._matrix.At @ y
        loose: Mask = np.where(a < 0, np.isinf(lp.col_lower), np.isinf(lp.col_upper)) & (a != 0)
        return loose

    def _without_prices(self, lp: LinearProgram, y: Vector, columns: Mask) -> Vector:
        """Returns y moved, relative to its own entries, so that (A'y)_j = 0 in some columns and the rows' value stays."""
        S = np.flatnonzero(y)
        side = np.where(y > 0, lp.row_lower, lp.row_upper)[S]
        size = np.abs(y[S])
        part = sp.csr_array(self._matrix.At[np.flatnonzero(columns)][:, S])
        # min ||z||  s.t.  A[S, N]' (y + |y| z) = 0,   side @ (|y| z) = 0
        value = sp.csr_array((side * size / max(1.0, float(np.linalg.norm(side * size))))[None, :])
        rows = sp.vstack([part.multiply(size[None, :]), value], format="csr")
        z = self._least(rows, np.append(-(part @ y[S]), 0.0))
        moved = np.zeros_like(y)
        # no entry changes its sign
        sign = np.sign(y[S])
        moved[S] = sign * size * np.maximum(0.0, 1.0 + sign * z)
        return moved

    def direction(self, lp: LinearProgram, d: Vector) -> Vector | None:
        """Returns a direction [n] along which the member improves for ever, d itself or d without noise, or None."""
        if not np.isfinite(d).all() or not d.any():
            return None
        d = _into_cone(d / np.abs(d).max(), lp.col_lower, lp.col_upper)
        if self._improves(lp, d):
            return d
        along, size = lp.A @ d, self._abs_A @ np.abs(d)
        small = self._parameters.small
        bounded = np.isfinite(lp.row_lower) | np.isfinite(lp.row_upper)
        N = np.flatnonzero(bounded & ((np.abs(along) <= small * size) | (along != _into_cone(along, lp.row_lower, lp.row_upper))))
        S = np.flatnonzero(np.abs(d) > small**2)
        # min ||delta||  s.t.  A[N, S] (d_S + delta) = 0
        part = lp.A[N][:, S]
        moved = np.zeros_like(d)
        moved[S] = d[S] + self._least(part, -part @ d[S])
        moved = _into_cone(moved, lp.col_lower, lp.col_upper)
        largest = float(np.abs(moved).max(initial=0.0))
        moved = moved / largest if largest > 0 else moved
        return moved if self._improves(lp, moved) else None

    def _improves(self, lp: LinearProgram, d: Vector) -> bool:
        """Tells whether c @ d < 0 beyond rounding, and A d leaves the recession cone by less than that allows."""
        terms = lp.c * d
        # slope = c @ d,   |error| <= gamma_n |c| @ |d|
        fall = float(terms.sum() + gamma(lp.n + 2.0) * np.abs(terms).sum())
        along = lp.A @ d
        error = gamma(np.diff(lp.A.indptr) + 2.0) * (self._abs_A @ np.abs(d))
        leaves = np.abs(along - _into_cone(along, lp.row_lower, lp.row_upper)) + error
        bounded = np.isfinite(lp.row_lower) | np.isfinite(lp.row_upper)
        most = 0.9 * self._tol * abs(float(terms.sum())) / (1 + np.linalg.norm(lp.c))
        return bool(np.isfinite(fall) and fall < 0 and np.where(bounded, leaves, 0.0).max(initial=0.0) <= most)

    def _least(self, A: sp.csr_array, b: Vector) -> Vector:
        """Returns a least-squares solution of A z = b, the least if there are many."""
        if 0 in A.shape or A.nnz == 0 or not b.any():
            return np.zeros(A.shape[1])
        from scipy.sparse.linalg import lsmr  # late: a tenth of a second, for rare proofs

        solution: Vector = lsmr(A, b, atol=1e-16, btol=1e-16, conlim=0, maxiter=self._parameters.passes)[0]
        return solution


def _into_cone(d: Vector, lower: Vector, upper: Vector) -> Vector:
    """Returns d with 0 where it would leave [lower, upper] in the long run."""
    return np.clip(d, np.where(np.isfinite(lower), 0.0, -np.inf), np.where(np.isfinite(upper), 0.0, np.inf))
