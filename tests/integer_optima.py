"""LPs of small integers with an optimal pair known by construction, so that float64 holds them without rounding."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from batchlp_cli.problem import LinearProgram, Vector

INF = np.inf


def dyadic_optimum(
    rng: np.random.Generator, m: int, n: int, *, free: float, one_sided: float
) -> tuple[LinearProgram, Vector, int]:
    """Returns an LP of integers, optimal row duals of it and its exact optimal value, from a complementary pair of integers."""
    A = np.where(rng.random((m, n)) < 0.7, rng.integers(-9, 10, (m, n)), 0).astype(np.float64)
    x, y = rng.integers(-9, 10, n).astype(np.float64), rng.integers(-9, 10, m).astype(np.float64)
    kind = rng.random(n)
    is_free, half = kind < free, (kind >= free) & (kind < free + one_sided)
    r = np.where(is_free, 0, np.where(half, rng.integers(0, 3, n), rng.integers(-3, 4, n))).astype(np.float64)
    lower, upper = np.where(r > 0, x, x - rng.integers(0, 3, n)), np.where(r < 0, x, x + rng.integers(0, 3, n))
    lower, upper = np.where(is_free, -INF, lower), np.where(is_free | half, INF, upper)
    equal, activity = rng.random(m) < 0.5, A @ x
    row_lower = np.where(equal | (y > 0), activity, np.where(rng.random(m) < 0.5, -INF, activity - 1))
    row_upper = np.where(equal | (y < 0), activity, np.where(rng.random(m) < 0.5, INF, activity + 1))
    c = A.T @ y + r
    return LinearProgram("known", c, sp.csr_array(A), row_lower, row_upper, lower, upper, 3.0), y, int(c @ x) + 3


def split(lp: LinearProgram) -> LinearProgram:
    """Returns the LP with each free column written as the difference of two columns that are not negative."""
    free = np.isneginf(lp.col_lower) & np.isposinf(lp.col_upper)
    A = sp.csr_array(sp.hstack([lp.A, -sp.csr_array(lp.A[:, np.flatnonzero(free)])]))
    lower = np.append(np.where(free, 0.0, lp.col_lower), np.zeros(free.sum()))
    upper = np.append(lp.col_upper, np.full(free.sum(), INF))
    return LinearProgram("split", np.append(lp.c, -lp.c[free]), A, lp.row_lower, lp.row_upper, lower, upper, lp.offset)
