"""Numbers as MPS files write them, correctly rounded; nothing about where in a file they stand.

A number is what `float` reads (so it is the nearest float64), a Fortran exponent (1.0D+00) included, underscores and
digits outside ASCII excluded. NaN is never a number. Infinities are the words inf and infinity with either sign.
"""

from __future__ import annotations

import math
import re

import numpy as np

from batchlp_cli.files.mps_keys import Words, as_texts
from batchlp_cli.problem import Mask, Vector

INFINITE = 1e20
"""A bound or a side of this magnitude or more means none (CPLEX, Gurobi, SCIP and HiGHS agree on 1e20); a cost or a
coefficient of it has no meaning."""

SHORT = 15
"""Digits up to which they, and the powers of ten below them, are integers below 2^53."""
DIGITS = 19
"""Digits that fit into 64 bits; 10^19 does, too, and is exact in extended precision."""
POWERS = np.array([10.0**k for k in range(256)])
EXTENDED = np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16
EXACT_POWER = 27
"""Powers of ten up to 10^27 are exact in extended precision, since 5^27 fits into 64 bits."""
LONG_POWERS = np.multiply.accumulate(np.array([1] + [10] * EXACT_POWER, dtype=np.longdouble))
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


def parse_numbers(words: Words) -> Vector:
    """Returns what `parse_number` returns for each field: [fields] float64. Raises ValueError where it does."""
    values, done = parse_decimals(words)
    rest = np.flatnonzero(~done)
    if rest.size:
        words = [w[rest] for w in words]
        values[rest], done = parse_exponents(words)
        rest, left = rest[~done], np.flatnonzero(~done)
        values[rest] = _one_by_one(as_texts([w[left] for w in words])) if rest.size else 0.0
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
    negative = characters[0] == ord("-")
    length, digit_count, points = _sums(characters != 0), _sums(is_digit), _sums(is_point)
    signed = negative | (characters[0] == ord("+"))
    done = (digit_count + points + signed == length) & (points <= 1) & (digit_count > 0)
    # What is behind a point is digits, where the field is a number at all.
    place_of_point = _sums(is_point * np.arange(len(characters), dtype=np.uint8)[:, None])
    behind = (length - np.uint8(1) - place_of_point) * (done & (points == 1))
    digits *= is_digit
    if digit_count.max(initial=0) <= SHORT:
        values = _joined(digits, is_digit, np.float64) / POWERS[behind]
    else:
        values, sure = _round_long(_joined(digits, is_digit, np.uint64), -np.minimum(behind, DIGITS).astype(np.int64))
        done &= (digit_count <= DIGITS) & sure
    values *= 1.0 - 2.0 * negative
    return values, done


def parse_exponents(words: Words) -> tuple[Vector, Mask]:
    """Returns values [fields] float64 of decimals with an exponent (E or D), and which fields were such and could be rounded
    surely: [fields] bool.

    The value is M * 10^p with M all digits in front of the mark as one integer, p the exponent less the digits behind the point.
    """
    characters = _characters(words)
    places = np.arange(len(characters), dtype=np.uint8)[:, None]
    lower = characters | np.uint8(32)
    is_mark = (lower == ord("e")) | (lower == ord("d"))
    mark = _sums(is_mark * places)
    digits = characters - np.uint8(ord("0"))
    is_digit, is_minus = digits < 10, characters == ord("-")
    in_front, is_sign = is_digit & (places < mark), is_minus | (characters == ord("+"))
    behind, is_first = is_digit & (places > mark), places == mark + np.uint8(1)
    is_point = characters == ord(".")
    length, points, signed = _sums(characters != 0), _sums(is_point), is_sign[0]
    digit_count, exponent_digits, exponent_signed = _sums(in_front), _sums(behind), _sums(is_sign & is_first)
    done = (_sums(is_mark) == 1) & (digit_count > 0) & (digit_count <= DIGITS) & (points <= 1)
    done &= (digit_count + points + signed == mark) & (_sums(is_point * places) < mark)
    done &= (exponent_digits > 0) & (exponent_digits <= 4) & (exponent_digits + exponent_signed == length - mark - 1)
    exponent = _joined(digits * behind, behind, np.uint64).astype(np.int64)
    exponent *= 1 - 2 * _sums(is_minus & is_first).astype(np.int64)
    exponent -= np.where(points == 1, mark.astype(np.int64) - 1 - _sums(is_point * places), 0)
    done &= np.abs(exponent) <= EXACT_POWER
    values, sure = _round_long(_joined(digits * in_front, in_front, np.uint64), np.where(done, exponent, 0))
    return values * (1.0 - 2.0 * is_minus[0]), done & sure


def _joined(digits: np.ndarray, is_digit: Mask, kind: type[np.float64 | np.uint64]) -> np.ndarray:
    """Returns all digits of each field as one integer: [fields] of a kind. digits: [places, fields] uint8, 0 where there is none.

    As by hand, 10 * what is before + the next, but pairs and fours first, which fit into 8 and 16 bits and so are
    quick; a place that holds no digit changes nothing. There are 4, 8, 12, ... places.
    """
    times = is_digit * np.uint8(9) + np.uint8(1)
    pairs, times = digits[0::2] * times[1::2] + digits[1::2], times[0::2] * times[1::2]
    fours = pairs[0::2].astype(np.uint16) * times[1::2] + pairs[1::2]
    times = times[0::2].astype(np.uint16) * times[1::2]
    number: np.ndarray = fours[0].astype(kind)
    for k in range(1, len(fours)):
        number *= times[k]
        number += fours[k]
    return number


def _sums(counts: np.ndarray) -> np.ndarray:
    """Returns the sums of each field's bytes or marks [places, fields], which must be below 256: [fields] uint8."""
    sums: np.ndarray = np.add.reduce(counts.view(np.uint8), axis=0, dtype=np.uint8)
    return sums


def _round_long(number: np.ndarray, power: np.ndarray) -> tuple[Vector, Mask]:
    """Returns number * 10^power [fields] float64, power at most EXACT_POWER either way, and where it is surely the nearest
    float64: [fields] bool.

    Divided or multiplied once in extended precision the result is right to 64 bits. Cut to 53 bits it is rounded as the exact one
    would be, unless its last 11 bits stand exactly half way.
    """
    if not EXTENDED:
        return np.zeros(len(number)), np.zeros(len(number), dtype=np.bool_)
    result = number.astype(np.longdouble) / LONG_POWERS[np.maximum(-power, 0)]
    if power.max(initial=0) > 0:
        result *= LONG_POWERS[np.maximum(power, 0)]  # 10^0 = 1 where it was divided
    last_bits = result.view(np.uint64)[0::2] & np.uint64(0x7FF)
    return result.astype(np.float64), last_bits != 0x400


def _characters(words: Words) -> np.ndarray:
    """Returns the first bytes of each field, [4, 8, ... or 24, fields] uint8, as many as the longest has; longer fields as 0."""
    used = words[:3]
    if len(words) > 3:
        short = ~np.logical_or.reduce([word != 0 for word in words[3:]])
        used = [word * short for word in used]
    packed = np.empty((len(used[0]), len(used)), dtype="<u8")
    for k, word in enumerate(used):
        packed[:, k] = word
    lasting = [int(np.bitwise_or.reduce(word)).bit_length() for word in used]
    fours = max((64 * k + bits + 31) // 32 for k, bits in enumerate(lasting) if bits or k == 0) or 1
    return np.ascontiguousarray(packed.view(np.uint8)[:, : 4 * fours].T)
