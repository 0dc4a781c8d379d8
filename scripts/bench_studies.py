"""Times full strong branching and full bound tightening, a child or an end, for warm dual simplex and for lanes, on all cores.

    python scripts/bench_studies.py [FAMILY:SIZE | MODEL]... [--study branch|tighten] [--tol 1e-4] [--limit N] [--time-limit 60]

FAMILY:SIZE is a generated family, MODEL a MIP file. Both sides solve the same members in one process, in turn; kernels are
compiled and worker processes started on a small model before. Branch: all children of the root, which is solved before the
clock starts. Tighten: the two ends of every column within 1% of the root's value (without a cutoff nearly all ends of these
families are attained by known points and need no LP), the root included. Lanes hand on what they give up, and what is not
near: `lanes` counts children whose last try was theirs. Prints a line a case, and last the geometric mean of the ratios.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from batchlp_cli.events import Event
from batchlp_cli.families import find_family
from batchlp_cli.library import _read
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import BackendName, SolveSettings
from batchlp_cli.solving import Solver
from batchlp_cli.studies.branching import BranchOptions, candidates_of, children_of, solve_children, solve_root
from batchlp_cli.studies.tightening import TightenOptions, tighten_model

WITHIN = 0.99

SIDES = (BackendName.HIGHS, BackendName.PDHG)


@dataclass(frozen=True, slots=True)
class Timed:
    """One side of a case: seconds, members solved, how many by lanes in the end, and how many were left unproved."""

    seconds: float
    members: int
    by_lanes: int
    unproved: int


def unheard(_: Event) -> None:
    """Hears an event and does nothing."""


def time_branch(lp: LinearProgram, solver: Solver, limit: int | None) -> Timed:
    """Returns what solving all children of a root took."""
    root = solve_root(lp, solver)
    x = root[0].x
    if x is None:
        return Timed(math.nan, 0, 0, 1)
    columns, _ = candidates_of(lp, x, BranchOptions(limit=limit))
    batch = children_of(lp, columns, x)
    begun = time.perf_counter()
    children, _ = solve_children(batch, root, math.inf, solver, unheard)
    seconds = time.perf_counter() - begun
    lanes = sum(child.tries[-1][0].backend == "pdhg" for child in children if child.tries)
    return Timed(seconds, len(batch), lanes, sum(not child.verified for child in children))


def time_tighten(lp: LinearProgram, solver: Solver) -> Timed:
    """Returns what the ranges of all columns took."""
    begun = time.perf_counter()
    result = tighten_model(lp, TightenOptions(fraction_of_optimum=WITHIN), solver, unheard)
    return Timed(time.perf_counter() - begun, result.solved, 0, int(not result.verified))


def read_case(text: str) -> tuple[str, LinearProgram]:
    """Returns the name and the LP of a case."""
    if Path(text).exists():
        (lp,) = _read(text, SolveSettings())
        return Path(text).name.partition(".")[0], lp
    family, _, size = text.partition(":")
    return f"{family} {size}", find_family(family).base(size, 1)


def measure(lp: LinearProgram, side: BackendName, given: argparse.Namespace) -> Timed:
    """Returns a case's figures for one side, after a small model has warmed it up."""
    with Solver(SolveSettings(backend=side, tol=given.tol, time_limit=given.time_limit)) as solver:
        time_branch(find_family("capacitated-facility-location").base("10x12", 1), solver, None)
        return time_branch(lp, solver, given.limit) if given.study == "branch" else time_tighten(lp, solver)


def main() -> None:
    """Measures what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--study", choices=["branch", "tighten"], default="branch")
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--time-limit", type=float, default=60.0)
    given = parser.parse_args()
    ratios = []
    for text in given.cases:
        name, lp = read_case(text)
        if not lp.integer.any():
            continue
        simplex, lanes = (measure(lp, side, given) for side in SIDES)
        about = f"{name:32} {lp.m:6} x {lp.n:6} {lp.nnz:7} {given.study} members {simplex.members:5} {lanes.members:5}"
        about += (
            f" ms each {1e3 * simplex.seconds / max(1, simplex.members):9.3f} {1e3 * lanes.seconds / max(1, lanes.members):9.3f}"
        )
        about += (
            f" ratio {simplex.seconds / lanes.seconds:6.2f} lanes {lanes.by_lanes} unproved {simplex.unproved} {lanes.unproved}"
        )
        print(about, flush=True)
        if simplex.members:
            ratios.append(simplex.seconds / lanes.seconds)
    if ratios:
        print(f"geometric mean of {len(ratios)} ratios: {np.exp(np.mean(np.log(ratios))):.3f}")


if __name__ == "__main__":
    main()
