"""A session: one live HiGHS model that goes from member to member of a batch, and turns what HiGHS says into claims.

Costs and bounds that differ from the previous member are changed by index; the basis stays for the next member.
"""

from __future__ import annotations

import math
import time
from dataclasses import fields, replace
from enum import StrEnum

import numpy as np

from batchlp_cli.backends.highs import rays
from batchlp_cli.backends.highs.engine import SMALLEST_COEFFICIENT, Effort, Engine, ModelStatus, Optimal, Refused
from batchlp_cli.backends.highs.moves import Moves
from batchlp_cli.backends.highs.refinement import refine
from batchlp_cli.backends.highs.screen import decide_without_solver, left_to_solver
from batchlp_cli.batch import VECTOR_FIELDS, Changes
from batchlp_cli.problem import LinearProgram, Vector, with_parts
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Basis, Solution, Status


class Mode(StrEnum):
    """How a member is started: cold with presolve, warm from the last basis, careful (cold, no presolve, tightened), or from
    a solution of another backend that crossover makes a basic one; or by the interior point method, with crossover."""

    COLD = "simplex cold"
    WARM = "simplex warm"
    CAREFUL = "simplex careful"
    CROSSOVER = "crossover"
    IPM = "ipm with crossover"


_LIMITS = {ModelStatus.kTimeLimit: Status.TIME_LIMIT, ModelStatus.kIterationLimit: Status.ITERATION_LIMIT}
_DECIDED = {
    ModelStatus.kOptimal,
    ModelStatus.kInfeasible,
    ModelStatus.kUnbounded,
    ModelStatus.kUnboundedOrInfeasible,
    ModelStatus.kObjectiveBound,
    *_LIMITS,
}

# (presolve, primal simplex) of each run until HiGHS decides; the first starts as the mode says, the others cold
_STRATEGIES = {
    Mode.COLD: [(True, False), (False, True)],
    Mode.WARM: [(True, False), (True, False), (False, True)],
    Mode.CAREFUL: [(False, False), (False, True), (True, False)],
    Mode.IPM: [(True, False)],
}


def feasibility_tolerance(tol: float, mode: Mode) -> float:
    """Returns HiGHS' absolute tolerance under which the referee's relative `tol` is met: a tenth of it, at most 1e-7.

    Careful: a thousandth, at most 1e-9, since a reduced cost of 1e-8 times a bound of 1e6 is already a gap of 0.01. HiGHS
    takes nothing below 1e-10.
    """
    wanted = min(tol / 1000, 1e-9) if mode is Mode.CAREFUL else min(tol / 10, 1e-7)
    return max(wanted, 1e-10)


def beyond(cutoff: float) -> float:
    """Returns where dual simplex stops for a cutoff: so far beyond it that roundings leave a safe bound which passes it."""
    return cutoff + 1e-9 * (1.0 + abs(cutoff))


