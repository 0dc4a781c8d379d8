"""Regret of `--backend auto`: its time against the better of HiGHS alone and lanes alone, its own measuring included.

    python scripts/bench_auto.py [--data DATA] [--cases a,b] [--repeats 1] [--tol 1e-6] [--cap 3] [--json FILE]

Cases: each folder of DATA/families with ten files or more, generated families at three sizes as strong-branching children
of their relaxation, and DATA/netlib as one folder. Every backend solves the same batches in this process on all cores, in
turn; loading and compiling count, reading doesn't. Every claim is judged by the referee. A side that takes `cap` times as
long as HiGHS is ended and counted so. Prints JSON lines and, last, the regrets.
"""

from __future__ import annotations

import argparse
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from batchlp_cli.backends.auto.together import AutoBackend
from batchlp_cli.backends.base import Backend
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.families import (
    KoerkelGhosh,
    capacitated_facility_location,
    facility_location,
    generalised_assignment,
    set_cover,
)
from batchlp_cli.files.discover import discover
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings, available_cores
from batchlp_cli.solution import Solution
from batchlp_cli.studies.comparing import group_batches

Batches = list[LPBatch]


def children_of(root: LinearProgram, most: int) -> LPBatch:
    """Returns the children of strong branching on the fractional columns of an LP relaxation, two a column."""
    backend = HighsBackend(1)
    ((_, solution),) = backend.solve(LPBatch.of([root]), SolveSettings())
    backend.close()
    assert solution.x is not None
    part = np.abs(solution.x - np.round(solution.x))
    lps = []
    for j in np.argsort(-part, kind="stable")[: most // 2]:
        if part[j] < 1e-6:
            break
        down, up = root.col_upper.copy(), root.col_lower.copy()
        down[j], up[j] = math.floor(solution.x[j]), math.ceil(solution.x[j])
        lps += [replace(root, name=f"{j} down", col_upper=down), replace(root, name=f"{j} up", col_lower=up)]
    return LPBatch.of([root, *lps])


def read_folder(folder: Path) -> Batches:
    """Returns the batches of a folder of files."""
    return [batch for _, batch in group_batches(discover([str(folder)]), None, SolveSettings())]


def generated() -> Iterator[tuple[str, Callable[[], Batches]]]:
    """Yields generated cases: a name, and what makes the batches."""
    for size, most in ((30, 200), (70, 128), (150, 64)):
        yield (
            f"facility kg-c {size}",
            lambda s=size, k=most: [  # type: ignore[misc]
                children_of(facility_location(s, s, 1, costs=KoerkelGhosh.C), k)
            ],
        )
    for size, most in ((100, 400), (200, 400), (400, 200)):
        yield f"set cover {size}", lambda s=size, k=most: [children_of(set_cover(s, 4 * s, 1), k)]  # type: ignore[misc]
    for size, most in ((10, 400), (20, 400), (40, 200)):
        yield (
            f"assignment {size}",
            lambda s=size, k=most: [  # type: ignore[misc]
                children_of(generalised_assignment(s, 10 * s, 1), k)
            ],
        )
    for size, most in ((20, 400), (40, 200), (80, 100)):
        yield (
            f"capacitated {size}",
            lambda s=size, k=most: [  # type: ignore[misc]
                children_of(capacitated_facility_location(s, s, 1), k)
            ],
        )


def cases(data: Path) -> Iterator[tuple[str, Callable[[], Batches]]]:
    """Yields all cases."""
    yield from generated()
    for folder in sorted((data / "families").glob("*/")):
        if len(list(folder.iterdir())) >= 10:
            yield folder.name, lambda f=folder: read_folder(f)  # type: ignore[misc]
    if (data / "netlib").is_dir():
        yield "netlib", lambda: read_folder(data / "netlib")


def timed(backend: Backend, batches: Batches, settings: SolveSettings, cap: float) -> tuple[float, int]:
    """Returns the seconds that all members took, or `cap` where they took longer, and how many the referee refused."""
    begun = time.perf_counter()
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
    backend.close()
    return seconds, refused


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parent.parent.parent / "shared" / "data")
    parser.add_argument("--cases", default="")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--cap", type=float, default=3.0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    settings = SolveSettings(tol=given.tol)
    makers: dict[str, Callable[[], Backend]] = {
        "highs": lambda: HighsBackend(available_cores()),
        "auto": lambda: AutoBackend(available_cores()),
        "pdhg": lambda: PdhgBackend(available_cores()),
    }
    lines = []
    for name, make in cases(given.data):
        if given.cases and not any(part in name for part in given.cases.split(",")):
            continue
        batches = make()
        best: dict[str, float] = {}
        refused: dict[str, int] = {}
        words = ""
        for _ in range(given.repeats):
            for side, maker in makers.items():
                cap = given.cap * max(best["highs"], 1.0) if side != "highs" else 3600.0
                backend = maker()
                seconds, refused[side] = timed(backend, batches, settings, cap)
                best[side] = min(seconds, best.get(side, math.inf))
                words = next(filter(None, backend.choices()), "") if side == "auto" else words
        regret = best["auto"] / min(best["highs"], best["pdhg"])
        base = max((b.base for b in batches), key=lambda lp: lp.nnz)
        line = {"case": name, "members": sum(map(len, batches)), "rows": base.m, "columns": base.n, "nonzeros": base.nnz}
        line |= {f"{side}_seconds": round(seconds, 3) for side, seconds in best.items()}
        line |= {f"{side}_refused": count for side, count in refused.items()} | {"regret": round(regret, 3), "choice": words}
        print(json.dumps(line), flush=True)
        lines.append(line)
    regrets = [float(str(line["regret"])) for line in lines]
    if regrets:
        mean = math.exp(sum(map(math.log, regrets)) / len(regrets))
        print(json.dumps({"geometric_mean_regret": round(mean, 3), "worst_regret": max(regrets)}))
    if given.json:
        given.json.write_text(json.dumps(lines, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
