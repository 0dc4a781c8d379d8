"""The primal weight of each member: how it starts and how it follows the distances that x and y have gone.

Scaling a member's row bounds by theta_b and its costs by theta_c, as cuPDLPx does with theta_b = 1/(1+||b~||) and theta_c =
1/(1+||c~||), puts theta_b x in place of x and theta_c y in place of y. In the steps of `kernels/base.py` that is, with eta the
same,
    theta_b v = theta_b x - tau (theta_c c - A'(theta_c y))    <=>    v = x - (tau theta_c/theta_b) (c - A'y)
and likewise sigma theta_b/theta_c in the dual step: the unscaled iteration with weight omega theta_b/theta_c. The fixed-point
error is multiplied by sqrt(theta_b theta_c), which leaves every ratio of the restart rule, and the rule below reads only
log dD - log dP - log omega, in which the thetas cancel, and relative errors. So a member's theta scaling is no more than a
first weight of theta_b/theta_c: shared bounds and costs stay shared numbers, and no lane stores scaled copies.
[cuPDLPx, arXiv 2507.14051]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchlp_cli.problem import Mask, Vector

FLOOR = 1e-12
"""Errors below this count as this, so that an error of 0 has a logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightParameters:
    """The PI rule's gains: proportional 0.99, integral 0.01, and the share 0.3 that the integral keeps [arXiv 2507.14051].

    patience: iterations without progress after which a lane changes between this rule and the balanced one, from its
    first weight on (default 30,000). imbalance: ratio of primal to dual errors, above 1, from which the balanced rule
    draws the weight back (default 100); pull: share of the excess, in logarithms, that a restart takes back (default
    0.2). Neither rule is better everywhere.
    least, most: the weight stays within these multiples of its start (default 1e-10 and 1e10), so that it never overflows.
    """

    proportional: float = 0.99
    integral: float = 0.01
    memory: float = 0.3
    patience: float = 30_000.0
    imbalance: float = 100.0
    pull: float = 0.2
    least: float = 1e-10
    most: float = 1e10


@dataclass(slots=True, eq=False)
class WeightState:
    """Per lane [W]: the weight omega, where it started, the integral S of the rule.

    balanced: whether the lane follows the balanced rule; changed: the iteration at which it last changed rules.
    """

    omega: Vector
    start: Vector
    integral: Vector
    balanced: Mask
    changed: Vector

    @staticmethod
    def of(width: int) -> WeightState:
        """Returns the state of lanes that have not begun."""
        return WeightState(np.ones(width), np.ones(width), np.zeros(width), np.zeros(width, dtype=np.bool_), np.zeros(width))

    def begin(self, lane: int, omega: float) -> None:
        """Starts a lane with a weight."""
        self.omega[lane] = self.start[lane] = omega
        self.integral[lane] = self.changed[lane] = 0.0
        self.balanced[lane] = False

    def change_rules(self, p: WeightParameters, lanes: Mask, iterations: Vector, best_at: Vector) -> Mask:
        """Lets lanes without progress for long follow the other rule, from their first weight on; returns these lanes.

        iterations, best_at: [W], now and at the last progress.
        """
        changing: Mask = lanes & (iterations - np.maximum(best_at, self.changed) >= p.patience)
        self.omega[changing], self.integral[changing] = self.start[changing], 0.0
        self.balanced[changing] ^= True
        self.changed[changing] = iterations[changing]
        return changing


def first_weight(cost: Vector, row_lower: Vector, row_upper: Vector) -> float:
    """Returns theta_b/theta_c = (1 + ||c~||) / (1 + ||b~||) of one member; b~: its finite row bounds, an equality once."""
    lower = np.where(np.isfinite(row_lower), row_lower, 0.0)
    upper = np.where(np.isfinite(row_upper) & (row_upper != row_lower), row_upper, 0.0)
    bounds = float(np.hypot(_norm(lower), _norm(upper)))
    weight = (1.0 + _norm(cost)) / (1.0 + bounds)
    return weight if np.isfinite(weight) and weight > 0 else 1.0


def _norm(values: Vector) -> float:
    """Returns the Euclidean norm, also where the squares overflow or vanish."""
    largest = float(np.abs(values).max(initial=0.0))
    return largest * float(np.linalg.norm(values / largest)) if largest > 0 else 0.0


def update_weights(p: WeightParameters, state: WeightState, lanes: Mask, primal: Vector, dual: Vector, errors: Vector) -> None:
    """Moves the weights of lanes that restart. primal, dual: [W], how far x and y went since the last restart.

    errors: [3, W] relative primal residual, dual residual and gap.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # e = log dD - log dP - log omega
        e = np.log(dual) - np.log(primal) - np.log(state.omega)
    # skip where either distance is 0 or not finite
    moved = lanes & np.isfinite(e)
    e = np.where(moved, e, 0.0)
    # S = 0.3 S + e;   omega *= exp(0.99 e + 0.01 S)
    state.integral[moved] = (p.memory * state.integral + e)[moved]
    power = p.proportional * e + p.integral * state.integral
    power = np.where(state.balanced, _balanced(p, power, errors), power)
    omega = np.clip(state.omega * np.exp(np.clip(power, -700, 700)), p.least * state.start, p.most * state.start)
    state.omega[moved] = omega[moved]


def _balanced(p: WeightParameters, power: Vector, errors: Vector) -> Vector:
    """Returns the power [W] of the weight's next factor, held back and turned where one side's error is far above the other's."""
    # q = log(primal error / max(dual error, gap));  the gap counts, since boxed columns have no dual error at all
    primal, dual = (np.log(np.fmax(a, FLOOR)) for a in (errors[0], np.fmax(errors[1], errors[2])))
    q = primal - dual
    limit = np.log(p.imbalance)
    above, below = np.fmax(q - limit, 0.0), np.fmin(q + limit, 0.0)
    # no step away from balance, and a step of 0.2 (|q| - log 100) back to it
    away = ((above > 0) & (power < 0)) | ((below < 0) & (power > 0))
    turned: Vector = np.where(away, 0.0, power) + p.pull * (above + below)
    return turned
