"""Solves Netlib with the lanes alone, no other solver helping, and prints how many answers the referee verifies.

    python scripts/check_pdhg.py [DATA] [--tol 1e-4 1e-6] [--iteration-limit 100000] [--only afiro,capri] [--list]

DATA holds the folders `netlib` (LPs with an optimum) and `netlib_infeas` (LPs without a feasible point). For each tolerance the
script prints a row: of Netlib how many are verified as optimal, of the infeasible ones how many are proved so, and how many
were claimed optimal, which must be none. --list adds a line an LP that was not decided. Each LP is a batch of one.
Exit code 1 where a claim contradicts what the folder says.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from batchlp_cli.backends.pdhg.parameters import Arithmetic, PdhgParameters
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.files.discover import discover
from batchlp_cli.files.read import ModelReader, ReadRequest
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings

FOLDERS = {"netlib": "optimal", "netlib_infeas": "infeasible"}


@dataclass
class Count:
    """What became of one folder at one tolerance: statuses (with a star where verified), iterations, seconds, undecided."""

    words: Counter[str] = field(default_factory=Counter)
    iterations: int = 0
    seconds: float = 0.0
    undecided: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def read(folder: Path, only: Sequence[str]) -> Iterator[tuple[str, LinearProgram]]:
    """Yields (name, LP) for the files of a folder, in their order."""
    with ModelReader(SolveSettings(jobs=1)) as reader:
        inputs = discover([str(folder)]).inputs
        wanted = [i for i in inputs if not only or Path(i.shown).name.split(".")[0] in only]
        names = {i.index: Path(i.shown).name.split(".")[0] for i in wanted}
        for outcome in reader.read(ReadRequest.of(i) for i in wanted):
            if outcome.lp is not None:
                yield names[outcome.key], outcome.lp


def solve(name: str, lp: LinearProgram, backend: PdhgBackend, settings: SolveSettings, expected: str, count: Count) -> None:
    """Solves one LP and counts what the referee says of it."""
    batch = LPBatch(lp, Changes(), (name,))
    begin = time.perf_counter()
    ((_, claim),) = backend.solve(batch, settings)
    seconds = time.perf_counter() - begin
    (verdict,) = verify(batch, [claim], settings.tol)
    count.words[f"{claim.status}{'*' if verdict.verified else ''}"] += 1
    count.iterations += claim.iterations
    count.seconds += seconds
    if verdict.verified and claim.status != expected:
        count.wrong.append(name)
    if not verdict.verified:
        why = claim.message or verdict.reason
        count.undecided.append(f"{name}: {claim.status} after {claim.iterations} iterations, {seconds:.1f} s: {why}")
    sys.stderr.write(f"{settings.tol:g} {name} {claim.status} {verdict.verified} {claim.iterations} {seconds:.2f} s\n")


def main() -> int:
    """Reads the options, prints a row a folder and tolerance, and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--tol", nargs="+", type=float, default=[1e-4, 1e-6])
    parser.add_argument("--iteration-limit", type=int, default=100_000)
    parser.add_argument("--folders", nargs="+", choices=list(FOLDERS), default=list(FOLDERS))
    parser.add_argument("--only", default="", help="comma-separated names, without endings")
    parser.add_argument("--precision", type=Arithmetic, choices=list(Arithmetic), default=Arithmetic.FLOAT64)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name what was not decided")
    options = parser.parse_args()
    backend = PdhgBackend(options.jobs, PdhgParameters(precision=options.precision))
    wrong = []
    print("| folder | tol | LPs | verified, by status | claimed, not verified | iterations | seconds |")
    print("|---|---|---|---|---|---|---|")
    for folder in options.folders:
        lps = list(read(options.data / folder, [name for name in options.only.split(",") if name]))
        for tol in options.tol:
            count = Count()
            settings = SolveSettings(tol=tol, iteration_limit=options.iteration_limit, jobs=options.jobs, fallback=False)
            for name, lp in lps:
                solve(name, lp, backend, settings, FOLDERS[folder], count)
            proved = ", ".join(f"{n} {word[:-1]}" for word, n in sorted(count.words.items()) if word.endswith("*")) or "none"
            other = ", ".join(f"{n} {word}" for word, n in sorted(count.words.items()) if not word.endswith("*")) or "none"
            print(
                f"| {folder} | {tol:g} | {len(lps)} | {proved} | {other} | {count.iterations} | {count.seconds:.0f} |", flush=True
            )
            wrong += count.wrong
            if options.list:
                print("\n".join(f"    {line}" for line in (*count.undecided, *(f"{name}: WRONG" for name in count.wrong))))
    backend.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
