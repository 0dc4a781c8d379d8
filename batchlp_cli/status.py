"""What became of an instance, as data. It stands alone so that the command line can name statuses without loading arrays."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What became of an instance. Every vector is in original units, stored for minimisation (see problem.py).

    OPTIMAL          x, y, r are an optimal primal-dual point within tolerance; ray is None.
    INFEASIBLE       ray is y [m] with a positive cost-free dual bound (a Farkas ray), or None where two bounds cross.
    UNBOUNDED        x is a feasible point and ray is d [n], a direction that improves for ever.
    TIME_LIMIT       the time ran out; x, y, r are the last iterate or None, with no promise at all.
    ITERATION_LIMIT  the iterations ran out; x, y, r as for TIME_LIMIT.
    CUTOFF           the dual value of y passed `settings.cutoff`, so that nobody went on; y is what proves it. Studies only.
    NUMERICAL_ERROR  the backend gave up; x, y, r as for TIME_LIMIT.
    CRASHED          the process that solved it died on every try; there are no vectors.
    UNREADABLE       the input is no readable LP; there are no vectors.
    """

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    CUTOFF = "cutoff"
    NUMERICAL_ERROR = "numerical_error"
    CRASHED = "crashed"
    UNREADABLE = "unreadable"


DECIDED = frozenset({Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED})
"""What may become a verdict."""

SETTLED = DECIDED | {Status.CUTOFF}
"""What a backend may end with where nothing stopped it: there is no more to be sought."""


def no_verdict(status: str) -> str:
    """Returns why an instance with a status that decides nothing is not verified, for users."""
    return f"it ended with {status.replace('_', ' ')}, so nothing is proved"
