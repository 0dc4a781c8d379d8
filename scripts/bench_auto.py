"""Regret of `--backend auto`: its time against the better of HiGHS alone and lanes alone, its own measuring included.

    python scripts/bench_auto.py [--data DATA] [--cases a,b] [--repeats 7] [--seconds 8] [--tol 1e-6] [--remember] [--inside]
                                 [--json FILE]

Cases: each folder of DATA/families with ten files or more; every generated family at three sizes, as related LPs, and four of
them as strong-branching children; and DATA/netlib as one folder. Each side is the command `batchlp solve FOLDER --backend SIDE`
as a user gives it, from its start to its end: loading, reading, solving, judging and writing rows count. Generated families are
written by `batchlp generate` before, and kernels are compiled before, once. The sides come in turn; HiGHS and auto are repeated
until both have had `seconds` together, so that short cases, where noise is as large as what is measured, come often; seconds are
the least of the repeats. Lanes alone are ended once they have taken longer than HiGHS, and are then out of the race. Nothing of
earlier runs is used, unless --remember lets auto use the rates that the repeats before measured.

--inside measures what the backend takes for batches that have been read, in a process of its own: a stricter look at the choice,
without what all sides share. Prints JSON lines and, last, the geometric mean of the regrets and the worst.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from batchlp_cli.backends.auto.together import AutoBackend
from batchlp_cli.backends.base import Backend
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.families import FAMILIES, branching_children, find_family, relaxed
from batchlp_cli.files.discover import discover
from batchlp_cli.generation import root_point
from batchlp_cli.kkt import verify
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution
from batchlp_cli.studies.comparing import group_batches
from batchlp_cli.worker import start_server

Batches = list[LPBatch]

CHILDREN = (
    ("koerkel-ghosh-c", (("50x50", 200), ("70x70", 128), ("150x150", 64))),
    ("set-cover", (("100x400", 400), ("200x800", 400), ("400x1600", 200))),
    ("generalised-assignment", (("10x100", 400), ("20x200", 400), ("40x400", 200))),
    ("capacitated-facility-location", (("20x20", 400), ("40x40", 200), ("80x80", 100))),
)
"""Families with sizes, each with the most children of its root."""

MEMBERS = 64
"""Members of a family as related LPs, at the three largest sizes that the catalogue names for comparisons."""

LONGEST = 3600.0
"""Seconds after which HiGHS and auto are ended."""

LIMIT = (0.5, 1.1)
"""Lanes alone are ended after so many seconds and so many times what HiGHS takes."""

MAKERS: dict[str, Callable[[SolveSettings], Backend]] = {
    "highs": lambda settings: HighsBackend(settings.jobs),
    "auto": AutoBackend.of,
    "pdhg": lambda settings: PdhgBackend(settings.jobs),
}


BATCHLP = [sys.executable, "-m", "batchlp_cli"]


def children_of(family: str, size: str, most: int) -> Batches:
    """Returns the children of strong branching of a root, two a column, with all columns taken as integer."""
    root = find_family(family).base(size, seed=1)
    root = replace(root, integer=np.ones(root.n, dtype=np.bool_))
    return [relaxed(branching_children(root, root_point(root, SolveSettings()), most))]


def read_folder(folder: Path) -> Batches:
    """Returns the batches of a folder of files."""
    return [batch for _, batch in group_batches(discover([str(folder)]), None, SolveSettings())]


@dataclass(frozen=True, slots=True)
class Case:
    """A folder of files, or a family at a size: as `children` of a root at most, or as MEMBERS related LPs (None)."""

    name: str
    folder: Path | None = None
    family: str = ""
    size: str = ""
    children: int | None = None

    def batches(self) -> Batches:
        """Returns the batches of the case."""
        if self.folder is not None:
            return read_folder(self.folder)
        if self.children is not None:
            return children_of(self.family, self.size, self.children)
        return [relaxed(find_family(self.family).members(self.size, MEMBERS, 1))]

    def files(self, place: Path) -> Path:
        """Returns the folder with the files of the case, written below a place where the case is a family."""
        if self.folder is not None:
            return self.folder
        folder = place / self.name.replace(" ", "-")
        kind = ["--as", "family" if self.children is None else "children"]
        members = ["--members", str(self.children or MEMBERS)]
        words = [self.family, "--size", self.size, *kind, *members, "-o", str(folder), "-q"]
        subprocess.run([*BATCHLP, "generate", *words], check=True, stdout=subprocess.DEVNULL)
        return folder


def cases(data: Path) -> Iterator[Case]:
    """Yields all cases."""
    for family, sizes in CHILDREN:
        for size, most in sizes:
            yield Case(f"{family} {size} children", family=family, size=size, children=most)
    for known in FAMILIES.values():
        for size in known.sizes[-3:]:
            yield Case(f"{known.name} {size}", family=known.name, size=size)
    for folder in sorted((data / "families").glob("*/")):
        if len(list(folder.iterdir())) >= 10:
            yield Case(folder.name, folder)
    if (data / "netlib").is_dir():
        yield Case("netlib", data / "netlib")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a side came to: seconds, members that the referee refused (1 at least if it was ended), and the choice in words."""

    seconds: float
    refused: int
    words: str = ""


