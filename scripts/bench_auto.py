"""Regret of `--backend auto`: its time against the better of HiGHS alone and lanes alone, its own measuring included.

    python scripts/bench_auto.py [--data DATA] [--cases a,b] [--repeats 7] [--seconds 8] [--tol 1e-6] [--remember] [--json FILE]

Cases: each folder of DATA/families with ten files or more; every generated family at three sizes, as related LPs, and four of
them as strong-branching children; and DATA/netlib as one folder. Every backend solves the same batches on all cores, in turn,
each time in a process of its own: loading counts, as it does in a command; reading doesn't, and kernels are compiled before,
once. Every claim is judged by the referee. HiGHS and auto are repeated until both have had `seconds` together, so that short
cases, where noise is as large as what is measured, come often; seconds are the least of the repeats. Lanes alone are ended once
they have taken longer than HiGHS, and are then out of the race. Nothing of earlier runs is used, unless --remember lets auto use
the rates that the repeats before measured. Prints JSON lines and, last, the geometric mean of the regrets and the worst.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
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


def children_of(family: str, size: str, most: int) -> Batches:
    """Returns the children of strong branching of a root, two a column, with all columns taken as integer."""
    root = find_family(family).base(size, seed=1)
    root = replace(root, integer=np.ones(root.n, dtype=np.bool_))
    return [relaxed(branching_children(root, root_point(root, SolveSettings()), most))]


def read_folder(folder: Path) -> Batches:
    """Returns the batches of a folder of files."""
    return [batch for _, batch in group_batches(discover([str(folder)]), None, SolveSettings())]


def cases(data: Path) -> Iterator[tuple[str, Callable[[], Batches]]]:
    """Yields all cases."""
    for family, sizes in CHILDREN:
        for size, most in sizes:
            yield f"{family} {size} children", lambda f=family, s=size, k=most: children_of(f, s, k)  # type: ignore[misc]
    for known in FAMILIES.values():
        for size in known.sizes[-3:]:
            yield f"{known.name} {size}", lambda f=known, s=size: [relaxed(f.members(s, MEMBERS, 1))]  # type: ignore[misc]
    for folder in sorted((data / "families").glob("*/")):
        if len(list(folder.iterdir())) >= 10:
            yield folder.name, lambda f=folder: read_folder(f)  # type: ignore[misc]
    if (data / "netlib").is_dir():
        yield "netlib", lambda: read_folder(data / "netlib")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a side came to: seconds, members that the referee refused, and the choice in words."""

    seconds: float
    refused: int
    words: str


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
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    settings = SolveSettings(tol=given.tol, cache=given.remember)
    measure("pdhg", [relaxed(find_family("knapsack").members("1x4", 8, 1))], settings, LONGEST)  # compiles the kernels
    lines = []
    for name, make in cases(given.data):
        if given.cases and not any(part in name for part in given.cases.split(",")):
            continue
        lines.append(line_of(name, make(), settings, given.repeats, given.seconds))
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


def line_of(name: str, batches: Batches, settings: SolveSettings, repeats: int, budget: float) -> dict[str, object]:
    """Returns what all sides come to on a case; the seconds are the least of the repeats, which stop after `budget` seconds."""
    found: dict[str, list[Measured]] = {side: [] for side in MAKERS}
    spent, limit = 0.0, LONGEST
    for _ in range(repeats):
        for side, tries in found.items():
            if side == "pdhg" and any(measured.refused for measured in tries):
                continue  # out of the race
            tries.append(measure(side, batches, settings, limit if side == "pdhg" else LONGEST))
            limit = LIMIT[0] + LIMIT[1] * min(measured.seconds for measured in found["highs"])
            spent += tries[-1].seconds if side != "pdhg" else 0.0
        if spent > budget:
            break
    best = {side: min(measured.seconds for measured in tries) for side, tries in found.items()}
    refused = {side: max(measured.refused for measured in tries) for side, tries in found.items()}
    rivals = [best["highs"], *([best["pdhg"]] if not refused["pdhg"] else [])]
    base = max((b.base for b in batches), key=lambda lp: lp.nnz)
    line: dict[str, object] = {"case": name, "members": sum(map(len, batches))}
    line |= {"rows": base.m, "columns": base.n, "nonzeros": base.nnz, "repeats": len(found["auto"])}
    line |= {f"{side}_seconds": round(seconds, 3) for side, seconds in best.items()}
    line |= {f"{side}_refused": count for side, count in refused.items()}
    return line | {"regret": round(best["auto"] / min(rivals), 3), "choice": found["auto"][-1].words}


if __name__ == "__main__":
    main()
