"""How polishing and interior steps end for a member that goes alone: with an answer, or with a point to go on from.

Points are measured as those of lanes are. Prices of interior steps grow without bound where there is no feasible point, so they
are tried as Farkas rays now and then.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from batchlp_cli.backends.pdhg import termination
from batchlp_cli.backends.pdhg.course import Course, Entry
from batchlp_cli.backends.pdhg.interior import interior_points
from batchlp_cli.backends.pdhg.kernels.base import Kernel, displacement_of, point_of
from batchlp_cli.backends.pdhg.polish import Point
from batchlp_cli.backends.pdhg.states import LaneStates
from batchlp_cli.problem import Vector
from batchlp_cli.solution import Status


@dataclass(frozen=True, slots=True, eq=False)
class Ending:
    """What such help came to. point, merit: the best point, as that of the reduced member, and what it is worth.

    status: what was found, None where nothing was; found: x, y or ray of the member as given, and a message.
    """

    point: Point
    merit: float
    status: Status | None = None
    found: dict[str, Vector | str] = field(default_factory=dict)


def find_ending(course: Course, states: LaneStates, place: tuple[Kernel, Any, int]) -> Ending | None:
    """Returns what interior steps or polishing, of which one may be due, make of a lane's point; None where none is.

    place: a kernel, its tile, and the lane.
    """
    p, lane = course.parameters, place[2]
    entry, iterations = states.entry(lane), states.iterations[lane]
    if entry.ray is not None:
        return None
    if iterations >= p.interior.first and not states.inside[lane] and p.interior.suits(course.matrix):
        states.inside[lane] = True
        return end_inside(course, entry, point_of(*place))
    if iterations >= max(p.polish.first, states.next_polish[lane]) and course.matrix.A.nnz <= p.polish.most_entries:
        states.next_polish[lane] = p.polish.spacing * iterations
        return end_polished(course, entry, point_of(*place), displacement_of(*place))
    return None


def end_polished(course: Course, entry: Entry, start: Point, move: Point) -> Ending:
    """Returns how polishing ends from x [n], y [m] of an entry's reduced member; move: what both went since the last restart."""
    point, (x, y), merit = course.polished(entry, start, move)
    if course.accepts(entry, course.given_of(entry), x, y):
        return Ending(point, merit, Status.OPTIMAL, {"x": x, "y": y, "message": "polished"})
    return Ending(point, merit)


def end_inside(course: Course, entry: Entry, start: Point) -> Ending:
    """Returns how interior steps from x [n], y [m] of an entry's reduced member end; they stop where its time is over."""
    p, given = course.parameters.interior, course.given_of(entry)
    wanted = course.parameters.termination.margin * course.settings.tol
    best, begun = Ending(start, np.inf), time.perf_counter()
    for step, (x, y) in enumerate(interior_points(p, course.matrix, course.lp_of(entry), *start), 1):
        X, Y = course.restored(entry, given, x, y)
        merit = float(termination.merit(termination.errors_of(given, course.reduction.restoration.At, X, Y))[0])
        if merit < best.merit:
            best = Ending((x, y), merit)
        if merit <= wanted:
            if course.accepts(entry, given, X, Y):
                return Ending((x, y), merit, Status.OPTIMAL, {"x": X, "y": Y, "message": f"polished by {step} interior steps"})
            wanted = course.parameters.termination.stricter * merit
        ray = _farkas(course, entry, y) if step % p.proofs == 0 else None
        if ray is not None:
            return Ending((x, y), merit, Status.INFEASIBLE, {"ray": ray, "message": f"proved by {step} interior steps"})
        now = time.perf_counter()
        if course.is_over(entry, now - begun):
            break
        begun = now
    course.keep_bound(entry, course.restored(entry, given, *best.point)[1])
    return best


def _farkas(course: Course, entry: Entry, y: Vector) -> Vector | None:
    given = course.given_of(entry)
    return course.prover.farkas(given, course.reduction.restoration.prices(np.zeros(given.n), y))
