"""Reads an MPS file as the changes of another one: bytes are compared, and only what differs is read.

The file must equal its base up to the costs in COLUMNS and the sections behind; RHS, RANGES and BOUNDS that differ are read
anew by the same readers. Whatever is not plainly so is left to the full reading (`parse_related` answers None), which gives
the same linear program, only later. A file that is read so shares matrix and names with its base.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np

from batchlp_cli.errors import ModelError
from batchlp_cli.files.mps import LineReader, LineRefused, parse_mps, read_model, special_lines, unix_text
from batchlp_cli.files.mps_assemble import Matrix, ParsedModel, build_matrix, finish
from batchlp_cli.files.mps_compare import changed_lines, line_breaks
from batchlp_cli.files.mps_costs import CostFields
from batchlp_cli.files.mps_fast import BlockReader
from batchlp_cli.files.mps_headers import read_header, title_of
from batchlp_cli.files.mps_keys import Block, Words, cut
from batchlp_cli.files.mps_model import Int32s, Int64s, MpsModel, Table
from batchlp_cli.files.mps_numbers import INFINITE, parse_numbers
from batchlp_cli.problem import Vector
from batchlp_cli.settings import NegativeUpper

TAIL = frozenset({"RHS", "RANGES", "BOUNDS", "ENDATA"})
NAME_LINE = re.compile(rb"^NAME(?:[ \t][^\n]*)?\r?\n", re.MULTILINE)
NEXT_HEADER = re.compile(rb"\n[^ \t\r\n*]")
ZERO = np.uint64(0)
PREAMBLE_BYTES = 1 << 16
KEPT_BYTES = 1 << 27
KEPT_BASES = 2
PATIENCE = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A section behind COLUMNS: its number of line, its header's and its body's bytes."""

    section: str
    line: int
    header: bytes
    body: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """Lines of COLUMNS, with the place of each field in its line [fields] int64 and all fields as words."""

    block: Block
    places: Int64s
    words: Words


@dataclass(slots=True)
class Recent:
    """What was learnt of a family since its base was read: the costs that its files change."""

    fields: CostFields | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ParsedBase:
    """A file that was read in full, and what is needed to read others as its changes; eq by identity.

    before: bytes from behind the NAME line up to the entries of COLUMNS; columns: those entries, breaks: their line ends;
    parts: the sections behind, tail: their bytes; name_line: the number of the NAME line; recent: the costs that files of its
    family change, if there are many.
    """

    parsed: ParsedModel
    model: MpsModel
    matrix: Matrix
    finder: BlockReader
    negative_upper: NegativeUpper
    name_line: int
    before: bytes
    columns: bytes
    breaks: Int64s
    parts: tuple[Part, ...]
    tail: bytes
    recent: Recent = field(default_factory=lambda: Recent())

    @property
    def size(self) -> int:
        """Bytes of the file that are kept."""
        return len(self.before) + len(self.columns) + 2 * len(self.tail)


def parse_base(
    data: bytes, name: str, *, negative_upper: NegativeUpper = NegativeUpper.FREE
) -> tuple[ParsedModel, ParsedBase | None]:
    """Returns the linear program of a file, and the base for others; None where the file is too unusual for one.

    Raises ReadError as parse_mps does.
    """
    model = read_model(data, name)
    plain = not model.notes
    matrix = build_matrix(model, data)
    parsed = finish(model, matrix, data, negative_upper)
    return parsed, _base(parsed, model, matrix, negative_upper, unix_text(data, name)) if plain else None


def _base(parsed: ParsedModel, model: MpsModel, matrix: Matrix, negative_upper: NegativeUpper, data: bytes) -> ParsedBase | None:
    sections = [section for _, section in model.headers]
    at = sections.index("COLUMNS")
    opening = _opening(data)
    if opening is None or not set(sections[at + 1 :]) <= TAIL or set(sections[:at]) & TAIL or sections.count("NAME") != 1:
        return None
    name_line, begin = opening
    breaks = line_breaks(data)
    tail_line = model.headers[at + 1][0]
    entries, tail = (int(breaks[line - 1]) + 1 for line in (model.headers[at][0], tail_line - 1))
    for column in (model.entry_rows, model.entry_cols, model.entry_vals):
        del column[:]
    return ParsedBase(
        parsed=parsed,
        model=model,
        matrix=matrix,
        finder=BlockReader(model),
        negative_upper=negative_upper,
        name_line=name_line,
        before=data[begin:entries],
        columns=data[entries:tail],
        breaks=breaks[model.headers[at][0] : tail_line - 1] - entries,
        parts=_parts(data[tail:], tail_line),
        tail=data[tail:],
    )


