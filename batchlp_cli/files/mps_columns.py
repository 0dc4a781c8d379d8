"""Reads a related file's COLUMNS as changes of its base's: costs and coefficients in the places where the base has some.

Two ways: the blocks of lines around each difference, where these are few, so costs may come and go; else the lines that differ,
where both files have equally many and differ in numbers only. Whatever is not plainly so is left to the full reading (None).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from batchlp_cli.files.mps_assemble import Matrix
from batchlp_cli.files.mps_base import ParsedBase
from batchlp_cli.files.mps_compare import changed_blocks, changed_lines, line_breaks
from batchlp_cli.files.mps_costs import CostFields
from batchlp_cli.files.mps_fields import MAX_LINE_BYTES
from batchlp_cli.files.mps_keys import Block, Words, cut
from batchlp_cli.files.mps_model import Int32s, Int64s
from batchlp_cli.files.mps_numbers import INFINITE, parse_numbers
from batchlp_cli.matrix import Csr
from batchlp_cli.problem import Vector

ZERO = np.uint64(0)
LONG_LINE = MAX_LINE_BYTES // 2


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """Lines of COLUMNS, with the place of each field in its line [fields] int64 and all fields as words."""

    block: Block
    places: Int64s
    words: Words


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Entries of COLUMNS by the numbers of the base: rows (N rows too) and cols [k] int32, values [k] float64.

    order: [runs] int64, n * (number of the piece of text) + column of each run of lines of one column.
    """

    rows: Int32s
    cols: Int32s
    values: Vector
    order: Int64s


def known_costs(base: ParsedBase, columns: bytes) -> Matrix | None:
    """Returns the matrix of a file whose COLUMNS differ from the base's only where earlier files' did, else None."""
    known = base.recent.fields
    values = None if known is None else known.values(columns)
    if known is None or values is None:
        return None
    costs = base.matrix.c.copy()
    costs[known.cols] = values + 0.0
    return replace(base.matrix, c=costs)


def changed_matrix(base: ParsedBase, columns: bytes) -> Matrix | None:
    """Returns the matrix of a file whose COLUMNS differ from the base's in costs and values of coefficients only, else None."""
    blocks = changed_blocks(base.columns, columns)
    matrix = None if blocks is None else _with_blocks(base, *blocks)
    if matrix is None:
        # Where more lines than columns differ the full reading costs little more.
        lines = changed_lines(base.columns, base.breaks, columns, len(base.matrix.c))
        matrix = None if lines is None else _with_numbers(base, *lines)
    return matrix


def _with_numbers(base: ParsedBase, lines: Int64s, old_lines: bytes, new_lines: bytes) -> Matrix | None:
    """Returns the matrix with what lines say that differ in numbers only; None where anything else differs."""
    old, new = _fields(old_lines), _fields(new_lines)
    if old is None or new is None or not np.array_equal(old.block.counts, new.block.counts):
        return None
    differ = np.zeros(len(new.places), dtype=np.bool_)
    for k in range(max(len(old.words), len(new.words))):
        differ |= (old.words[k] if k < len(old.words) else ZERO) != (new.words[k] if k < len(new.words) else ZERO)
    numbers = np.flatnonzero(differ)
    places = new.places[numbers]
    if ((places == 0) | (places & 1 == 1)).any():
        return None
    rows = base.finder.rows.find([w[numbers - 1] for w in new.words])
    cols = base.finder.cols.find([w[numbers - places] for w in new.words])
    values = parse_numbers([w[numbers] for w in new.words])
    matrix = _with_entries(base.matrix, rows, cols, values)
    if matrix is not None and (rows == base.matrix.objective).all():
        _remember(base, lines, old, numbers, cols)
    return matrix


