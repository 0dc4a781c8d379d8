"""Measures the MPS reader against HiGHS' reader: megabytes a second on large files, milliseconds a file on related ones.

HiGHS is measured twice: `readModel` alone, and up to the same arrays and names that our reader gives. CPU seconds, the best of
several runs, files already decompressed. Usage: python scripts/bench_read.py [FILE...] [--family-files 1000]
"""

from __future__ import annotations

import argparse
import gzip
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from batchlp_cli.families import Varied, facility_location, vary  # noqa: E402
from batchlp_cli.files.mps import parse_mps  # noqa: E402
from batchlp_cli.files.mps_family import FamilyReader  # noqa: E402
from batchlp_cli.files.mps_writer import write_mps  # noqa: E402
from batchlp_cli.problem import LinearProgram  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
LARGE = (
    "miplib3/nw04", "miplib3/fast0507", "families/mipcc23_vary_rhs_s3/rhs_s3_i01", "families/mipcc23_vary_obj_s2/obj_s2_i05",
    "families/mipcc23_vary_matrix_s1/mat_s1_i01", "netlib/maros-r7", "kennington/ken-11", "miplib2017/neos-827175",
    "families/mipcc23_vary_rhs_s2/rhs_s2_i01", "miplib2017/cbs-cta", "netlib/pilot87",
)  # fmt: skip
FAMILIES = (
    "mipcc23_vary_bounds_s1",
    "mipcc23_vary_bounds_s2",
    "mipcc23_vary_obj_s2",
    "mipcc23_vary_rhs_s1",
    "mipcc23_vary_rhs_s2",
)
SAMPLE = 50


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="MPS files, .gz too (default: large published ones, if at hand)")
    parser.add_argument("--family-files", type=int, default=1000, help="files of the generated family (default 1000)")
    options = parser.parse_args()
    print(f"highspy {version('highspy')}, Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.mps"
        large_files(options.files or [p for p in (DATA / f"{name}.mps.gz" for name in LARGE) if p.exists()], path)
        print(
            "\n| family | files | MB a file | HiGHS readModel ms | HiGHS to arrays ms | full ms | as changes ms | times faster |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for name in FAMILIES:
            paths = sorted((DATA / "families" / name).glob("*.mps.gz"))
            if paths:
                family(name, len(paths), (contents(p) for p in paths), path)
        for what in Varied:
            family(f"facility location, {what} varied", options.family_files, generated_family(options.family_files, what), path)


def large_files(paths: list[Path], path: Path) -> None:
    """Prints a row a file."""
    print("| file | MB | ours MB/s | HiGHS readModel MB/s | HiGHS to arrays MB/s | times faster |\n|---|---|---|---|---|---|")
    for source in paths:
        data = contents(source)
        path.write_bytes(data)
        size = len(data) / 1e6
        ours = best_of(5, parse_mps, data, "f")
        highs, arrays = best_of(5, read_highs, path), best_of(5, to_lp, path)
        rates = f"{size / ours:.0f} | {size / highs:.0f} | {size / arrays:.0f} | {highs / ours:.1f}, {arrays / ours:.1f}"
        print(f"| {source.name} | {size:.1f} | {rates} |", flush=True)


def family(name: str, count: int, files: Iterator[bytes], path: Path) -> None:
    """Prints the milliseconds that a file of a family takes; HiGHS and the full reading are measured on some of them."""
    reader = FamilyReader()
    changed = first = full = highs = arrays = size = 0.0
    related = measured = 0
    for i, data in enumerate(files):
        seconds, parsed = timed(reader.read, data, "f")
        first, changed = (seconds, changed) if i == 0 else (first, changed + seconds)
        related += parsed.related
        size += len(data) / 1e6 / count
        if i % max(1, count // SAMPLE) == 0:
            path.write_bytes(data)
            measured += 1
            full += timed(parse_mps, data, "f")[0]
            highs += timed(read_highs, path)[0]
            arrays += timed(to_lp, path)[0]
    each = changed / max(1, count - 1)
    row = (highs / measured, arrays / measured, full / measured, each)
    times = " | ".join(f"{1e3 * t:.1f}" for t in row)
    print(f"| {name} | {count} ({related} as changes) | {size:.2f} | {times} | {arrays / measured / each:.1f} |", flush=True)


def contents(path: Path) -> bytes:
    """Returns a file's bytes, decompressed."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def timed(task: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Returns the CPU seconds that a task takes, and its result."""
    started = time.process_time()
    result = task(*arguments)
    return time.process_time() - started, result


def best_of(runs: int, task: Callable[..., Any], *arguments: Any) -> float:
    """Returns the CPU seconds of the fastest of several runs."""
    return min(timed(task, *arguments)[0] for _ in range(runs))


def read_highs(path: Path) -> Any:
    """Reads a file with HiGHS."""
    h: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    h.silent()
    h.readModel(str(path))
    return h


def to_lp(path: Path) -> LinearProgram:
    """Reads a file with HiGHS and takes arrays and names out of it."""
    lp = read_highs(path).getLp()
    a = lp.a_matrix_
    shape = (lp.num_row_, lp.num_col_)
    matrix = sp.csc_array((np.asarray(a.value_), np.asarray(a.index_), np.asarray(a.start_)), shape=shape).tocsr()
    sign = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    return LinearProgram(
        name=lp.model_name_,
        c=sign * np.asarray(lp.col_cost_, dtype=float),
        A=matrix,
        row_lower=np.asarray(lp.row_lower_, dtype=float),
        row_upper=np.asarray(lp.row_upper_, dtype=float),
        col_lower=np.asarray(lp.col_lower_, dtype=float),
        col_upper=np.asarray(lp.col_upper_, dtype=float),
        offset=sign * lp.offset_,
        maximize=sign < 0,
        row_names=tuple(lp.row_names_),
        col_names=tuple(lp.col_names_),
    )


def generated_family(count: int, what: Varied) -> Iterator[bytes]:
    """Yields the files of the family that scripts/bench.py solves: facility location of about 3000 x 3000."""
    batch = vary(facility_location(30, 100, seed=1), count, seed=2, what=what)
    for i in range(count):
        yield write_mps(batch.member(i)).encode()


if __name__ == "__main__":
    main()
