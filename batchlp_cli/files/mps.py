"""Reads an MPS file, fixed or free, from its bytes. The rules, and whom they follow, are in docs/formats.md.

The file is taken block by block: section headers and comments are found, the lines between them are read whole blocks at
a time (`mps_fast`) or, where anything is unusual, line by line (`mps_sections`); what the file says (`mps_model`)
is then made into a linear program (`mps_assemble`). Nothing here opens a file or prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from batchlp_cli.errors import ReadError
from batchlp_cli.files import mps_sections
from batchlp_cli.files.mps_assemble import ParsedModel, build_matrix, finish
from batchlp_cli.files.mps_fast import SECTIONS, BlockReader
from batchlp_cli.files.mps_fields import (
    MAX_LINE_BYTES,
    LineError,
    decode,
    fixed_fields,
    free_fields,
    has_more,
    looks_fixed,
    shown,
)
from batchlp_cli.files.mps_headers import KEYWORDS, read_headed_value, read_header
from batchlp_cli.files.mps_model import MpsModel
from batchlp_cli.files.mps_trace import quoted_line
from batchlp_cli.settings import NegativeUpper

__all__ = ["LineReader", "LineRefused", "NegativeUpper", "ParsedModel", "count_lines", "parse_mps", "read_model"]

BLOCK_BYTES = 1 << 18
SMALL_BYTES = 1000
CAREFUL: dict[str, mps_sections.Handler] = {
    "ROWS": mps_sections.read_row,
    "LAZYCONS": mps_sections.read_extra_row,
    "USERCUTS": mps_sections.read_extra_row,
    "COLUMNS": mps_sections.read_column,
    "RHS": mps_sections.read_rhs,
    "RANGES": mps_sections.read_range,
    "BOUNDS": mps_sections.read_bound,
}


def parse_mps(data: bytes, name: str, *, negative_upper: NegativeUpper = NegativeUpper.FREE) -> ParsedModel:
    """Returns the linear program in the bytes of an MPS file, and what a careful user should know about its reading.

    name: the file's name for messages. Raises ReadError that says file, line, what was found and what was expected.
    """
    model = read_model(data, name)
    return finish(model, build_matrix(model, data), data, negative_upper)


def read_model(data: bytes, name: str) -> MpsModel:
    """Returns what an MPS file says. Free format is tried first; fixed format only where it reads the refused line otherwise."""
    data = unix_text(data, name)
    free = LineReader(MpsModel(name), free_fields)
    try:
        return free.read(data)
    except LineRefused as refusal:
        if not looks_fixed(refusal.line):
            raise _read_error(name, refusal, data) from refusal
        first = refusal
    fixed = LineReader(MpsModel(name), fixed_fields)
    try:
        model = fixed.read(data)
    except LineRefused as refusal:
        raise _read_error(name, max(first, refusal, key=lambda r: r.number), data) from refusal
    model.note("fixed", f"line {first.number}: names hold blanks, so the file is read in fixed format")
    return model


class LineRefused(Exception):
    """A line that cannot be read: its number, its bytes and why."""

    def __init__(self, number: int, line: bytes, why: LineError) -> None:
        super().__init__(number)
        self.number, self.line, self.why = number, line, why


def _read_error(name: str, refusal: LineRefused, data: bytes) -> ReadError:
    why, number = refusal.why, refusal.number
    return ReadError(f"{name}, line {number}: {why.found}, expected {why.expected}; the line is {quoted_line(data, number)}")


def unix_text(data: bytes, name: str) -> bytes:
    """Returns the bytes with Unix line ends where they had none; refuses what is no 8-bit text."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ReadError(f"{name}, line 1: the file is in UTF-16, expected ASCII or UTF-8; the line is {shown(data[:40])}")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\n" not in data and b"\r" in data:
        return data.replace(b"\r", b"\n")
    return data


