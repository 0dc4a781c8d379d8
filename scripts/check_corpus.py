"""Solves a corpus of public instances and compares every row with the values of its manifest.

    python scripts/check_corpus.py [DATA] [--classes netlib,misc] [--time-limit 120] [-- further options of batchlp solve]

DATA holds MANIFEST.csv (columns file, class, expected_status, expected_objective, readers_disagree) and the files. A row
agrees when its status is the expected one, its objective is within 1e-6 relative, and the referee verified it. Every
row that does not agree is listed. Exit code 0 when all agree.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

REL_TOL = 1e-6
CLASSES = "netlib,netlib_infeas,kennington,miplib3,families,misc"
STATUS = {"Optimal": "optimal", "Infeasible": "infeasible", "Unbounded": "unbounded", "reject": "unreadable"}


@dataclass
class ClassCount:
    """What became of one class of the corpus."""

    files: int = 0
    agree: int = 0
    verified: int = 0
    no_expectation: int = 0
    seconds: float = 0.0
    differing: list[str] = field(default_factory=list)


def judge(row: dict[str, object], expected: dict[str, str]) -> str:
    """Returns why a row does not agree with the manifest, or nothing where it does."""
    wanted = STATUS.get(expected["expected_status"], "")
    got = str(row["status"])
    if not wanted:
        return ""
    if got != wanted:
        return f"status {got}, expected {wanted} ({row['error'] or row['reason'] or 'no reason'})"
    if wanted == "optimal":
        objective, right = row["objective"], float(expected["expected_objective"])
        if not isinstance(objective, float | int) or abs(objective - right) > REL_TOL * max(1.0, abs(right)):
            return f"objective {objective}, expected {right:.12g}"
    if wanted != "unreadable" and not row["verified"]:
        return f"not verified: {row['reason']}"
    return ""


def solve(data: Path, classes: list[str], options: list[str]) -> list[dict[str, object]]:
    """Runs batchlp over the classes and returns its rows."""
    command = [sys.executable, "-m", "batchlp_cli", "solve", *(str(data / c) for c in classes), "--format", "jsonl", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(f"batchlp solve ended with exit code {done.returncode}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    """Prints the table of the corpus and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare batchlp's answers with a corpus manifest.")
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--classes", default=CLASSES, help="comma-separated folders of the corpus")
    parser.add_argument("--time-limit", default="120", help="seconds an LP may take")
    arguments, options = parser.parse_known_args()
    data = arguments.data.resolve()
    with (data / "MANIFEST.csv").open(newline="") as stream:
        manifest = {str(data / r["file"]): r for r in csv.DictReader(stream)}
    classes = [c for c in arguments.classes.split(",") if c]
    rows = solve(data, classes, ["--time-limit", arguments.time_limit, *(o for o in options if o != "--")])
    counts: defaultdict[str, ClassCount] = defaultdict(ClassCount)
    for row in rows:
        path = str(Path(str(row["input"])).resolve())
        expected = manifest.get(path)
        count = counts[(expected or {}).get("class", "not in the manifest")]
        count.files += 1
        count.verified += bool(row["verified"])
        count.seconds += float(str(row["solve_time"] or 0.0))
        if expected is None or not expected["expected_status"]:
            count.no_expectation += 1
            continue
        problem = judge(row, expected)
        if problem:
            disputed = " [readers disagree]" if expected["readers_disagree"] else ""
            count.differing.append(f"{expected['file']}: {problem}{disputed}")
        else:
            count.agree += 1
    show(counts)
    missing = {str(data / r["file"]) for r in manifest.values() if r["class"].split("/")[0] in classes}
    missing -= {str(Path(str(row["input"])).resolve()) for row in rows}
    for path in sorted(missing):
        print(f"no row: {path}")
    return 1 if missing or any(c.differing for c in counts.values()) else 0


def show(counts: dict[str, ClassCount]) -> None:
    """Prints a line a class, then every row that differs."""
    print(f"{'class':44} {'files':>6} {'agree':>6} {'differ':>6} {'verified':>8} {'no value':>8} {'seconds':>8}")
    total = ClassCount()
    for name, c in sorted(counts.items()):
        print(f"{name:44} {c.files:6} {c.agree:6} {len(c.differing):6} {c.verified:8} {c.no_expectation:8} {c.seconds:8.1f}")
        for part in ("files", "agree", "verified", "no_expectation", "seconds"):
            setattr(total, part, getattr(total, part) + getattr(c, part))
        total.differing += c.differing
    c = total
    print(f"{'all':44} {c.files:6} {c.agree:6} {len(c.differing):6} {c.verified:8} {c.no_expectation:8} {c.seconds:8.1f}")
    for line in total.differing:
        print(f"differs: {line}")


if __name__ == "__main__":
    sys.exit(main())
