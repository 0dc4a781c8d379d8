"""Fields of many lines at once as arrays of 64-bit words, and a table that finds names by such words. Knows no section.

A field of up to 8 * WORDS bytes is one to WORDS words, zero padded, so that comparing names is comparing integers, and no
Python object is made for a field that is only looked up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from batchlp_cli.files.mps_fields import decode
from batchlp_cli.files.mps_model import Int32s, Int64s

Words = list[np.ndarray]
"""Fields as words: the k-th array [fields] uint64 holds bytes 8k to 8k + 7 of each field."""

COMMENT = re.compile(rb"[ \t]\$[ \t\r\n]")
WORDS = 16
PADDING = bytes(8 * WORDS + 16)
"""What stands behind data that is read as words, so that a field at its end may be read as any number of words."""
MAX_PROBES = 40
MASKS = np.array([(1 << (8 * i)) - 1 for i in range(9)], dtype=np.uint64)
FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F] * (WORDS // 4), dtype=np.uint64
)
FACTORS += np.arange(WORDS, dtype=np.uint64) // np.uint64(4) * np.uint64(2 * 0x5851F42D4C957F2D % 2**64)


@dataclass(frozen=True, slots=True)
class Block:
    """Where the fields of a block of lines are. starts, ends: [fields] int64, places in `data`; counts, first, lines: per line
    that is not blank how many fields it has, which is its first, and its number in the file: [lines] int64."""

    data: bytes
    starts: Int64s
    ends: Int64s
    counts: Int64s
    first: Int64s
    lines: Int64s

    def without(self, lines: np.ndarray) -> Block:
        """Returns the block without some of its lines [lines] bool, whose fields stay in `starts` and `ends`."""
        return replace(self, counts=self.counts[~lines], first=self.first[~lines], lines=self.lines[~lines])

    def words(self, fields: Int64s | slice | np.ndarray) -> Words:
        """Returns the chosen fields as words. Raises ValueError where one is longer than 8 * WORDS bytes."""
        return words_between(self.data, self.starts[fields], self.ends[fields])

    def texts(self, fields: Int64s | np.ndarray) -> list[str]:
        """Returns the chosen fields as text."""
        starts, ends = self.starts[fields], self.ends[fields]
        # Each field and the byte behind it, which becomes a line end: one text, split once.
        lengths = ends - starts + 1
        stops = np.cumsum(lengths)
        places = np.arange(lengths.sum()) + np.repeat(starts - (stops - lengths), lengths)
        text = np.frombuffer(self.data, dtype=np.uint8)[places]
        text[stops - 1] = 10
        names: list[str] = decode(text.tobytes()).split("\n")[:-1]
        return names


def cut(data: bytes, line: int) -> Block | None:
    """Cuts lines, the first of them the file's line `line`, into fields; None where a comment or foreign character needs care."""
    if not data.endswith(b"\n") or (b"$" in data and COMMENT.search(data)):
        return None
    raw = np.frombuffer(data, dtype=np.uint8)
    blank = raw <= 32
    breaks = raw == 10
    break_count = int(np.count_nonzero(breaks))
    known = break_count + sum(int(np.count_nonzero(raw == ord(c))) for c in (b" ", b"\t", b"\r") if c in data)
    if not blank[0] or known != np.count_nonzero(blank):
        return None
    edge = np.zeros(len(raw), dtype=np.bool_)
    np.not_equal(blank[1:], blank[:-1], out=edge[1:])
    edges = np.flatnonzero(edge)
    starts, ends = edges[0::2], edges[1::2]
    last = _last_fields(breaks, ends, break_count)
    if last is not None:
        counts = np.diff(last, prepend=-1)
        lines = np.arange(line, line + break_count)
    else:
        counts = np.diff(np.searchsorted(starts, np.flatnonzero(breaks)), prepend=0)
        lines = np.flatnonzero(counts) + line
        counts = counts[counts > 0]
    if not counts.size:
        return None
    return Block(data + PADDING, starts, ends, counts, np.cumsum(counts) - counts, lines)


def _last_fields(breaks: np.ndarray, ends: Int64s, break_count: int) -> Int64s | None:
    """Returns which fields are the last of their lines, where each has one, and one blank behind it at most; else None.

    breaks: [bytes] bool, which bytes are line ends; ends: where the fields end.
    """
    last = breaks[ends]
    if np.count_nonzero(last) != break_count:
        last |= breaks[np.minimum(ends + 1, len(breaks) - 1)]
    found = np.flatnonzero(last)
    return found if len(found) == break_count else None


def as_words(texts: Sequence[bytes]) -> Words:
    """Returns byte strings without line ends as words. Raises ValueError where one is longer than 8 * WORDS bytes."""
    return words_of_lines(b"\n".join(texts) + b"\n") if texts else [np.zeros(0, dtype=np.uint64)]


