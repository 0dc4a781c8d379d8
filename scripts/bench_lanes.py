"""What each part of the lanes saves, in iterations; and lanes against dual simplex on large facility location, in seconds.

    python scripts/bench_lanes.py [--data DATA] [--cases a,b] [--tol 1e-4] [--lanes 32] [--limit 20000]
    python scripts/bench_lanes.py --race 200x200 [--children 128] [--rival-children 43] [--own-columns]

Cases: the folders mipcc23_* of DATA/families with more than one member a batch, and strong-branching children of generated
models. Ways, each with what the one before has: `plain`, where the members of a tile start at 0, restart together by the mean of
their fixed-point errors, and all lanes run until the slowest member is done; `retire`, where a member that is done gives its
lane to the next, so that only its own iterations count; `own`, where every member restarts by itself; `warm`, where all start
at the optimum of the base or root. A member that is not done within the limit counts with the limit. Every claim is judged by the
referee. Prints JSON lines.

The race has three sides, on all cores: `lanes`; `highs`, our backend, which measures whether a start from the last basis or a
cold one is faster; and `loop`, dual simplex from the root's optimal basis for every child, in a process a core. The rivals get
children spread evenly over the batch. Loading, compiling, the root and the referee are not timed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the command line: cores are used by tiles and processes

import highspy
import numpy as np

from batchlp_cli.backends.base import Backend
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.pdhg import lanes
from batchlp_cli.backends.pdhg.loading import parameters_of
from batchlp_cli.backends.pdhg.parameters import PdhgParameters
from batchlp_cli.backends.pdhg.restart import RestartParameters, RestartState, wants_restart
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.families import branching_children, find_family, relaxed
from batchlp_cli.files.discover import discover
from batchlp_cli.generation import root_point
from batchlp_cli.kkt import verify
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status
from batchlp_cli.studies.comparing import group_batches

CHILDREN = (
    ("set-cover", "100x400", 128),
    ("generalised-assignment", "10x100", 128),
    ("capacitated-facility-location", "20x20", 128),
    ("koerkel-ghosh-b", "40x40", 128),
    ("koerkel-ghosh-c", "70x70", 128),
)
"""Families with a size and the most children of its root."""


def children_of(family: str, size: str, most: int, own_columns: bool = False) -> LPBatch:
    """Returns the children of strong branching of a root, two a column; unless own_columns, all columns are taken as integer."""
    root = find_family(family).base(size, seed=1)
    root = root if own_columns else replace(root, integer=np.ones(root.n, dtype=np.bool_))
    return relaxed(branching_children(root, root_point(root, SolveSettings()), most))


def cases(data: Path, wanted: list[str]) -> Iterator[tuple[str, LPBatch]]:
    """Yields the batches by name."""
    for family, size, most in CHILDREN:
        if not wanted or family in wanted:
            yield f"{family} {size}, children", children_of(family, size, most)
    for folder in sorted((data / "families").glob("mipcc23_*")):
        if not wanted or folder.name in wanted:
            for _, batch in group_batches(discover([str(folder)]), None, SolveSettings()):
                if len(batch) > 1:
                    yield folder.name, relaxed(batch)


def restart_together(p: RestartParameters, state: RestartState, fpe: Vector, k: Vector, total: Vector) -> Mask:
    """Says what `wants_restart` does, of the mean over the lanes whose member is not done, for all lanes alike."""
    here = total == total.max()  # the counter of an empty lane stands still
    mean = RestartState(*(np.full(1, np.mean(a[here])) for a in (state.first, state.previous)))
    wanted = bool(wants_restart(p, mean, *(np.full(1, np.mean(a[here])) for a in (fpe, k, total)))[0])
    state.previous[:] = fpe
    together: Mask = here & wanted
    return together


def chunks(batch: LPBatch, width: int) -> Iterator[LPBatch]:
    """Yields the batch in pieces that fill one tile."""
    for begin in range(0, len(batch), width):
        yield batch.take(range(begin, min(begin + width, len(batch))))


def iterations(
    backend: Backend, batch: LPBatch, settings: SolveSettings, start: Solution | None
) -> tuple[np.ndarray[Any, Any], int]:
    """Returns the iterations of each member and how many verdicts the referee verifies."""
    claims = dict(backend.solve(batch, settings, start))
    solutions = [claims[i] for i in range(len(batch))]
    return np.array([s.iterations for s in solutions]), sum(v.verified for v in verify(batch, solutions, settings.tol))


def saved(batch: LPBatch, settings: SolveSettings, width: int) -> dict[str, Any]:
    """Returns the iterations of each way."""
    backend, highs = PdhgBackend(1, PdhgParameters(lanes=width)), HighsBackend(1)
    ((_, base),) = highs.solve(LPBatch(batch.base, Changes(), ("base",)), SolveSettings())
    highs.close()
    with patch.object(lanes, "wants_restart", restart_together):
        tiles = [iterations(backend, piece, settings, None) for piece in chunks(batch, width)]
    cold, warm = iterations(backend, batch, settings, None), iterations(backend, batch, settings, base)
    backend.close()
    counts = {
        "plain": sum(int(own.max()) * own.size for own, _ in tiles),
        "retire": sum(int(own.sum()) for own, _ in tiles),
        "own": int(cold[0].sum()),
        "warm": int(warm[0].sum()),
    }
    verified = {"retire": sum(v for _, v in tiles), "own": cold[1], "warm": warm[1]}
    return {**counts, **{f"{way}_verified": count for way, count in verified.items()}}


def loop(batch: LPBatch) -> tuple[float, list[Solution]]:
    """Returns the seconds of dual simplex over the members, each from the base's optimal basis, and the claims."""
    lp, h = batch.base, highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in (("output_flag", False), ("threads", 1), ("parallel", "off"), ("solver", "simplex")):
        h.setOptionValue(name, value)
    rows, kind = (lp.rows.indptr.astype(np.int32), lp.rows.indices.astype(np.int32), lp.rows.data), np.zeros(lp.n, dtype=np.int32)
    bounds = (lp.c, lp.col_lower, lp.col_upper, lp.row_lower, lp.row_upper)
    h.passModel(lp.n, lp.m, lp.nnz, int(highspy.MatrixFormat.kRowwise), 1, 0.0, *bounds, *rows, kind)
    h.run()
    basis, seconds, claims = h.getBasis(), 0.0, []
    h.setOptionValue("presolve", "off")
    for i in range(len(batch)):
        (j,), member = batch.changes.of_member(i).index, batch.member(i)
        h.changeColBounds(int(j), member.col_lower[j], member.col_upper[j])
        h.setBasis(basis)
        begun = time.perf_counter()
        h.run()
        seconds += time.perf_counter() - begun
        point = h.getSolution()
        x, y, r = (np.array(a) for a in (point.col_value, point.row_dual, point.col_dual))
        status = Status.OPTIMAL if h.getModelStatus() == highspy.HighsModelStatus.kOptimal else Status.NUMERICAL_ERROR
        claims.append(Solution(status, x=x, y=y, r=r))
        h.changeColBounds(int(j), lp.col_lower[j], lp.col_upper[j])
    return seconds, claims


