"""Markers of integer columns in a block of COLUMNS: where they stand and which runs of columns they mark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchlp_cli.files.mps_keys import Block, as_words
from batchlp_cli.files.mps_model import Int32s, Int64s

MARKER = b"'MARKER'"
MARKER_WORD, ORIGIN_WORD, END_WORD = as_words([MARKER, b"'INTORG'", b"'INTEND'"])[0]


@dataclass(frozen=True, slots=True)
class Markers:
    """lines: [lines of the block] bool, which are markers; fields: the numbers of their fields; opens: [markers] bool, INTORG;
    before: the runs marked before the block, the last of them perhaps open (its stop is -1)."""

    lines: np.ndarray
    fields: Int64s
    opens: np.ndarray
    before: list[tuple[int, int]]

    @staticmethod
    def find(block: Block, before: list[tuple[int, int]]) -> Markers:
        """Returns the markers of a block. Raises ValueError where one is misspelt, or does not open and close in turn."""
        words = block.words(block.first + 1)
        lines = words[0] == MARKER_WORD
        for word in words[1:]:
            lines &= word == 0
        first = block.first[lines]
        kinds = block.words(first + 2)
        opens = kinds[0] == ORIGIN_WORD
        is_open = bool(before) and before[-1][1] < 0
        expected = (np.arange(len(opens)) % 2 == 0) ^ is_open
        known = len(kinds) == 1 and bool((opens | (kinds[0] == END_WORD)).all())
        if not known or (block.counts[lines] != 3).any() or (opens != expected).any():
            raise ValueError("a marker that needs care")
        return Markers(lines, np.concatenate((first, first + 1, first + 2)), opens, before)

    def runs(self, columns: Int32s, known: int) -> list[tuple[int, int]]:
        """Returns all marked runs of columns. columns: of each line that is no marker; known: columns before the block.

        Raises ValueError where a marker stands between the entries of a column.
        """
        data_lines_before = np.cumsum(~self.lines)[self.lines]
        counts = np.concatenate(([known], columns + 1))[data_lines_before]
        if (np.append(columns, -1)[data_lines_before] == counts - 1).any():
            raise ValueError("a marker that parts a column")
        runs = list(self.before)
        for opens, count in zip(self.opens.tolist(), counts.tolist(), strict=True):
            if opens:
                runs.append((count, -1))
            else:
                runs[-1] = (runs[-1][0], count)
        return runs
