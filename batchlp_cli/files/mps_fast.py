"""Reads whole blocks of regular MPS lines with array operations. What a line means is said in `mps_sections`, not here.

A method reads all of its block or changes nothing and answers False (a wrong number of fields, an unknown name, a duplicate,
a marker, anything unusual), and then the block is cut smaller and the careful reader has its turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from batchlp_cli.files.mps_keys import Block, KeyTable, Words, as_words, cut, words_of_lines
from batchlp_cli.files.mps_markers import MARKER, Markers
from batchlp_cli.files.mps_model import VALUELESS, Bound, Int32s, Int64s, MpsModel, Table
from batchlp_cli.files.mps_numbers import INFINITE, parse_numbers
from batchlp_cli.problem import Mask

SECTIONS = frozenset({"ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS"})
KIND_WORDS = as_words([kind.name.encode() for kind in Bound])[0]
KIND_ORDER = np.argsort(KIND_WORDS)
ZERO = np.uint64(0)
TAKES_NO_VALUE = np.isin(np.arange(len(Bound)), list(VALUELESS))


class BlockReader:
    """Reads blocks of one file; keeps the tables that find its rows and columns."""

    def __init__(self, model: MpsModel) -> None:
        self.model = model
        self.rows = NameFinder(model.rows)
        self.cols = NameFinder(model.cols)

    def read(self, section: str, data: bytes, line: int) -> bool:
        """Reads lines of a section, the first of them the file's line `line`; False where they need care."""
        block = cut(data, line)
        if block is None:
            return False
        try:
            if section == "ROWS":
                return self._read_rows(block)
            if section == "COLUMNS":
                return self._read_columns(block)
            if section == "BOUNDS":
                return self._read_bounds(block)
            return self._read_row_values(self.model.rhs if section == "RHS" else self.model.ranges, block)
        except ValueError:
            return False

    def _read_rows(self, block: Block) -> bool:
        if not (block.counts == 2).all():
            return False
        kinds, names = block.texts(block.first), block.texts(block.first + 1)
        if not set(kinds) <= {"N", "L", "G", "E"} or not _all_new(names, self.model.rows):
            return False
        self.model.rows.update(zip(names, range(len(self.model.rows), len(self.model.rows) + len(names)), strict=True))
        self.model.row_types += "".join(kinds).encode()
        return True

    def _read_columns(self, block: Block) -> bool:
        if not ((block.counts == 3) | (block.counts == 5)).all():
            return False
        markers = Markers.find(block, self.model.marked) if MARKER in block.data else None
        data = block if markers is None else block.without(markers.lines)
        columns = self._column_numbers(data)
        if columns is None:
            return False
        ids, new_names = columns
        rows, values = self._pairs(data, data.first, None if markers is None else markers.fields)
        if (rows < 0).any() or not (np.abs(values) < INFINITE).all():
            return False
        if markers is not None:
            self.model.marked = markers.runs(ids, len(self.model.cols))
        self.model.cols.update(zip(new_names, range(len(self.model.cols), len(self.model.cols) + len(new_names)), strict=True))
        self.model.add_entries(rows, np.repeat(ids, (data.counts - 1) >> 1), values)
        return True

    def _pairs(self, block: Block, *others: np.ndarray | None) -> tuple[Int32s, np.ndarray]:
        """Returns rows (-1 unknown) and numbers of all fields but the others, which name columns or are markers."""
        paired = np.ones(len(block.starts), dtype=np.bool_)
        for fields in others:
            if fields is not None:
                paired[fields] = False
        places = np.flatnonzero(paired)
        return self.rows.find(block.words(places[0::2])), parse_numbers(block.words(places[1::2]))

    def _column_numbers(self, block: Block) -> tuple[Int32s, list[str]] | None:
        """Returns the column number of each line [lines] int32 and the new names; None where a known column comes back."""
        model, known = self.model, len(self.model.cols)
        if known and (not model.entry_cols or model.entry_cols[-1] != known - 1):
            return None
        if not len(block.first):
            return np.zeros(0, dtype=np.int32), []
        words = block.words(block.first)
        changed = np.ones(len(block.first), dtype=np.bool_)
        changed[1:] = False
        for word in words:
            changed[1:] |= word[1:] != word[:-1]
        names = block.texts(block.first[changed])
        if known and names[0] == next(reversed(model.cols)):
            if model.last_marker == known:
                return None
            changed[0] = False
            names = names[1:]
        if not _all_new(names, model.cols):
            return None
        return np.cumsum(changed, dtype=np.int32) + np.int32(known - 1), names

    def _read_row_values(self, table: Table, block: Block) -> bool:
        """Reads lines of RHS or RANGES that all name their set, or all leave it out."""
        named = block.counts & 1
        if not ((block.counts >= 2) & (block.counts <= 5)).all() or (named.any() and not named.all()):
            return False
        used = _used_lines(block, block.first, table) if named.all() else None
        rows, values = self._pairs(block, block.first if named.all() else None)
        if (rows < 0).any():
            return False
        lines = np.repeat(block.lines, block.counts >> 1)
        if used is not None:
            self._choose_set(table, block, block.first, used)
            kept = np.repeat(used, block.counts >> 1)
            lines, rows, values = lines[kept], rows[kept], values[kept]
        table.extend(lines, rows, values)
        return True

    def _read_bounds(self, block: Block) -> bool:
        """Reads lines of BOUNDS that all name their set, or all leave it out."""
        kinds = _kinds(block.words(block.first))
        valueless = TAKES_NO_VALUE[kinds]
        named = not (block.counts == 3 - valueless).all()  # a value may stand behind a type that needs none, not without a set
        with_value = block.counts == 3 + named
        if named and not (with_value | (valueless & (block.counts == 3))).all():
            return False
        table, column = self.model.bounds, block.first + 1 + named
        used = _used_lines(block, block.first + 1, table) if named else None
        cols = self.cols.find(block.words(column))
        values = np.zeros(len(cols))
        values[with_value] = parse_numbers(block.words(column[with_value] + 1))
        if (cols < 0).any():
            return False
        if used is None:
            table.extend(block.lines, cols, values, kinds)
        else:
            self._choose_set(table, block, block.first + 1, used)
            table.extend(block.lines[used], cols[used], values[used], kinds[used])
        return True

    def _choose_set(self, table: Table, block: Block, fields: Int64s, used: Mask) -> None:
        """Notes the set that is used, which the first line names if none did before, and the lines [lines] that name another."""
        if table.set_name is None:
            table.set_name = block.texts(fields[:1])[0]
        others = np.flatnonzero(~used)
        if others.size:
            self.model.note_set(table, int(block.lines[others[0]]), block.texts(fields[others[:1]])[0], others.size)


