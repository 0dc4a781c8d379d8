"""Rewrites rows of an LP file that HiGHS' reader refuses or misreads into a form that it reads right.

Three kinds of row are mended: a constant among the terms (`x - 1 >= 2`, whose constant HiGHS drops), the right-hand side in
front (`3 <= x`), and two sides (`2 <= x + y <= 8`). [CPLEX file formats, "LP file format: constraints"]
Where a row is not plainly one of these the text stays as it is, and HiGHS' own words reach the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_COMMENT = re.compile(r"\\[^\n]*")
_BEGIN = re.compile(r"(?im)^[ \t]*(?:subject[ \t]+to|such[ \t]+that|s\.?t\.?)(?=\s)[ \t]*:?")
_END = re.compile(
    r"(?im)^[ \t]*(?:bounds?|gen(?:eral)?s?|int(?:eger)?s?|bin(?:ary|aries)?s?"
    r"|semi\S*|sos\d?|lazy[ \t]+\S+|user[ \t]+\S+|end)[ \t]*$"
)
_TOKEN = re.compile(
    r"(?P<operator><=|>=|=<|=>|<|>|=)|(?P<sign>[+-])|(?P<label>[^\s<>=+\-*^:\[\]\d.][^\s<>=+\-*^:\[\]]*[ \t]*:)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\s<>=+\-*^:\[\]\d.][^\s<>=+\-*^:\[\]]*)|(?P<other>\S)"
)
_FLIPPED = {"<=": ">=", ">=": "<=", "=": "="}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a row: its kind, text and place."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Mended:
    """A rewritten LP file. sides: lower and upper bound by number of row, for rows that text cannot say; notes: what was done."""

    text: str
    sides: dict[int, tuple[float, float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class _Doubtful(Exception):
    """A row is written in a way that is not plainly one of those that are mended."""


@dataclass(slots=True)
class _Row:
    """A row in parts: expressions (lists of tokens) between operators."""

    label: Token | None = None
    parts: list[list[Token]] = field(default_factory=lambda: [[]])
    operators: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> list[Token]:
        """All tokens but operators, in order."""
        return [*([self.label] if self.label else []), *(t for part in self.parts for t in part)]


def mend(text: str) -> Mended | None:
    """Returns the rewritten text, or None where nothing was mended or something is in doubt."""
    plain = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    begin = _BEGIN.search(plain)
    end = _END.search(plain, begin.end()) if begin else None
    if begin is None or end is None:
        return None
    mended, position = Mended(""), begin.end()
    pieces = [text[:position]]
    try:
        rows = list(_rows(plain, begin.end(), end.start()))
        for number, row in enumerate(rows):
            start, stop = row.tokens[0].start, row.tokens[-1].end
            rewritten = _rewrite(row, number, plain.count("\n", 0, start) + 1, mended)
            if rewritten:
                pieces += [text[position:start], rewritten, "\n" * text.count("\n", start, stop)]
                position = stop
    except _Doubtful:
        return None
    mended.text = "".join([*pieces, text[position:]])
    return mended if position > begin.end() else None


def _rows(plain: str, start: int, stop: int) -> Iterator[_Row]:
    """Cuts the constraints into rows: one ends before a label, and where it is complete at the end of its line."""
    row = _Row()
    for found in _TOKEN.finditer(plain, start, stop):
        token = Token(str(found.lastgroup), found[0], found.start(), found.end())
        if token.kind == "other":
            raise _Doubtful(token.text)
        if (row.label or row.parts[0]) and _begins_row(row, token, plain):
            yield row
            row = _Row()
        if token.kind == "label":
            row.label = token
        elif token.kind == "operator":
            row.operators.append({"<": "<=", "=<": "<=", ">": ">=", "=>": ">="}.get(token.text, token.text))
            row.parts.append([])
        else:
            row.parts[-1].append(token)
    if row.label or row.parts[0]:
        if not _is_complete(row):
            raise _Doubtful("the last row")
        yield row


def _begins_row(row: _Row, token: Token, plain: str) -> bool:
    """Tells whether a token begins the row after this one. Raises _Doubtful where it could be either."""
    complete = _is_complete(row)
    if token.kind == "label":
        if not complete:
            raise _Doubtful(token.text)
        return True
    if token.kind == "operator" or not complete or "\n" not in plain[row.tokens[-1].end : token.start]:
        return False
    if token.kind == "sign" and _constant(row.parts[-1]) is None:  # 3 <= x, and on the next line: - y ...
        raise _Doubtful(token.text)
    return True


def _is_complete(row: _Row) -> bool:
    """Tells whether nothing more has to come: a right-hand side is there, or a constant in front and an expression."""
    if not row.operators or not row.parts[-1]:
        return False
    front_is_constant = _constant(row.parts[0]) is not None
    last_is_constant = _constant(row.parts[-1]) is not None
    return last_is_constant or (front_is_constant and len(row.operators) == 1 and row.parts[-1][-1].kind == "name")


def _constant(part: list[Token]) -> float | None:
    """Returns the number that a part is, or None where it is none."""
    if not part or part[-1].kind != "number" or any(t.kind != "sign" for t in part[:-1]):
        return None
    negative = sum(t.text == "-" for t in part[:-1]) % 2
    return -float(part[-1].text) if negative else float(part[-1].text)


def _without_constants(part: list[Token]) -> tuple[list[Token], float]:
    """Returns the terms with a name, and the sum of those without: a number that no name follows."""
    kept: list[Token] = []
    term: list[Token] = []
    total = 0.0
    for position, token in enumerate(part):
        if token.kind == "sign" and term and term[-1].kind == "number":
            total += _value(term)
            term = []
        term.append(token)
        if token.kind == "name":
            kept += term
            term = []
        elif token.kind == "number" and position + 1 < len(part) and part[position + 1].kind == "number":
            raise _Doubtful(token.text)
    return kept, total + (_value(term) if term else 0.0)


def _value(term: list[Token]) -> float:
    value = _constant(term)
    if value is None:
        raise _Doubtful(" ".join(t.text for t in term))
    return value


def _rewrite(row: _Row, number: int, line: int, mended: Mended) -> str:
    """Returns the row in a form that HiGHS reads right, empty where it does already."""
    label = f"{row.label.text} " if row.label else ""
    front = _constant(row.parts[0])
    if len(row.operators) == 2 and front is not None:
        return label + _two_sides(row, front, number, mended)
    if len(row.operators) != 1:
        raise _Doubtful(f"line {line}")
    (operator,), (left, right) = row.operators, row.parts
    if front is not None and _constant(right) is None:
        left, right, operator = right, left, _FLIPPED[operator]
    side = _constant(right)
    terms, constant = _without_constants(left)
    if side is None or not terms:
        raise _Doubtful(f"line {line}")
    if constant:
        mended.notes.append(f"line {line}: the constant {constant:.9g} on the left is moved to the right-hand side")
    elif left is row.parts[0]:
        return ""
    return f"{label}{_text(terms)} {operator} {side - constant!r}"


def _two_sides(row: _Row, front: float, number: int, mended: Mended) -> str:
    back = _constant(row.parts[2])
    terms, constant = _without_constants(row.parts[1])
    if back is None or not terms or row.operators[0] != row.operators[1] or row.operators[0] == "=":
        raise _Doubtful("two sides")
    lower, upper = (front, back) if row.operators[0] == "<=" else (back, front)
    mended.sides[number] = (lower - constant, upper - constant)
    return f"{_text(terms)} >= {lower - constant!r}"


def _text(terms: list[Token]) -> str:
    return " ".join(token.text for token in terms)
