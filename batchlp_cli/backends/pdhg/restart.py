"""When a member restarts its Halpern iteration: the fixed-point error has fallen enough, or falls no more, or it has been long.

[H. Lu, J. Yang, Restarted Halpern PDHG for linear programming, arXiv 2407.16144; cuPDLPx, arXiv 2507.14051]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchlp_cli.problem import Mask, Vector

ROUNDING = 2.0**-50
"""Relative rounding error of the squared fixed-point error, roughly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartParameters:
    """Thresholds, each in (0, 1) [arXiv 2507.14051].

    sufficient, necessary: share of the first fixed-point error. artificial: share of all steps of the member.
    """

    sufficient: float = 0.2
    necessary: float = 0.8
    artificial: float = 0.36


@dataclass(slots=True, eq=False)
class RestartState:
    """Per lane [W]: the fixed-point error at the first step after the last restart, and at the check before."""

    first: Vector
    previous: Vector

    @staticmethod
    def of(width: int) -> RestartState:
        """Returns the state of lanes that have not begun."""
        return RestartState(np.full(width, np.inf), np.full(width, np.inf))

    def begin(self, lanes: Mask, fpe: Vector) -> None:
        """Takes the error of lanes that stand at their anchor."""
        self.first[lanes] = fpe[lanes]
        self.previous[lanes] = np.inf


def fixed_point_error(sums: Vector, omega: Vector, eta: float) -> Vector:
    """Returns the fixed-point error [W] from the sums [5, W] of `Kernel.probe`; NaN where a lane is not finite."""
    dx_squared, dy_squared, cross = sums[0], sums[1], sums[2]
    # fpe = sqrt(omega ||dx||^2 + ||dy||^2 / omega + 2 eta <A'dy, dx>)
    size = omega * dx_squared + dy_squared / omega
    squared = size + 2 * eta * cross
    # the metric is positive: what is below its rounding is rounding
    least = ROUNDING * size
    return np.asarray(np.sqrt(np.where(squared < least, least, squared)))


def wants_restart(p: RestartParameters, state: RestartState, fpe: Vector, k: Vector, total: Vector) -> Mask:
    """Returns the lanes that restart at this check, and remembers fpe. k, total: [W] steps since the restart, and in all."""
    # fpe <= 0.2 fpe_first;  or  fpe <= 0.8 fpe_first and fpe > fpe at the previous check;  or  k >= 0.36 * all steps
    sufficient = fpe <= p.sufficient * state.first
    necessary = (fpe <= p.necessary * state.first) & (fpe > state.previous)
    artificial = k >= p.artificial * total
    state.previous[:] = fpe
    wanted: Mask = (k > 0) & (sufficient | necessary | artificial)
    return wanted
