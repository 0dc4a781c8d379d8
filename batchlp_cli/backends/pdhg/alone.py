"""Members that take long in the lanes of their batch go on as LPs of their own, too, beside their lane; the first answer counts.

Each is reduced by its own numbers, scaled anew, held to another rule for its weight, polished now and then, and at last by
interior steps. Which way is the short one is luck, so several are gone, begun after different numbers of iterations; the
iterations of a member are those of the way that gave its answer, and the limit is for each. What becomes of it depends on nobody
else, so its bits don't either. It is for runs in which nobody else helps (no fallback): a lane alone costs several times one of
many, and simplex is the better helper for most.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from batchlp_cli.backends.pdhg.course import Course, Entry
from batchlp_cli.backends.pdhg.lanes import Lanes
from batchlp_cli.backends.pdhg.reduction import reduce_batch
from batchlp_cli.backends.pdhg.scaling import scale_matrix
from batchlp_cli.batch import Changes, LPBatch


def run_tile(lanes: Lanes, course: Course) -> None:
    """Runs a tile to its end and, a check each in turn, the LPs that members of it go on as, on this thread.

    So all ways of a member have the same iterations behind them at any time, and which is decided first depends on no mate.
    """
    ended = object()
    ways = [lanes.rounds()]
    while ways:
        ways = [way for way in ways if next(way, ended) is not ended]
        ways += [Lanes(open_alone(course, entry), "float64", 1).rounds() for entry in lanes.branches]
        lanes.branches.clear()


def open_alone(course: Course, entry: Entry) -> Course:
    """Returns the course of one member that goes on as an LP of its own: reduced by its own numbers, scaled anew."""
    parameters = replace(course.parameters, weight=course.parameters.weight_alone)
    given = course.given.take([entry.member])
    given = LPBatch(given.member(0), Changes(), given.names)
    reduction = reduce_batch(given, parameters.reduction)
    matrix = scale_matrix(reduction.batch.base.A, parameters.scaling)
    assert entry.x is not None
    assert entry.y is not None
    x, y = reduction.restoration.reduced_start(entry.x, entry.y)
    own = replace(entry, member=0, label=entry.member, x=x, y=y if entry.ray is None else np.zeros_like(y), omega=None)
    own.x = np.clip(x, reduction.batch.base.col_lower, reduction.batch.base.col_upper)
    return replace(
        course,
        given=given,
        reduction=reduction,
        parameters=parameters,
        matrix=matrix,
        warm_start=None,
        waiting={"float64": deque([own])},
        entries={"float64": course.kernel.entries(matrix, np.dtype(np.float64))},
        feed=None,
        branches=False,
        polishes=True,
        width=1,
    )
