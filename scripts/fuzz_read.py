"""Feeds mutated MPS files to the reader by the hundred thousand and keeps every input that shows a fault.

A fault is: an exception other than ReadError, a reading that takes long, a block reader that disagrees with the careful one, a
file read as a change of another that a full reading takes otherwise, and, for every n-th input, values that differ from
those of HiGHS though neither reader warns. Usage: python scripts/fuzz_read.py --count 200000 --seed 1
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing as mp
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from batchlp_cli.errors import ReadError  # noqa: E402
from batchlp_cli.files import mps  # noqa: E402
from batchlp_cli.files.mps import parse_mps  # noqa: E402
from batchlp_cli.files.mps_assemble import ParsedModel  # noqa: E402
from batchlp_cli.files.mps_family import ParsedBase, parse_base, parse_related  # noqa: E402

SLOW_SECONDS = 2.0
HIGHS_SECONDS = 10.0
SEED_BYTES = 8000
SECTION_NAMED = re.compile(
    rb"^[ \t]+(?:NAME|ROWS|COLUMNS|RHS|RANGES|BOUNDS|ENDATA|OBJSENSE|OBJNAME|MAX|MIN)\b", re.MULTILINE | re.IGNORECASE
)
WORDS = (
    b"NAME ROWS COLUMNS RHS RANGES BOUNDS ENDATA OBJSENSE OBJNAME MAX MIN N L G E UP LO FX FR MI PL BV LI UI SC"
    b" 'MARKER' 'INTORG' 'INTEND'"
    b" * $ 0 1 -1 1e30 -1e30 inf -inf nan 1D2 1e-400 1e400 .5 5. - . 1_0 0x10 \xc3\xa9 \xff \x00 \x1a \t \r QUADOBJ SOS"
).split(b" ")


def main() -> int:
    """Runs the fuzzer; returns 1 if it found a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000, help="inputs (default 200000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--highs-every", type=int, default=20, help="compare every n-th input with HiGHS (default 20, 0 never)")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-faults"), help="folder for inputs that show a fault")
    options = parser.parse_args()
    seeds = list(seed_files())
    bases = [base_of(data) for data in seeds]
    readable = [k for k, base in enumerate(bases) if base is not None]
    rng, tally, started = random.Random(options.seed), Counter[str](), time.perf_counter()
    with HighsReader() as highs:
        for i in range(options.count):
            k = rng.choice(readable) if rng.random() < 0.9 else rng.randrange(len(seeds))
            data = mutate(seeds[k], seeds, rng)
            other = highs if options.highs_every and i % options.highs_every == 0 else None
            kind, fault = examine(data, bases[k], other)
            tally[kind] += 1
            if fault:
                options.keep.mkdir(exist_ok=True)
                (options.keep / f"{options.seed}-{i}.mps").write_bytes(data)
                print(f"input {i}: {fault}", flush=True)
                tally["faults"] += 1
            if i % 20_000 == 19_999:
                print(f"{i + 1} inputs, {time.perf_counter() - started:.0f} s, {dict(tally)}", file=sys.stderr, flush=True)
    print(f"{options.count} inputs from {len(seeds)} files in {time.perf_counter() - started:.0f} s: {dict(tally)}")
    return 1 if tally["faults"] else 0


def seed_files() -> Iterator[bytes]:
    """Yields small MPS files: the tests' own, and the published ones where they are at hand."""
    folders = (ROOT / "tests" / "data" / "mps", ROOT.parent / "shared" / "data" / "odd")
    for folder in folders:
        for path in sorted(folder.rglob("*.mps")):
            if path.stat().st_size <= SEED_BYTES:
                yield path.read_bytes()


def base_of(data: bytes) -> ParsedBase | None:
    """Returns a file as a base for changes, None where it is none."""
    try:
        return parse_base(data, "f")[1]
    except ReadError:
        return None


def mutate(data: bytes, seeds: list[bytes], rng: random.Random) -> bytes:
    """Returns a damaged copy of a file."""
    for _ in range(rng.choice((1, 1, 1, 1, 2, 5))):
        data = rng.choices((_bytes, _lines, _word, _number, _digit, _splice), (2, 3, 4, 4, 4, 1))[0](data, seeds, rng)
    return data


