"""Finds the lines in which two texts of equally many lines differ, at the speed of comparing bytes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from batchlp_cli.files.mps_keys import MASKS, as_view
from batchlp_cli.files.mps_model import Int64s

FEW = 50


def line_breaks(data: bytes) -> Int64s:
    """Returns where the lines end: [lines] int64."""
    return np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)


def changed_lines(old: bytes, old_breaks: Int64s, new: bytes, limit: int) -> tuple[Int64s, bytes, bytes] | None:
    """Returns the lines that differ, by number from 0 and as text of the old and of the new; None where there are more than
    `limit`, or where the texts have not equally many lines."""
    new_breaks = line_breaks(new)
    if len(old_breaks) != len(new_breaks) or not new.endswith(b"\n") or not old.endswith(b"\n"):
        return None
    old_starts = np.concatenate(([0], old_breaks[:-1] + 1))
    new_starts = np.concatenate(([0], new_breaks[:-1] + 1))
    longer = np.flatnonzero((old_breaks - old_starts) != (new_breaks - new_starts))
    if len(longer) > limit:
        return None
    if len(longer) <= FEW:
        # Between lines of changed length both texts lie side by side, so each run is one comparison.
        edges = [-1, *longer.tolist(), len(old_breaks)]
        runs = [(before + 1, after - 1) for before, after in pairwise(edges) if after - before > 1]
        changed = [_changed_in_run(old, old_starts, new, new_starts, run) for run in runs]
    else:
        same = np.flatnonzero((old_breaks - old_starts) == (new_breaks - new_starts))
        changed = [same[_changed_words(old, old_starts[same], new, new_starts[same], (old_breaks - old_starts)[same])]]
    lines = np.sort(np.concatenate([longer, *changed]))
    if len(lines) > limit:
        return None
    return lines, _lines(old, old_starts, old_breaks, lines), _lines(new, new_starts, new_breaks, lines)


def _lines(text: bytes, starts: Int64s, breaks: Int64s, which: Int64s) -> bytes:
    """Returns the chosen lines as one text."""
    lengths = breaks[which] + 1 - starts[which]
    ends = np.cumsum(lengths)
    places = np.arange(lengths.sum()) + np.repeat(starts[which] - (ends - lengths), lengths)
    lines: bytes = np.frombuffer(text, dtype=np.uint8)[places].tobytes()
    return lines


def _changed_in_run(old: bytes, old_starts: Int64s, new: bytes, new_starts: Int64s, run: tuple[int, int]) -> Int64s:
    """Returns the lines that differ among the lines run[0] to run[1], which are equally long in both texts."""
    first, last = run
    stop = old.index(b"\n", int(old_starts[last])) + 1
    a = old[old_starts[first] : stop]
    b = new[new_starts[first] : int(new_starts[first]) + len(a)]
    if a == b:
        return np.zeros(0, dtype=np.int64)
    places = np.flatnonzero(np.frombuffer(a, dtype=np.uint8) != np.frombuffer(b, dtype=np.uint8)) + old_starts[first]
    return np.unique(np.searchsorted(old_starts, places, side="right") - 1)


def _changed_words(old: bytes, old_starts: Int64s, new: bytes, new_starts: Int64s, lengths: Int64s) -> np.ndarray:
    """Tells which lines differ among lines that are equally long in both texts, eight bytes at a time: [lines] bool."""
    old_view, new_view = as_view(old + bytes(8)), as_view(new + bytes(8))
    changed = np.zeros(len(lengths), dtype=np.bool_)
    lines, place = np.flatnonzero(lengths > 0), 0
    while lines.size:
        mask = MASKS[np.minimum(lengths[lines] - place, 8)]
        changed[lines] |= ((old_view[old_starts[lines] + place] ^ new_view[new_starts[lines] + place]) & mask) != 0
        place += 8
        lines = lines[(lengths[lines] > place) & ~changed[lines]]
    return changed
