"""Full strong branching at the root: both children of every candidate as one batch of bound changes, with proved bounds.

The root is the plain LP relaxation: no cuts are added. A child's bound is the best of three that all hold whatever a solver
says: the root's, that of the root's duals under the child's bounds (before any work), and that of the child's own duals.
Values inside are stored for minimisation; only `records.py` turns signs back for a person.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from batchlp_cli.batch import Changes, Field, Indices, LPBatch
from batchlp_cli.dispatch import choose_backend
from batchlp_cli.errors import UsageError
from batchlp_cli.events import Listen, Note, Progress
from batchlp_cli.kkt import dual_bound
from batchlp_cli.nearness import is_near, worth_of_violations
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import BackendName
from batchlp_cli.solution import Solution, Status, Verdict
from batchlp_cli.solving import Solver, Tried, Tries
from batchlp_cli.studies.choosing import choose
from batchlp_cli.studies.scores import Interval, ScoreRule, gain, rank, score_interval

INTEGRALITY = 1e-6
"""A column within this of an integer is integral, as MIP solvers have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchOptions:
    """candidates: names or patterns of columns, empty for all. limit: keep the most fractional ones, None for all. cutoff:
    objective, in the model's own sense, that a solution must beat to be of interest."""

    candidates: tuple[str, ...] = ()
    limit: int | None = None
    rule: ScoreRule = ScoreRule.PRODUCT
    cutoff: float | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}, expected 1 or more")
        if self.cutoff is not None and not math.isfinite(self.cutoff):
            raise UsageError(f"cutoff is {self.cutoff}, expected a finite number")


