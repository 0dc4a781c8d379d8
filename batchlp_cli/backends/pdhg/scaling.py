"""Preconditioning that all members of a batch share, and the step size; it looks at the matrix only.

With diagonal row scales D1 and column scales D2 the lanes iterate on  A~ = D1 A D2,  c~ = D2 c,  row bounds D1 (.),  column
bounds D2^-1 (.);  x = D2 x~,  y = D1 y~. Scaling of one member's costs and right-hand sides is in weight.py.
[D. Applegate et al., Practical large-scale linear programming using primal-dual hybrid gradient, arXiv 2106.04756]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from batchlp_cli.problem import Vector

NORM_CHECK = 10
"""Lanczos passes between two looks at what has converged, at first; later a quarter of those there were."""

INVARIANT = 1e-12
"""A Lanczos vector this much shorter than the matrix is zero: the start's eigenvalues have all been found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingParameters:
    """How the matrix is scaled.

    ruiz_passes: 0 or more, default 10 [arXiv 2106.04756]. step: share of 1/||A~||_2 that eta takes, in (0, 1), default 0.998
    [arXiv 2507.14051]. norm_tol: relative accuracy of ||A~||_2^2, far below what step leaves (default 1e-5);
    norm_passes: most Lanczos iterations for it, 1 or more (default 300); seed of their start.
    """

    ruiz_passes: int = 10
    step: float = 0.998
    norm_tol: float = 1e-5
    norm_passes: int = 300
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ScaledMatrix:
    """The matrix of a batch, as given and scaled, each by rows and by columns (the transposes are stored by rows).

    A, scaled: CSR [m, n] float64; At, scaled_t: CSR [n, m]; row_scale D1 [m], col_scale D2 [n]; eta: the step size.
    """

    A: sp.csr_array
    At: sp.csr_array
    scaled: sp.csr_array
    scaled_t: sp.csr_array
    row_scale: Vector
    col_scale: Vector
    eta: float

    @property
    def m(self) -> int:
        """Number of rows."""
        return int(self.A.shape[0])

    @property
    def n(self) -> int:
        """Number of columns."""
        return int(self.A.shape[1])


def scale_matrix(A: sp.csr_array, parameters: ScalingParameters) -> ScaledMatrix:
    """Returns the matrix with its scales and step size: Ruiz passes, then Pock and Chambolle once with alpha = 1."""
    m, n = A.shape
    row_scale, col_scale = np.ones(m), np.ones(n)
    size = sp.csr_array((np.abs(A.data), A.indices, A.indptr), shape=A.shape)
    for _ in range(parameters.ruiz_passes):
        # rows and columns together by (max |a|)^(-1/2)
        _rescale(size, row_scale, col_scale, *_extents(size, np.maximum))
    # rows by (sum |a|)^(-1/2), columns by (sum |a|)^(-1/2)
    _rescale(size, row_scale, col_scale, *_extents(size, np.add))
    scaled = sp.csr_array((np.copysign(size.data, A.data), A.indices, A.indptr), shape=A.shape)
    scaled_t = _transposed(scaled)
    # Pock and Chambolle's pass leaves ||A~||_2 <= 1
    eta = parameters.step / min(1.0, spectral_norm(scaled, scaled_t, parameters))
    return ScaledMatrix(A, _transposed(A), scaled, scaled_t, row_scale, col_scale, eta)


def spectral_norm(A: sp.csr_array, At: sp.csr_array, parameters: ScalingParameters) -> float:
    """Returns ||A||_2, rather too large than too small, by Lanczos from a seeded start; 1 for a matrix of zeros.

    A power iteration won't do: where singular values lie close together it ends up to a few per cent too small after a hundred
    passes, and steps with a step size times norm above 1 diverge. Lanczos vectors that lose their orthogonality only repeat
    eigenvalues that were found. [J. Kuczynski, H. Wozniakowski, SIAM J. Matrix Anal. Appl. 13 (1992)]
    """
    outer, inner = (A, At) if A.shape[0] <= A.shape[1] else (At, A)
    v = np.random.default_rng(parameters.seed).standard_normal(outer.shape[0])
    before, beta = np.zeros_like(v), float(np.linalg.norm(v))
    diagonal: list[float] = []
    beside: list[float] = []
    largest = error = 0.0
    look = NORM_CHECK
    for k in range(1, parameters.norm_passes + 1 if A.nnz else 1):
        v /= beta
        # beta_k v_{k+1} = (A A' - alpha_k) v_k - beta_{k-1} v_{k-1}
        w = outer @ (inner @ v)
        diagonal.append(float(v @ w))
        w -= diagonal[-1] * v + (beside[-1] * before if beside else 0.0)
        before, v, beta = v, w, float(np.linalg.norm(w))
        if k in (look, parameters.norm_passes) or beta <= INVARIANT * diagonal[0]:
            look = k + max(NORM_CHECK, k // 4)
            # dense, since scipy.linalg takes longer to import than all these matrices take
            values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, -1))
            # an eigenvalue lies within |beta_k s_k| of the largest one of the tridiagonal matrix
            largest, error = float(values[-1]), beta * abs(float(vectors[-1, -1]))
            if error <= parameters.norm_tol * largest or beta <= INVARIANT * diagonal[0]:
                break
        beside.append(beta)
    return float(np.sqrt(largest + error)) or 1.0


def _transposed(A: sp.csr_array) -> sp.csr_array:
    At = sp.csr_array(A.T)
    At.sort_indices()
    return At


def _extents(size: sp.csr_array, reduce: np.ufunc) -> tuple[Vector, Vector]:
    """Returns the largest entry (np.maximum) or the sum (np.add) of each row and column; 1 where there is no entry."""
    m, n = size.shape
    rows, cols = np.zeros(m), np.zeros(n)
    reduce.at(rows, np.repeat(np.arange(m), np.diff(size.indptr)), size.data)
    reduce.at(cols, size.indices, size.data)
    return np.where(rows > 0, rows, 1.0), np.where(cols > 0, cols, 1.0)


def _rescale(size: sp.csr_array, row_scale: Vector, col_scale: Vector, rows: Vector, cols: Vector) -> None:
    """Divides size, in place, by the roots of rows and cols, and the scales with it."""
    by_row, by_col = 1 / np.sqrt(rows), 1 / np.sqrt(cols)
    size.data *= np.repeat(by_row, np.diff(size.indptr)) * by_col[size.indices]
    row_scale *= by_row
    col_scale *= by_col
