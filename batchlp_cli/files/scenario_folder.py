"""A folder of files as a scenario table, and a table as a folder of files, so that each reads back as the same numbers.

The table is in the long form. A right-hand side, a fixed column and the like are told by their own word where that says the
same; otherwise the side or bound that differs is told by itself.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from batchlp_cli.batch import Changes, Field, difference, same_matrix
from batchlp_cli.errors import UsageError
from batchlp_cli.files.mps_writer import number, write_mps
from batchlp_cli.files.scenario_cells import What
from batchlp_cli.files.scenario_forms import LONG
from batchlp_cli.files.scenario_names import file_name
from batchlp_cli.files.scenarios import Scenarios
from batchlp_cli.problem import LinearProgram

Record = tuple[str, str, float]
"""(what, name, value) of the long form."""

_WORDS = {
    Field.COST: What.COST,
    Field.COL_LOWER: What.LB,
    Field.COL_UPPER: What.UB,
    Field.ROW_LOWER: What.ROW_LOWER,
    Field.ROW_UPPER: What.ROW_UPPER,
    Field.OFFSET: What.OFFSET,
}


def write_table(scenarios: Iterable[tuple[str, LinearProgram]], base: LinearProgram, stream: TextIO) -> int:
    """Writes the scenarios (name, LP) as a table of what differs from the base; returns how many there were.

    Raises UsageError where an LP has another matrix, sense, or other names than the base.
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(LONG)
    count = 0
    for name, lp in scenarios:
        count += 1
        _check_alike(base, lp, name)
        records = list(records_of(base, difference(base, lp)))
        writer.writerows((name, what, place, number(value)) for what, place, value in records)
        if not records:
            writer.writerow((name, "", "", ""))
    return count


def records_of(base: LinearProgram, changes: Changes) -> Iterator[Record]:
    """Yields what the changes of one member (number 0) are called in a table, in the signs of the model's file."""
    new: dict[tuple[Field, int], float] = {}
    for code, index, value in zip(changes.field.tolist(), changes.index.tolist(), changes.value.tolist(), strict=True):
        new[Field(code), index] = value
    told: set[tuple[Field, int]] = set()
    for (field, index), value in new.items():
        if (field, index) in told:
            continue
        row = field in (Field.ROW_LOWER, Field.ROW_UPPER)
        name = "" if field is Field.OFFSET else base.row_name(index) if row else base.col_name(index)
        pair = (
            ((Field.ROW_LOWER, index), (Field.ROW_UPPER, index)) if row else ((Field.COL_LOWER, index), (Field.COL_UPPER, index))
        )
        both = all(key in new for key in pair) and new[pair[0]] == new[pair[1]] and np.isfinite(value)
        if row and _is_rhs(base, index, new, both):
            told.update(pair)
            yield What.RHS.word, name, value
        elif both and field in (Field.COL_LOWER, Field.COL_UPPER):
            told.update(pair)
            yield What.FIX.word, name, value
        else:
            signed = field in (Field.COST, Field.OFFSET)
            yield _WORDS[field].word, name, base.sign * value + 0.0 if signed else value


def _is_rhs(base: LinearProgram, i: int, new: dict[tuple[Field, int], float], both: bool) -> bool:
    """Tells whether the change of a row is that of its right-hand side: its one finite side, or both sides of an equation."""
    lower, upper = float(base.row_lower[i]), float(base.row_upper[i])
    if lower == upper:
        return both
    side = Field.ROW_UPPER if np.isinf(lower) else Field.ROW_LOWER
    other = Field.ROW_LOWER if side is Field.ROW_UPPER else Field.ROW_UPPER
    one = np.isinf(lower) != np.isinf(upper)
    return bool(one and (other, i) not in new and np.isfinite(new.get((side, i), np.inf)))


def _check_alike(base: LinearProgram, lp: LinearProgram, name: str) -> None:
    if lp.maximize != base.maximize:
        raise UsageError(f"{name}: one of it and the model is a maximisation, the other is not; a table cannot say that")
    if lp.row_names != base.row_names or lp.col_names != base.col_names:
        raise UsageError(f"{name}: rows or columns are not called, or not ordered, as in the model; a table cannot say that")
    if not same_matrix(base, lp):
        raise UsageError(f"{name}: its matrix is not that of the model; a table cannot say that (see `batchlp inspect`)")


def write_folder(windows: Iterable[Scenarios], folder: Path) -> int:
    """Writes every scenario as an MPS file named after it; returns how many there were. The folder has been made.

    Raises UsageError where two scenarios would have one file.
    """
    count = 0
    written: set[str] = set()
    for window in windows:
        for k, name in enumerate(window.batch.names):
            file = f"{file_name(name)}.mps"
            if file.lower() in written:
                raise UsageError(f"the scenarios {name!r} and another one would both be {folder / file}; rename one")
            written.add(file.lower())
            (folder / file).write_text(write_mps(window.batch.member(k)), encoding="utf-8", errors="surrogateescape")
            count += 1
    return count
