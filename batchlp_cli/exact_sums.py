"""Sums of products of float64 numbers without rounding: a float64 is an integer times a power of 2. LPs are not known here."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

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
