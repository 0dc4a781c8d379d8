"""Reads the costs of a related file where they stand, once it is known which fields of COLUMNS a family changes.

With those fields cut out, the COLUMNS of both files must be the same bytes; then nothing but the numbers in them differs.
That is a proof and not a guess, so whatever else changed is noticed and left to the slower ways.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchlp_cli.files.mps_compare import line_breaks
from batchlp_cli.files.mps_keys import PADDING, words_between
from batchlp_cli.files.mps_model import Int32s, Int64s
from batchlp_cli.files.mps_numbers import INFINITE, parse_numbers
from batchlp_cli.problem import Vector

SHARE = 16
"""One line of so many must have a changed cost for this to be faster than looking for the changed lines."""


@dataclass(frozen=True, slots=True, eq=False)
class CostFields:
    """The costs that files of a family have changed so far, at most one a line.

    lines: [k] int64, the lines of COLUMNS they are in, ascending; offsets: [k] int64, where in its line each begins; cols: [k]
    int32; line_count: lines of COLUMNS; rest: the base's COLUMNS without these fields.
    """

    lines: Int64s
    offsets: Int64s
    cols: Int32s
    line_count: int
    rest: bytes

    @staticmethod
    def of(columns: bytes, lines: Int64s, offsets: Int64s, cols: Int32s) -> CostFields | None:
        """Returns the fields of the base's COLUMNS; None where they are too few to pay, or two in one line."""
        order = np.argsort(lines, kind="stable")
        lines, offsets, cols = lines[order], offsets[order], cols[order]
        breaks = line_breaks(columns)
        if len(lines) * SHARE < len(breaks) or (np.diff(lines) == 0).any():
            return None
        places = _places(columns, breaks, lines, offsets)
        return None if places is None else CostFields(lines, offsets, cols, len(breaks), _without(columns, *places))

    def joined(self, columns: bytes, lines: Int64s, offsets: Int64s, cols: Int32s) -> CostFields | None:
        """Returns these fields of the base's COLUMNS and others."""
        new = ~np.isin(lines, self.lines)
        lines, offsets = np.concatenate((self.lines, lines[new])), np.concatenate((self.offsets, offsets[new]))
        return CostFields.of(columns, lines, offsets, np.concatenate((self.cols, cols[new])))

    def values(self, columns: bytes) -> Vector | None:
        """Returns the numbers [k] that another file's COLUMNS has in these fields; None where it differs elsewhere too.

        Raises ValueError where one of them is no number.
        """
        breaks = line_breaks(columns)
        if len(breaks) != self.line_count or not columns.endswith(b"\n"):
            return None
        places = _places(columns, breaks, self.lines, self.offsets)
        if places is None or _without(columns, *places) != self.rest:
            return None
        # Equal without the fields, so line l begins at the same place of what is left, and so does its field: all the
        # fields of both files are the same but for these. Each ends before a blank, and begins behind one as in the base.
        values = parse_numbers(words_between(columns + PADDING, *places))
        return values if (np.abs(values) < INFINITE).all() else None


def _places(columns: bytes, breaks: Int64s, lines: Int64s, offsets: Int64s) -> tuple[Int64s, Int64s] | None:
    """Returns where the fields begin and end: [k] int64 each; None where one is empty."""
    starts = np.concatenate((np.zeros(1, dtype=np.int64), breaks[:-1] + 1))[lines] + offsets
    if starts.size and starts[-1] >= len(columns):
        return None
    blanks = np.flatnonzero(np.frombuffer(columns, dtype=np.uint8) <= 32)
    ends = blanks[np.searchsorted(blanks, starts)]
    return (starts, ends) if (ends > starts).all() and (ends <= breaks[lines]).all() else None


def _without(text: bytes, starts: Int64s, ends: Int64s) -> bytes:
    """Returns the text without the bytes from starts to ends [k], which are ascending and apart."""
    pieces = np.empty(2 * len(starts) + 1, dtype=np.int64)
    pieces[1::2] = ends - starts
    pieces[0::2] = np.diff(np.concatenate((np.zeros(1, dtype=np.int64), ends, [len(text)])))
    pieces[0:-1:2] -= pieces[1::2]
    keep = np.ones(len(pieces), dtype=np.bool_)
    keep[1::2] = False
    left: bytes = np.frombuffer(text, dtype=np.uint8)[np.repeat(keep, pieces)].tobytes()
    return left
