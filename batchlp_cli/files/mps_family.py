"""Reads an MPS file as the changes of another one: bytes are compared, and only what differs is read.

The file must equal its base up to the values of costs and coefficients in COLUMNS, where costs may also come and go, and the
sections behind; RHS, RANGES and BOUNDS that differ are read anew by the same readers. Whatever is not plainly so is left to the
full reading (`parse_related` answers None), which gives the same linear program, only later. A file that is read so shares names
with its base, and the matrix where no coefficient changes.
"""

from __future__ import annotations

import re
from dataclasses import replace

from batchlp_cli.errors import ModelError
from batchlp_cli.files.mps import LineReader, LineRefused, count_lines, parse_mps, unix_text
from batchlp_cli.files.mps_assemble import Matrix, ParsedModel, finish
from batchlp_cli.files.mps_base import TAIL, ParsedBase, opening, parse_base, sections_in
from batchlp_cli.files.mps_columns import changed_matrix, known_costs
from batchlp_cli.files.mps_headers import read_header, title_of
from batchlp_cli.files.mps_model import MpsModel, Table
from batchlp_cli.settings import NegativeUpper

__all__ = ["FamilyReader", "ParsedBase", "parse_base", "parse_related"]

NEXT_HEADER = re.compile(rb"\n[^ \t\r\n*]")
KEPT_BYTES = 1 << 27
KEPT_BASES = 2
PATIENCE = 8


def parse_related(base: ParsedBase, data: bytes, name: str) -> ParsedModel | None:
    """Returns the linear program of a file as a change of its base, and None wherever that is in doubt."""
    try:
        return _related(base, unix_text(data, name), name)
    except (ModelError, LineRefused, ValueError):
        return None


def _related(base: ParsedBase, data: bytes, name: str) -> ParsedModel | None:
    begun = opening(data)
    if begun is None or not data.startswith(base.before, begun[1]):
        return None
    name_line, begin = begun
    title = _title(data, begin)
    entries = begin + len(base.before)
    matrix: Matrix | None = base.matrix
    tail = entries + len(base.columns)
    if not (data.startswith(base.columns, entries) and _header_at(data, tail)):
        tail = max(entries, len(data) - len(base.tail))
        matrix = known_costs(base, data[entries:tail]) if data.endswith(base.tail) else None
        if matrix is None:
            header = NEXT_HEADER.search(data, entries - 1)
            if header is None:
                return None
            tail = header.start() + 1
            matrix = changed_matrix(base, data[entries:tail])
    if matrix is None:
        return None
    if not base.parsed.warnings and len(data) - tail == len(base.tail) and data.endswith(base.tail):
        return _with_matrix(base, matrix, title or name)
    shift = name_line - base.name_line
    more_lines = 0 if matrix is base.matrix else count_lines(data, entries, tail) - len(base.breaks)
    model = _with_tail(base, data[tail:], replace(base.model, source=name, title=title), (shift, more_lines))
    return None if model is None else replace(finish(model, matrix, data, base.negative_upper), related=True)


def _title(data: bytes, end: int) -> str:
    """Returns the name in the NAME line, which ends at `end`."""
    return title_of(data[:end].rstrip(b"\r\n").rpartition(b"\n")[2].decode()[4:])


def _with_matrix(base: ParsedBase, matrix: Matrix, name: str) -> ParsedModel:
    """Returns the base, which has no warnings that would have to be repeated, with another matrix and its costs."""
    lp = base.parsed.lp
    c = 0.0 - matrix.c if lp.maximize else matrix.c
    return ParsedModel(replace(lp, name=name, c=c, A=matrix.A.as_scipy_later()), related=True)


def _header_at(data: bytes, position: int) -> bool:
    return data[position : position + 1] not in (b"", b" ", b"\t", b"\r", b"\n", b"*")


def _with_tail(base: ParsedBase, tail: bytes, model: MpsModel, shifts: tuple[int, int]) -> MpsModel | None:
    """Returns the model, a copy of the base's, with the sections of another file behind COLUMNS; None where one of them needs a
    warning. shifts: lines that the other file has more in front of its NAME line, and in COLUMNS."""
    model.rhs, model.ranges, model.bounds, model.notes = Table(), Table(), Table(), {}
    model.headers = [(line + shifts[0], section) for line, section in base.model.headers if section not in TAIL]
    seen: set[str] = set()
    reader = LineReader(model)
    reader.fast.rows, reader.fast.cols = base.finder.rows, base.finder.cols
    for part in sections_in(tail, base.parts[0].line + sum(shifts)):
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
