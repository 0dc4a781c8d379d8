"""Scenarios of a transport LP: batchlp with a table against a plain highspy loop that changes one model in place.

Usage: scripts/bench_scenarios.py [--members 100000] [--sources 10] [--sinks 10] [--plain 5000] [--jobs 2] [--folder DIR]

The loop changes the right-hand sides, solves from the last basis and takes value, x and row duals: no file, no proof. It runs
over the first --plain scenarios on one core and on all, interleaved with batchlp, which solves, proves and records all of them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.problem import LinearProgram, Vector

SEED = 20260701


def transport(sources: int, sinks: int) -> LinearProgram:
    """Returns a transport LP: supplies are upper sides, demands lower ones; enough is there under every scenario."""
    rng = np.random.default_rng(SEED)
    A = sp.vstack([sp.kron(sp.eye_array(sources), np.ones((1, sinks))), sp.kron(np.ones((1, sources)), sp.eye_array(sinks))])
    demand = rng.integers(20, 60, sinks).astype(np.float64)
    supply = np.full(sources, np.ceil(1.6 * demand.sum() / sources))
    n = sources * sinks
    lower, upper = np.r_[np.full(sources, -np.inf), demand], np.r_[supply, np.full(sinks, np.inf)]
    rows = tuple(f"supply_{i}" for i in range(sources)) + tuple(f"demand_{j}" for j in range(sinks))
    columns = tuple(f"x_{i}_{j}" for i in range(sources) for j in range(sinks))
    cost = rng.integers(1, 100, n).astype(np.float64)
    return LinearProgram(
        "transport", cost, sp.csr_array(A), lower, upper, np.zeros(n), np.full(n, np.inf), row_names=rows, col_names=columns
    )


def demands(lp: LinearProgram, members: int) -> Vector:
    """Returns the demands of each scenario [members, sinks]: each within a quarter of the model's."""
    sinks = lp.row_lower[np.isfinite(lp.row_lower)]
    return np.round(sinks * np.random.default_rng(SEED + 1).uniform(0.75, 1.25, (members, sinks.size)), 2)


def write_table(lp: LinearProgram, table: Vector, path: Path) -> None:
    """Writes the scenarios in the wide form."""
    names = [name for name in lp.row_names if name.startswith("demand")]
    with path.open("w") as stream:
        stream.write(",".join(["scenario", *(f"rhs:{name}" for name in names)]) + "\n")
        for k, row in enumerate(table.tolist()):
            stream.write(f"s{k}," + ",".join(map(repr, row)) + "\n")


def plain_loop(lp: LinearProgram, table: Vector) -> float:
    """Returns the seconds of a plain loop over scenarios."""
    h: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", 1)
    parts = lp.A.indptr.astype(np.int32), lp.A.indices.astype(np.int32), lp.A.data
    bounds = lp.col_lower, lp.col_upper, lp.row_lower, lp.row_upper
    row_wise = int(highspy.MatrixFormat.kRowwise)
    h.passModel(lp.n, lp.m, lp.nnz, row_wise, 1, 0.0, lp.c, *bounds, *parts, np.zeros(lp.n, dtype=np.int32))
    index = np.flatnonzero(np.isfinite(lp.row_lower)).astype(np.int32)
    upper = lp.row_upper[index]
    h.run()
    start = time.perf_counter()
    for demand in table:
        h.changeRowsBounds(index.size, index, demand, upper)
        h.run()
        solution = h.getSolution()
        _ = h.getInfo().objective_function_value, np.array(solution.col_value), np.array(solution.row_dual)
    return time.perf_counter() - start


def _plain_part(arguments: tuple[LinearProgram, Vector]) -> float:
    return plain_loop(*arguments)


def plain_on(jobs: int, lp: LinearProgram, table: Vector) -> float:
    """Returns members a second of plain loops in so many processes: all members over the time of the slowest."""
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        seconds = pool.map(_plain_part, [(lp, part) for part in np.array_split(table, jobs)])
    return len(table) / max(seconds)


def ours(model: Path, table: Path, folder: Path, jobs: int) -> dict[str, float]:
    """Returns what a run of batchlp took: members a second of the whole command, and its peak memory."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "batchlp_cli", "solve", str(model), "--scenarios", str(table), "-j", str(jobs)]
    subprocess.run([*command, "-o", str(folder), "--solutions", "none", "-q"], check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    report = json.loads((folder / "report.json").read_text())
    assert report["verified"] == report["rows"], "a member was not proved"
    stages = {f"{k}": v for k, v in report["stage_times"].items()}
    return {"rate": report["rows"] / wall, "wall": wall, "peak_mb": report["peak_memory_bytes"] / 1e6, **stages}


def main() -> None:
    """Measures and prints a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=100_000)
    parser.add_argument("--sources", type=int, default=10)
    parser.add_argument("--sinks", type=int, default=10)
    parser.add_argument("--plain", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    lp = transport(given.sources, given.sinks)
    table = demands(lp, given.members)
    part = table[: given.plain]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "transport.mps").write_text(write_mps(lp))
        write_table(lp, table, folder / "table.csv")
        before = plain_on(1, lp, part), plain_on(given.jobs, lp, part)
        run = ours(folder / "transport.mps", folder / "table.csv", folder / "run", given.jobs)
        after = plain_on(1, lp, part), plain_on(given.jobs, lp, part)
    print(json.dumps({"plain_1": [before[0], after[0]], f"plain_{given.jobs}": [before[1], after[1]], "batchlp": run}))


if __name__ == "__main__":
    main()