class ChildState(StrEnum):
    """What is known of a child: a status of its relaxation, or that it was cut off (its bound passes the cutoff)."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    CUTOFF = "cutoff"
    UNBOUNDED = "unbounded"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Child:
    """One child. bound: rigorous, inf where infeasibility is proved; value: of a verified optimum, else inf; high: the value with
    what it may gain where its point is not quite feasible. tries: empty where the root's duals already cut the child off."""

    bound: float
    value: float
    high: float
    state: ChildState
    tries: tuple[Tried, ...] = ()

    @property
    def pruned(self) -> bool:
        """Tells whether no solution of interest is in this child, proved."""
        return self.state in (ChildState.INFEASIBLE, ChildState.CUTOFF)

    @property
    def verified(self) -> bool:
        """Tells whether the state is proved."""
        return self.state is not ChildState.UNDECIDED


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fractional column with its two children. score is None where a child is pruned: then its bound is fixed instead."""

    column: int
    x: float
    down: Child
    up: Child
    score: Interval | None = None
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Fixing:
    """A bound that holds since the other child is pruned."""

    column: int
    side: Field
    bound: float
    reason: ChildState


@dataclass(frozen=True, slots=True, eq=False)
class BranchResult:
    """What full strong branching came to. root: the interval of the root's value; contenders: candidates, as indices, that
    might be better than the best one; status: that of the root, or infeasible where both children of one column are pruned."""

    lp: LinearProgram
    root: Tried
    interval: Interval
    candidates: tuple[Candidate, ...] = ()
    best: int | None = None
    contenders: tuple[int, ...] = ()
    fixings: tuple[Fixing, ...] = ()
    choice: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def closed(self) -> bool:
        """Tells whether both children of some column are pruned, so that the model has no solution of interest."""
        return any(c.down.pruned and c.up.pruned for c in self.candidates)

    def tightened(self) -> LinearProgram:
        """Returns the model with all fixings."""
        lower, upper = self.lp.col_lower.copy(), self.lp.col_upper.copy()
        for fixing in self.fixings:
            (lower if fixing.side is Field.COL_LOWER else upper)[fixing.column] = fixing.bound
        return replace(self.lp, col_lower=lower, col_upper=upper)


def branch_model(lp: LinearProgram, options: BranchOptions, solver: Solver, listen: Listen) -> BranchResult:
    """Returns all candidates of the root with both children.

    Raises ModelError where a name of `options.candidates` is not in the model.
    """
    if options.candidates:
        choose(options.candidates, lp.n, lp.col_name, "column")
    root = solve_root(lp, solver)
    solution, verdict = root
    interval = Interval(verdict.dual_bound, math.inf if verdict.objective is None else verdict.objective)
    if solution.status is not Status.OPTIMAL or not verdict.verified or solution.x is None or solution.y is None:
        return BranchResult(lp, root, interval)
    cutoff = math.inf if options.cutoff is None else lp.sign * options.cutoff
    columns, notes = candidates_of(lp, solution.x, options)
    if not columns.size:
        return BranchResult(lp, root, interval, notes=notes)
    batch = children_of(lp, columns, solution.x)
    children, choice = solve_children(batch, root, cutoff, solver, listen)
    return _judge(BranchResult(lp, root, interval, choice=choice, notes=notes), columns, children, options.rule)


def solve_root(lp: LinearProgram, solver: Solver) -> Tried:
    """Returns the last try at the LP itself, by simplex whoever solves the children: candidates come from a basic solution."""
    batch = LPBatch(lp, Changes(), (lp.name,))
    ((_, tries),) = solver.solve_batch(batch, BackendName.HIGHS)
    return tries[-1]


def candidates_of(lp: LinearProgram, x: Vector, options: BranchOptions) -> tuple[Indices, tuple[str, ...]]:
    """Returns the fractional integer columns that were asked for, ascending, and notes on what was left out."""
    distance = np.abs(x - np.round(x))
    fractional = lp.integer & (distance > INTEGRALITY)
    notes = []
    if options.candidates:
        wanted = np.zeros(lp.n, dtype=np.bool_)
        wanted[choose(options.candidates, lp.n, lp.col_name, "column")] = True
        idle = int((wanted & ~fractional).sum())
        notes += [f"columns asked for that are no fractional integer columns: {idle}"] if idle else []
        fractional &= wanted
    columns = np.flatnonzero(fractional).astype(np.int64)
    if options.limit is not None and columns.size > options.limit:
        notes.append(f"only the {options.limit} most fractional of {columns.size} candidates")
        most = np.argsort(-distance[columns], kind="stable")[: options.limit]
        columns = np.sort(columns[most])
    return columns, tuple(notes)


def children_of(lp: LinearProgram, columns: Indices, x: Vector) -> LPBatch:
    """Returns the batch of 2|F| children: member 2k has x_j <= floor, member 2k + 1 has x_j >= ceil, j the k-th column."""
    k = columns.size
    side = np.tile(np.array([Field.COL_UPPER, Field.COL_LOWER], dtype=np.int8), k)
    value = np.column_stack([np.floor(x[columns]), np.ceil(x[columns])]).ravel()
    changes = Changes(np.arange(2 * k, dtype=np.int64), side, np.repeat(columns, 2), value)
    names = tuple(f"{lp.name}: {lp.col_name(j)} {word}" for j in columns.tolist() for word in ("down", "up"))
    return LPBatch(lp, changes, names)


def solve_children(batch: LPBatch, root: Tried, cutoff: float, solver: Solver, listen: Listen) -> tuple[list[Child], str]:
    """Returns each child, in order, and in words who solved them. Children that are cut off at once are never solved."""
    solution, verdict = root
    assert solution.y is not None, "the root is optimal"
    # L(root's y) with the child's bounds holds before the first iteration, and so does the root's own bound
    first = np.maximum(dual_bound(batch, np.broadcast_to(solution.y, (len(batch), batch.base.m))), verdict.dual_bound)
    left = np.flatnonzero(first < cutoff)
    children = [Child(float(bound), math.inf, math.inf, ChildState.CUTOFF) for bound in first]
    if not left.size:
        return children, f"all {len(batch)} children were cut off by the root's duals"
    part = batch.take(left)
    choice = choose_backend(part, solver.settings)
    listen(Note(f"{batch.base.name}: {left.size} of {len(batch)} children to solve: {choice.reason}", level=2))
    settings = replace(solver.settings, cutoff=cutoff if math.isfinite(cutoff) else None, near=True)
    claims = solver.solve_batch(part, choice.backend, settings=settings, warm_start=solution)
    for done, (member, tries) in enumerate(claims, start=1):
        child = int(left[member])
        children[child] = child_of(batch.member(child), tries, float(first[child]), cutoff)
        listen(Progress("children", done, int(left.size)))
    loose = [k for k in left.tolist() if settings.fallback and is_loose(batch.member(k), children[k], settings.tol)]
    words = solver.choices[:1]  # before those that are loose are solved
    for member, tries in solver.solve_batch(batch.take(loose), BackendName.HIGHS, warm_start=solution) if loose else ():
        child = loose[member]
        tried = [*children[child].tries, *tries]
        children[child] = child_of(batch.member(child), tried, children[child].bound, cutoff)
    return children, "; ".join(filter(None, (choice.reason, *words)))


def is_loose(lp: LinearProgram, child: Child, tol: float) -> bool:
    """Tells whether a child's bound may be far below its optimum, though its point is within tolerance."""
    if child.state is not ChildState.OPTIMAL:
        return False
    last = child.tries[-1][0]
    return last.x is None or last.y is None or not is_near(lp, last.x, last.y, child.bound, tol)


