"""Whether a point within tolerance also tells what the value of its LP is, which studies need: they compare values of LPs.

The usual tolerances are relative to all row bounds together and to the value. Beside large bounds a child of branching may
then count as solved at the point of its parent, and a small reduced cost times a wide column leaves the safe bound far below.
"""

from __future__ import annotations

import numpy as np

from batchlp_cli.problem import LinearProgram, Vector

FAR = 5.0
"""A safe bound may be this many tolerances, relative, below what the value may be."""


def worth_of_violations(lp: LinearProgram, x: Vector, y: Vector) -> float:
    """Returns what the violations of x [n] are worth at most, at any y* whose largest entries are not larger than those of y [m].

    The value v(b) of an LP is convex in its sides b with the slope y* at b, so v(b) <= v(b') + |y*| @ |b - b'|, where x meets b'.
    """
    return _worth(lp, y, _off(lp.A @ x, lp.row_lower, lp.row_upper), _off(x, lp.col_lower, lp.col_upper))


def _worth(lp: LinearProgram, y: Vector, rows: Vector, cols: Vector) -> float:
    r = lp.c - lp.A.T @ y
    # |y*| @ off <= max |y*| sum off
    return float(np.abs(y).max(initial=0.0) * rows.sum() + np.abs(r).max(initial=0.0) * cols.sum())


def is_near(lp: LinearProgram, x: Vector, y: Vector, bound: float, tol: float) -> bool:
    """Tells whether x [n] obeys each row and column by its own measure, and the safe bound, with offset, is near its value."""
    activity = lp.A @ x
    rows, cols = _off(activity, lp.row_lower, lp.row_upper), _off(x, lp.col_lower, lp.col_upper)
    # |a_i @ x - proj| <= tol (1 + |b_i|) for each row i, which large bounds of other rows don't loosen
    own = (rows <= tol * (1 + _nearest(lp.row_lower, lp.row_upper, activity))).all() and (
        cols <= tol * (1 + _nearest(lp.col_lower, lp.col_upper, x))
    ).all()
    value = float(lp.c @ x) + lp.offset
    high = value + _worth(lp, y, rows, cols)
    return bool(own) and max(high, bound) - bound <= FAR * tol * (1 + abs(value))


def _off(value: Vector, lower: Vector, upper: Vector) -> Vector:
    """Returns by how much values leave their bounds."""
    return np.abs(value - np.clip(value, lower, upper))


def _nearest(lower: Vector, upper: Vector, value: Vector) -> Vector:
    """Returns the size of the side that a value leaves, 0 where it leaves none."""
    side = np.where(value < lower, lower, np.where(value > upper, upper, 0.0))
    return np.abs(side)
