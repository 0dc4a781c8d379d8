"""The way back from reduced LPs: x, y, Farkas rays and directions of a reduced member as those of the member given.

What a reduction did is a list of steps, undone from the last to the first. Y collects row duals of the LP as given, so that
r = c - A'Y is, when a step is undone, what the reduced costs were when it was done: rows that went before it have no price yet.
A primal value that went before it is still 0, so that A x is the activity of what was there. [E. Andersen, K. Andersen,
Presolving in linear programming, Math. Program. 71 (1995), 221-245]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from batchlp_cli.batch import Indices
from batchlp_cli.problem import LinearProgram, Mask, Vector


@dataclass(frozen=True, slots=True, eq=False)
class FixedColumns:
    """Columns that became numbers."""

    cols: Indices
    values: Vector


@dataclass(frozen=True, slots=True, eq=False)
class SingletonRows:
    """Rows a x_j that became column bounds; lower, upper: whether the column's bound is the row's."""

    rows: Indices
    cols: Indices
    a: Vector
    lower: Mask
    upper: Mask


@dataclass(frozen=True, slots=True, eq=False)
class ForcingRow:
    """A row that holds only where all its columns are at bounds; side: 1 where its lower side forces, -1 where its upper."""

    row: int
    cols: Indices
    a: Vector
    side: float


@dataclass(frozen=True, slots=True, eq=False)
class Slacks:
    """Columns of one entry that became wider row bounds, at most one a row.

    prices: what their costs added to the row duals, k = c_j / a; shift: what row bounds had moved by until then;
    sides: 0, or 1 and -1 where the row had to be at its lower or upper side; lower, upper: bounds of the columns.
    """

    rows: Indices
    cols: Indices
    a: Vector
    prices: Vector
    shift: tuple[Vector, Vector]
    sides: Vector
    lower: Vector
    upper: Vector


Step = FixedColumns | SingletonRows | ForcingRow | Slacks


@dataclass(frozen=True, slots=True, eq=False)
class Restoration:
    """How a reduced member becomes the member given. A, At: the matrix given; rows, cols: what is left of it; steps in order."""

    A: sp.csr_array
    At: sp.csr_array
    rows: Indices
    cols: Indices
    steps: tuple[Step, ...]

    def point(self, lp: LinearProgram, x: Vector) -> Vector:
        """Returns x [n] of the member given from that of the reduced one."""
        full = self._spread(x)
        for step in reversed(self.steps):
            if isinstance(step, FixedColumns):
                full[step.cols] = step.values
            elif isinstance(step, Slacks):
                full[step.cols] = _slack_values(step, lp, (self.A @ full)[step.rows])
        return full

    def direction(self, lp: LinearProgram, d: Vector) -> Vector:
        """Returns a direction [n] of the member given from one of the reduced member: all bounds are 0 or infinite."""
        full = self._spread(d)
        cone = _cone(lp)
        for step in reversed(self.steps):
            if isinstance(step, Slacks):
                slopes = (np.where(np.isfinite(step.lower), 0.0, -np.inf), np.where(np.isfinite(step.upper), 0.0, np.inf))
                still = (np.zeros(step.rows.size),) * 2
                flat = Slacks(step.rows, step.cols, step.a, step.prices, still, step.sides, *slopes)
                full[step.cols] = _slack_values(flat, cone, (self.A @ full)[step.rows])
        return full

    def prices(self, cost: Vector, y: Vector) -> Vector:
        """Returns y [m] of the member given, whose costs are given, from that of the reduced member; a ray with costs of 0."""
        full = np.zeros(self.A.shape[0])
        full[self.rows] = y
        if cost.any():
            for step in self.steps:
                if isinstance(step, Slacks):
                    full[step.rows] += step.prices
        for step in reversed(self.steps):
            if isinstance(step, SingletonRows):
                r = cost[step.cols] - (self.At[step.cols] @ full)
                mine = ((r > 0) & step.lower) | ((r < 0) & step.upper)
                full[step.rows] += np.where(mine, r / step.a, 0.0)
            elif isinstance(step, ForcingRow):
                need = (cost[step.cols] - self.At[step.cols] @ full) / step.a
                full[step.row] += max(0.0, need.max()) if step.side > 0 else min(0.0, need.min())
        return full

    def shift(self, lp: LinearProgram) -> float:
        """Returns what the value of the member given is above that of the reduced member (costs as given)."""
        total, price = 0.0, np.zeros(self.A.shape[0])
        for step in self.steps:
            if isinstance(step, FixedColumns):
                # the costs of that time: c - A' (prices so far)
                total += float((lp.c[step.cols] - self.At[step.cols] @ price) @ step.values)
            elif isinstance(step, Slacks):
                bound = np.where(step.sides < 0, lp.row_upper[step.rows] + step.shift[1], lp.row_lower[step.rows] + step.shift[0])
                priced = step.prices != 0
                total += float(step.prices[priced] @ bound[priced])
                price[step.rows] += step.prices
        return total

    def reduced_start(self, x: Vector, y: Vector) -> tuple[Vector, Vector]:
        """Returns where a reduced member starts, from x [n], y [m] of the member given."""
        price = np.zeros(self.A.shape[0])
        for step in self.steps:
            if isinstance(step, Slacks):
                price[step.rows] += step.prices
        return x[self.cols], (y - price)[self.rows]

    def _spread(self, x: Vector) -> Vector:
        full = np.zeros(self.A.shape[1])
        full[self.cols] = x
        return full


def _slack_values(step: Slacks, lp: LinearProgram, rest: Vector) -> Vector:
    """Returns the values that bring rows with activity `rest` into their bounds, as near to 0 as their bounds allow."""
    low, high = lp.row_lower[step.rows] + step.shift[0], lp.row_upper[step.rows] + step.shift[1]
    low, high = np.where(step.sides < 0, high, low), np.where(step.sides > 0, low, high)
    ends = np.stack([(low - rest) / step.a, (high - rest) / step.a])
    # low <= rest + a x <= high
    value = np.clip(np.clip(0.0, step.lower, step.upper), ends.min(axis=0), ends.max(axis=0))
    within: Vector = np.clip(value, step.lower, step.upper)
    return within


def _cone(lp: LinearProgram) -> LinearProgram:
    return replace(
        lp,
        row_lower=np.where(np.isfinite(lp.row_lower), 0.0, -np.inf),
        row_upper=np.where(np.isfinite(lp.row_upper), 0.0, np.inf),
    )
