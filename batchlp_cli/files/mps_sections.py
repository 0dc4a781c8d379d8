"""Meaning of one line of each MPS section, field by field: the rules of docs/formats.md. Speed does not belong here.

Every function takes the model, the line's number, its fields and its bytes, adds what the line says to the model, and raises
LineError where a rule is broken. `mps_fast` reads whole blocks of regular lines to the same effect.
"""

from __future__ import annotations

from collections.abc import Callable

from batchlp_cli.files.mps_fields import LineError, continues_column
from batchlp_cli.files.mps_model import VALUELESS, Bound, MpsModel, Table
from batchlp_cli.files.mps_numbers import parse_finite, parse_number

Handler = Callable[[MpsModel, int, list[str], bytes], None]
REFUSED_BOUNDS = {
    "SC": "a semicontinuous column",
    "SI": "a semicontinuous integer column",
    "SN": "a semicontinuous integer column",
}
MARKER = "'MARKER'"


def read_row(model: MpsModel, number: int, fields: list[str], line: bytes) -> None:
    """Adds a row: type and name."""
    if len(fields) != 2:
        raise LineError(f"{len(fields)} fields", "the type of a row (N, L, G or E) and its name")
    kind, name = fields
    if kind.upper() not in ("N", "L", "G", "E"):
        raise LineError(f"row type {kind!r}", "N, L, G or E")
    if kind != kind.upper():
        model.note("case", f"line {number}: {kind!r} is read as {kind.upper()!r}")
    if name in model.rows:
        raise LineError(f"row {name!r} is declared twice", "each row name once")
    model.rows[name] = len(model.rows)
    model.row_types += kind.upper().encode()


def read_extra_row(model: MpsModel, number: int, fields: list[str], line: bytes) -> None:
    """Adds a lazy constraint or a user cut as a row like any other (SCIP does so too)."""
    section = model.headers[-1][1]
    model.note(section, f"line {number}: the rows of section {section} are read as rows like any other")
    read_row(model, number, fields, line)


def read_column(model: MpsModel, number: int, fields: list[str], line: bytes) -> None:
    """Adds the one or two entries of a COLUMNS line, or obeys a marker."""
    if len(fields) >= 3 and fields[1].upper() == MARKER:
        return _read_marker(model, number, fields)
    if len(fields) in (2, 4) and continues_column(line) and model.entry_cols:
        model.note("continued", f"line {number}: no column name, the entries belong to the column of the line before")
        column, pairs = model.entry_cols[-1], fields
    elif len(fields) in (3, 5):
        column, pairs = -1, fields[1:]
    else:
        raise LineError(f"{len(fields)} fields", "a column, then a row and a number once or twice")
    entries = [(_row(model, pairs[i]), _number(pairs[i + 1], finite=True)) for i in range(0, len(pairs), 2)]
    column = _column_number(model, number, fields[0]) if column < 0 else column
    if model.last_marker - 1 == column == len(model.cols) - 1:
        name = next(reversed(model.cols))
        model.note("parted", f"line {number}: a marker stands between the entries of column {name!r}; its first line counts")
    for row, value in entries:
        model.entry_rows.append(row)
        model.entry_cols.append(column)
        model.entry_vals.append(value)


def _column_number(model: MpsModel, number: int, name: str) -> int:
    column = model.cols.setdefault(name, len(model.cols))
    if model.entry_cols and column < model.entry_cols[-1]:
        model.note("split", f"line {number}: the entries of column {name!r} are not together; they are read as one column")
    return column


def _read_marker(model: MpsModel, number: int, fields: list[str]) -> None:
    word = fields[2].upper().strip("'")
    opened = bool(model.marked) and model.marked[-1][1] < 0
    if word == "INTORG" and not opened:
        model.marked.append((len(model.cols), -1))
    elif word == "INTEND" and opened:
        model.marked[-1] = (model.marked[-1][0], len(model.cols))
    elif word in ("INTORG", "INTEND"):
        model.note("marker", f"line {number}: marker {fields[2]} comes twice; it is ignored")
    elif word in ("SOSORG", "SOSEND"):
        raise LineError("a special ordered set", "a linear program; batchlp reads no SOS models")
    else:
        raise LineError(f"marker {fields[2]}", "'INTORG' or 'INTEND'")