class Session:
    """Solves members of one batch, one after another. `basis` is what the first member may start from."""

    def __init__(self, base: LinearProgram, basis: Basis | None = None) -> None:
        self._base = base
        self._start = basis
        self._engine = Engine()
        dropped = int((np.abs(base.rows.data) <= SMALLEST_COEFFICIENT).sum())
        self._note = f"HiGHS leaves out {dropped} coefficients of {SMALLEST_COEFFICIENT:g} or less" if dropped else ""
        self._is_plain = decide_without_solver(base) is None
        if self._is_plain:  # what HiGHS does not take is left to the members to mend
            self._engine.tell(base)

    def solve(
        self,
        changes: Changes,
        mode: Mode,
        settings: SolveSettings,
        want_basis: bool = False,
        start: Solution | None = None,
    ) -> Solution:
        """Returns the claim for the member with these changes; a limit, a refusal or a failure of HiGHS is a status.

        start: the optimal solution, with x, y and r, from which crossover begins.
        """
        started = time.perf_counter()
        lp = changed(self._base, changes)
        if start is not None:
            claim = decide_without_solver(lp) or self._cross_over(lp, start, settings, started)
        else:
            claim = decide_without_solver(lp) or self._solve(lp, mode, settings, started)
        if want_basis and self._engine.has_basis and claim.status is Status.OPTIMAL:
            claim = replace(claim, basis=claim.basis or self._engine.basis())
        method = claim.method or "no solver"
        message = "; ".join(text for text in (claim.message, self._note) if text)
        return replace(claim, seconds=time.perf_counter() - started, backend="highs", method=method, message=message)

    def goes_through(self, mode: Mode, settings: SolveSettings) -> bool:
        """Tells whether `solve_many` may be asked: there is no limit and nothing to note, and a basis where members need one."""
        limits = settings.iteration_limit is not None or settings.cutoff is not None or not math.isinf(settings.time_limit)
        started = mode is Mode.COLD or (mode is Mode.WARM and self._engine.has_basis)
        return self._is_plain and started and not limits and not self._note

    def solve_many(self, changes: Changes, members: int, mode: Mode, settings: SolveSettings) -> Optimal:
        """Returns the optima of the members 0, 1, ... that have one at once; the others are for `solve`, one by one."""
        moves = Moves.of(self._base, changes, members)
        which = np.flatnonzero(left_to_solver(moves))
        nobody = Optimal.of_nobody(members, self._base.m, self._base.n)
        if not which.size:
            return nobody
        (presolve, primal), *_ = _STRATEGIES[mode]
        effort = Effort(presolve=presolve, primal=primal, tolerance=feasibility_tolerance(settings.tol, mode))
        last = changed(self._base, changes.of_member(int(which[-1])))
        try:
            self._engine.tell(self._base)
            found = self._engine.run_through(moves.take(which), last, effort, cold=mode is Mode.COLD)
        except Refused:
            self._engine = Engine()
            return nobody
        return found if which.size == members else nobody.with_those(which, found)

    def _solve(self, lp: LinearProgram, mode: Mode, settings: SolveSettings, started: float) -> Solution:
        """Tells HiGHS the member and runs it, with another strategy where HiGHS comes to no decision."""
        deadline = started + settings.time_limit
        try:
            self._engine.tell(lp)
        except Refused as refusal:
            self._engine = Engine()
            return Solution(Status.NUMERICAL_ERROR, method=str(mode), message=str(refusal))
        mode = self._prepare(mode)
        tolerance = feasibility_tolerance(settings.tol, mode)
        bound = math.inf if settings.cutoff is None else beyond(settings.cutoff - lp.offset)
        status, iterations = ModelStatus.kNotset, 0
        for number, (presolve, primal) in enumerate(_STRATEGIES[mode]):
            if number:
                self._engine.forget_basis()
                mode = Mode.COLD if mode is Mode.WARM else mode
            left = deadline - time.perf_counter()
            limit = None if settings.iteration_limit is None else max(settings.iteration_limit - iterations, 0)
            effort = Effort(presolve=presolve, primal=primal, tolerance=tolerance, seconds=left, iterations=limit)
            status = self._engine.run(replace(effort, ipm=mode is Mode.IPM, bound=bound))
            iterations += self._engine.iterations
            if status in _DECIDED:
                break
        claim = replace(self._claim(lp, status, deadline), iterations=iterations, method=str(mode))
        return self._refined(lp, claim, settings, deadline) if mode is Mode.CAREFUL else claim

    def _refined(self, lp: LinearProgram, claim: Solution, settings: SolveSettings, deadline: float) -> Solution:
        """Returns a careful optimum, corrected where it does not meet the referee's tolerance with a tenth to spare."""
        basis = self._engine.basis() if claim.status is Status.OPTIMAL else None
        if basis is None:
            return claim
        left = None if settings.iteration_limit is None else max(settings.iteration_limit - claim.iterations, 0)
        return refine(lp, claim, basis, settings.tol / 10, deadline=deadline, iterations=left)

    def _cross_over(self, lp: LinearProgram, start: Solution, settings: SolveSettings, started: float) -> Solution:
        """Tells HiGHS the member and lets it go from the start to a basic solution."""
        method = str(Mode.CROSSOVER)
        try:
            self._engine.tell(lp)
        except Refused as refusal:
            self._engine = Engine()
            return Solution(Status.NUMERICAL_ERROR, method=method, message=str(refusal))
        deadline = started + settings.time_limit
        tolerance = feasibility_tolerance(settings.tol, Mode.CROSSOVER)
        status = self._engine.cross_over(start, Effort(presolve=False, tolerance=tolerance, seconds=settings.time_limit))
        return replace(self._claim(lp, status, deadline), iterations=self._engine.iterations, method=method)

    def _prepare(self, mode: Mode) -> Mode:
        """Puts the basis in its place; returns the mode in which the run really is made."""
        if mode is Mode.WARM and not self._engine.has_basis and self._start is not None:
            self._engine.use_basis(self._start)
        if mode is Mode.WARM and self._engine.has_basis:
            return Mode.WARM
        self._engine.forget_basis()
        return Mode.COLD if mode is Mode.WARM else mode

    def _claim(self, lp: LinearProgram, status: ModelStatus, deadline: float) -> Solution:
        """Turns HiGHS' status into a claim with the vectors that belong to it."""
        if status == ModelStatus.kInfeasible:
            return self._infeasible(lp, deadline)
        if status == ModelStatus.kUnbounded:
            return self._unbounded(lp, deadline, self._engine.vectors()[0], self._engine.unbounded_ray())
        if status == ModelStatus.kUnboundedOrInfeasible:
            return self._tell_apart(lp, deadline)
        x, y, r = self._engine.vectors()
        if status == ModelStatus.kOptimal:
            return Solution(Status.OPTIMAL, x=x, y=y, r=r)
        if status == ModelStatus.kObjectiveBound:
            return Solution(Status.CUTOFF, y=y, r=r)
        if status in _LIMITS:
            return Solution(_LIMITS[status], x=x, y=y, r=r)
        return Solution(Status.NUMERICAL_ERROR, x=x, y=y, r=r, message=f"HiGHS ended with status {self._engine.words(status)}")

    def _infeasible(self, lp: LinearProgram, deadline: float) -> Solution:
        """Claims infeasibility with HiGHS' ray if it is one, else with a constructed one."""
        ray = rays.proven_farkas(lp, self._engine.farkas_ray())
        if ray is None:
            ray = rays.construct_farkas(lp, deadline)
        if ray is None:
            return _given_up("HiGHS says infeasible, but no ray that proves it was found", deadline)
        return Solution(Status.INFEASIBLE, ray=ray)

    def _unbounded(self, lp: LinearProgram, deadline: float, x: Vector | None, ray: Vector | None) -> Solution:
        """Claims unboundedness with a feasible point and a direction, each constructed where HiGHS brought none."""
        direction = rays.proven_direction(lp, ray)
        if direction is None:
            direction = rays.construct_direction(lp, deadline)
        if direction is None:
            return _given_up("HiGHS says unbounded, but no direction that proves it was found", deadline)
        if x is None or not is_feasible(lp, x):
            point = rays.feasible_point(lp, deadline)
            if point.status == ModelStatus.kInfeasible:
                return self._infeasible(lp, deadline)
            x = point.x if point.optimal else None
        if x is None:
            return _given_up("HiGHS says unbounded, but no feasible point was found", deadline)
        return Solution(Status.UNBOUNDED, x=x, ray=direction)

    def _tell_apart(self, lp: LinearProgram, deadline: float) -> Solution:
        """Decides "unbounded or infeasible": with no feasible point it is infeasible, else it is unbounded."""
        point = rays.feasible_point(lp, deadline)
        if point.status == ModelStatus.kInfeasible:
            return self._infeasible(lp, deadline)
        if not point.optimal:
            return _given_up("HiGHS says unbounded or infeasible, and looking for a feasible point brought no answer", deadline)
        return self._unbounded(lp, deadline, point.x, None)


