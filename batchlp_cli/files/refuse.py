"""Tells from the text of an LP file what makes it no LP, or no text at all, in words and with the line. It parses nothing.

A reader that meets such a section may refuse it less clearly, or drop it and hand on another model.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from batchlp_cli.errors import ReadError
from batchlp_cli.files.inputs import ModelFormat

_SOS = "special ordered sets; this is no linear program, delete the section if you want the LP without them"
_SEMI = "columns; this is no linear program, give them plain bounds if you want the LP without that condition"
_INDICATORS = "indicator constraints; this is no linear program, write them with a big M if you want the LP"
_GENERAL = "general constraints (min, max, abs, logical or piecewise linear); this is no linear program"
_LAZY = "lazy constraints or user cuts, which HiGHS' reader loses; move the rows to `subject to`, or delete the section"

_LP_COMMENT = re.compile(rb"\\[^\n]*")
_LP_NEXT_SECTION = re.compile(rb"(?im)^[ \t]*(?:bounds?|gen\w*|bin\w*|int\w*|end)\b")
_LP_NO_NAME = re.compile(r"(?i)(?:inf|infinity|nan)\Z|.*;\Z|.*[^\S ]")
_LP_FILLED = (
    rb"[ \t]*:?[ \t]*\r?\n\s*(?!(?:end|sos|semi|bin|gen|int|bounds?)\w*[ \t]*\r?$)\S"  # some writers leave sections empty
)
_LP_PATTERNS = {
    re.compile(rb"\bs[12][ \t]*::", re.IGNORECASE): _SOS,
    re.compile(rb"=[ \t]*[01][ \t]*->"): _INDICATORS,
    re.compile(rb"(?:^|[\s:+*/-])\["): "quadratic terms in [ ]; this is no linear program",
    **{
        re.compile(rb"^[ \t]*(?:" + words + rb")" + _LP_FILLED, re.MULTILINE | re.IGNORECASE): reason
        for words, reason in {
            rb"sos[12]?": _SOS,
            rb"semi-continuous|semis?|semi-integer|sec|sin": f"semicontinuous {_SEMI}",
            rb"general constraints?|gencons|pwlobj": _GENERAL,
            rb"lazy constraints|user cuts": _LAZY,
        }.items()
    },
}


def missing_parts(text: bytes) -> str:
    """Returns which necessary sections the text of an LP file lacks, in words, or nothing where it has them all."""
    needed = {"minimize or maximize": rb"(?im)^\s*(min|max)", "end": rb"(?im)\bend\s*\Z"}
    missing = [part for part, pattern in needed.items() if not re.search(pattern, text)]
    return f"it has no {', no '.join(missing)}; is it cut off, or no LP file?" if missing else ""


def count_in_text(text: bytes) -> tuple[bool, bool]:
    """Tells whether an LP file speaks of rows (beside the objective) and of columns; meant for small or suspicious files."""
    body = _LP_COMMENT.sub(b"", text)
    begin = re.search(rb"(?im)^\s*(subject\s+to|such\s+that|s\.?t\.?)(?=\s)", body)
    constraints = _LP_NEXT_SECTION.split(body[begin.end() :], maxsplit=1)[0] if begin else b""
    rows = re.search(rb"[<>=]", constraints)
    return bool(rows), bool(re.search(rb"(?i)(min|max)\w*\s+\S.*[a-z_]", body[: begin.start() if begin else None], re.DOTALL))


def refuse_what_is_no_text(text: bytes, form: ModelFormat, name: str) -> None:
    """Raises ReadError where the bytes are empty, UTF-16, or hold a zero byte."""
    if not text or text.isspace():
        raise ReadError(f"{name}: the file is empty; expected a model in {form.upper()} format")
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ReadError(f"{name}: this is UTF-16 text; save it as UTF-8")
    zero = text.find(b"\0")
    if zero >= 0:
        raise ReadError(f"{name}:{_line(text, zero)}: a zero byte; this is no text, expected a model in {form.upper()} format")


def refuse_what_is_no_lp(text: bytes, name: str) -> None:
    """Raises ReadError `name:line: ...` where an LP file holds what no linear program can say."""
    comments = [found.span() for found in _LP_COMMENT.finditer(text)]
    starts = [start for start, _ in comments]
    for pattern, reason in _LP_PATTERNS.items():
        for found in pattern.finditer(text):
            place = found.end() - len(found[0].lstrip())
            before = bisect_right(starts, place) - 1
            if before < 0 or place >= comments[before][1]:
                _refuse(name, text, place, reason)


def refuse_odd_names(col_names: Sequence[str], text: bytes, name: str) -> None:
    """Raises ReadError where a column of an LP file has a name that can only come from something else than a name.

    That is a word for infinity, an expression in parentheses (`2 (x + y)`, `(x)`), a statement's `;`, or a blank that is not
    ASCII. Parentheses behind a word, as in `x(1)`, are part of a name.
    """
    for column in col_names:
        if _LP_NO_NAME.match(column) or column[:1] in "()" or column.count("(") != column.count(")"):
            reason = f"{column!r} would be the name of a column, expected a plain name; LP files know no parentheses, no ';'"
            _refuse(name, text, max(0, text.find(column.encode())), f"{reason} and no infinity among the terms")


def _refuse(name: str, text: bytes, position: int, reason: str) -> None:
    raise ReadError(f"{name}:{_line(text, position)}: {reason}")


def _line(text: bytes, position: int) -> int:
    return text.count(b"\n", 0, position) + 1