def _with_blocks(base: ParsedBase, old_pieces: list[bytes], new_pieces: list[bytes]) -> Matrix | None:
    """Returns the matrix with what blocks of lines say; None unless each piece of both has the same columns in the same order,
    and in them the same rows in the same order, but for the objective."""
    old, new = _entries(base, old_pieces), _entries(base, new_pieces)
    if old is None or new is None or not np.array_equal(old.order, new.order):
        return None
    objective = base.matrix.objective
    cost_of, others = new.cols[new.rows == objective], new.rows != objective
    kept = old.rows != objective
    same = np.array_equal(old.rows[kept], new.rows[others]) and np.array_equal(old.cols[kept], new.cols[others])
    if not same or len(np.unique(cost_of)) < len(cost_of) or not (np.abs(new.values) < INFINITE).all():
        return None
    changed = others.copy()
    changed[others] = old.values[kept] != new.values[others]
    matrix = _with_entries(base.matrix, new.rows[changed], new.cols[changed], new.values[changed])
    if matrix is None:
        return None
    costs = matrix.c.copy()
    costs[old.cols[~kept]] = 0.0
    costs[cost_of] = new.values[~others] + 0.0
    return replace(matrix, c=costs)


def _with_entries(matrix: Matrix, rows: Int32s, cols: Int32s, values: Vector) -> Matrix | None:
    """Returns the matrix with other values [k] of some entries; None where one is unknown, or vanishes, or counts as infinite."""
    if (rows < 0).any() or (cols < 0).any() or not (np.abs(values) < INFINITE).all():
        return None
    of_cost = rows == matrix.objective
    costs = matrix.c.copy()
    costs[cols[of_cost]] = values[of_cost] + 0.0
    numbers = matrix.numbers[rows]
    inner = numbers >= 0  # entries of the other N rows are left out
    if not inner.any():
        return replace(matrix, c=costs)
    A = matrix.A
    wanted = numbers[inner].astype(np.int64) * A.shape[1] + cols[inner]
    stored = A.row_of.astype(np.int64) * A.shape[1] + A.indices
    place = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    if not len(stored) or (stored[place] != wanted).any() or (values[inner] == 0).any():
        return None
    data = A.data.copy()
    data[place] = values[inner]
    return replace(matrix, c=costs, A=Csr(A.shape, A.indptr, A.indices, data))


def _remember(base: ParsedBase, lines: Int64s, old: Fields, numbers: Int64s, cols: Int32s) -> None:
    """Notes which costs were changed: numbers are their fields among those of the base's changed lines."""
    if len(lines) != len(old.block.first):
        return  # a blank line among them
    ends = np.flatnonzero(np.frombuffer(old.block.data, dtype=np.uint8) == 10)
    which = np.searchsorted(ends, old.block.starts[numbers])
    offsets = old.block.starts[numbers] - np.concatenate(([0], ends[:-1] + 1))[which]
    known = base.recent.fields
    new = (base.columns, lines[which], offsets, cols)
    base.recent.fields = CostFields.of(*new) if known is None else known.joined(*new)


def _fields(lines: bytes) -> Fields | None:
    """Returns the fields of lines of COLUMNS; None where one of them has not 3 or 5, is very long, or needs care."""
    if lines.startswith(b"*") or b"\n*" in lines or np.diff(line_breaks(lines), prepend=-1).max(initial=0) > LONG_LINE:
        return None
    block = cut(lines, 1)
    if block is None or not ((block.counts == 3) | (block.counts == 5)).all():
        return None
    places = np.arange(len(block.starts)) - np.repeat(block.first, block.counts)
    return Fields(block, places, block.words(slice(None)))


def _entries(base: ParsedBase, pieces: list[bytes]) -> Entries | None:
    """Returns the entries of pieces of COLUMNS in their order; None where a line is unusual. Raises ValueError where a number is
    none."""
    found = _fields(b"".join(pieces))
    if found is None:
        return None
    cols = base.finder.cols.find([w[found.block.first] for w in found.words])
    names = np.flatnonzero(found.places & 1)
    rows = base.finder.rows.find([w[names] for w in found.words])
    if (cols < 0).any() or (rows < 0).any():
        return None
    values = parse_numbers([w[names + 1] for w in found.words])
    stops = np.cumsum([piece.count(b"\n") for piece in pieces])
    runs = np.searchsorted(stops, found.block.lines) * len(base.matrix.c) + cols
    return Entries(rows, np.repeat(cols, found.block.counts >> 1), values, runs[np.flatnonzero(np.diff(runs, prepend=-1))])
