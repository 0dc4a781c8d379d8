"""Members that the lanes of their batch could not finish go on as LPs of their own, one after the other.

Each is reduced by its own numbers, scaled anew, held to another rule for its weight, and polished now and then. What becomes of
it depends on nobody else, so its bits don't either. It is for runs in which nobody else helps (no fallback): a lane alone costs
several times one of many, and simplex is the better helper for most.
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


def run_alone(course: Course) -> None:
    """Runs the members that left the lanes of a course until none waits, on this thread."""
    while course.leavers and not course.stop.is_set():
        try:
            entry = course.leavers.popleft()  # a deque bears many threads
        except IndexError:
            return
        if entry.number not in course.cancelled:
            Lanes(open_alone(course, entry), "float64", 1).run()


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
        leavers=None,
        polishes=True,
        width=1,
    )
