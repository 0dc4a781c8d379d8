"""Tells from a text and what HiGHS made of it what an LP file hardly means, in words and with the line. It parses nothing.

These are readings that HiGHS' reader gives in silence: a Fortran exponent as a column, a column that only a bound names, two
rows of one name, an infinite constant of the objective.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from batchlp_cli.errors import ReadError
from batchlp_cli.problem import LinearProgram

INFINITE = 1e20
_COMMENT = re.compile(rb"\\[^\n]*")
_BEHIND_ROWS = re.compile(rb"(?im)^[ \t]*(?:bounds?|gen(?:eral)?s?|int(?:eger)?s?|bin(?:ary|aries)?s?|end)[ \t]*\r?$")
_BEGIN = re.compile(rb"(?im)^[ \t]*(?:subject[ \t]+to|such[ \t]+that|s\.?t\.?)(?=\s)")
_FORTRAN = re.compile(r"[dDeEqQ]\d*\Z|[xX][0-9a-fA-F]+\Z")
_WORD = re.compile(rb"[^\s<>=+*^:\[\]\-]+")
_NUMBER = re.compile(
    rb"(?<![^\s<>=+*^:\[\]\-])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?<![^\s<>=+\-])inf(?:inity)?(?![^\s<>=])", re.I
)
_COLUMN_SAID = re.compile(r"\(Col (.+?)\) +has")
_ROW_SAID = re.compile(r"\(Row (.+?)\) +has")
_SIZE_SAID = re.compile(r"matrix contains .*tolerance of ([0-9.e+]+)")


def refuse_glued_names(lp: LinearProgram, text: bytes) -> None:
    """Raises ReadError where a column's name stands only glued to a number, as in `2D+3`, `1.5d0`, `0x10`."""
    suspects = {name.encode() for name in lp.col_names if _FORTRAN.match(name)}
    if not suspects:
        return
    plain = _plain(text)
    for name in sorted(suspects):
        digit = rb"0" if name[:1] in b"xX" else rb"[0-9.]"
        alone = rb"(?<![^\s<>=+*^:\[\]\-])" + re.escape(name) + rb"(?![^\s<>=+*^:\[\]\-]|[ \t]*:)"
        glued = re.search(rb"(?<=" + digit + rb")" + re.escape(name) + rb"(?![^\s<>=+*^:\[\]\-])", plain)
        if glued and not re.search(alone, plain):
            raise ReadError(
                f"{lp.name}:{_line(text, glued.start())}: {name.decode()!r} behind a number would be a column; "
                "write an exponent with E, or put a blank between the number and the name"
            )


def refuse_infinite_constant(lp: LinearProgram, text: bytes) -> None:
    """Raises ReadError where the objective's constant is 1e20 or more, which is infinity everywhere else."""
    if abs(lp.offset) >= INFINITE:
        line = _line_of_number(text, INFINITE, _objective(_plain(text)))
        raise ReadError(f"{lp.name}{_at(line)}: the constant of the objective is {lp.sign * lp.offset:.9g}, expected below 1e20")


def odd_names(lp: LinearProgram, text: bytes) -> Iterator[str]:
    """Yields warnings: columns that neither the objective nor a row names, and rows of one name."""
    empty = np.asarray(lp.c == 0)
    empty[lp.rows.indices] = False
    suspects = np.flatnonzero(empty).tolist()
    if suspects:
        plain = _plain(text)
        begin = _BEGIN.search(plain)
        end = _BEHIND_ROWS.search(plain, begin.end() if begin else 0)
        named = {word.lstrip(b"0123456789.") for word in _WORD.findall(plain, 0, end.start() if end else len(plain))}
        new = [name for name in (lp.col_names[j] for j in suspects) if name.encode() not in named]
        if new:
            line = _line_of_word(plain, new[0].encode(), end.start() if end else 0)
            more = f" (and {len(new) - 1} more)" if len(new) > 1 else ""
            yield f"line {line}: column {new[0]}{more} stands in no row and not in the objective"
    if len(set(lp.row_names)) < lp.m:
        seen: set[str] = set()
        twice = next(name for name in lp.row_names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        yield f"two rows are called {twice}; both are kept"


def place(said: str, name: str, text: bytes) -> str:
    """Returns HiGHS' words on a value with `name:line: ` in front, where the text shows the line that they are about."""
    plain = _plain(text)
    column, row, size = _COLUMN_SAID.search(said), _ROW_SAID.search(said), _SIZE_SAID.search(said)
    line = 0
    if column:
        end = _BEHIND_ROWS.search(plain)
        line = _line_of_word(plain, column[1].encode(), end.start() if end else 0)
    elif row:
        found = re.search(rb"(?m)(?<!\S)" + re.escape(row[1].encode()) + rb"[ \t]*:", plain)
        line = _line(plain, found.start()) if found else 0
    elif size:
        begin = _BEGIN.search(plain)
        line = _line_of_number(plain, float(size[1]), (begin.end() if begin else 0, len(plain)))
    elif "not a finite number" in said:
        line = _line_of_number(plain, INFINITE, _objective(plain))
    return f"{name}:{line}: {said.removeprefix(f'{name}: ')}" if line else said


def _plain(text: bytes) -> bytes:
    """Returns the text with blanks for comments."""
    return _COMMENT.sub(lambda found: b" " * len(found[0]), text)


def _objective(plain: bytes) -> tuple[int, int]:
    """Returns where the objective begins and ends."""
    begin = _BEGIN.search(plain)
    return 0, begin.start() if begin else len(plain)


def _line_of_number(text: bytes, limit: float, span: tuple[int, int]) -> int:
    """Returns the line of the first number of at least `limit` in a part of the text, 0 where there is none."""
    for found in _NUMBER.finditer(text, *span):
        if abs(float(found[0])) >= limit:
            return _line(text, found.start())
    return 0


def _line_of_word(text: bytes, word: bytes, start: int) -> int:
    """Returns the line of the first word of a name from a place on, 0 where there is none."""
    return next((_line(text, found.start()) for found in _WORD.finditer(text, start) if found[0] == word), 0)


def _line(text: bytes, position: int) -> int:
    return text.count(b"\n", 0, position) + 1


def _at(line: int) -> str:
    return f":{line}" if line else ""
