"""Wall time of `batchlp solve` against a shell loop that starts one solver process a file.

    python scripts/bench.py [--data DATA] [--members 1000] [--families a,b] [--repeats 3] [--json FILE]

The rival is what people do today: `xargs -P cores` over the files, each a fresh process that reads one file with HiGHS,
solves its relaxation and prints the objective. Both sides use all cores, both are measured in the same run, interleaved,
and the answers are compared. batchlp reads, groups, solves, verifies and writes its rows to a run folder; `none` and
`sol` tell whether it also keeps the solutions.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from batchlp_cli.families import facility_location, vary
from batchlp_cli.files.mps_writer import write_mps

ONE_FILE = """
import highspy, os, sys
h = highspy.Highs()
h.setOptionValue("output_flag", False)
h.setOptionValue("threads", 1)
h.setOptionValue("solve_relaxation", True)
h.readModel(sys.argv[2])
h.run()
status, objective = h.modelStatusToString(h.getModelStatus()), h.getInfo().objective_function_value
with open(f"{sys.argv[1]}/{os.getpid()}", "a") as answers:  # not the pipe that all share
    print(sys.argv[2], status, repr(objective), sep="\\t", file=answers)
"""


def loop_of_processes(files: list[Path], cores: int) -> tuple[float, dict[str, tuple[str, float]]]:
    """Returns wall seconds and the answers of one process a file, `cores` at once."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        subprocess.run(
            ["xargs", "-0", "-n", "1", "-P", str(cores), sys.executable, "-c", ONE_FILE, folder],
            input="\0".join(map(str, files)).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        seconds = time.perf_counter() - begun
        lines = [line for path in Path(folder).iterdir() for line in path.read_text().splitlines()]
    answers = {path: (status.lower(), float(objective)) for path, status, objective in (line.split("\t") for line in lines)}
    if len(answers) != len(files):
        print(f"  only {len(answers)} of {len(files)} answered by the loop", file=sys.stderr)
    return seconds, answers


def batchlp(files: list[Path], solutions: str, work: Path) -> tuple[float, dict[str, tuple[str, float]], dict[str, object]]:
    """Returns wall seconds, answers and the report of `batchlp solve` over the same files."""
    folder, listing = work / "run", work / "files.txt"
    shutil.rmtree(folder, ignore_errors=True)
    listing.write_bytes(b"\0".join(os.fsencode(f) for f in files))
    command = [sys.executable, "-m", "batchlp_cli", "solve", "--files-from", str(listing), "--null", "-o", str(folder)]
    begun = time.perf_counter()
    done = subprocess.run(
        [*command, "--solutions", solutions, "--format", "jsonl", "-q"], stdout=subprocess.PIPE, text=True, check=False
    )
    seconds = time.perf_counter() - begun
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    report = json.loads((folder / "report.json").read_text())
    if report["verified"] != len(files):
        print(f"  only {report['verified']} of {len(files)} verified", file=sys.stderr)
    return seconds, {r["input"]: (r["status"], r["objective"] or 0.0) for r in rows}, report


def disagreements(ours: dict[str, tuple[str, float]], theirs: dict[str, tuple[str, float]]) -> int:
    """Counts the files on which the two sides differ in status or by more than 1e-6 relative."""
    count = 0
    for path, (status, objective) in theirs.items():
        other_status, other = ours.get(path, ("no row", 0.0))
        close = status != "optimal" or abs(objective - other) <= 1e-6 * max(1.0, abs(objective))
        count += not (status == other_status and close)
    return count


def generated_family(members: int, folder: Path) -> list[Path]:
    """Writes related facility location LPs of about 3000 x 3000 (30 sites, 100 customers) with varied costs."""
    batch = vary(facility_location(30, 100, seed=1), members, seed=2, what="cost")
    files = []
    for i in range(members):
        path = folder / f"member{i:04d}.mps"
        path.write_text(write_mps(batch.member(i)))
        files.append(path)
    return files


def measure(name: str, files: list[Path], repeats: int, solutions: str) -> dict[str, object]:
    """Returns the medians of both sides, measured in turn."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    loops: list[float] = []
    ours: list[float] = []
    report: dict[str, object] = {}
    differing = 0
    with tempfile.TemporaryDirectory() as work:
        for _ in range(repeats):
            seconds, theirs = loop_of_processes(files, cores)
            loops.append(seconds)
            seconds, answers, report = batchlp(files, solutions, Path(work))
            ours.append(seconds)
            differing = max(differing, disagreements(answers, theirs))
    loop, own = statistics.median(loops), statistics.median(ours)
    return {
        "family": name,
        "files": len(files),
        "loop_seconds": loop,
        "batchlp_seconds": own,
        "ratio": loop / own,
        "disagreements": differing,
        "stage_times": report["stage_times"],
        "peak_memory_bytes": report["peak_memory_bytes"],
        "solutions": solutions,
    }


def show(result: dict[str, object]) -> None:
    """Prints one line of the table in docs/benchmarks.md."""
    stages = result["stage_times"]
    assert isinstance(stages, dict)
    times = ", ".join(
        f"{stage} {stages[stage]:.2f}" for stage in ("start", "read", "group", "solve", "verify", "write") if stage in stages
    )
    peak = int(str(result["peak_memory_bytes"])) / 1e6
    print(
        f"| {result['family']} | {result['files']} | {result['loop_seconds']:.2f} | {result['batchlp_seconds']:.2f} "
        f"| {result['ratio']:.2f} | {times} | {peak:.0f} MB | {result['disagreements']} |",
        flush=True,
    )


def main() -> int:
    """Measures all families and prints a table."""
    parser = argparse.ArgumentParser(description="batchlp solve against one process a file.")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--members", type=int, default=1000, help="members of the generated family, 0 to leave it out")
    parser.add_argument("--families", help="comma-separated folders of DATA/families (default: all)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--solutions", default="none", choices=["none", "sol", "npz"])
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    arguments = parser.parse_args()
    print("| family | files | loop s | batchlp s | ratio | stages of batchlp, s | peak memory | disagreements |")
    print("|---|---|---|---|---|---|---|---|")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        if arguments.members:
            files = generated_family(arguments.members, Path(folder))
            results.append(measure(f"generated {arguments.members}", files, arguments.repeats, arguments.solutions))
            show(results[-1])
    root = arguments.data / "families"
    names = sorted(p.name for p in root.iterdir()) if root.is_dir() else []
    for name in arguments.families.split(",") if arguments.families else names:
        files = sorted(p for p in (root / name).iterdir() if p.is_file())
        results.append(measure(name, files, arguments.repeats, arguments.solutions))
        show(results[-1])
    ratios = np.array([float(str(r["ratio"])) for r in results])
    print(f"\ngeometric mean of the ratios: {np.exp(np.log(ratios).mean()):.2f}; smallest {ratios.min():.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