Run = Callable[[str, float], Measured]
"""Measures a side, which is ended after so many seconds."""


def measure_command(side: str, folder: Path, settings: SolveSettings, cap: float) -> Measured:
    """Returns what the command comes to on a folder; it is ended after `cap` seconds."""
    words = [str(folder), "--backend", side, "--tol", str(settings.tol), "--format", "jsonl", "-q"]
    words += [] if settings.cache else ["--no-cache"]
    begun = time.perf_counter()
    try:
        done = subprocess.run([*BATCHLP, "solve", *words], stdout=subprocess.PIPE, timeout=cap, check=False)
    except subprocess.TimeoutExpired:
        return Measured(cap, 1)
    seconds = time.perf_counter() - begun
    return Measured(seconds, sum(not json.loads(line)["verified"] for line in done.stdout.splitlines()))


def measure(side: str, batches: Batches, settings: SolveSettings, cap: float) -> Measured:
    """Returns what a side comes to in a process of its own; it is ended after `cap` seconds."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=solve_in_child, args=(theirs, side, settings, cap))
    process.start()
    ours.send(batches)
    measured: Measured = ours.recv()
    process.join()
    return measured


def solve_in_child(pipe: Connection, side: str, settings: SolveSettings, cap: float) -> None:
    """Solves the batches that come through the pipe, and sends back what that came to."""
    start_server("batchlp_cli.backends.highs.worker")  # as the commands do, while they read
    batches: Batches = pipe.recv()
    begun = time.perf_counter()
    backend = MAKERS[side](settings)
    timer = threading.Timer(cap, backend.close)
    timer.start()
    claims: dict[int, dict[int, Solution]] = {k: {} for k in range(len(batches))}
    for k, member, claim in backend.solve_many(batches, settings):
        claims[k][member] = claim
    seconds = min(time.perf_counter() - begun, cap)
    timer.cancel()
    refused = 0
    for k, batch in enumerate(batches):
        members = sorted(claims[k])
        verdicts = verify(batch.take(members), [claims[k][i] for i in members], settings.tol)
        refused += len(batch) - sum(v.verified for v in verdicts)
    words = next(filter(None, backend.choices()), "")
    backend.close()
    pipe.send(Measured(seconds, refused, words))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parent.parent.parent / "shared" / "data")
    parser.add_argument("--cases", default="")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--remember", action="store_true")
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    settings = SolveSettings(tol=given.tol, cache=given.remember)
    measure("pdhg", [relaxed(find_family("knapsack").members("1x4", 8, 1))], settings, LONGEST)  # compiles the kernels
    lines = []
    for case in cases(given.data):
        if given.cases and not any(part in case.name for part in given.cases.split(",")):
            continue
        with tempfile.TemporaryDirectory() as place:
            lines.append(line_of(case, runner(case, Path(place), settings, given.inside), given.repeats, given.seconds))
        print(json.dumps(lines[-1]), flush=True)
        if given.json:
            given.json.write_text(json.dumps(lines, indent=1), encoding="utf-8")
    regrets = {str(line["case"]): float(str(line["regret"])) for line in lines}
    if regrets:
        worst = max(regrets, key=lambda case: regrets[case])
        mean = math.exp(sum(map(math.log, regrets.values())) / len(regrets))
        refused = sum(int(str(line["auto_refused"])) for line in lines)
        print(
            f"{len(regrets)} cases: geometric mean {mean:.3f}, worst {regrets[worst]:.3f} ({worst}); auto left {refused} unproved"
        )


def runner(case: Case, place: Path, settings: SolveSettings, inside: bool) -> Run:
    """Returns what measures a side on a case, in a process that solves its batches or as the command on its files."""
    if inside:
        batches = case.batches()
        return lambda side, cap: measure(side, batches, settings, cap)
    folder = case.files(place)
    return lambda side, cap: measure_command(side, folder, settings, cap)


def line_of(case: Case, run: Run, repeats: int, budget: float) -> dict[str, object]:
    """Returns what all sides come to on a case; the seconds are the least of the repeats, which stop after `budget` seconds."""
    found: dict[str, list[Measured]] = {side: [] for side in MAKERS}
    spent, limit = 0.0, LONGEST
    for _ in range(repeats):
        for side, tries in found.items():
            if side == "pdhg" and any(measured.refused for measured in tries):
                continue  # out of the race
            tries.append(run(side, limit if side == "pdhg" else LONGEST))
            limit = LIMIT[0] + LIMIT[1] * min(measured.seconds for measured in found["highs"])
            spent += tries[-1].seconds if side != "pdhg" else 0.0
        if spent > budget:
            break
    best = {side: min(measured.seconds for measured in tries) for side, tries in found.items()}
    refused = {side: max(measured.refused for measured in tries) for side, tries in found.items()}
    rivals = [best["highs"], *([best["pdhg"]] if not refused["pdhg"] else [])]
    line: dict[str, object] = {"case": case.name, "repeats": len(found["auto"])}
    line |= {f"{side}_seconds": round(seconds, 3) for side, seconds in best.items()}
    line |= {f"{side}_refused": count for side, count in refused.items()}
    return line | {"regret": round(best["auto"] / min(rivals), 3), "choice": found["auto"][-1].words}


if __name__ == "__main__":
    main()