def parse_related(base: ParsedBase, data: bytes, name: str) -> ParsedModel | None:
    """Returns the linear program of a file as a change of its base, and None wherever that is in doubt."""
    try:
        return _related(base, unix_text(data, name), name)
    except (ModelError, LineRefused, ValueError):
        return None


def _related(base: ParsedBase, data: bytes, name: str) -> ParsedModel | None:
    opening = _opening(data)
    if opening is None or not data.startswith(base.before, opening[1]):
        return None
    name_line, begin = opening
    entries = begin + len(base.before)
    costs = None
    tail = entries + len(base.columns)
    if not (data.startswith(base.columns, entries) and _header_at(data, tail)):
        if data.endswith(base.tail) and len(data) >= entries + len(base.tail) and not base.parsed.warnings:
            costs = _known_costs(base, data[entries : len(data) - len(base.tail)])
            if costs is not None:
                return _with_costs(base, costs, _title(data, begin) or name)
        header = NEXT_HEADER.search(data, entries - 1)
        if header is None:
            return None
        tail = header.start() + 1
        costs = _changed_costs(base, data[entries:tail])
        if costs is None:
            return None
    matrix = base.matrix if costs is None else replace(base.matrix, c=costs)
    model = _with_tail(base, data[tail:], name, _title(data, begin), name_line)
    if model is None:
        return None
    parsed = finish(model, matrix, data, base.negative_upper)
    return replace(parsed, related=True)


def _title(data: bytes, end: int) -> str:
    """Returns the name in the NAME line, which ends at `end`."""
    return title_of(data[:end].rstrip(b"\r\n").rpartition(b"\n")[2].decode()[4:])


def _with_costs(base: ParsedBase, costs: Vector, name: str) -> ParsedModel:
    """Returns the base, which has no warnings that would have to be repeated, with other costs [n] as the file says them."""
    lp = base.parsed.lp
    c = 0.0 - costs if lp.maximize else costs
    return ParsedModel(replace(lp, name=name, c=c, A=lp.rows.as_scipy_later()), related=True)


def _opening(data: bytes) -> tuple[int, int] | None:
    """Returns the number of the NAME line and where the next line begins; None unless only plain comments stand above it."""
    found = NAME_LINE.search(data, 0, PREAMBLE_BYTES)
    if found is None:
        return None
    above = data[: found.start()].split(b"\n")[:-1]
    if any(not line.startswith(b"*") or line.upper().startswith(b"*SENSE") for line in above):
        return None
    return len(above) + 1, found.end()


def _header_at(data: bytes, position: int) -> bool:
    return data[position : position + 1] not in (b"", b" ", b"\t", b"\r", b"\n", b"*")


def _parts(tail: bytes, line: int) -> tuple[Part, ...]:
    """Returns the sections behind COLUMNS; each has a header that begins in column 1. Raises ValueError where one has none."""
    headers = [(a, b, n) for a, b, n in special_lines(tail, line) if tail[a : a + 1] != b"*"]
    if not headers or headers[0][0] != 0:
        raise ValueError("something else than a header behind COLUMNS")
    stops = [a for a, _, _ in headers[1:]] + [len(tail)]
    return tuple(
        Part(tail[a:b].split(None, 1)[0].decode("ascii", "replace"), n, tail[a:b], tail[b:stop])
        for (a, b, n), stop in zip(headers, stops, strict=True)
    )


