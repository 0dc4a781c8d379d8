"""Numbers as MPS files write them, correctly rounded; nothing about where in a file they stand.

A number is what `float` reads (so it is the nearest float64), a Fortran exponent (1.0D+00) included, underscores and
digits outside ASCII excluded. NaN is never a number. Infinities are the words inf and infinity with either sign.
"""

from __future__ import annotations

import math
import re

import numpy as np

from batchlp_cli.files.mps_keys import KeyTable, Words, as_texts, as_words
from batchlp_cli.problem import Mask, Vector

INFINITE = 1e20
"""A bound or a side of this magnitude or more means none (CPLEX, Gurobi, SCIP and HiGHS agree on 1e20); a cost or a
coefficient of it has no meaning."""

MEMO_LIMIT = 4096
FEW = 100
SHORT = 15
"""Bytes of a field up to which its digits, and the power of ten below them, are integers below 2^53."""
DIGITS = 19
"""Digits that fit into 64 bits; 10^19 does, too, and is exact in extended precision."""
POWERS = np.array([10.0**k for k in range(SHORT + 1)])
EXTENDED = np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16
LONG_POWERS = np.array([10**k for k in range(DIGITS + 1)], dtype=np.uint64).astype(np.longdouble)
FORTRAN = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))[dD]([+-]?\d+)")


def parse_number(token: str) -> float:
    """Returns the float64 nearest to a written number, infinities in words included.

    Raises ValueError whose text says what is wrong with the token.
    """
    try:
        value = float(token)
    except ValueError:
        fortran = FORTRAN.fullmatch(token)
        if not fortran:
            raise ValueError(f"{token!r} is not a number") from None
        value = float(f"{fortran[1]}e{fortran[2]}")
    if "_" in token or not token.isascii():
        raise ValueError(f"{token!r} is not a number")
    if not math.isfinite(value):
        if math.isnan(value):
            raise ValueError(f"{token!r} is not a value")
        if any(c.isdigit() for c in token):
            raise ValueError(f"{token!r} does not fit into a 64-bit number")
    return value


def parse_finite(token: str) -> float:
    """Returns the number written in a token; raises ValueError for what counts as infinite too."""
    value = parse_number(token)
    if abs(value) >= INFINITE:
        raise ValueError(f"{token!r} counts as infinite")
    return value


class NumberReader:
    """Reads many numbers at once: from memory where they repeat (most LPs), by arithmetic where they do not."""

    def __init__(self) -> None:
        self._known = KeyTable()
        self._values = np.zeros(0)
        self._repeating = True

    def __call__(self, words: Words) -> Vector:
        """Returns the numbers of fields: [fields] float64; raises ValueError at anything that is no number."""
        if not self._repeating:
            return parse_numbers(words)
        places = self._known.find(words)
        unknown = np.flatnonzero(places < 0)
        if not unknown.size:
            return self._values[places]
        new = [w[unknown] for w in words]
        if self._known.count < MEMO_LIMIT and self._known.usable and self._learn(new):
            places[unknown] = self._known.find(new)
            return self._values[places]
        self._repeating = unknown.size < places.size / 2
        values = np.empty(places.size)
        values[places >= 0] = self._values[places[places >= 0]]
        values[unknown] = parse_numbers(new)
        return values

    def _learn(self, words: Words) -> bool:
        """Takes numbers into the memory if each comes more than twice on average; tells whether it did."""
        texts = as_texts(words)
        distinct = dict.fromkeys(texts)
        if 2 * len(distinct) > len(texts) > FEW:
            return False
        learnt = as_words(list(distinct))
        values = parse_numbers(learnt)
        self._known.add(learnt)
        self._values = np.concatenate((self._values, values))
        return True


def parse_numbers(words: Words) -> Vector:
    """Returns what `parse_number` returns for each field: [fields] float64. Raises ValueError where it does."""
    values, done = parse_decimals(words)
    rest = np.flatnonzero(~done)
    if rest.size:
        values[rest] = _one_by_one(as_texts([w[rest] for w in words]))
    return values


