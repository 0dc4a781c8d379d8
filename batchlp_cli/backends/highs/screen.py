"""What can be said of an LP without a solver: crossing bounds, numbers that HiGHS does not take, LPs without rows or columns."""

from __future__ import annotations

import numpy as np

from batchlp_cli.backends.highs.engine import INFINITE, LARGEST_COEFFICIENT
from batchlp_cli.backends.highs.moves import Moves
from batchlp_cli.problem import LinearProgram, Mask, Vector
from batchlp_cli.solution import Solution, Status


def decide_without_solver(lp: LinearProgram) -> Solution | None:
    """Returns a claim where none of HiGHS is needed or it could not be used, else None."""
    message = crossing_bounds(lp)
    if message:
        return Solution(Status.INFEASIBLE, message=message)
    if lp.m == 0:
        return _solve_without_rows(lp)
    if lp.n == 0:
        return _solve_without_columns(lp)
    message = refused_number(lp)
    return Solution(Status.NUMERICAL_ERROR, message=message) if message else None


def left_to_solver(moves: Moves) -> Mask:
    """Tells of which members `decide_without_solver` says nothing, as it says nothing of the base: [B]."""
    fine: Mask = np.asarray((np.abs(moves.costs) < INFINITE).all(axis=1), dtype=np.bool_)
    for sides in (moves.rows, moves.columns):
        lower, upper = sides.lower, sides.upper
        fine &= ((lower <= upper) & (lower < INFINITE) & (upper > -INFINITE)).all(axis=1)
    return fine


def crossing_bounds(lp: LinearProgram) -> str:
    """Names the first row or column that no number can satisfy by itself: lower above upper, +inf below, -inf above."""
    for kind, name_of, lower, upper in (
        ("row", lp.row_name, lp.row_lower, lp.row_upper),
        ("column", lp.col_name, lp.col_lower, lp.col_upper),
    ):
        crossed = np.flatnonzero((lower > upper) | np.isposinf(lower) | np.isneginf(upper))
        if crossed.size:
            k = int(crossed[0])
            return f"{kind} {name_of(k)} has lower bound {lower[k]} and upper bound {upper[k]}: no number lies between"
    return ""


def refused_number(lp: LinearProgram) -> str:
    """Names the first number that HiGHS would refuse or, worse, take as infinite without a word; empty if there is none."""
    huge = np.flatnonzero(np.abs(lp.c) >= INFINITE)
    if huge.size:
        j = int(huge[0])
        return f"column {lp.col_name(j)} has cost {lp.c[j]}; HiGHS takes costs below {INFINITE:g} only; scale the objective"
    huge = np.flatnonzero(np.abs(lp.rows.data) >= LARGEST_COEFFICIENT)
    if huge.size:
        k = int(huge[0])
        row = lp.row_name(int(np.searchsorted(lp.rows.indptr, k, side="right")) - 1)
        where = f"row {row}, column {lp.col_name(int(lp.rows.indices[k]))}"
        return f"{where}: coefficient {lp.rows.data[k]}; HiGHS takes those below {LARGEST_COEFFICIENT:g} only; scale the row"
    for kind, name_of, lower, upper in (
        ("row", lp.row_name, lp.row_lower, lp.row_upper),
        ("column", lp.col_name, lp.col_lower, lp.col_upper),
    ):
        huge = np.flatnonzero((lower >= INFINITE) | (upper <= -INFINITE))
        if huge.size:
            k = int(huge[0])
            return f"{kind} {name_of(k)} has bounds [{lower[k]}, {upper[k]}]; HiGHS takes {INFINITE:g} as infinite; scale it"
    return ""


def _solve_without_rows(lp: LinearProgram) -> Solution:
    """Puts each column to its cheaper bound; an infinite one is a direction of unboundedness."""
    resting = np.clip(np.zeros(lp.n), lp.col_lower, lp.col_upper)
    cheaper = np.where(lp.c > 0, lp.col_lower, np.where(lp.c < 0, lp.col_upper, resting))
    endless = np.flatnonzero(np.isinf(cheaper))
    if endless.size:
        d = np.zeros(lp.n)
        d[endless[0]] = -np.sign(lp.c[endless[0]])
        return Solution(Status.UNBOUNDED, x=resting, ray=d)
    return Solution(Status.OPTIMAL, x=cheaper, y=np.zeros(0), r=lp.c.copy())


def _solve_without_columns(lp: LinearProgram) -> Solution:
    """Every row is 0: optimal, or infeasible by a row that excludes 0."""
    excluded: Vector = np.where(lp.row_lower > 0, 1.0, np.where(lp.row_upper < 0, -1.0, 0.0))
    wrong = np.flatnonzero(excluded)
    if not wrong.size:
        return Solution(Status.OPTIMAL, x=np.zeros(0), y=np.zeros(lp.m), r=np.zeros(0))
    y = np.zeros(lp.m)
    y[wrong[0]] = excluded[wrong[0]]
    return Solution(Status.INFEASIBLE, ray=y)