def _with_tail(base: ParsedBase, tail: bytes, name: str, title: str, name_line: int) -> MpsModel | None:
    """Returns the base's model with the sections of another file behind COLUMNS; None where one of them needs a warning."""
    shift = name_line - base.name_line
    model = replace(base.model, source=name, title=title, rhs=Table(), ranges=Table(), bounds=Table())
    model.notes = {}
    model.headers = [(line + shift, section) for line, section in base.model.headers if section not in TAIL]
    seen: set[str] = set()
    reader = LineReader(model)
    reader.fast.rows, reader.fast.cols, reader.fast.numbers = base.finder.rows, base.finder.cols, base.finder.numbers
    for part in _parts(tail, base.parts[0].line + shift):
        if part.section not in TAIL or part.section in seen or reader.ended:
            return None
        seen.add(part.section)
        same = next((p for p in base.parts if (p.header, p.body) == (part.header, part.body)), None)
        if same is None or part.section == "ENDATA":
            reader.read_lines(part.header + part.body, part.line)
        else:
            reader.section = read_header(model, part.line, part.header)
            _reuse(base.model, model, part.section, part.line - same.line)
    if not reader.ended or model.notes:
        return None
    model.notes = dict(base.model.notes)
    return model


def _reuse(old: MpsModel, new: MpsModel, section: str, shift: int) -> None:
    """Gives a section of the base to another model, its lines renumbered."""
    table = {"RHS": old.rhs, "RANGES": old.ranges, "BOUNDS": old.bounds}[section]
    if shift:
        lines, index, value, kind = table.arrays()
        table = Table(table.set_name)
        table.extend(lines + shift, index, value, kind)
    if section == "RHS":
        new.rhs = table
    elif section == "RANGES":
        new.ranges = table
    else:
        new.bounds = table


def _changed_costs(base: ParsedBase, columns: bytes) -> Vector | None:
    """Returns the costs [n] of a file whose COLUMNS differ from the base's in numbers of the objective only, else None."""
    # A column has one cost, so more lines than columns cannot differ in costs alone.
    lines = changed_lines(base.columns, base.breaks, columns, len(base.matrix.c))
    changes = None if lines is None else _cost_changes(base, *lines)
    return None if changes is None else _costs(base, *changes)


def _known_costs(base: ParsedBase, columns: bytes) -> Vector | None:
    """Returns the costs [n] of a file whose COLUMNS differ from the base's only where earlier files did, else None."""
    known = base.recent.fields
    values = None if known is None else known.values(columns)
    return None if known is None or values is None else _costs(base, known.cols, values)


def _costs(base: ParsedBase, cols: Int32s, values: Vector) -> Vector:
    costs = base.matrix.c.copy()
    costs[cols] = values + 0.0
    return costs


def _cost_changes(base: ParsedBase, lines: Int64s, old_lines: bytes, new_lines: bytes) -> tuple[Int32s, Vector] | None:
    """Returns the columns [k] and new costs [k] of lines that differ in numbers of the objective only, else None."""
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
    if (rows != base.matrix.objective).any() or (cols < 0).any() or not (np.abs(values) < INFINITE).all():
        return None
    _remember(base, lines, old, numbers, cols)
    return cols, values


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
    """Returns the fields of lines of COLUMNS; None where one of them has not 3 or 5 or needs care."""
    block = cut(lines, 1)
    if block is None or not ((block.counts == 3) | (block.counts == 5)).all():
        return None
    places = np.arange(len(block.starts)) - np.repeat(block.first, block.counts)
    return Fields(block, places, block.words(slice(None)))


class FamilyReader:
    """Reads files one after the other and keeps the last ones as bases, so that related files are read as changes.

    Where file after file is unrelated to those before, only two of eight are still compared and kept.
    """

    def __init__(self, *, negative_upper: NegativeUpper = NegativeUpper.FREE) -> None:
        self.negative_upper = negative_upper
        self._bases: list[ParsedBase] = []
        self._misses = 0

    def read(self, data: bytes, name: str) -> ParsedModel:
        """Returns exactly what parse_mps returns, but for the mark `related` and shared arrays. Raises ReadError as it does."""
        self._misses += 1
        if self._misses > PATIENCE and self._misses % 8 > 1:
            return parse_mps(data, name, negative_upper=self.negative_upper)
        for base in self._bases:
            parsed = parse_related(base, data, name)
            if parsed is not None:
                self._misses = 0
                self._bases.remove(base)
                self._bases.insert(0, base)
                return parsed
        parsed, new = parse_base(data, name, negative_upper=self.negative_upper)
        if new is not None and new.size <= KEPT_BYTES:
            self._bases.insert(0, new)
            while sum(b.size for b in self._bases) > KEPT_BYTES or len(self._bases) > KEPT_BASES:
                self._bases.pop()
        return parsed