class LineReader:
    """Walks through the lines of one file and adds what they say to a model. Raises LineRefused."""

    def __init__(self, model: MpsModel, cut: Callable[[bytes], list[str]] = free_fields) -> None:
        self.model = model
        self.cut = cut
        self.fast = BlockReader(model)
        self.section = ""
        self.ended = False

    def read(self, data: bytes) -> MpsModel:
        """Reads a whole file."""
        self.read_lines(data, 1)
        if not self.ended:
            last = data[-200:].rstrip().rpartition(b"\n")[2]
            lines = max(1, data.rstrip().count(b"\n") + 1)
            self._refuse(lines, last, "the file ends without ENDATA", "ENDATA; the file may be cut short")
        return self.model

    def read_lines(self, data: bytes, number: int) -> None:
        """Reads complete lines, the first of them the file's line `number`, up to ENDATA."""
        for block in blocks(data):
            if len(block) > MAX_LINE_BYTES:
                self._refuse(number, block, f"a line of more than {MAX_LINE_BYTES} bytes", "a shorter one; is this an MPS file?")
            self._read_block(utf8(block), number)
            number += count_lines(block, 0, len(block))
            if self.ended:
                return

    def _refuse(self, number: int, line: bytes, found: str, expected: str) -> None:
        raise LineRefused(number, line, LineError(found, expected))

    def _read_block(self, block: bytes, number: int) -> None:
        """Reads complete lines, the first of them the file's line `number`."""
        done, first, data = 0, number, list[bytes]()  # lines of one section, the first of them the file's line `first`
        for start, end, line in special_lines(block, number):
            data.append(block[done:start])
            done, special = end, block[start:end]
            if special.startswith(b"*"):
                self._read_comment(special, line)
                data.append(b"\n")
            elif not _is_header(special) and self._is_data(special, line):
                data.append(b" " + special)
            else:
                self._read_data(b"".join(data), first)
                first, data = line + 1, []
                self._read_special(special, line)
                if self.ended:
                    if block[end:].strip():
                        self.model.note("after", f"line {line + 1}: everything after ENDATA is left out")
                    return
        data.append(block[done:])
        self._read_data(b"".join(data), first)

    def _read_comment(self, line: bytes, number: int) -> None:
        """Warns of a comment that some readers obey."""
        if line.upper().startswith(b"*SENSE:MAX"):
            self.model.note("sense", f"line {number}: {shown(line)} is a comment; only an OBJSENSE section changes the sense")

    def _is_data(self, line: bytes, number: int) -> bool:
        """Tells whether a line that begins in column 1 is data that should have been indented, and would mean the same then."""
        found = self.cut is free_fields and self.section in CAREFUL and len(line.split(None, 2)) > 1
        if found:
            self.model.note("indent", f"line {number}: a line of data begins in column 1")
        return found

    def _read_special(self, line: bytes, number: int) -> None:
        """Reads a line that begins in column 1: a section header, or the word of a section that holds one."""
        try:
            if _is_header(line):
                self.section = read_header(self.model, number, line)
                self.ended = self.section == "ENDATA"
                return
            if not self.section or len(line.split(None, 2)) < (1 if self.section in ("OBJSENSE", "OBJNAME", "REFROW") else 2):
                raise LineError("an unknown section", "a section such as ROWS or COLUMNS; lines of data begin with a blank")
        except LineError as why:
            raise LineRefused(number, line, why) from why
        self.model.note("indent", f"line {number}: a line of data begins in column 1")
        self._read_line(line, number)

    def _read_data(self, data: bytes, number: int) -> None:
        """Reads lines of the current section: as a block, in halves, or line by line."""
        if not data or data.isspace():
            return
        if len(data) > SMALL_BYTES and self.cut is free_fields and self.section in SECTIONS:
            if self.fast.read(self.section, data, number):
                return
            middle = data.find(b"\n", len(data) // 2) + 1
            if 0 < middle < len(data):
                self._read_data(data[:middle], number)
                self._read_data(data[middle:], number + data.count(b"\n", 0, middle))
                return
        for i, line in enumerate(data.split(b"\n")):
            if line and not line.isspace():
                self._read_line(line, number + i)

    def _read_line(self, line: bytes, number: int) -> None:
        try:
            fields = self.cut(line)
            if not fields:
                return
            if self.cut is fixed_fields and has_more(line):
                self.model.note("more", f"line {number}: fixed format ends with column 61; what stands behind is left out")
            if self.section in CAREFUL:
                CAREFUL[self.section](self.model, number, fields, line)
            else:
                read_headed_value(self.model, self.section, fields)
        except LineError as why:
            blamed = (why.line, self.section.encode()) if why.line else (number, line)
            raise LineRefused(*blamed, why) from why


def _is_header(line: bytes) -> bool:
    return line.split(None, 1)[0].upper().decode("ascii", "replace") in KEYWORDS


def utf8(block: bytes) -> bytes:
    """Returns text in which bytes that are no UTF-8 are written as names and messages show them, \\xNN."""
    if block.isascii():
        return block
    try:
        block.decode()
    except UnicodeDecodeError:
        return decode(block).encode()
    return block


def count_lines(data: bytes, start: int, end: int) -> int:
    """Returns how many lines end between two places; `count` of bytes goes from one to the next, which takes longer if many."""
    if end - start < SMALL_BYTES:
        return data.count(b"\n", start, end)
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8, count=end - start, offset=start) == 10))


def blocks(data: bytes) -> Iterator[bytes]:
    """Yields the data in blocks of whole lines; a block beyond MAX_LINE_BYTES is the beginning of one overlong line."""
    position = 0
    while position < len(data):
        end = data.rfind(b"\n", position, position + BLOCK_BYTES) + 1
        if end <= position:
            end = data.find(b"\n", position, position + MAX_LINE_BYTES) + 1 or position + MAX_LINE_BYTES + 1
        yield data[position:end] if end <= len(data) else data[position:]
        position = end


def special_lines(block: bytes, number: int) -> Iterator[tuple[int, int, int]]:
    """Yields start, end and number of the lines of a block that do not begin with a blank."""
    raw = np.frombuffer(block, dtype=np.uint8)
    special = raw > 32
    special[1:] &= raw[:-1] == 10
    marks, before = special.tobytes(), 0
    start = marks.find(1)
    while start >= 0:
        number += count_lines(block, before, start)
        end = block.find(b"\n", start) + 1 or len(block)
        yield start, end, number
        before, start = start, marks.find(1, end)
