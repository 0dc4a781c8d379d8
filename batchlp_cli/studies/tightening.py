"""Bound tightening: the range of columns and rows over a relaxation, from one batch of cost changes, safe outwards.

    lower_j = min x_j,  upper_j = max x_j   subject to   rows, bounds, and c @ x <= cutoff where one is given.
Every end that is reported is a rigorous dual bound (never the value of a point), the bound that the model had, or infinite. A
bound that a known feasible point attains cannot be tightened and is not solved for (filtering, see `filtering.py`).
[A. Gleixner, T. Berthold, B. Mueller, S. Weltge, Three enhancements for optimization-based bound tightening, J. Glob. Optim.
67 (2017), 731-757]. With c @ x held near its optimum this is flux variability analysis [R. Mahadevan, C. Schilling, The effects
of alternate optimal solutions in constraint-based genome-scale metabolic models, Metab. Eng. 5 (2003), 264-276].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import scipy.sparse as sp

from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.dispatch import choose_backend
from batchlp_cli.errors import ModelError, UsageError
from batchlp_cli.events import Listen, Progress
from batchlp_cli.nearness import worth_of_violations
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import BackendName
from batchlp_cli.solution import Solution, Status, Verdict
from batchlp_cli.solving import Solver, Tries
from batchlp_cli.studies.choosing import choose
from batchlp_cli.studies.filtering import Ends, sweep

INTEGRALITY = 1e-6
"""How far a safe bound of an integer column may pass an integer and still be rounded to it: MIP solvers allow as much."""

LOOSE = 5e-7
"""A bound this far from what the value may be by the verified point is solved for once more, with tightened tolerances."""

PAD = 1e-9
"""What a tightened bound of a continuous column is moved outwards by, relative to 1 + its size, when it is put into a model."""

WORTH = 1e-6
"""A bound counts as changed where it moves by more than this, relative to max(1, its size)."""

FIRST_PIECE = 64
"""Members of the first piece of a round; each next piece is twice as large. Points of a piece filter those after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TightenOptions:
    """columns, rows: names or patterns; none of both means all columns. cutoff: objective, in the model's own sense, that a
    solution must reach. fraction_of_optimum: 0 to 1, the share of the optimal value that must be reached. rounds: at most."""

    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    cutoff: float | None = None
    fraction_of_optimum: float | None = None
    rounds: int = 1

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise UsageError(f"rounds is {self.rounds}, expected 1 or more")
        if self.cutoff is not None and not math.isfinite(self.cutoff):
            raise UsageError(f"cutoff is {self.cutoff}, expected a finite number")
        if self.fraction_of_optimum is not None and not 0 <= self.fraction_of_optimum <= 1:
            raise UsageError(f"fraction_of_optimum is {self.fraction_of_optimum}, expected a number from 0 to 1")
        if self.cutoff is not None and self.fraction_of_optimum is not None:
            raise UsageError("a cutoff and a fraction of the optimum are two ways to say one thing; give one of them")