def child_of(lp: LinearProgram, tries: Tries, first_bound: float, cutoff: float) -> Child:
    """Returns what the tries at a child prove, with a bound that was known before."""
    solution, verdict = tries[-1]
    bound = max([first_bound, *(v.dual_bound for _, v in tries)])
    value = math.inf if verdict.objective is None else verdict.objective
    state = _state(solution, verdict)
    if state is ChildState.INFEASIBLE:
        bound = math.inf
    elif bound >= cutoff:
        state = ChildState.CUTOFF
    high = math.inf
    if math.isfinite(value) and solution.x is not None and solution.y is not None:
        high = max(bound, value + worth_of_violations(lp, solution.x, solution.y))
    return Child(bound, value, high, state, tuple(tries))


def _state(solution: Solution, verdict: Verdict) -> ChildState:
    if not verdict.verified:
        return ChildState.UNDECIDED
    return ChildState(solution.status.value) if solution.status.value in set(ChildState) else ChildState.UNDECIDED


def _judge(result: BranchResult, columns: Indices, children: Sequence[Child], rule: ScoreRule) -> BranchResult:
    """Returns the result with candidates scored and ranked, and what pruned children fix."""
    root, x = result.interval, result.root[0].x
    assert x is not None, "the root is optimal"
    found, fixings = [], []
    for k, j in enumerate(columns.tolist()):
        down, up = children[2 * k], children[2 * k + 1]
        if down.pruned:
            fixings.append(Fixing(j, Field.COL_LOWER, float(np.ceil(x[j])), down.state))
        if up.pruned and not down.pruned:
            fixings.append(Fixing(j, Field.COL_UPPER, float(np.floor(x[j])), up.state))
        pruned = down.pruned or up.pruned
        gains = [gain(Interval(child.bound, child.high), root) for child in (down, up)]
        found.append(Candidate(j, float(x[j]), down, up, None if pruned else score_interval(gains[0], gains[1], rule)))
    scored = [(k, c.score) for k, c in enumerate(found) if c.score is not None]
    order, contenders = rank([interval for _, interval in scored])
    for place, position in enumerate(order, start=1):
        k = scored[position][0]
        found[k] = replace(found[k], place=place)
    best = scored[order[0]][0] if order else None
    unsure = tuple(scored[position][0] for position in contenders)
    return replace(result, candidates=tuple(found), best=best, contenders=unsure, fixings=tuple(fixings))
