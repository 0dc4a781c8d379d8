"""Tells from a model's text what makes it no LP, or no text at all, in words and with the line. It parses nothing.

A reader that meets such a section may refuse it less clearly, or drop it and hand on another model.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from batchlp_cli.errors import ReadError
from batchlp_cli.files.inputs import ModelFormat

_QUADRATIC = "a quadratic objective; this is no linear program"
_QUADRATIC_ROWS = "quadratic constraints; this is no linear program"
_CONES = "second-order cones; this is no linear program"
_SOS = "special ordered sets; this is no linear program, delete the section if you want the LP without them"
_SEMI = "columns; this is no linear program, give them plain bounds if you want the LP without that condition"
_INDICATORS = "indicator constraints; this is no linear program, write them with a big M if you want the LP"
_GENERAL = "general constraints (min, max, abs, logical or piecewise linear); this is no linear program"
_LAZY = "lazy constraints or user cuts, which HiGHS' reader loses; move the rows to ROWS, or delete the section"

_MPS_SECTIONS = {
    **dict.fromkeys(["QUADOBJ", "QMATRIX", "QSECTION"], _QUADRATIC),
    "QCMATRIX": _QUADRATIC_ROWS,
    "CSECTION": _CONES,
    **dict.fromkeys(["SOS", "SOS1", "SOS2", "SETS"], _SOS),
    "INDICATORS": _INDICATORS,
    **dict.fromkeys(["GENCONS", "PWLOBJ", "PWLNAM", "PWLCON"], _GENERAL),
    **dict.fromkeys(["LAZYCONS", "USERCUTS"], _LAZY),
}
_MPS_HEADER = re.compile(rb"^(?:%s)\b(?![^\n]*=)" % "|".join(sorted(_MPS_SECTIONS, key=len, reverse=True)).encode(), re.MULTILINE)
_MPS_SEMI = re.compile(rb"^[ \t]+(SC|SI)[ \t]", re.MULTILINE)
_MPS_SOS_MARKER = re.compile(rb"'MARKER'[ \t]+'SOSORG'")
_MPS_END = re.compile(rb"^[ \t]*ENDATA\b", re.MULTILINE)  # without it a cut-off file can pass for a smaller model
_MPS_BOUNDS = re.compile(rb"^BOUNDS", re.MULTILINE)

_LP_COMMENT = re.compile(rb"\\[^\n]*")
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
            rb"lazy constraints|user cuts": _LAZY.replace("ROWS", "`subject to`"),
        }.items()
    },
}


def refuse_what_is_no_lp(text: bytes, form: ModelFormat, name: str) -> None:
    """Raises ReadError `name:line: ...` where the text is no text, or holds what no linear program can say."""
    _refuse_what_is_no_text(text, form, name)
    if form is ModelFormat.MPS:
        _refuse_in_mps(text, name)
    else:
        _refuse_in_lp(text, name)


def missing_parts(text: bytes, form: ModelFormat) -> str:
    """Returns which necessary sections the text lacks, in words, or nothing where it has them all."""
    if form is ModelFormat.LP:
        needed = {"minimize or maximize": rb"(?im)^\s*(min|max)", "end": rb"(?im)\bend\s*\Z"}
    else:
        needed = {section: rb"(?m)^[ \t]*%s\b" % section.encode() for section in ("ROWS", "COLUMNS", "ENDATA")}
    missing = [part for part, pattern in needed.items() if not re.search(pattern, text)]
    return f"it has no {', no '.join(missing)}; is it cut off, or no {form.upper()} file?" if missing else ""


def count_in_text(text: bytes, form: ModelFormat) -> tuple[bool, bool]:
    """Tells whether the text speaks of rows (beside the objective) and of columns; meant for small or suspicious files."""
    if form is ModelFormat.LP:
        body = _LP_COMMENT.sub(b"", text)
        begin = re.search(rb"(?im)^\s*(subject\s+to|such\s+that|s\.?t\.?)(?=\s)", body)
        rows = begin is not None and re.match(rb"(?is).*?[<>=].*?(?=\b(bounds?|gen\w*|bin\w*|int\w*|end)\b)", body[begin.end() :])
        return bool(rows), bool(re.search(rb"(?i)(min|max)\w*\s+\S.*[a-z_]", body[: begin.start() if begin else None], re.DOTALL))
    rows = re.search(rb"(?ms)^ROWS\b.*?^[ \t]+[LGE][ \t]+\S.*?^COLUMNS", text)
    return bool(rows), bool(re.search(rb"(?m)^COLUMNS[^\n]*\n(?:\*[^\n]*\n)*[ \t]+\S", text))


def _refuse_what_is_no_text(text: bytes, form: ModelFormat, name: str) -> None:
    if not text.strip():
        raise ReadError(f"{name}: the file is empty; expected a model in {form.upper()} format")
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ReadError(f"{name}: this is UTF-16 text; save it as UTF-8")
    zero = text.find(b"\0")
    if zero >= 0:
        raise ReadError(f"{name}:{_line(text, zero)}: a zero byte; this is no text, expected a model in {form.upper()} format")


def _refuse_in_mps(text: bytes, name: str) -> None:
    if not _MPS_END.search(text, max(text.rfind(b"\n", 0, text.rfind(b"ENDATA")), 0)) and not _MPS_END.search(text):
        raise ReadError(f"{name}: {missing_parts(text, ModelFormat.MPS)}")
    header = _MPS_HEADER.search(text)
    if header:
        section = header[0].decode()
        _refuse(name, text, header.start(), f"the section {section}: {_MPS_SECTIONS[section]}")
    marker = _MPS_SOS_MARKER.search(text)
    if marker:
        _refuse(name, text, marker.start(), f"'SOSORG' markers: {_SOS}")
    bounds = _MPS_BOUNDS.search(text)
    semi = bounds and _MPS_SEMI.search(text, bounds.end())
    if semi:
        kind = "semi-integer" if semi[1] == b"SI" else "semicontinuous"
        _refuse(name, text, semi.start(), f"a bound of type {semi[1].decode()}: {kind} {_SEMI}")


def _refuse_in_lp(text: bytes, name: str) -> None:
    comments = [found.span() for found in _LP_COMMENT.finditer(text)]
    starts = [start for start, _ in comments]
    for pattern, reason in _LP_PATTERNS.items():
        for found in pattern.finditer(text):
            place = found.end() - len(found[0].lstrip())
            before = bisect_right(starts, place) - 1
            if before < 0 or place >= comments[before][1]:
                _refuse(name, text, place, reason)


def _refuse(name: str, text: bytes, position: int, reason: str) -> None:
    raise ReadError(f"{name}:{_line(text, position)}: {reason}")


def _line(text: bytes, position: int) -> int:
    return text.count(b"\n", 0, position) + 1
