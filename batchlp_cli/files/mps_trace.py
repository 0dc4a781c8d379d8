"""What is found while a linear program is made of an MPS file: warnings, and errors that quote the line to blame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from batchlp_cli.errors import ReadError
from batchlp_cli.files.mps_fields import LineError, fixed_fields, free_fields, shown
from batchlp_cli.files.mps_model import MpsModel, Table


@dataclass(slots=True)
class Findings:
    """A model in the making: its file's bytes for quoting, and its warnings by kind."""

    model: MpsModel
    data: bytes
    notes: dict[str, tuple[str, int]] = field(default_factory=dict)

    def note(self, kind: str, text: str, count: int = 1) -> None:
        """Keeps a warning that holds `count` times."""
        if count:
            self.notes[kind] = (text, count)

    def refuse(self, line: int, found: str, expected: str) -> NoReturn:
        """Raises ReadError about a line."""
        where = f"{self.model.source}, line {line}"
        raise ReadError(f"{where}: {found}, expected {expected}; the line is {quoted_line(self.data, line)}")


def quoted_line(data: bytes, number: int) -> str:
    """Returns line `number` (from 1) for a message."""
    position = 0
    for _ in range(number - 1):
        position = data.find(b"\n", position) + 1
        if position == 0:
            return "''"
    end = data.find(b"\n", position)
    return shown(data[position : end if end >= 0 else len(data)])


def entry_line(data: bytes, model: MpsModel, row: str, column: str) -> int:
    """Returns the number of the line that gives a matrix entry for the second time, 0 if there is none."""
    cut = fixed_fields if "fixed" in model.notes else free_fields
    begin = next(line for line, section in model.headers if section == "COLUMNS")
    seen, current = 0, ""
    for number, line in enumerate(data.split(b"\n")[begin:], begin + 1):
        try:
            fields = cut(line)
        except LineError:
            continue
        if not fields:
            continue
        current = fields[0] if len(fields) % 2 else current
        seen += fields[len(fields) % 2 :: 2].count(row) if current == column else 0
        if seen > 1:
            return number
    return 0


def line_of(table: Table, index: int) -> int:
    """Returns the number of the last line that is about a row or column, 0 if there is none."""
    lines, indices, _, _ = table.arrays()
    at = np.flatnonzero(indices == index)
    return int(lines[at[-1]]) if at.size else 0
