"""Checks branching and tightening on real MIPs and prints a table; exits with 1 where a bound passes the truth or is too far.

    python scripts/check_studies.py MODEL... [--limit N] [--backends highs pdhg] [--tol 1e-6] [--time-limit 60]
                                             [--tighten --mip --seconds 60 --prove 500 --sample 300]

branch: each child's bound against its optimum by HiGHS, alone; children without a bound; how far off the bounds of lanes are;
the best candidate against full strong branching by those optima. tighten: what was done; with --mip the MIP is solved before
and after, within --seconds, and the best point found before must be within the new bounds, also where the time ran out; with
--prove N each changed bound, or a seeded sample of N, is proved to hold at every point of the relaxation, in rational
arithmetic, from the duals of another solve; with --sample N only N columns of a model that has more are tightened, a seeded
sample too.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import highspy
import numpy as np

from batchlp_cli.batch import LPBatch
from batchlp_cli.events import Event
from batchlp_cli.exact_repair import exact_repaired_bound
from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.library import _read, solve
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import BackendName, SolveSettings
from batchlp_cli.solution import Status
from batchlp_cli.solving import Solver
from batchlp_cli.studies.branching import BranchOptions, BranchResult, ChildState, branch_model, children_of
from batchlp_cli.studies.filtering import Ends
from batchlp_cli.studies.scores import ScoreRule, score
from batchlp_cli.studies.tightening import TightenOptions, relaxation, tighten_model

OPTIMA_SECONDS = 120.0
"""Limit of an LP whose optimum is wanted; one that it ends counts as unknown."""

SAFE = 1e-9
"""What an optimum by HiGHS may be too low by, relative: it is a float64 value within a tolerance, our bound is rigorous."""


@dataclass
class Found:
    """What a model came to with one backend: children above the truth, children without a bound, the largest distance of lanes,
    the best agreed or not."""

    children: int = 0
    above: int = 0
    boundless: int = 0
    far: float = 0.0
    by_lanes: int = 0
    best: str = ""
    seconds: float = 0.0


def unheard(_: Event) -> None:
    """Hears an event and does nothing."""


def optima_of(lp: LinearProgram, result: BranchResult) -> list[float]:
    """Returns the optimum of each child, inf where it is infeasible, NaN where HiGHS did not prove either."""
    x = result.root[0].x
    assert x is not None
    batch: LPBatch = children_of(lp, np.array([c.column for c in result.candidates]), x)
    found = []
    for answer in solve(batch, backend="highs", tol=1e-8, time_limit=OPTIMA_SECONDS):
        if answer.verified and answer.status is Status.INFEASIBLE:
            found.append(math.inf)
        else:
            found.append(math.nan if answer.objective is None else lp.sign * answer.objective)
    return found


def check_branch(
    lp: LinearProgram, backend: str, tol: float, limit: int, time_limit: float, known: dict[tuple[int, ...], list[float]]
) -> Found:
    """Returns what branching came to. known: optima of the children by candidates, for other backends too."""
    begun = time.perf_counter()
    with Solver(SolveSettings(backend=BackendName(backend), tol=tol, time_limit=time_limit)) as solver:
        result = branch_model(lp, BranchOptions(limit=limit), solver, unheard)
    found = Found(seconds=time.perf_counter() - begun)
    if not result.candidates:
        return found
    columns = tuple(c.column for c in result.candidates)
    optima = known[columns] = known[columns] if columns in known else optima_of(lp, result)
    children = [child for c in result.candidates for child in (c.down, c.up)]
    for child, optimum in zip(children, optima, strict=True):
        if math.isnan(optimum):
            continue
        found.children += 1
        if child.bound == optimum == math.inf:
            continue
        found.above += child.bound > optimum + SAFE * (1 + abs(optimum))
        found.boundless += child.bound == -math.inf
        last = child.tries[-1][0] if child.tries else None
        # a child that the time limit ended was not solved
        if last is not None and last.backend == "pdhg" and child.state is ChildState.OPTIMAL:
            found.by_lanes += 1
            found.far = max(found.far, (optimum - child.bound) / (1 + abs(optimum)))
    found.best = agreement(result, optima)
    return found


def agreement(result: BranchResult, optima: list[float]) -> str:
    """Returns how our best candidate compares with that by the optima: same, told as a contender, tie as far as optima are
    known, or OTHER."""
    root = result.interval.high
    values: dict[int, tuple[float, float]] = {}
    for k in range(len(result.candidates)):
        down, up = optima[2 * k], optima[2 * k + 1]
        if math.isfinite(down) and math.isfinite(up):
            gains = [(g - SAFE * (1 + abs(o)), g + SAFE * (1 + abs(o))) for g, o in ((down - root, down), (up - root, up))]
            low, high = (score(max(gains[0][e], 0.0), max(gains[1][e], 0.0), ScoreRule.PRODUCT) for e in (0, 1))
            values[k] = low, high
    if result.best not in values:
        return "none"
    best = max(values, key=lambda k: values[k][0])
    if best == result.best:
        return "same"
    if best in result.contenders:
        return "told"
    return "tie" if result.best in values and values[result.best][1] >= values[best][0] else "OTHER"


@dataclass
class BestPoint:
    """What HiGHS found of a MIP: its best point [n], None where there is none, its objective, and whether it is optimal."""

    x: np.ndarray | None
    objective: float
    optimal: bool


def best_point(lp: LinearProgram, seconds: float) -> BestPoint:
    """Returns the best point of a MIP that HiGHS finds within some seconds, its objective in the sense of the file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.mps"
        path.write_text(write_mps(lp))
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in (("output_flag", False), ("time_limit", seconds), ("mip_rel_gap", 1e-9)):
            highs.setOptionValue(name, value)
        highs.readModel(str(path))
        highs.run()
        info = highs.getInfo()
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        x = np.array(highs.getSolution().col_value) if found else None
        return BestPoint(x, info.objective_function_value, highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def compare_mips(lp: LinearProgram, tightened: LinearProgram, seconds: float) -> str:
    """Returns in words whether the tightened MIP has the best point and the optimum of the MIP; LOST where it does not."""
    before = best_point(lp, seconds)
    if before.x is None:
        return "mip: no point in time"
    off = np.maximum(tightened.col_lower - before.x, before.x - tightened.col_upper).max(initial=0.0)
    if off > 1e-6:
        return f"mip: LOST the point of value {before.objective}, off by {off}"
    after = best_point(tightened, seconds) if before.optimal else before
    if not (before.optimal and after.optimal):
        return f"mip: the point of value {before.objective:.10g} is kept (out of time)"
    same = abs(before.objective - after.objective) <= 1e-6 * (1 + abs(before.objective))
    return f"mip: {'same' if same else f'LOST {before.objective} {after.objective}'}"


def prove_bounds(lp: LinearProgram, tightened: LinearProgram, most: int) -> str:
    """Returns in words how many changed bounds, of a seeded sample of `most`, hold at every point of the relaxation that is
    integral where it must be; WRONG where one is not proved.

    Each is proved by the exact bound of row duals of  min x_j  or  min -x_j  that HiGHS gives for it anew.
    """
    moved = np.column_stack([tightened.col_lower > lp.col_lower, tightened.col_upper < lp.col_upper]).ravel()
    changed = np.flatnonzero(moved)
    ends = np.sort(np.random.default_rng(1).permutation(changed)[:most]).tolist()
    if not ends:
        return "proved 0 of 0"
    batch = Ends(lp, range(lp.n), ()).batch(relaxation(lp, None), ends)
    bounds = np.column_stack([tightened.col_lower, -tightened.col_upper]).ravel()
    bad = []
    for k, answer in enumerate(solve(batch, backend="highs", tol=1e-9)):
        end, one = ends[k], batch.member(k)
        integer, bound = bool(lp.integer[end // 2]), Fraction(float(bounds[end]))
        # duals from the last member's basis may prove less than those of a solve from the start
        again = (a.dual for a in solve(one, backend="highs", tol=1e-9))
        if not any(is_proved(one, dual, bound, integer) for dual in itertools.chain([answer.dual], again)):
            bad.append(f"{lp.col_name(end // 2)} {'upper' if end % 2 else 'lower'}")
    about = f"proved {len(ends) - len(bad)} of {len(ends)}"
    about += f" (of {changed.size} changed)" if len(ends) < changed.size else ""
    return f"{about}{f' WRONG {bad[:3]}' if bad else ''}"


def is_proved(lp: LinearProgram, dual: Vector | None, bound: Fraction, integer: bool) -> bool:
    """Tells whether duals prove that the value of an LP, of an integer column if so said, is not below a bound."""
    exact = None if dual is None else exact_repaired_bound(lp, dual)
    return exact is not None and (Fraction(math.ceil(exact)) if integer else exact) >= bound


def check_tighten(lp: LinearProgram, given: argparse.Namespace) -> str:
    """Returns what tightening came to: counts, whether the MIP keeps its optimum, whether the bounds are proved."""
    begun, columns = time.perf_counter(), tuple[str, ...]()
    if lp.n > given.sample:
        chosen = np.sort(np.random.default_rng(1).permutation(lp.n)[: given.sample])
        columns = tuple(lp.col_name(j) for j in chosen.tolist())
    with Solver(SolveSettings(backend=BackendName(given.backends[0]))) as solver:
        result = tighten_model(lp, TightenOptions(columns=columns), solver, unheard)
    text = f"{result.status} {result.changed_bounds} changed {result.solved} solved {result.filtered} filtered"
    text += f" {time.perf_counter() - begun:.1f} s{'' if result.verified else ' UNPROVED'}"
    if result.tightened is None:
        return text
    text += f" {prove_bounds(lp, result.tightened, given.prove)}" if given.prove else ""
    return f"{text} {compare_mips(lp, result.tightened, given.seconds)}" if given.mip else text


def main() -> int:
    """Checks what the command line names; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--limit", type=int, default=10_000)
    parser.add_argument("--backends", nargs="+", default=["highs", "pdhg"])
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--columns", type=int, default=5000)
    parser.add_argument("--time-limit", type=float, default=math.inf, help="seconds an LP")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--mip", action="store_true", help="solve the MIP before and after tightening")
    parser.add_argument("--prove", type=int, default=0, help="prove so many changed bounds in rational arithmetic")
    parser.add_argument("--sample", type=int, default=10**9, help="tighten so many columns of a larger model")
    parser.add_argument("--no-branch", action="store_true")
    parser.add_argument("--tighten", action="store_true")
    given = parser.parse_args()
    allowed = 1e-5 if given.tol <= 1e-6 else 1e-3
    bad = 0
    for path in given.paths:
        (lp,) = _read(path, SolveSettings())
        if lp.n > given.columns or not lp.integer.any():
            continue
        known: dict[tuple[int, ...], list[float]] = {}
        for backend in [] if given.no_branch else given.backends:
            found = check_branch(lp, backend, given.tol, given.limit, given.time_limit, known)
            wrong = found.above > 0 or found.boundless > 0 or found.far > allowed or found.best == "OTHER"
            bad += wrong
            about = f"{Path(path).name:32} {lp.m:6} x {lp.n:6} {backend:6} children {found.children:5} above {found.above}"
            about += f" without {found.boundless}"
            about += f" lanes {found.by_lanes:5} farthest {found.far:.1e} best {found.best:5} {found.seconds:7.1f} s"
            print(f"{about}{'  WRONG' if wrong else ''}", flush=True)
        if given.tighten:
            text = check_tighten(lp, given)
            bad += "LOST" in text or "WRONG" in text
            print(f"{Path(path).name:32} tighten {text}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
