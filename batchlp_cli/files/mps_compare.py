"""Finds the lines in which two texts differ, at the speed of comparing bytes: one by one where both have equally many, else
in blocks of lines that begin with the same word.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from batchlp_cli.files.mps_keys import MASKS, as_view
from batchlp_cli.files.mps_model import Int64s

FEW = 50
PIECE_BYTES = 1 << 16
MOST_BLOCKS = 16
LEAST_BYTES = 4096
SHARE = 8
"""What lies around the differences must be LEAST_BYTES at most, or one byte of so many, for blocks to be faster than lines."""
MOST_STEPS = 8
"""Blocks of lines after a difference, of which one must begin alike in both texts."""


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


def changed_blocks(old: bytes, new: bytes) -> tuple[list[bytes], list[bytes]] | None:
    """Returns the lines of both texts around each of their differences, whole blocks of lines that begin with the same word in
    `old`. What is left out of both is the same, piece for piece. None where these are more than MOST_BLOCKS or large,
    or where no end of one is found.
    """
    if not (old.endswith(b"\n") and new.endswith(b"\n")):
        return None
    pairs: list[tuple[bytes, bytes]] = []
    at, shift = 0, 0  # up to here the texts are compared; new[at + shift] stands for old[at]
    room = max(LEAST_BYTES, len(old) // SHARE)
    while len(pairs) < MOST_BLOCKS and room >= 0:
        place = at + _common(old, at, new, at + shift)
        if place == len(old) and place + shift == len(new):
            return [a for a, _ in pairs], [b for _, b in pairs]
        start = _block_start(old, at, place, _first_word(new, new.rfind(b"\n", 0, place + shift) + 1))
        found = _next_alike(old, min(place, len(old) - 1), new, start + shift)
        if found is None:
            return None
        end, new_end = found
        pairs.append((old[start:end], new[start + shift : new_end]))
        at, shift = end, new_end - end
        room -= end - start
    return None


def _common(a: bytes, i: int, b: bytes, j: int) -> int:
    """Returns how many bytes of a from i on and of b from j on are the same."""
    length, done = min(len(a) - i, len(b) - j), 0
    while done < length:
        size = min(PIECE_BYTES, length - done)
        x, y = a[i + done : i + done + size], b[j + done : j + done + size]
        if x != y:
            return done + int(np.argmax(np.frombuffer(x, dtype=np.uint8) != np.frombuffer(y, dtype=np.uint8)))
        done += size
    return length


def _block_start(text: bytes, least: int, place: int, word: bytes) -> int:
    """Returns where the block begins that holds the line at `place`, or the block before where that line is the first of its
    block and the other text has another word there; `least` if that is later."""
    start = text.rfind(b"\n", least, max(least, place)) + 1 or least
    word = word if start < len(text) and _first_word(text, start) == word else b""
    while start > least:
        before = text.rfind(b"\n", least, start - 1) + 1 or least
        first = _first_word(text, before)
        if word not in (b"", first):
            break
        start, word = before, first
    return start


def _next_alike(old: bytes, place: int, new: bytes, start: int) -> tuple[int, int] | None:
    """Returns where in both texts a block behind the lines at `place` of old, at or behind `start` of new, begins with the same
    line, or their ends; None where none of the next blocks does."""
    line = old.rfind(b"\n", 0, place) + 1
    for _ in range(MOST_STEPS):
        word = _first_word(old, line)
        while line < len(old) and _first_word(old, line) == word:
            line = old.index(b"\n", line) + 1
        if line == len(old):
            return line, len(new)
        stop = old.index(b"\n", line) + 1
        found = new.find(old[line - 1 : stop], max(0, start - 1))
        if found >= 0:
            return line, found + 1
    return None


def _first_word(text: bytes, start: int) -> bytes:
    """Returns the first word of the line that begins at `start`, empty for a blank line."""
    return next(iter(text[start : text.find(b"\n", start)].split(None, 1)), b"")
