"""Measures the MPS reader against HiGHS' reader: megabytes a second on large files, milliseconds a file on related ones.

Large are all published MPS files of more than a megabyte. HiGHS is measured twice: `readModel` alone, and up to the same
arrays and names that our reader gives. CPU seconds, the best of several runs that take turns, files already decompressed.
Usage: python scripts/bench_read.py [FILE...] [--only large] [--repeats 5] [--family-files 1000]
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

from batchlp_cli.errors import ReadError  # noqa: E402
from batchlp_cli.families import Varied, facility_location, vary  # noqa: E402
from batchlp_cli.files.mps import parse_mps  # noqa: E402
from batchlp_cli.files.mps_family import FamilyReader  # noqa: E402
from batchlp_cli.files.mps_writer import write_mps  # noqa: E402
from batchlp_cli.problem import LinearProgram  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
LARGE_BYTES = 1_000_000
ENDLESS = "FORPLAN.SIF"
"""HiGHS' reader never returns from this file."""
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
    parser.add_argument("files", nargs="*", type=Path, help="MPS files, .gz too (default: all large published ones, if at hand)")
    parser.add_argument("--only", choices=("large", "families"), help="one of the two tables (default both)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each reader on a large file (default 5)")
    parser.add_argument("--family-files", type=int, default=1000, help="files of the generated family (default 1000)")
    options = parser.parse_args()
    print(f"highspy {version('highspy')}, Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.mps"
        if options.only != "families":
            large_files(options.files or published_files(), path, options.repeats)
        if options.only != "large":
            families(options.family_files, path)


def published_files() -> list[Path]:
    """Returns the published MPS files of more than LARGE_BYTES, decompressed."""
    found = (p for pattern in ("*.mps", "*.mps.gz", "*.qps", "*.cor", "*.cor.gz") for p in DATA.rglob(pattern))
    return sorted(p for p in found if ENDLESS not in p.name and unpacked_size(p) > LARGE_BYTES)


def unpacked_size(path: Path) -> int:
    """Returns the bytes of a file, decompressed; gzip notes them at its end."""
    return int.from_bytes(path.read_bytes()[-4:], "little") if path.suffix == ".gz" else path.stat().st_size


def large_files(paths: list[Path], path: Path, repeats: int) -> None:
    """Prints a row a file, and how they are spread."""
    print("| file | MB | ours MB/s | HiGHS readModel MB/s | HiGHS to arrays MB/s | times faster |\n|---|---|---|---|---|---|")
    ratios = {}
    for source in paths:
        data = contents(source)
        path.write_bytes(data)
        size = len(data) / 1e6
        try:
            ours, highs, arrays = best_of(repeats, (parse_mps, data, "f"), (read_highs, path), (to_lp, path))
        except ReadError:
            continue  # what is refused has no speed
        rates = f"{size / ours:.0f} | {size / highs:.0f} | {size / arrays:.0f} | {highs / ours:.2f}, {arrays / ours:.2f}"
        ratios[f"{source.parent.name}/{source.name}"] = highs / ours
        print(f"| {source.name} | {size:.1f} | {rates} |", flush=True)
    if ratios:
        print_spread(ratios)


def print_spread(ratios: dict[str, float]) -> None:
    """Prints how many files are read so many times faster than HiGHS' readModel, and the slowest of them."""
    reached = ", ".join(f"{k:g}: {sum(r >= k for r in ratios.values())}" for k in (1, 1.2, 1.5, 2))
    slowest = ", ".join(f"{name} {ratio:.2f}" for name, ratio in sorted(ratios.items(), key=lambda item: item[1])[:10])
    print(f"\n{len(ratios)} files, at least so many times as fast as readModel: {reached}. Slowest: {slowest}")


def families(count: int, path: Path) -> None:
    """Prints a row a family."""
    print("\n| family | files | MB a file | HiGHS readModel ms | HiGHS to arrays ms | full ms | as changes ms | times faster |")
    print("|---|---|---|---|---|---|---|---|")
    for name in FAMILIES:
        paths = sorted((DATA / "families" / name).glob("*.mps.gz"))
        if paths:
            family(name, len(paths), (contents(p) for p in paths), path)
    for what in Varied:
        family(f"facility location, {what} varied", count, generated_family(count, what), path)


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


def best_of(runs: int, *calls: tuple[Any, ...]) -> list[float]:
    """Returns the CPU seconds of the fastest of several runs of each call (a function and its arguments), which take turns."""
    seconds = [[timed(*call)[0] for call in calls] for _ in range(runs)]
    return [min(each) for each in zip(*seconds, strict=True)]


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
