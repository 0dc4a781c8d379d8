"""Three tiny LPs whose answers can be checked by hand, and claims about them, for the tests of the referee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from batchlp_cli.batch import LPBatch
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import Solution, Status, Verdict

INF, NAN = np.inf, np.nan
TOL = 1e-6
Numbers = Sequence[float]


def lp_of(
    c: Numbers, A: Sequence[Numbers], rows: tuple[Numbers, Numbers], cols: tuple[Numbers, Numbers], offset: float = 0.0
) -> LinearProgram:
    """Returns an LP from lists; rows and cols are (lower, upper)."""
    matrix = sp.csr_array(np.array(A, dtype=np.float64).reshape(len(rows[0]), len(c)))
    cost, rl, ru, cl, cu = (np.array(values, dtype=np.float64) for values in (c, *rows, *cols))
    return LinearProgram("tiny", cost, matrix, rl, ru, cl, cu, offset)


def claim(status: Status, **vectors: Numbers) -> Solution:
    """Returns a claim from lists."""
    return with_vectors(Solution(status), **{name: np.array(values, dtype=np.float64) for name, values in vectors.items()})


def with_vectors(solution: Solution, **vectors: Vector | None) -> Solution:
    """Returns the claim with some of x, y, r and ray changed."""
    return replace(solution, **vectors)  # type: ignore[arg-type]


def judge(lp: LinearProgram, solution: Solution, tol: float = TOL) -> Verdict:
    """Returns the verdict on a batch of one."""
    (verdict,) = verify(LPBatch.of([lp]), [solution], tol)
    return verdict


# min -x1 - 2 x2,  x1 + x2 <= 4,  x1 - x2 >= -2,  x >= 0:  x = (1, 3), y = (-1.5, 0.5), r = 0, value -7
GOOD = lp_of([-1, -2], [[1, 1], [1, -1]], ([-INF, -2], [4, INF]), ([0, 0], [INF, INF]), offset=100.0)
OPTIMAL = claim(Status.OPTIMAL, x=[1, 3], y=[-1.5, 0.5], r=[0, 0])
# x1 + x2 <= -1 with x >= 0: y = (-1, 0) prices -1 * -1 = 1 > 0
INFEASIBLE = replace(GOOD, row_upper=np.array([-1.0, INF]))
FARKAS = claim(Status.INFEASIBLE, ray=[-1, 0])
# without the first row x = (t, t + 2) goes on for ever
UNBOUNDED = replace(GOOD, row_upper=np.array([INF, INF]))
ENDLESS = claim(Status.UNBOUNDED, x=[1, 3], ray=[1, 1])