def words_of_lines(data: bytes) -> Words:
    """Returns the lines of data, all of which end, as words. Raises ValueError where one is longer than 8 * WORDS bytes."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
    starts = np.concatenate(([0], ends[:-1] + 1))
    return words_between(data + PADDING, starts, ends)


def as_view(data: bytes) -> np.ndarray:
    """Returns the eight bytes at each place of data as a word: [bytes - 7] uint64, without a copy."""
    return np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))


def words_between(data: bytes, starts: Int64s, ends: Int64s) -> Words:
    """Returns data[start:end] as words; behind data stands PADDING.

    A field lies across aligned words of the data, which numpy picks much faster than words at any byte: each word of it is the
    end of one of them and the beginning of the next.
    """
    lengths = ends - starts
    count = (int(lengths.max(initial=1)) + 7) // 8
    if count > WORDS:
        raise ValueError("a field too long for words")
    aligned = np.frombuffer(data, dtype="<u8", count=len(data) >> 3)
    place, shift = starts >> 3, ((starts & 7) << 3).view(np.uint64)
    rest, words = np.uint64(64) - shift, []  # shifted by 64 bits, a word is 0
    here = aligned[place]
    for k in range(count):
        after = aligned[place + (k + 1)]
        words.append((here >> shift | after << rest) & MASKS[np.minimum(np.maximum(lengths - 8 * k, 0), 8)])
        here = after
    return words


def as_texts(words: Words) -> list[bytes]:
    """Returns words as byte strings."""
    packed = np.ascontiguousarray(np.stack(words, axis=1))
    texts: list[bytes] = packed.view(f"S{8 * len(words)}").ravel().tolist()
    return texts


class KeyTable:
    """Numbers names 0, 1, 2, ... in the order in which they are added and finds many at once; open addressing, a quarter full.

    `usable` turns False where so many names fall into one place that looking up would be slow (names made for that).
    """

    def __init__(self) -> None:
        self.usable = True
        self.count = 0
        self._words: Words = [np.zeros(0, dtype=np.uint64)]
        self._slots = np.full(64, -1, dtype=np.int32)

    def find(self, words: Words) -> Int32s:
        """Returns the number of each name, -1 where it is unknown: [names] int32."""
        place = self._place(words)
        found = self._slots[place]
        right = self._equal(found, words)
        open_ = np.flatnonzero((found >= 0) & ~right)
        found[~right] = -1
        mask = len(self._slots) - 1
        while open_.size:
            place[open_] = (place[open_] + 1) & mask
            candidate = self._slots[place[open_]]
            right = self._equal(candidate, [w[open_] for w in words])
            found[open_[right]] = candidate[right]
            open_ = open_[(candidate >= 0) & ~right]
        return found

    def add(self, words: Words) -> None:
        """Adds names that are new and different from each other."""
        start, self.count = self.count, self.count + len(words[0])
        width = max(len(words), len(self._words))
        grown = []
        for k in range(width):
            old = self._words[k] if k < len(self._words) else np.zeros(start, dtype=np.uint64)
            new = words[k] if k < len(words) else np.zeros(len(words[0]), dtype=np.uint64)
            grown.append(np.concatenate((old, new)))
        self._words = grown
        if 4 * self.count > len(self._slots):
            self._slots = np.full(1 << (8 * self.count).bit_length(), -1, dtype=np.int32)
            start = 0
        self._settle(np.arange(start, self.count, dtype=np.int32))

    def _settle(self, ids: Int32s) -> None:
        place = self._place([w[ids] for w in self._words])
        mask = len(self._slots) - 1
        for _ in range(MAX_PROBES):
            free = self._slots[place] < 0
            self._slots[place[free]] = ids[free]
            homeless = self._slots[place] != ids
            ids, place = ids[homeless], (place[homeless] + 1) & mask
            if not ids.size:
                return
        self.usable = False

    def _place(self, words: Words) -> Int64s:
        mixed = words[0] * FACTORS[0]
        for k in range(1, len(words)):
            mixed ^= words[k] * FACTORS[k]
        mixed ^= mixed >> np.uint64(29)
        mixed *= FACTORS[1]
        shift = np.uint64(64 - (len(self._slots).bit_length() - 1))
        place: Int64s = (mixed >> shift).astype(np.int64)
        return place

    def _equal(self, candidates: Int32s, words: Words) -> np.ndarray:
        equal = candidates >= 0
        if not self.count:
            return equal
        for k in range(max(len(words), len(self._words))):
            stored = self._words[k][candidates] if k < len(self._words) else np.uint64(0)
            equal &= stored == (words[k] if k < len(words) else np.uint64(0))
        return equal
