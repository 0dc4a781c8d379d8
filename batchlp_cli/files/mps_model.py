"""What an MPS file says, entry by entry, before it is made into a linear program. No parsing, no rules.

Entries lie in flat typed arrays, so a file takes less memory here than on disk, and a section can be swapped for
another file's while the rest is shared.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from batchlp_cli.problem import Vector

Int32s = np.ndarray[tuple[int, ...], np.dtype[np.int32]]
Int64s = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class Bound(IntEnum):
    """Types of bounds, as the codes stored in a table of bounds."""

    UP = 0
    LO = 1
    FX = 2
    FR = 3
    MI = 4
    PL = 5
    BV = 6
    LI = 7
    UI = 8


VALUELESS = frozenset({Bound.FR, Bound.MI, Bound.PL, Bound.BV})


@dataclass(slots=True)
class Table:
    """Entries of RHS, RANGES or BOUNDS in the order of the file: line number, row or column, value, and type of bound.

    set_name: the set that is used (the first one named); None until a line was read.
    """

    set_name: str | None = None
    lines: array[int] = field(default_factory=lambda: array("q"))
    index: array[int] = field(default_factory=lambda: array("i"))
    value: array[float] = field(default_factory=lambda: array("d"))
    kind: array[int] = field(default_factory=lambda: array("b"))

    def append(self, line: int, index: int, value: float, kind: int = 0) -> None:
        """Adds one entry."""
        self.lines.append(line)
        self.index.append(index)
        self.value.append(value)
        self.kind.append(kind)

    def extend(self, lines: Int64s, index: Int32s, value: Vector, kind: np.ndarray | None = None) -> None:
        """Adds many entries: lines [k] int64, index [k] int32, value [k] float64, kind [k] int8 (default 0)."""
        self.lines.frombytes(lines.astype(np.int64).tobytes())
        self.index.frombytes(index.astype(np.int32).tobytes())
        self.value.frombytes(value.astype(np.float64).tobytes())
        kinds = np.zeros(len(index), dtype=np.int8) if kind is None else kind.astype(np.int8)
        self.kind.frombytes(kinds.tobytes())

    def __len__(self) -> int:
        return len(self.index)

    def arrays(self) -> tuple[Int64s, Int32s, Vector, np.ndarray]:
        """Returns lines, index, value and kind as arrays that must not outlive or change the table."""
        return (
            np.frombuffer(self.lines, dtype=np.int64),
            np.frombuffer(self.index, dtype=np.int32),
            np.frombuffer(self.value, dtype=np.float64),
            np.frombuffer(self.kind, dtype=np.int8),
        )


@dataclass(slots=True)
class MpsModel:
    """The content of an MPS file.

    source: the file's name in messages. rows: name -> number, N rows included, in the order of the file; row_types: a byte
    (N, L, G or E) a row. cols: name -> number. entry_*: the matrix with all its N rows. marked: runs [start, stop) of
    columns between INTORG and INTEND. headers: line, keyword of each section header. notes: warnings by kind, as text
    and how many times.
    """

    source: str
    title: str = ""
    maximize: bool | None = None
    objective_name: str | None = None
    rows: dict[str, int] = field(default_factory=dict)
    row_types: bytearray = field(default_factory=bytearray)
    cols: dict[str, int] = field(default_factory=dict)
    entry_rows: array[int] = field(default_factory=lambda: array("i"))
    entry_cols: array[int] = field(default_factory=lambda: array("i"))
    entry_vals: array[float] = field(default_factory=lambda: array("d"))
    marked: list[tuple[int, int]] = field(default_factory=list)
    rhs: Table = field(default_factory=Table)
    ranges: Table = field(default_factory=Table)
    bounds: Table = field(default_factory=Table)
    headers: list[tuple[int, str]] = field(default_factory=list)
    notes: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def last_marker(self) -> int:
        """Number of columns before the last marker; -1 where there was none."""
        start, stop = self.marked[-1] if self.marked else (-1, -1)
        return start if stop < 0 else stop

    def note(self, kind: str, text: str, times: int = 1) -> None:
        """Keeps a warning; of each kind the first one's text and the number of the others."""
        first, count = self.notes.get(kind, (text, 0))
        self.notes[kind] = (first, count + times)

    def note_set(self, table: Table, line: int, name: str, times: int = 1) -> None:
        """Keeps the warning that a line of the current section names another set than the one that is used."""
        section = self.headers[-1][1]
        text = f"line {line}: {section} set {name!r} is left out; the first set, {table.set_name!r}, is used"
        self.note(f"{section} set", text, times)

    def add_entries(self, rows: Int32s, cols: Int32s, vals: Vector) -> None:
        """Adds matrix entries: rows, cols [k] int32, vals [k] float64."""
        self.entry_rows.frombytes(rows.astype(np.int32).tobytes())
        self.entry_cols.frombytes(cols.astype(np.int32).tobytes())
        self.entry_vals.frombytes(vals.astype(np.float64).tobytes())


def note_texts(model: MpsModel, notes: dict[str, tuple[str, int]]) -> tuple[str, ...]:
    """Returns warnings as sentences that begin with the file's name."""
    return tuple(f"{model.source}: {text}{f' (and {n - 1} more)' if n > 1 else ''}" for text, n in notes.values())