class EndState(StrEnum):
    """How an end of a range is known: proved by a dual bound, attained by a feasible point at the model's own bound, infinite
    by a ray that was checked, or not known, where the model's own bound is all there is."""

    PROVED = "proved"
    ATTAINED = "attained"
    INFINITE = "infinite"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a column or a row: old and new ends, how each is known, and whether it is a row."""

    index: int
    is_row: bool
    old_lower: float
    old_upper: float
    lower: float
    upper: float
    lower_state: EndState
    upper_state: EndState

    @property
    def changed(self) -> bool:
        """Tells whether an end moved by more than rounding."""
        return moved(self.old_lower, self.lower) or moved(self.old_upper, self.upper)


@dataclass(frozen=True, slots=True, eq=False)
class TightenResult:
    """What tightening came to. status: infeasible where that is proved (of the relaxation, or of its integer points), else
    optimal where all ends are known, else the status that stood in the way; tightened: the model with its new bounds."""

    lp: LinearProgram
    status: Status
    verified: bool
    ranges: tuple[Range, ...] = ()
    tightened: LinearProgram | None = None
    rounds: int = 0
    solved: int = 0
    filtered: int = 0
    seconds: float = 0.0
    iterations: int = 0
    optimum: float | None = None
    choice: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def changed_bounds(self) -> int:
        """Number of ends that moved by more than rounding."""
        return sum(moved(r.old_lower, r.lower) + moved(r.old_upper, r.upper) for r in self.ranges)


def moved(old: float, new: float) -> bool:
    """Tells whether a bound changed by more than rounding."""
    return old != new and (math.isinf(old) or abs(old - new) > WORTH * max(1.0, abs(old)))


def tighten_model(lp: LinearProgram, options: TightenOptions, solver: Solver, listen: Listen) -> TightenResult:
    """Returns the ranges of the columns and rows asked for; raises ModelError for a name that the model does not have."""
    cols = choose(options.columns, lp.n, lp.col_name, "column") if options.columns or not options.rows else []
    rows = choose(options.rows, lp.m, lp.row_name, "row") if options.rows else []
    work = Tightening(lp, Ends(lp, cols, rows), solver, listen)
    return work.result() if work.prepare(options) else work.run(options.rounds)


class Tightening:
    """One model on its way: the LP as it is tightened, the ends of what was asked for, and what was done."""

    def __init__(self, lp: LinearProgram, ends: Ends, solver: Solver, listen: Listen) -> None:
        self.original, self.ends, self.solver, self.listen = lp, ends, solver, listen
        self.now = lp  # with tightened bounds
        self.cutoff: float | None = None  # c @ x <= cutoff, for minimisation and without offset
        self.start: Solution | None = None
        self.infeasible = self.reason = self.choice = ""
        self.rounds = self.solved = self.filtered = self.iterations = 0
        self.optimum: float | None = None
        self.notes: list[str] = []
        self.seconds = 0.0

    def prepare(self, options: TightenOptions) -> bool:
        """Solves the LP with its own costs, sets the cutoff and looks at the point; returns whether that ends the work."""
        batch = LPBatch(self.now, Changes(), (self.now.name,))
        ((_, tries),) = self.solver.solve_batch(batch, BackendName.HIGHS)
        self._count(tries)
        solution, verdict = tries[-1]
        proved = verdict.verified
        self.optimum = verdict.objective
        if proved and solution.status is Status.INFEASIBLE:
            self.infeasible = "the relaxation is infeasible"
            return True
        if options.cutoff is not None:
            self.cutoff = self.now.sign * options.cutoff - self.now.offset
        if options.fraction_of_optimum is not None:
            if verdict.objective is None:
                raise ModelError(f"{self.now.name}: a fraction of the optimum needs one, but the LP is {solution.status}")
            self.cutoff = slack_optimum(max(verdict.objective, verdict.dual_bound), options.fraction_of_optimum)
            self.cutoff -= self.now.offset
        if self.cutoff is not None and proved and verdict.dual_bound - self.now.offset > self.cutoff:
            self.infeasible = "no point of the relaxation reaches the cutoff"
            return True
        if proved and solution.x is not None:
            self.start = solution
            self._look_at([solution.x])
        return False

    def run(self, rounds: int) -> TightenResult:
        """Runs rounds until nothing changes, and returns what came of them."""
        for number in range(rounds):
            self.rounds = number + 1
            if number:
                self.ends.renew(self.now)
            self._round()
            if self.infeasible or not self._apply():
                break
        return self.result()

    def _round(self) -> None:
        base = relaxation(self.now, self.cutoff)
        if number_of := sweep(base, self.ends, self.solver, self._count):
            self.notes.append(f"{number_of} LPs whose costs sum over open ends helped to filter")
        piece, todo = FIRST_PIECE, self.ends.open()
        total = done = len(todo)
        while todo and not self.infeasible:
            now, rest = todo[:piece], todo[piece:]
            self._solve(base, now)
            piece *= 2
            still = set(self.ends.open())
            self.filtered += sum(k not in still for k in rest)
            todo = [k for k in rest if k in still]
            self.listen(Progress("ends", done - len(todo), total))

    def _solve(self, base: LinearProgram, ends: Sequence[int]) -> None:
        """Solves for some ends and takes in what is proved of each."""
        batch = self.ends.batch(base, ends)
        choice = choose_backend(batch, self.solver.settings)
        self.choice = choice.reason
        again: list[int] = []
        points: list[Vector] = []
        settings = replace(self.solver.settings, near=True)
        for member, tries in self.solver.solve_batch(batch, choice.backend, settings=settings, warm_start=self._warm_start(base)):
            self.solved += 1
            self._take_in(ends[member], tries, points)
            solution, verdict = tries[-1]
            if is_loose(batch.member(member), solution, verdict) and not solution.method.endswith("careful"):
                again.append(member)
        careful = replace(self.solver.settings, careful=True)
        if again and not self.infeasible:
            for member, tries in self.solver.solve_batch(batch.take(again), BackendName.HIGHS, settings=careful):
                self._take_in(ends[again[member]], tries, points)
        self._look_at(points)

    def _take_in(self, end: int, tries: Tries, points: list[Vector]) -> None:
        self._count(tries)
        solution, verdict = tries[-1]
        self.ends.raise_bound(end, max(v.dual_bound for _, v in tries))
        if verdict.verified and solution.status is Status.INFEASIBLE:
            self.infeasible = self.infeasible or "the relaxation is infeasible"
        elif verdict.verified and solution.status is Status.UNBOUNDED:
            self.ends.set_infinite(end)
        elif not verdict.verified:
            self.reason = verdict.reason or solution.message or str(solution.status)
        if verdict.verified and solution.x is not None:
            points.append(solution.x)

    def _warm_start(self, base: LinearProgram) -> Solution | None:
        """Returns the first solution where its basis fits, which it does as long as no cutoff row was added."""
        fits = self.start is not None and self.start.y is not None and base.m == self.original.m
        return self.start if fits else None

    def _look_at(self, points: Sequence[Vector]) -> None:
        for x in points:
            if self.cutoff is None or float(self.now.c @ x) <= self.cutoff:
                self.filtered += self.ends.attain(x)

    def _count(self, tries: Tries) -> None:
        self.seconds += sum(s.seconds for s, _ in tries)
        self.iterations += sum(s.iterations for s, _ in tries)

    def _apply(self) -> bool:
        """Puts the new bounds of columns into the LP; returns whether any integer column moved, which a next round needs."""
        lower, upper = self.now.col_lower.copy(), self.now.col_upper.copy()
        rounded = False
        for index, low, high in self.ends.columns():
            integer = bool(self.now.integer[index])
            low, high = rounded_inwards(low, high) if integer else (padded(low, -1.0), padded(high, 1.0))
            rounded |= integer and (moved(lower[index], max(low, lower[index])) or moved(upper[index], min(high, upper[index])))
            lower[index] = low if low > lower[index] and moved(lower[index], low) else lower[index]
            upper[index] = high if high < upper[index] and moved(upper[index], high) else upper[index]
        crossed = np.flatnonzero(lower > upper)
        if crossed.size:
            self.infeasible = f"column {self.now.col_name(int(crossed[0]))} has no integer in its range"
            return False
        self.now = replace(self.now, col_lower=lower, col_upper=upper)
        return rounded

    def result(self) -> TightenResult:
        """Returns what is known now."""
        known = self.ends.all_known
        reason = "" if known else self.reason or "no finite dual bound was found for some end"
        return TightenResult(
            self.original,
            Status.INFEASIBLE if self.infeasible else Status.OPTIMAL,
            bool(self.infeasible) or known,
            () if self.infeasible else tuple(self._ranges()),
            None if self.infeasible else self.now,
            rounds=self.rounds,
            solved=self.solved,
            filtered=self.filtered,
            seconds=self.seconds,
            iterations=self.iterations,
            optimum=self.optimum,
            choice=self.choice,
            reason=self.infeasible or reason,
            notes=tuple(self.notes),
        )

    def _ranges(self) -> list[Range]:
        found = []
        for k in range(len(self.ends)):
            index, is_row = self.ends.place(k)
            old = (
                (self.original.row_lower, self.original.row_upper)
                if is_row
                else (self.original.col_lower, self.original.col_upper)
            )
            low, high = self.ends.interval(k)
            if not is_row and self.original.integer[index]:
                low, high = rounded_inwards(low, high)
            states = [EndState(word) for word in self.ends.words(k)]
            old_low, old_high = float(old[0][index]), float(old[1][index])
            found.append(Range(index, is_row, old_low, old_high, max(low, old_low), min(high, old_high), *states))
        return found


def is_loose(lp: LinearProgram, solution: Solution, verdict: Verdict) -> bool:
    """Tells whether a bound may be further below its optimum than is allowed: the value of a point that is not quite feasible
    may be too low as well."""
    if verdict.objective is None or solution.x is None or solution.y is None:
        return False
    return not verdict.objective + worth_of_violations(lp, solution.x, solution.y) - verdict.dual_bound <= LOOSE


def slack_optimum(optimum: float, fraction: float) -> float:
    """Returns the value, for minimisation, that a fraction of an optimum is: optimum + (1 - fraction) |optimum|, rounded up.

    For a maximum above 0 that is fraction * optimum, as in flux variability analysis.
    """
    return optimum + (1.0 - fraction) * abs(optimum) + 1e-9 * (1.0 + abs(optimum))


def relaxation(lp: LinearProgram, cutoff: float | None) -> LinearProgram:
    """Returns the LP without costs, and with the row c @ x <= cutoff below its rows where there is one."""
    nothing = replace(lp, c=np.zeros(lp.n), offset=0.0, maximize=False)
    if cutoff is None:
        return nothing
    A = sp.csr_array(sp.vstack([lp.A, sp.csr_array(lp.c[None, :])], format="csr"))
    row_lower, row_upper = np.append(lp.row_lower, -np.inf), np.append(lp.row_upper, cutoff)
    return replace(nothing, A=A, row_lower=row_lower, row_upper=row_upper, row_names=())


def rounded_inwards(low: float, high: float) -> tuple[float, float]:
    """Returns the integers that a safe range leaves, with the usual tolerance of integrality."""
    return (
        math.ceil(low - INTEGRALITY) if math.isfinite(low) else low,
        math.floor(high + INTEGRALITY) if math.isfinite(high) else high,
    )


def padded(bound: float, direction: float) -> float:
    """Returns a bound moved outwards by a hair, so that solvers with tolerances see no empty model."""
    return bound + direction * min(PAD * (1.0 + abs(bound)), LOOSE) if math.isfinite(bound) else bound
