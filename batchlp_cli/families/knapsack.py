"""Knapsacks with one or several constraints."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from batchlp_cli.families.blocks import names
from batchlp_cli.problem import LinearProgram


def knapsack(constraints: int, items: int, seed: int, tightness: float = 0.5) -> LinearProgram:
    """Returns a (multidimensional) 0-1 knapsack, K rows and I columns, dense, a maximisation.

    max p @ x, sum_j w_kj x_j <= b_k; w integers of [1, 1000], b_k = `tightness` * sum_j w_kj, and profits that follow the
    weights, p_j = sum_k w_kj / K + 500 U[0, 1], rounded to 3 decimals (Chu and Beasley 1998, Journal of Heuristics 4,
    63-86, after Freville and Plateau 1994, Discrete Applied Mathematics 49, 189-212).
    """
    rng = np.random.default_rng(seed)
    w = rng.integers(1, 1001, (constraints, items)).astype(np.float64)
    profit = np.round(w.sum(axis=0) / constraints + 500 * rng.random(items), 3)
    return LinearProgram(
        name=f"knapsack_{constraints}x{items}_s{seed}",
        c=-profit,
        A=sp.csr_array(w),
        row_lower=np.full(constraints, -np.inf),
        row_upper=np.floor(tightness * w.sum(axis=1)),
        col_lower=np.zeros(items),
        col_upper=np.ones(items),
        maximize=True,
        integer=np.ones(items, dtype=np.bool_),
        row_names=names("capacity", constraints),
        col_names=names("take", items),
    )
