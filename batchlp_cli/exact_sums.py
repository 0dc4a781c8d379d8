"""Sums of products of float64 numbers without rounding: a float64 is an integer times a power of 2. LPs are not known here."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from batchlp_cli.matrix import Csr
from batchlp_cli.problem import Vector

Dyadics = tuple[list[int], list[int]]
"""Mantissas and exponents of numbers mantissa * 2 ** exponent."""


def dyadics(values: Vector) -> Dyadics:
    """Returns finite float64 numbers as mantissas and exponents."""
    fraction, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.ldexp(fraction, 53).astype(np.int64).tolist(), (exponent.astype(np.int64) - 53).tolist()


def sum_of_products(a: Dyadics, b: Dyadics) -> Fraction:
    """Returns sum_k a_k b_k."""
    terms = [(p * q, e + f) for p, e, q, f in zip(*a, *b, strict=True) if p and q]
    if not terms:
        return Fraction(0)
    least = min(exponent for _, exponent in terms)
    return scaled(sum(mantissa << (exponent - least) for mantissa, exponent in terms), least)


def scaled(mantissa: int, exponent: int) -> Fraction:
    """Returns mantissa * 2 ** exponent."""
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def float_at_most(value: Fraction) -> float:
    """Returns the largest float64 that is not above the value, -infinity where there is none."""
    try:
        near = float(value)
    except OverflowError:
        return float(np.finfo(np.float64).max) if value > 0 else -math.inf
    return near if math.isfinite(near) and Fraction(near) <= value else math.nextafter(near, -math.inf)


def float_at_least(value: Fraction) -> float:
    """Returns the smallest float64 that is not below the value, infinity where there is none."""
    return 0.0 - float_at_most(-value)


def rounded_once(start: Vector, A: Csr, x: Vector) -> Vector:
    """Returns start - A @ x, summed without rounding and rounded once at the end: [m] float64.

    Where a product leaves the range of float64 the entry is not finite. Products are split into two numbers each [T. J. Dekker,
    A floating-point technique for extending the available precision, Numerische Mathematik 18 (1971) 224-242].
    """
    with np.errstate(over="ignore", invalid="ignore"):
        high, low = _products(A.data, -x[A.indices])
    terms, ends = np.stack([high, low], axis=1).ravel().tolist(), (2 * A.indptr).tolist()
    rows = zip(start.tolist(), ends[:-1], ends[1:], strict=True)
    return np.array([_sum([first, *terms[begin:end]]) for first, begin, end in rows], dtype=np.float64)


def _sum(terms: list[float]) -> float:
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):  # beyond the range of float64; infinities of both signs
        return math.nan


def _products(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Returns a * b, rounded, and what the rounding has left out, where that is not below the range of float64."""
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _halves(a: Vector) -> tuple[Vector, Vector]:
    """Returns numbers of at most 26 bits each with a = high + low."""
    scaled = a * 134217729.0  # 2 ** 27 + 1
    high = scaled - (scaled - a)
    return high, a - high