def _one_by_one(texts: list[bytes]) -> list[float]:
    try:
        values = list(map(float, texts))
    except ValueError:
        values = [math.nan]
    if math.isfinite(sum(values)) and b"_" not in b"".join(texts):
        return values
    return [parse_number(text.decode("utf-8", "replace")) for text in texts]


def parse_decimals(words: Words) -> tuple[Vector, Mask]:
    """Returns values [fields] float64 of plain decimals, and which fields were such and could be rounded surely: [fields] bool.

    The value is M / 10^k with M all digits as one integer and k the digits behind the point. Where both are integers below
    2^53, the one division rounds correctly (W. D. Clinger, How to read floating point numbers accurately, 1990); longer
    ones are divided with 64 bits, see `_round_long`.
    """
    characters = _characters(words)
    digits = characters - np.uint8(ord("0"))
    is_digit = digits < 10
    is_point = characters == ord(".")
    signed = (characters[0] == ord("-")) | (characters[0] == ord("+"))
    length, digit_count, points = _sums(characters != 0), _sums(is_digit), _sums(is_point)
    done = (digit_count + points + signed == length) & (points <= 1) & (digit_count > 0)
    # What is behind a point is digits, where the field is a number at all.
    place_of_point = _sums(is_point * np.arange(len(characters), dtype=np.uint8)[:, None])
    behind = np.where(done & (points == 1), length - 1 - place_of_point, 0)
    short = len(characters) <= SHORT
    # M is built digit by digit, as by hand; a place that holds no digit changes nothing. Factors of one byte are read fastest.
    number = np.zeros(len(length), dtype=np.float64 if short else np.uint64)
    times, plus = np.where(is_digit, np.uint8(10), np.uint8(1)), digits * is_digit
    for place in range(len(characters)):
        number *= times[place]
        number += plus[place]
    if short:
        values = number / POWERS[behind]
    else:
        values, sure = _round_long(number, np.minimum(behind, DIGITS))
        done &= (digit_count <= DIGITS) & sure
    return np.where(characters[0] == ord("-"), -values, values), done


def _sums(counts: np.ndarray) -> np.ndarray:
    """Returns the sums of each field's bytes or marks [places, fields], which must be below 256: [fields] uint8."""
    sums: np.ndarray = np.add.reduce(counts.view(np.uint8), axis=0, dtype=np.uint8)
    return sums


def _round_long(number: np.ndarray, behind: np.ndarray) -> tuple[Vector, Mask]:
    """Returns number / 10^behind [fields] float64, and where it is surely the nearest float64: [fields] bool.

    Divided in extended precision the quotient is right to 64 bits. Cut to 53 bits it is rounded as the exact quotient would
    be, unless its last 11 bits stand exactly half way.
    """
    if not EXTENDED:
        return np.zeros(len(number)), np.zeros(len(number), dtype=np.bool_)
    quotient = number.astype(np.longdouble) / LONG_POWERS[behind]
    last_bits = quotient.view(np.uint64)[0::2] & np.uint64(0x7FF)
    return quotient.astype(np.float64), last_bits != 0x400


def _characters(words: Words) -> np.ndarray:
    """Returns the first bytes of each field, [8, 16 or 24, fields] uint8, cut to the longest field; longer fields as 0."""
    used = min(3, len(words))
    packed = np.zeros((len(words[0]), used), dtype="<u8")
    short = np.ones(len(words[0]), dtype=np.bool_)
    for word in words[3:]:
        short &= word == 0
    for k in range(used):
        packed[:, k] = np.where(short, words[k], 0)
    characters = np.ascontiguousarray(packed.view(np.uint8).T)
    filled = np.flatnonzero(characters.any(axis=1))
    return characters[: filled[-1] + 1 if filled.size else 1]
