"""Seconds and member-iterations of the lanes in float64 and in mixed precision, at two tolerances: why `auto` chooses as it does.

Generated families and, with PATHS, LPs from files; one thread, both precisions in turn within one run, the better of several
times. Every answer is judged by the referee. Prints JSON lines.

    python scripts/bench_precision.py [--members N] [--repeats N] [--iteration-limit N] [PATHS...]

--members 0 leaves the generated families out.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from batchlp_cli.backends.pdhg.parameters import Arithmetic, PdhgParameters
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.families.catalogue import FAMILIES
from batchlp_cli.files.discover import discover
from batchlp_cli.kkt import verify
from batchlp_cli.settings import SolveSettings
from batchlp_cli.studies.comparing import group_batches

MODELS = (
    ("set-cover", "200x400"),
    ("generalised-assignment", "10x50"),
    ("capacitated-facility-location", "20x40"),
    ("facility-location", "40x40"),
    ("koerkel-ghosh-b", "60x60"),
)
TOLS = (1e-4, 1e-5, 1e-6)


def measure(batch: LPBatch, precision: Arithmetic, tol: float, limit: int) -> tuple[float, int, int]:
    """Returns seconds, member-iterations and the number of members with a verified verdict."""
    backend = PdhgBackend(1, PdhgParameters(precision=precision))
    settings = SolveSettings(jobs=1, tol=tol, iteration_limit=limit)
    list(backend.solve(batch.take([0]), SolveSettings(jobs=1, iteration_limit=1)))  # loads the kernels
    begun = time.perf_counter()
    answers = list(backend.solve(batch, settings))
    seconds = time.perf_counter() - begun
    members, claims = zip(*answers, strict=True)
    verdicts = verify(batch.take(members), claims, tol)
    return seconds, sum(c.iterations for c in claims), sum(v.verified for v in verdicts)


def compare(name: str, batch: LPBatch, repeats: int, limit: int) -> None:
    """Prints a line for each tolerance."""
    for tol in TOLS:
        found = {p: [measure(batch, p, tol, limit)] for p in (Arithmetic.FLOAT64, Arithmetic.MIXED)}
        for _ in range(repeats - 1):
            for p, runs in found.items():
                runs.append(measure(batch, p, tol, limit))
        record: dict[str, object] = {"model": name, "members": len(batch), "tol": tol}
        for p, runs in found.items():
            best = min(runs)
            record |= {f"{p}_seconds": round(best[0], 3), f"{p}_iterations": best[1], f"{p}_verified": best[2]}
        record["ratio"] = round(min(found[Arithmetic.FLOAT64])[0] / min(found[Arithmetic.MIXED])[0], 2)
        print(json.dumps(record), flush=True)


def read(path: Path) -> list[LPBatch]:
    """Returns the batches of a file or a folder."""
    return [batch for _, batch in group_batches(discover([str(path)]), None, SolveSettings(jobs=1))]


def main() -> None:
    """Measures all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--members", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--iteration-limit", type=int, default=100_000)
    given = parser.parse_args()
    for name, size in MODELS if given.members else ():
        compare(f"{name} {size}", FAMILIES[name].members(size, given.members, 0), given.repeats, given.iteration_limit)
    for path in given.paths:
        for batch in read(path):
            compare(path.name, batch, given.repeats, given.iteration_limit)


if __name__ == "__main__":
    main()