def _bytes(data: bytes, seeds: list[bytes], rng: random.Random) -> bytes:
    at, size = rng.randrange(len(data) + 1), rng.choice((0, 1, 1, 2, 9, 200))
    return data[:at] + rng.choice((b"", rng.randbytes(rng.choice((1, 2, 5))), b" ", b"\n")) + data[at + size :]


def _lines(data: bytes, seeds: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    line = lines.pop(i) if rng.random() < 0.6 else lines[i]
    if rng.random() < 0.7:
        lines[j:j] = [line] * rng.choice((1, 1, 1, 30))
    return b"\n".join(lines)


def _word(data: bytes, seeds: list[bytes], rng: random.Random) -> bytes:
    words = data.split(b" ")
    words[rng.randrange(len(words))] = rng.choice(WORDS) if rng.random() < 0.6 else rng.choice(words)
    return b" ".join(words)


def _number(data: bytes, seeds: list[bytes], rng: random.Random) -> bytes:
    places = [i for i, c in enumerate(data) if 48 <= c <= 57]
    if not places:
        return data
    at = rng.choice(places)
    return data[:at] + rng.choice((b"%d" % rng.randrange(10), b"-", b".", b"e5", b"12345678901234567", b" ")) + data[at + 1 :]


def _digit(data: bytes, seeds: list[bytes], rng: random.Random) -> bytes:
    places = [i for i, c in enumerate(data) if 48 <= c <= 57 and data[i - 1 : i] in (b" ", b"-", b".", b"\t")]
    at = rng.choice(places) if places else 0
    return data[:at] + rng.choice((b"", b"-", b"1", b"3")) + data[at:]


def _splice(data: bytes, seeds: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(seeds)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def examine(data: bytes, base: ParsedBase | None, highs: HighsReader | None) -> tuple[str, str]:
    """Returns what became of an input (read, warned, refused) and the fault that it shows, if any."""
    started = time.process_time()
    try:
        blocks, lines = reading(data, 0), reading(data, 1 << 40)
        related = None if base is None else parse_related(base, data, "f")
    except Exception as error:  # any exception at all is what the fuzzer looks for
        return "crashed", f"{type(error).__name__}: {error}"
    if time.process_time() - started > SLOW_SECONDS:
        return "slow", f"took {time.process_time() - started:.1f} s"
    kind = "refused" if isinstance(lines, str) else "warned" if lines.warnings else "read"
    if not agree(blocks, lines):
        return kind, f"blocks and lines disagree: {blocks!s:.300} and {lines!s:.300}"
    if related is not None and not agree(related, lines):
        return kind, f"read as a change it differs: {lines!s:.300}"
    if highs is not None and isinstance(lines, ParsedModel) and not lines.warnings:
        return f"{kind}, HiGHS too", highs.difference(data, lines)
    return kind, ""


def reading(data: bytes, small_bytes: int) -> ParsedModel | str:
    """Returns what the reader makes of an input, or its message; blocks below `small_bytes` are read line by line."""
    before, mps.SMALL_BYTES = mps.SMALL_BYTES, small_bytes
    try:
        return parse_mps(data, "f")
    except ReadError as error:
        return str(error)
    finally:
        mps.SMALL_BYTES = before


def agree(a: ParsedModel | str, b: ParsedModel | str) -> bool:
    """Tells whether two readings are the same, bit for bit."""
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return a.warnings == b.warnings and all(x == y for x, y in zip(values(a), values(b), strict=True))


def values(parsed: ParsedModel) -> list[Any]:
    """Returns everything that a reading says, as things that compare by value."""
    lp = parsed.lp
    arrays = (lp.c, lp.row_lower, lp.row_upper, lp.col_lower, lp.col_upper, lp.integer, lp.A.indptr, lp.A.indices, lp.A.data)
    return [*(a.tobytes() for a in arrays), lp.A.shape, lp.offset, lp.maximize, lp.name, lp.row_names, lp.col_names]


class HighsReader:
    """HiGHS' reader in a process of its own, since mutated files make it hang or crash."""

    def __enter__(self) -> HighsReader:
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / "f.mps"
        self._start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._folder.cleanup()

    def _start(self) -> None:
        context = mp.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=serve_highs, args=(theirs, str(self._path)), daemon=True)
        self._process.start()

    def difference(self, data: bytes, parsed: ParsedModel) -> str:
        """Returns in what HiGHS reads other values without a warning, "" where it agrees, warns, refuses, hangs or crashes."""
        if known_misreading(data, parsed.lp.row_names):
            return ""
        self._path.write_bytes(data)
        found: dict[str, Any] | None = None
        with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
            self._ours.send(True)
            if self._ours.poll(HIGHS_SECONDS):
                found = self._ours.recv()
                return "" if found is None else compare(parsed, found)
        self._process.kill()
        self._start()
        return ""


def compare(parsed: ParsedModel, found: dict[str, Any]) -> str:
    """Returns the parts in which HiGHS' values differ from ours."""
    lp = parsed.lp
    if (lp.m, lp.n) != (len(found["row_lower"]), len(found["col_lower"])):
        return f"HiGHS reads {len(found['row_lower'])} x {len(found['col_lower'])}, we {lp.m} x {lp.n}"
    ours = {k: getattr(lp, k) for k in ("c", "row_lower", "row_upper", "col_lower", "col_upper")}
    # HiGHS drops coefficients of 1e-9 and less, and entries that stand out of column in an otherwise fixed file.
    ours["A"] = np.where((np.abs(lp.A.toarray()) > 1e-9) & (found["A"] != 0), lp.A.toarray(), 0.0)
    wrong = [k for k, v in ours.items() if not np.array_equal(v, found[k])]
    return (
        f"HiGHS reads other values: {wrong + ['offset'] * (lp.offset != found['offset'])}"
        if wrong or lp.offset != found["offset"]
        else ""
    )


def known_misreading(data: bytes, row_names: tuple[str, ...]) -> bool:
    """Tells whether HiGHS is known to misread a file in silence (docs/formats.md, "What HiGHS reads otherwise")."""
    text = data.upper()
    ranges, rhs, sense = text.find(b"\nRANGES"), text.rfind(b"\nRHS"), text.rfind(b"\nOBJSENSE")
    out_of_order = 0 <= ranges < rhs or sense > text.find(b"\nROWS") >= 0
    names = {name.encode() for name in row_names}
    set_is_row = any(len(f) % 2 and f[0] in names for f in (line.split() for line in data[max(rhs, 0) :].splitlines()) if f)
    return out_of_order or set_is_row or SECTION_NAMED.search(data) is not None


def serve_highs(connection: Connection, path: str) -> None:
    """Reads the file at `path` each time it is asked; answers None where HiGHS warns or refuses."""
    import highspy

    while connection.recv():
        h: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        h.silent()
        status = h.readModel(path)
        lp = h.getLp()
        plain = status == highspy.HighsStatus.kOk and h.getModel().hessian_.dim_ == 0
        connection.send(highs_values(lp) if plain else None)


def highs_values(lp: Any) -> dict[str, Any]:
    """Returns HiGHS' model for minimisation, dense."""
    import highspy

    sign = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    names = {"row_lower": lp.row_lower_, "row_upper": lp.row_upper_, "col_lower": lp.col_lower_, "col_upper": lp.col_upper_}
    result: dict[str, Any] = {k: np.array(v, dtype=float) for k, v in names.items()}
    matrix = np.zeros((lp.num_row_, lp.num_col_))
    for j in range(lp.num_col_):
        for k in range(lp.a_matrix_.start_[j], lp.a_matrix_.start_[j + 1]):
            matrix[lp.a_matrix_.index_[k], j] += lp.a_matrix_.value_[k]
    return result | {"c": 0.0 + sign * np.array(lp.col_cost_, dtype=float), "offset": 0.0 + sign * lp.offset_, "A": matrix}


if __name__ == "__main__":
    sys.exit(main())
