"""When a member is done: relative residuals and gap of the unscaled LP, in float64, finite first. [arXiv 2106.04756]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchlp_cli.backends.pdhg.kernels.base import Measured
from batchlp_cli.problem import LinearProgram, Mask, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminationParameters:
    """When a lane stops.

    margin: share of the tolerance that must be met, for the rounding by which another judge's sums may differ (default 0.99).
    stall_steps: iterations without progress after which a member is given up (default 60,000); progress: a merit below this
    share of the best one so far (default 0.9).
    """

    margin: float = 0.99
    stall_steps: int = 60_000
    progress: float = 0.9


@dataclass(slots=True, eq=False)
class TerminationState:
    """Per lane [W]: ||b|| and ||c|| of its member, the best merit so far, and the iterations at which it was reached."""

    bounds_norm: Vector
    cost_norm: Vector
    best: Vector
    best_at: Vector

    @staticmethod
    def of(width: int) -> TerminationState:
        """Returns the state of lanes that have not begun."""
        return TerminationState(np.zeros(width), np.zeros(width), np.full(width, np.inf), np.zeros(width))

    def begin(self, lane: int, lp: LinearProgram) -> None:
        """Starts a lane with its member."""
        finite = [np.where(np.isfinite(a), np.abs(a), 0.0) for a in (lp.row_lower, lp.row_upper)]
        self.bounds_norm[lane] = np.linalg.norm(np.maximum(*finite))
        self.cost_norm[lane] = np.linalg.norm(lp.c)
        self.best[lane], self.best_at[lane] = np.inf, 0.0


def relative_errors(sums: Vector, state: TerminationState) -> Vector:
    """Returns relative primal residual, dual residual and gap [3, W] from the sums of `Kernel.measure`."""
    p, D = sums[Measured.PRIMAL_VALUE], sums[Measured.DUAL_VALUE]
    with np.errstate(invalid="ignore", over="ignore"):
        # ||Ax - proj(Ax)|| / (1 + ||b||)
        primal = np.sqrt(sums[Measured.PRIMAL_SQUARED]) / (1 + state.bounds_norm)
        # ||y, r where they price an infinite bound|| / (1 + ||c||)
        dual = np.sqrt(sums[Measured.LOOSE_SQUARED]) / (1 + state.cost_norm)
        # |p - D| / (1 + |p| + |D|)
        gap = np.abs(p - D) / (1 + np.abs(p) + np.abs(D))
    return np.stack([primal, dual, gap])


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


def describe(errors: Vector, lane: int) -> str:
    """Returns the three errors of a lane in words."""
    primal, dual, gap = errors[:, lane]
    return f"relative primal residual {primal:.3g}, dual residual {dual:.3g}, gap {gap:.3g}"
