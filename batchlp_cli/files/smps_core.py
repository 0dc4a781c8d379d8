"""What SMPS files need to know of the core beside its LP: the objective's name, row types, names of sets; and the periods.

The LP itself is read by the MPS reader, like any other model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from batchlp_cli.errors import UsageError
from batchlp_cli.files.decompress import decompress
from batchlp_cli.files.inputs import compression_of
from batchlp_cli.problem import LinearProgram, Mask


@dataclass(slots=True)
class CoreNames:
    """objective: the first row of type N; free: the other ones; kinds: type of each other row; rhs, ranges, bounds: names
    of the sets that the core has of these."""

    objective: str = ""
    free: set[str] = field(default_factory=set)
    kinds: dict[str, str] = field(default_factory=dict)
    rhs: set[str] = field(default_factory=set)
    ranges: set[str] = field(default_factory=set)
    bounds: set[str] = field(default_factory=set)


def lines_of(path: Path, limit_bytes: int) -> Iterator[tuple[int, list[str], bool]]:
    """Yields (number, words, whether it begins a section) of each line of an SMPS file that is no comment and not blank."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    text = decompress(raw, compression_of(path.name), limit_bytes, str(path)).decode("latin-1")
    for number, line in enumerate(text.rstrip("\x1a").splitlines(), 1):  # DOS ended files with that byte
        words = line.split()
        if words and not line.startswith("*"):
            yield number, words, not line[0].isspace()


def read_core_names(path: Path, limit_bytes: int) -> CoreNames:
    """Returns the names of a core file."""
    names, section = CoreNames(), ""
    for _, words, heads in lines_of(path, limit_bytes):
        if heads:
            section = words[0].upper()
        elif section == "ROWS" and len(words) >= 2:
            kind, row = words[0].upper(), words[1]
            if kind != "N":
                names.kinds[row] = kind
            elif names.objective:
                names.free.add(row)
            else:
                names.objective = row
        elif section == "RHS" and len(words) % 2:
            names.rhs.add(words[0])
        elif section == "RANGES" and len(words) % 2:
            names.ranges.add(words[0])
        elif section == "BOUNDS" and len(words) >= 3:
            names.bounds.add(words[1])
    return names


def first_stage(path: Path, lp: LinearProgram, limit_bytes: int) -> tuple[Mask, tuple[str, ...]]:
    """Returns which columns [n] belong to the first period of a time file, and the periods' names in order.

    Raises UsageError where the file names a column that the core does not have, or has no period.
    """
    columns = {lp.col_name(j): j for j in range(lp.n)}
    starts: list[tuple[str, int]] = []
    explicit: dict[int, str] = {}
    periods: list[str] = []
    section, is_implicit = "", True
    for number, words, heads in lines_of(path, limit_bytes):
        where = f"{path}, line {number}"
        if heads:
            section = words[0].upper()
            if section == "PERIODS":
                is_implicit = len(words) < 2 or words[1].upper() != "EXPLICIT"
        elif section == "PERIODS" and is_implicit:
            if len(words) != 3:
                raise UsageError(f"{where}: found {' '.join(words)!r}, expected a column, a row and a period")
            starts.append((words[2], _column(columns, words[0], where)))
        elif section == "PERIODS":
            periods.append(words[0])
        elif section == "COLUMNS" and len(words) == 2:
            explicit[_column(columns, words[0], where)] = words[1]
    mask = np.zeros(lp.n, dtype=np.bool_)
    if is_implicit and starts:
        mask[starts[0][1] : starts[1][1] if len(starts) > 1 else lp.n] = True
        return mask, tuple(name for name, _ in starts)
    if not periods:
        raise UsageError(f"{path}: no period; expected a section PERIODS with a line for each")
    mask[[j for j, period in explicit.items() if period == periods[0]]] = True
    return mask, tuple(periods)


def _column(columns: dict[str, int], name: str, where: str) -> int:
    if name not in columns:
        raise UsageError(f"{where}: the core has no column {name!r}; expected the first column of a period")
    return columns[name]
