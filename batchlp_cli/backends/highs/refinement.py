"""Iterative refinement: from a basic solution that is optimal within HiGHS' tolerances to one that is so more closely.

HiGHS compares reduced costs and violations with absolute tolerances, 1e-10 at best. Where data are badly scaled, a reduced cost
of that size times a bound of 1e6 is a gap, and the solution of an ill-conditioned basis is off by more. What is missing to an
optimum is again the solution of an LP with the same matrix, with residuals for bounds and costs. Scaled up, it is solved within
the same tolerances; its solution, scaled down, corrects the last one [A. M. Gleixner, D. E. Steffy, K. Wolter, Iterative
Refinement for Linear Programming, INFORMS Journal on Computing 28 (2016) 449-464, algorithm 2]. Nothing is judged here.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from batchlp_cli.backends.highs.engine import Effort, Engine, ModelStatus, Refused
from batchlp_cli.exact_sums import rounded_once
from batchlp_cli.matrix import Csr
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import Basis, Solution

ROUNDS = 10
"""Most corrections of a claim; one that does not halve its distance is the last."""

MOST_SCALE = 2.0**40
"""Most by which residuals are scaled up: a correction has hardly more digits than that."""

MOST_COST = 2.0**60
"""Most that a cost is scaled up to; HiGHS takes 1e20 as infinite."""

TOLERANCE = 1e-9
"""Absolute feasibility tolerance for the scaled LPs; HiGHS takes 1e-10 and more."""

LOWER, BASIC, UPPER, ZERO = range(4)  # codes in solution.Basis


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """z [n + k] and y [m] of the equations, and the basis that they belong to."""

    z: Vector
    y: Vector
    basis: Basis


def refine(
    lp: LinearProgram, claim: Solution, basis: Basis, goal: float, *, deadline: float, iterations: int | None = None
) -> Solution:
    """Returns the claim of an optimum, with x, y and r, corrected until its `distance` is within the goal or gets no smaller.

    basis: the one that x and y belong to. goal: relative. deadline: time.perf_counter() seconds. iterations: most of simplex.
    The claim comes back as it was, but for its iterations, where no correction brings it nearer.
    """
    x, y = claim.x, claim.y
    if x is None or y is None or distance(lp, x, y, claim.r) <= goal:
        return claim
    equations, best, nearest = Equations(lp), claim, distance(lp, x, y, claim.r)
    point = equations.point(x, y, basis)
    for rounds in range(1, ROUNDS + 1):
        following = equations.correct(point, deadline, iterations)
        if following is None:
            break
        point = following
        x, y = equations.x(point), equations.y(point)
        before, reached = nearest, distance(lp, x, y)
        if reached < nearest:
            message = "refined" + f" {rounds} times" * (rounds > 1)
            best = replace(claim, x=x, y=y, r=reduced_costs(lp, y), basis=equations.basis(point), message=message)
            nearest = reached
        if nearest <= goal or not reached < before / 2:
            break
    return replace(best, iterations=claim.iterations + equations.iterations)


def distance(lp: LinearProgram, x: Vector, y: Vector, r: Vector | None = None) -> float:
    """Returns the largest of the relative residuals that an optimum x [n], y [m] is judged by, and of the difference of a claimed
    r [n] to c - A.T @ y; NaN or infinite where it cannot be measured."""
    own = reduced_costs(lp, y)
    scale = 1.0 + np.linalg.norm(lp.c)
    wrong = 0.0 if r is None else np.abs(r - own).max(initial=0.0) / scale
    activity, nearest = lp.rows.times(x), np.clip(x, lp.col_lower, lp.col_upper)
    rows = np.linalg.norm(activity - np.clip(activity, lp.row_lower, lp.row_upper))
    b = np.maximum(_finite_size(lp.row_lower), _finite_size(lp.row_upper))
    columns = (np.abs(x - nearest) / (1.0 + np.abs(nearest))).max(initial=0.0)
    (priced_rows, loose_y), (priced_columns, loose_r) = (
        _price(y, lp.row_lower, lp.row_upper),
        _price(own, lp.col_lower, lp.col_upper),
    )
    p, D = float(lp.c @ x), priced_rows + priced_columns
    gap = abs(p - D) / (1.0 + abs(p) + abs(D))
    return float(np.max([rows / (1.0 + np.linalg.norm(b)), columns, math.hypot(loose_y, loose_r) / scale, gap, wrong]))


def reduced_costs(lp: LinearProgram, y: Vector) -> Vector:
    """Returns c - A.T @ y: [n]."""
    return lp.c - lp.rows.transposed_times(y)


def _price(price: Vector, lower: Vector, upper: Vector) -> tuple[float, float]:
    """Returns what finite sides are worth at a price, and the norm of the prices of infinite ones."""
    side = np.where(price > 0, lower, upper)
    infinite = np.isinf(side)
    return float((price * np.where(infinite, 0.0, side)).sum()), float(np.linalg.norm(price[infinite]))


def _finite_size(values: Vector) -> Vector:
    return np.where(np.isfinite(values), np.abs(values), 0.0)


class Equations:
    """An LP as  min cost @ z,  M z = b,  lower <= z <= upper,  with z = [x; s], s [k] = A @ x of the rows that are no equations.

    In this form all residuals are again bounds, sides and costs of an LP. iterations: those of simplex so far.
    """

    def __init__(self, lp: LinearProgram) -> None:
        import scipy.sparse as sp  # late, since hardly any LP comes to this

        self._lp = lp
        self._ranges = np.flatnonzero(lp.row_lower != lp.row_upper)
        k = self._ranges.size
        slacks = sp.csr_array((np.full(k, -1.0), (self._ranges, np.arange(k))), shape=(lp.m, k))
        M = sp.csr_array(sp.hstack([lp.A, slacks]))
        self._M, self._Mt = Csr.of(M), Csr.of(sp.csr_array(M.T))
        self._b = np.where(lp.row_lower == lp.row_upper, lp.row_lower, 0.0)
        self._cost = np.concatenate([lp.c, np.zeros(k)])
        self._lower = np.concatenate([lp.col_lower, lp.row_lower[self._ranges]])
        self._upper = np.concatenate([lp.col_upper, lp.row_upper[self._ranges]])
        self._engine = Engine()
        self.iterations = 0

    def point(self, x: Vector, y: Vector, basis: Basis) -> Point:
        """Returns the point of the equations that x [n] and y [m] are, with their basis."""
        rows = basis.rows.copy()
        rows[self._ranges] = LOWER
        own = Basis(np.concatenate([basis.cols, basis.rows[self._ranges]]), rows)
        z = self._on_bounds(np.concatenate([x, self._lp.rows.times(x)[self._ranges]]), own)
        z[own.cols == ZERO] = 0.0
        return Point(z, np.where(basis.rows == BASIC, 0.0, y), own)

    def x(self, point: Point) -> Vector:
        """Returns the columns of the LP: [n]."""
        return point.z[: self._lp.n].copy()

    def y(self, point: Point) -> Vector:
        """Returns the row duals, 0 in the rows that are basic: [m]."""
        y = point.y.copy()
        y[self._ranges[point.basis.cols[self._lp.n :] == BASIC]] = 0.0
        return y

    def basis(self, point: Point) -> Basis:
        """Returns the basis in terms of the LP."""
        cols, rows = point.basis.cols[: self._lp.n], point.basis.rows.copy()
        rows[self._ranges] = np.where(rows[self._ranges] == BASIC, BASIC, point.basis.cols[self._lp.n :])
        return Basis(cols.copy(), rows)

    def correct(self, point: Point, deadline: float, iterations: int | None) -> Point | None:
        """Returns the point with a correction added, None where HiGHS finds none before the deadline or in so many iterations.

        Tried with all residuals scaled up; then, as HiGHS may fail on bounds of 1e15, only those of the duals; then those of z.
        """
        b, cost = rounded_once(self._b, self._M, point.z), rounded_once(self._cost, self._Mt, point.y)
        if not (np.isfinite(b).all() and np.isfinite(cost).all()):
            return None
        up, steep = self._scales(point, b, cost)
        for primal, dual in ((up, steep), (1.0, steep), (up, 1.0)):
            left = None if iterations is None else max(iterations - self.iterations, 0)
            seconds = deadline - time.perf_counter()
            if seconds <= 0:
                return None
            effort = Effort(presolve=False, tolerance=TOLERANCE, seconds=seconds, iterations=left)
            lower, upper = primal * (self._lower - point.z), primal * (self._upper - point.z)
            sides = primal * b
            scaled = LinearProgram("correction", dual * cost, self._M.as_scipy_later(), sides, sides, lower, upper)
            found = self._solve(scaled, point.basis, effort)
            if found is not None:
                z = self._on_bounds(point.z + found.z / primal, found.basis)
                return Point(z, point.y + found.y / dual, found.basis)
        return None

    def _scales(self, point: Point, b: Vector, cost: Vector) -> tuple[float, float]:
        """Returns the powers of 2 that bring the largest violation of z, and that of the reduced costs, near to 1."""
        z, codes = point.z, point.basis.cols
        violation = np.max([np.abs(b).max(initial=0.0), (self._lower - z).max(initial=0.0), (z - self._upper).max(initial=0.0)])
        wrong = np.where(codes == LOWER, -cost, np.where(codes == UPPER, cost, np.abs(cost)))
        wrong = np.where(self._lower == self._upper, 0.0, wrong).max(initial=0.0)
        return _scale(violation, MOST_SCALE), _scale(wrong, min(MOST_SCALE, MOST_COST / max(1.0, np.abs(cost).max(initial=0.0))))

    def _solve(self, lp: LinearProgram, basis: Basis, effort: Effort) -> Point | None:
        """Returns the optimum that dual simplex comes to from a basis, None where it does not."""
        try:
            self._engine.tell(lp)
        except Refused:
            self._engine = Engine()
            return None
        self._engine.use_basis(basis)
        status = self._engine.run(effort)
        self.iterations += self._engine.iterations
        (z, y, _), reached = self._engine.vectors(), self._engine.basis()
        if status != ModelStatus.kOptimal or z is None or y is None or reached is None:
            return None
        return Point(z, y, reached)

    def _on_bounds(self, z: Vector, basis: Basis) -> Vector:
        """Returns z with every nonbasic entry exactly on its bound."""
        at_lower = (basis.cols == LOWER) & np.isfinite(self._lower)
        at_upper = (basis.cols == UPPER) & np.isfinite(self._upper)
        return np.where(at_lower, self._lower, np.where(at_upper, self._upper, z))


def _scale(violation: float, most: float) -> float:
    """Returns the power of 2, from 1 to `most`, that brings a violation to about 1."""
    return 2.0 ** math.floor(math.log2(max(1.0, min(most, 1.0 / max(violation, 1.0 / most)))))