def read_rhs(model: MpsModel, number: int, fields: list[str], line: bytes) -> None:
    """Adds the one or two right-hand sides of a line."""
    _read_row_values(model, model.rhs, number, fields)


def read_range(model: MpsModel, number: int, fields: list[str], line: bytes) -> None:
    """Adds the one or two ranges of a line."""
    _read_row_values(model, model.ranges, number, fields)


def _read_row_values(model: MpsModel, table: Table, number: int, fields: list[str]) -> None:
    if len(fields) not in (2, 3, 4, 5):
        raise LineError(f"{len(fields)} fields", "the name of a set (it may be missing), then a row and a number once or twice")
    named = len(fields) % 2
    pairs = fields[named:]
    entries = [(_row(model, pairs[i]), _number(pairs[i + 1])) for i in range(0, len(pairs), 2)]
    if _in_used_set(model, table, number, fields[0] if named else None):
        for row, value in entries:
            table.append(number, row, value)


def _in_used_set(model: MpsModel, table: Table, number: int, name: str | None) -> bool:
    """Tells whether a line belongs to the set that is used, the first one; a missing name means that one."""
    if name is None:
        return True
    if table.set_name is None:
        table.set_name = name
    if table.set_name == name:
        return True
    model.note_set(table, number, name)
    return False


def read_bound(model: MpsModel, number: int, fields: list[str], line: bytes) -> None:
    """Adds a bound: type, set (may be missing), column, and a value for the types that need one."""
    word = fields[0].upper()
    if word in REFUSED_BOUNDS:
        raise LineError(f"bound type {word}: {REFUSED_BOUNDS[word]}", "a linear program; batchlp reads no semicontinuous models")
    if word not in Bound.__members__:
        raise LineError(f"bound type {fields[0]!r}", "UP, LO, FX, FR, MI, PL, BV, LI or UI")
    if word != fields[0]:
        model.note("case", f"line {number}: {fields[0]!r} is read as {word!r}")
    kind = Bound[word]
    name, column, value = _bound_fields(model, kind, fields[1:])
    if column not in model.cols:
        raise LineError(f"column {column!r} is not in the COLUMNS section", "a column that has entries there")
    number_value = _number(value) if value is not None else 0.0
    if _in_used_set(model, model.bounds, number, name):
        model.bounds.append(number, model.cols[column], number_value, kind)


def _bound_fields(model: MpsModel, kind: Bound, rest: list[str]) -> tuple[str | None, str, str | None]:
    """Returns set name, column and value of a bound; None where the line leaves them out."""
    if len(rest) == 3:
        return rest[0], rest[1], rest[2]
    if kind in VALUELESS and len(rest) == 1:
        return None, rest[0], None
    if kind in VALUELESS and len(rest) == 2:
        return (rest[0], rest[1], None) if rest[1] in model.cols or rest[0] not in model.cols else (None, rest[0], rest[1])
    if len(rest) == 2:
        return None, rest[0], rest[1]
    needed = "a set (it may be missing) and a column" if kind in VALUELESS else "a set (it may be missing), a column and a number"
    raise LineError(f"{len(rest)} fields after {kind.name}", needed)


def _row(model: MpsModel, name: str) -> int:
    row = model.rows.get(name)
    if row is None:
        raise LineError(f"row {name!r} is not in the ROWS section", "a row that is declared there")
    return row


def _number(token: str, finite: bool = False) -> float:
    try:
        return parse_finite(token) if finite else parse_number(token)
    except ValueError as error:
        raise LineError(str(error), "a finite number" if finite else "a number") from None
