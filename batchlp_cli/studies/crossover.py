"""At which size two ways of solving change places, from their times at several sizes and repeats. Nothing is run here.

The logarithm of the ratio of times is interpolated over the logarithm of the number of nonzeros; where it passes 0, the two
change places. How sure that is comes from drawing the repeats anew: the bootstrap [B. Efron, R. Tibshirani, An Introduction to
the Bootstrap, 1993].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DRAWS = 1000
COVER = 0.9
"""Share of the draws that the interval of a crossover holds."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One size: its nonzeros, and the seconds a member of both sides, one entry a repeat."""

    nonzeros: int
    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def speedup(self) -> float:
        """How many times faster the first side is, by medians; NaN without times."""
        return _median(self.second) / _median(self.first) if self.first and self.second else math.nan


@dataclass(frozen=True, slots=True)
class Crossover:
    """Where the first side becomes the faster one (grows: with size) or ceases to be (not grows), in nonzeros.

    at: None where the sides do not change places in the range. low, high: what COVER of the draws hold, None where fewer draws
    than that have a crossover. passes: how often the interpolated ratio passes 1; at is the last of these.
    """

    at: float | None
    low: float | None
    high: float | None
    passes: int
    grows: bool

    def in_words(self, first: str, second: str, sizes: Sequence[Timed]) -> str:
        """Says what was found, in one sentence."""
        known = [s for s in sizes if math.isfinite(s.speedup)]
        if not known:
            return "no size has times of both sides, so nothing can be said of a crossover"
        least, most = min(s.nonzeros for s in known), max(s.nonzeros for s in known)
        if self.at is None:
            winner = first if known[-1].speedup >= 1 else second
            span = f"from {least:,} to {most:,}" if least < most else f"at {least:,}"
            return f"no crossover in the range: {winner} is faster {span} nonzeros"
        later, earlier = (first, second) if self.grows else (second, first)
        sure = (
            f" (90% of draws: {self.low:,.0f} to {self.high:,.0f})" if self.low is not None else " (uncertain: repeats disagree)"
        )
        more = f"; they change places {self.passes} times, this is the last" if self.passes > 1 else ""
        return f"crossover at {self.at:,.0f} nonzeros{sure}: {earlier} is faster below, {later} above{more}"


def find_crossover(sizes: Sequence[Timed], seed: int = 1) -> Crossover:
    """Returns the crossover of several sizes; those without times of both sides are left out."""
    known = sorted((s for s in sizes if math.isfinite(s.speedup) and s.speedup > 0), key=lambda s: s.nonzeros)
    x = np.log([max(1, s.nonzeros) for s in known])
    found = _passes(x, np.log([s.speedup for s in known]))
    if not found:
        return Crossover(None, None, None, 0, False)
    at, grows = found[-1]
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(DRAWS):
        ratios = [_median(rng.choice(s.second, len(s.second))) / _median(rng.choice(s.first, len(s.first))) for s in known]
        again = [place for place, up in _passes(x, np.log(ratios)) if up == grows]
        drawn += again[-1:]
    if len(drawn) < COVER * DRAWS:
        return Crossover(math.exp(at), None, None, len(found), grows)
    low, high = np.exp(np.quantile(drawn, [(1 - COVER) / 2, (1 + COVER) / 2]))
    return Crossover(math.exp(at), float(low), float(high), len(found), grows)


def _passes(x: np.ndarray, y: np.ndarray) -> list[tuple[float, bool]]:
    """Returns where the line through the points passes 0, and whether upwards."""
    found = []
    for k in range(len(x) - 1):
        a, b = float(y[k]), float(y[k + 1])
        if (a < 0 <= b) or (b < 0 <= a):
            found.append((float(x[k] + (x[k + 1] - x[k]) * a / (a - b)), b > a))
    return found


def _median(values: Sequence[float] | np.ndarray) -> float:
    return float(np.median(values))