def changed(base: LinearProgram, changes: Changes) -> LinearProgram:
    """Returns the member of the base with these changes, sharing arrays that no change touches.

    Not checked again: both parts were checked when they were made, and this runs once for every member.
    """
    parts = {part.name: getattr(base, part.name) for part in fields(base) if part.name != "A"}
    for code in VECTOR_FIELDS:
        touched = changes.field == code
        if touched.any():
            array = parts[code.attribute].copy()
            array[changes.index[touched]] = changes.value[touched]
            parts[code.attribute] = array
    return with_parts(parts)


def is_feasible(lp: LinearProgram, x: Vector) -> bool:
    """Tells whether x [n] meets rows and bounds to 1e-7, relative to the bound."""
    activity = lp.rows.times(x)
    for value, lower, upper in ((activity, lp.row_lower, lp.row_upper), (x, lp.col_lower, lp.col_upper)):
        away = value - np.clip(value, lower, upper)
        if not np.isfinite(away).all() or (np.abs(away) > 1e-7 * (1.0 + np.abs(value))).any():
            return False
    return True


def _given_up(message: str, deadline: float) -> Solution:
    """Returns a time limit where the time has run out on the way, else a numerical error."""
    if not math.isinf(deadline) and time.perf_counter() >= deadline:
        return Solution(Status.TIME_LIMIT, message=f"{message} before the time ran out")
    return Solution(Status.NUMERICAL_ERROR, message=message)