class NameFinder:
    """Finds many names of one dictionary at once; the table is made when names have been added since."""

    def __init__(self, names: dict[str, int]) -> None:
        self._names = names
        self._count = 0
        self._table: KeyTable | None = KeyTable()

    def find(self, words: Words) -> Int32s:
        """Returns the numbers of names, -1 where unknown: [names] int32. Raises ValueError where the table cannot serve."""
        if self._count != len(self._names):
            self._count, self._table = len(self._names), None
            table = KeyTable()
            table.add(words_of_lines("\n".join((*self._names, "")).encode()))
            self._table = table if table.usable else None
        if self._table is None:
            raise ValueError("names too long, or too many in one place")
        return self._table.find(words)


def _all_new(names: Sequence[str], known: dict[str, int]) -> bool:
    return len(set(names)) == len(names) and known.keys().isdisjoint(names)


def _used_lines(block: Block, fields: Int64s, table: Table) -> Mask:
    """Tells which of the fields [lines] name the set that is used, the first one. Raises ValueError where a name is too long."""
    name = block.texts(fields[:1])[0] if table.set_name is None else table.set_name
    words, wanted = block.words(fields), as_words([name.encode()])
    used = np.ones(len(fields), dtype=np.bool_)
    for k in range(max(len(words), len(wanted))):
        used &= (words[k] if k < len(words) else ZERO) == (wanted[k] if k < len(wanted) else ZERO)
    return used


def _kinds(words: Words) -> np.ndarray:
    """Returns the codes of bound types. Raises ValueError at an unknown one."""
    if len(words) > 1:
        raise ValueError("no bound type")
    kinds = KIND_ORDER[np.minimum(np.searchsorted(KIND_WORDS, words[0], sorter=KIND_ORDER), len(KIND_ORDER) - 1)]
    if (KIND_WORDS[kinds] != words[0]).any():
        raise ValueError("no bound type")
    return kinds
