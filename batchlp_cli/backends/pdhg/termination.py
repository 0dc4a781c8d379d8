"""When a member is done: relative residuals and gap of the unscaled LP, in float64, finite first. [arXiv 2106.04756]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from batchlp_cli.backends.pdhg.kernels.base import Measured
from batchlp_cli.problem import LinearProgram, Mask, Vector
from batchlp_cli.status import Status

FLOAT32_STALL = 0.25
"""Share of its iterations without progress after which a member goes from float32 to float64 (but not before 1000)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminationParameters:
    """When a lane stops.

    margin: share of the tolerance that must be met, for the rounding by which another judge's sums may differ (default 0.99).
    stall_steps: iterations without progress after which a member is given up (default 60,000); progress: a merit below this
    share of the best one so far (default 0.9). stricter: factor of the tolerance for a reduced member that met it but not as the
    member that was given (default 0.5). most_slope: relative change of the value for a
    relative change of all row bounds, above which an optimum is claimed only if a point is at hand that is feasible up to
    rounding, with a relative primal residual up to `exact`: an LP that is infeasible by less than the tolerance has optima
    within tolerance, whose prices are large (default 50 and 1e-11; 66 of Netlib's 69 optima are below 30; cplex2, which is
    infeasible by 3e-10, has 100 and more). strictest: where `near` is asked for, share of the tolerance from which points are
    taken that are not near (default 0.01).
    """

    margin: float = 0.99
    stall_steps: int = 60_000
    progress: float = 0.9
    stricter: float = 0.5
    most_slope: float = 50.0
    exact: float = 1e-11
    strictest: float = 0.01


@dataclass(slots=True, eq=False)
class TerminationState:
    """Per lane [W]: ||b||, ||c|| of its member as given, its offset, what its value is above the reduced one's, the share of the
    tolerance that the reduced member must meet, the best merit so far, and the iterations at which it was reached."""

    bounds_norm: Vector
    cost_norm: Vector
    offset: Vector
    shift: Vector
    strictness: Vector
    best: Vector
    best_at: Vector

    @staticmethod
    def of(width: int) -> TerminationState:
        """Returns the state of lanes that have not begun."""
        zeros = (np.zeros(width) for _ in range(5))
        return TerminationState(*zeros, np.full(width, np.inf), np.zeros(width))  # type: ignore[call-arg]  # lengths as above

    def begin(self, lane: int, lp: LinearProgram, shift: float) -> None:
        """Starts a lane with its member as given."""
        self.shift[lane], self.offset[lane], self.strictness[lane] = shift, lp.offset, 1.0
        finite = [np.where(np.isfinite(a), np.abs(a), 0.0) for a in (lp.row_lower, lp.row_upper)]
        largest = np.maximum(*finite)
        self.bounds_norm[lane], self.cost_norm[lane] = np.sqrt(_dot(largest, largest)), np.sqrt(_dot(lp.c, lp.c))
        self.best[lane], self.best_at[lane] = np.inf, 0.0


def relative_errors(sums: Vector, state: TerminationState) -> Vector:
    """Returns relative primal residual, dual residual and gap [3, W] from the sums of `Kernel.measure`."""
    p, D = sums[Measured.PRIMAL_VALUE] + state.shift, sums[Measured.DUAL_VALUE] + state.shift
    with np.errstate(invalid="ignore", over="ignore"):
        # ||Ax - proj(Ax)|| / (1 + ||b||)
        primal = np.sqrt(sums[Measured.PRIMAL_SQUARED]) / (1 + state.bounds_norm)
        # ||y, r where they price an infinite bound|| / (1 + ||c||)
        dual = np.sqrt(sums[Measured.LOOSE_SQUARED]) / (1 + state.cost_norm)
        # |p - D| / (1 + |p| + |D|)
        gap = np.abs(p - D) / (1 + np.abs(p) + np.abs(D))
    return np.stack([primal, dual, gap])


def _dot(a: Vector, b: Vector) -> float:
    """Returns a @ b without BLAS, whose threads would wait for cores that tiles are on."""
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.sum(a * b))


def errors_of(lp: LinearProgram, At: sp.csr_array, x: Vector, y: Vector) -> Vector:
    """Returns the same [3, 1] for one point of an LP."""
    state = TerminationState.of(1)
    state.begin(0, lp, 0.0)
    sums = np.zeros((len(Measured), 1))
    along, r = lp.A @ x, lp.c - At @ y
    off = np.maximum(np.maximum(lp.row_lower - along, along - lp.row_upper), 0.0)
    sums[Measured.PRIMAL_SQUARED] = _dot(off, off)
    sums[Measured.PRIMAL_VALUE] = _dot(lp.c, x)
    for price, lower, upper in ((y, lp.row_lower, lp.row_upper), (r, lp.col_lower, lp.col_upper)):
        side = np.where(price > 0, lower, upper)
        loose = np.isinf(side)
        sums[Measured.LOOSE_SQUARED] += _dot(price[loose], price[loose])
        sums[Measured.DUAL_VALUE] += _dot(price[~loose], side[~loose])
    return relative_errors(sums, state)


def sensitivity(lp: LinearProgram, x: Vector, y: Vector) -> float:
    """Returns how much the value changes, relatively and to first order, for each unit of tolerance by which row bounds move."""
    # sum_i |y_i| (1 + |b_i|) / (1 + |p|),   b_i the side that y_i prices
    side = np.where(y > 0, lp.row_lower, lp.row_upper)
    size = 1 + np.abs(np.where(np.isfinite(side), side, 0.0))
    return float(np.abs(y) @ size / (1 + abs(lp.c @ x)))


def merit(errors: Vector) -> Vector:
    """Returns the largest of the three errors of each lane, inf where one is not finite: [3, W] -> [W]."""
    finite = np.isfinite(errors).all(axis=0)
    return np.where(finite, np.where(finite, errors, 0.0).max(axis=0), np.inf)


def stalled(p: TerminationParameters, state: TerminationState, merits: Vector, iterations: Vector, steps: Vector) -> Mask:
    """Returns the lanes whose merit hasn't improved for `steps` [W] iterations, and remembers the best."""
    better = merits < p.progress * state.best
    state.best[better], state.best_at[better] = merits[better], iterations[better]
    idle: Mask = iterations - state.best_at >= steps
    return idle


def patience(p: TerminationParameters, iterations: Vector, last: bool) -> Vector:
    """Returns the iterations [W] without progress after which lanes are stalled; last: no other precision comes after this."""
    if last:
        return np.full(iterations.size, float(p.stall_steps))
    return np.maximum(1000.0, FLOAT32_STALL * iterations)


def ending(late: bool, exhausted: bool, reached: float | None) -> tuple[Status, str]:
    """Returns what becomes of a member that is given up, and why; reached: the iteration of its best merit, None: not finite."""
    if late:
        return Status.TIME_LIMIT, "time limit"
    if exhausted:
        return Status.ITERATION_LIMIT, "iteration limit"
    why = "not finite" if reached is None else f"stalled: no progress since iteration {reached:.0f}"
    return Status.NUMERICAL_ERROR, why


def describe(errors: Vector, lane: int) -> str:
    """Returns the three errors of a lane in words."""
    primal, dual, gap = errors[:, lane]
    return f"relative primal residual {primal:.3g}, dual residual {dual:.3g}, gap {gap:.3g}"