def run_loops(batch: LPBatch, processes: int) -> tuple[float, list[Solution]]:
    """Returns the seconds of the slowest of some loops at once, and the claims of all members."""
    shares = [range(k, len(batch), processes) for k in range(processes)]
    with ProcessPoolExecutor(processes) as pool:
        done = list(pool.map(loop, [batch.take(share) for share in shares]))
    claims = {i: claim for share, (_, own) in zip(shares, done, strict=True) for i, claim in zip(share, own, strict=True)}
    return max(seconds for seconds, _ in done), [claims[i] for i in range(len(batch))]


def run_backend(make: Callable[[], Backend], batch: LPBatch, settings: SolveSettings) -> tuple[float, list[Solution]]:
    """Returns the seconds of a backend for a batch, loading and compiling left out, and the claims."""
    backend = make()
    list(backend.solve(batch.take([0]), replace(settings, iteration_limit=10)))
    begun = time.perf_counter()
    claims = dict(backend.solve(batch, settings))
    seconds = time.perf_counter() - begun
    backend.close()
    return seconds, [claims[i] for i in range(len(batch))]


def race(batch: LPBatch, rivals: int, tol: float) -> Iterator[dict[str, Any]]:
    """Yields seconds a child of lanes, of our dual simplex and of a plain loop of it."""
    settings = SolveSettings(tol=tol)
    part = batch.take(range(0, len(batch), max(1, len(batch) // rivals) | 1))  # an odd step: as many up as down
    sides: tuple[tuple[str, Callable[[], tuple[float, list[Solution]]], LPBatch], ...] = (
        ("lanes", lambda: run_backend(lambda: PdhgBackend(settings.jobs, parameters_of(settings)), batch, settings), batch),
        ("highs", lambda: run_backend(lambda: HighsBackend(settings.jobs), part, settings), part),
        ("loop", lambda: run_loops(part, settings.jobs), part),
    )
    for name, run, solved in sides:
        seconds, claims = run()
        good = sum(v.verified for v in verify(solved, claims, tol))
        record = {"side": name, "rows": batch.base.m, "nonzeros": batch.base.nnz, "children": len(solved), "verified": good}
        yield {**record, "seconds": round(seconds, 2), "seconds_a_child": round(seconds / len(solved), 4)}


def main() -> None:
    """Reads the options and prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--cases", default="", help="comma-separated names of folders and families")
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--lanes", type=int, default=32)
    parser.add_argument("--limit", type=int, default=20_000)
    parser.add_argument("--race", metavar="SIZE", help="facilities x customers")
    parser.add_argument("--children", type=int, default=128)
    parser.add_argument("--rival-children", type=int, default=43)
    parser.add_argument("--own-columns", action="store_true", help="children of the model's own integer columns only")
    given = parser.parse_args()
    if given.race:
        batch = children_of("koerkel-ghosh-c", given.race, given.children, given.own_columns)
        for record in race(batch, given.rival_children, given.tol):
            print(json.dumps(record), flush=True)
        return
    settings = SolveSettings(jobs=1, tol=given.tol, iteration_limit=given.limit)
    for name, batch in cases(given.data, [case for case in given.cases.split(",") if case]):
        size = {"case": name, "rows": batch.base.m, "columns": batch.base.n, "members": len(batch)}
        print(json.dumps({**size, **saved(batch, settings, given.lanes)}), flush=True)


if __name__ == "__main__":
    main()
