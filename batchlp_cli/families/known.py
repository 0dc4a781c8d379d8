"""Random LPs that are optimal by construction: the optimality conditions read backwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from batchlp_cli.batch import LPBatch
from batchlp_cli.families.blocks import member_names
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import Solution, Status


def random_optimal(m: int, n: int, seed: int, density: float = 0.3) -> tuple[LinearProgram, Solution]:
    """Returns a random LP and an optimal solution of it, exact in float64 since all data are small integers.

    x, y, r are chosen first; then every row and column gets bounds with which they are complementary, and c = A.T y + r
    (the optimality conditions read backwards). There are rows and columns of all kinds: one-sided, two-sided, equal, free,
    active and inactive. The optimal value is certain; other optimal solutions may exist.
    """
    rng = np.random.default_rng(seed)
    A = _matrix(rng, m, n, density)
    return _around(rng, f"random_optimal_{m}x{n}_s{seed}", A)


def random_optimal_batch(m: int, n: int, members: int, seed: int, density: float = 0.3) -> tuple[LPBatch, list[Solution]]:
    """Returns a batch of such LPs with one matrix, and an optimal solution of each: all but the matrix is drawn anew."""
    rng = np.random.default_rng(seed)
    A = _matrix(rng, m, n, density)
    made = [_around(rng, f"random_optimal_{m}x{n}_s{seed}", A) for _ in range(members)]
    names = member_names(made[0][0], members)
    return LPBatch.of([replace(lp, name=name) for (lp, _), name in zip(made, names, strict=True)]), [known for _, known in made]


def _matrix(rng: np.random.Generator, m: int, n: int, density: float) -> sp.csr_array:
    return sp.csr_array(np.where(rng.random((m, n)) < density, rng.integers(-4, 5, (m, n)), 0).astype(np.float64))


def _around(rng: np.random.Generator, name: str, A: sp.csr_array) -> tuple[LinearProgram, Solution]:
    """Returns an LP with the matrix A that is optimal at x, y, r drawn at random, and these."""
    m, n = A.shape
    x = rng.integers(-9, 10, n).astype(np.float64)
    y = np.where(rng.random(m) < 0.5, rng.integers(-9, 10, m), 0).astype(np.float64)
    r = np.where(rng.random(n) < 0.5, rng.integers(-9, 10, n), 0).astype(np.float64)
    row_lower, row_upper = _complementary(rng, np.asarray(A @ x), y)
    col_lower, col_upper = _complementary(rng, x, r)
    offset = float(rng.integers(-99, 100))
    lp = LinearProgram(name, A.T @ y + r, A, row_lower, row_upper, col_lower, col_upper, offset)
    return lp, Solution(Status.OPTIMAL, x=x, y=y, r=r)


def _complementary(rng: np.random.Generator, value: Vector, price: Vector) -> tuple[Vector, Vector]:
    """Returns bounds around values with which prices are complementary: a positive price puts its value at the lower one."""
    gap = rng.integers(0, 6, (2, value.size)).astype(np.float64)
    gap[rng.random((2, value.size)) < 0.3] = np.inf
    equal = rng.random(value.size) < 0.15
    lower = np.where(equal | (price > 0), value, value - gap[0])
    return lower, np.where(equal | (price < 0), value, value + gap[1])
