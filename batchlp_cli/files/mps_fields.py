"""Cuts lines of an MPS file into fields, in free and in fixed format. What the fields mean does not belong here.

Free format (CPLEX, SCIP, HiGHS): fields are parted by blanks and tabs, names hold none. Fixed format (IBM MPSX, GLPK): fields
stand in columns 2-3, 5-12, 15-22, 25-36, 40-47 and 50-61, the columns between are blank, names may hold blanks.
Both give the same list; a field that fixed format leaves blank is left out, so an even or odd number of fields says
in both whether the name of the set or column is there.
"""

from __future__ import annotations

import re

MAX_LINE_BYTES = 1 << 20
SHOWN_CHARACTERS = 100
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1b]")
FIELDS = (slice(1, 3), slice(4, 12), slice(14, 22), slice(24, 36), slice(39, 47), slice(49, 61))
GAPS = (slice(0, 1), slice(3, 4), slice(12, 14), slice(22, 24), slice(36, 39), slice(47, 49))
CONTINUATION_COLUMN = 13
LAST_COLUMN = 61


class LineError(ValueError):
    """A line breaks a rule: what was found and what was expected. `line` is another line to blame, 0 for this one."""

    def __init__(self, found: str, expected: str, line: int = 0) -> None:
        super().__init__(found)
        self.found, self.expected, self.line = found, expected, line


def decode(line: bytes) -> str:
    """Returns a name or a line as text: UTF-8, other bytes as \\xNN so that two names never become one."""
    return line.decode("utf-8", "backslashreplace")


def shown(line: bytes) -> str:
    """Returns a line for a message, cut to a fair length."""
    text = decode(line[: 4 * SHOWN_CHARACTERS]).rstrip("\r\n")
    return repr(text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "...")


def free_fields(line: bytes) -> list[str]:
    """Returns the fields of a line in free format; a lone $ in the third field or later begins a comment."""
    if CONTROL.search(line):
        raise LineError("the line holds a control character", "text; is the file binary or damaged?")
    fields = line.decode("ascii").split() if line.isascii() else [decode(f) for f in line.split()]
    if "$" in fields[2:]:
        return fields[: fields.index("$", 2)]
    return fields


def fixed_fields(line: bytes) -> list[str]:
    """Returns the fields of a line in fixed format, blank ones left out; $ at the start of field 3 or 5 begins a comment, and a
    blank in column 61 or 62 what is no part of the line."""
    if CONTROL.search(line):
        raise LineError("the line holds a control character", "text; is the file binary or damaged?")
    text = decode(line).rstrip()
    cells = [text[s].strip() for s in FIELDS]
    for i in (2, 4):
        if cells[i].startswith("$"):
            return [c for c in cells[:i] if c]
    crosses_end = not (text[LAST_COLUMN - 1 : LAST_COLUMN].isspace() or text[LAST_COLUMN : LAST_COLUMN + 1] in ("", " "))
    if "\t" in text[:LAST_COLUMN] or any(text[s].strip() for s in GAPS) or crosses_end:
        raise LineError("a field crosses the columns of fixed format", "fields in columns 2-3, 5-12, 15-22, 25-36, 40-47, 50-61")
    return [c for c in cells if c]


def has_more(line: bytes) -> bool:
    """Tells whether fixed format leaves out words behind the last column of a line, which are no comment behind $."""
    text = decode(line) if len(line) > LAST_COLUMN else ""
    return bool(text[LAST_COLUMN:].strip()) and not any(text[FIELDS[i]].lstrip().startswith("$") for i in (2, 4))


def looks_fixed(line: bytes) -> bool:
    """Tells whether a line that free format refused makes sense, and another sense, in fixed format."""
    try:
        return fixed_fields(line) != free_fields(line)
    except LineError:
        return False


def continues_column(line: bytes) -> bool:
    """Tells whether a line leaves the name of its column blank, as fixed format does for the column of the line before."""
    return not line[:CONTINUATION_COLUMN].strip() and b"\t" not in line[:CONTINUATION_COLUMN]
