"""The last stretch of x: a point next to a lane's that meets the rows, where only the rows are still missed by more than allowed.

PDHG often has the gap within tolerance long before the rows are met as well, and what is missing is then a short way: a few
least-squares steps on the rows, which change the value less than the gap leaves. Cf. feasibility polishing, which walks that way
with PDHG steps of its own. [D. Applegate et al., PDLP: a practical first-order method for large-scale linear programming,
arXiv 2501.07018]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from batchlp_cli.backends.pdhg.polish import PolishParameters, repair
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.problem import LinearProgram, Mask, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class MendingParameters:
    """When points are mended.

    least_entries: nonzeros of the matrix from which a try costs less than the iterations that it may save (default 50,000).
    reach: most that the primal residual may be, as a multiple of the tolerance (default 3). rest: share of the tolerance within
    which dual residual and gap must be (default 0.95). spacing: growth of the iterations between tries (default 1.05). steps: the
    rounds of least squares and the iterations in each, few enough that none is exact (default 6 and 10).
    """

    least_entries: int = 50_000
    reach: float = 3.0
    rest: float = 0.95
    spacing: float = 1.05
    steps: PolishParameters = field(default_factory=lambda: PolishParameters(repairs=6, passes=10))


def worth_mending(p: MendingParameters, entries: int, errors: Vector, tol: Vector) -> Mask:
    """Returns the lanes [W] that miss little but their rows; errors: [3, W], entries: nonzeros of the matrix, tol: [W]."""
    rows_missed = (errors[0] > tol) & (errors[0] <= p.reach * tol)
    worth: Mask = rows_missed & (errors[1:].max(axis=0) <= p.rest * tol) & (entries >= p.least_entries)
    return worth


def mended_points(p: MendingParameters, matrix: ScaledMatrix, lp: LinearProgram, x: Vector) -> Iterator[Vector]:
    """Yields points [n] near x within the column bounds that should meet the rows better and better."""
    points = repair(p.steps, matrix, lp, x)
    next(points)  # x itself
    yield from points
