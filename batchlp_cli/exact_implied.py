"""Column bounds that rows imply, in rational arithmetic, each rounded outward to a float64 so that numbers stay short.

Row i says  a_k x_k <= upper_i - sum_(j != k) min over the box of a_j x_j.  That is a bound of x_k where the sum is finite.
Bounds are sought only where there is none; the ones found serve to find more. The row c @ x <= cutoff takes part. Passes and
their order are those of implied_bounds.py, so that what is found here is at least as tight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from batchlp_cli.exact_sums import float_at_least, float_at_most
from batchlp_cli.problem import LinearProgram, Vector

PASSES = 12
"""Most passes, the first over the cost only."""

Entries = list[tuple[int, Fraction]]
"""Columns and coefficients of one row."""


def implied_box(
    lp: LinearProgram, cutoff: float, need_lower: Sequence[bool], need_upper: Sequence[bool]
) -> tuple[Vector, Vector]:
    """Returns column bounds (lower, upper) [n] in which implied ones stand for infinite ones, as far as they were found.

    need_lower, need_upper: [n], the sides that are wanted; the search ends once they are all finite.
    """
    box = _Box(lp.col_lower.tolist(), lp.col_upper.tolist())
    wanted = [j for j in range(lp.n) if _is_missing(box, j, need_lower, need_upper)]
    rows = _costs(lp, cutoff)
    for attempt in range(PASSES):
        for entries, cap in rows:
            box.look_at(entries, cap)
        found = box.take_over()
        wanted = [j for j in wanted if _is_missing(box, j, need_lower, need_upper)]
        if not wanted or not (found or attempt == 0):
            break
        rows = rows if attempt else [*rows, *_rows(lp)]
    return np.array(box.lower), np.array(box.upper)


def _is_missing(box: _Box, j: int, need_lower: Sequence[bool], need_upper: Sequence[bool]) -> bool:
    return (need_lower[j] and math.isinf(box.lower[j])) or (need_upper[j] and math.isinf(box.upper[j]))


def _costs(lp: LinearProgram, cutoff: float) -> list[tuple[Entries, Fraction]]:
    """Returns the row  c @ x <= cutoff, if there is one, as a list of (entries, cap)."""
    costs = [(j, Fraction(v)) for j, v in enumerate(lp.c.tolist()) if v]
    return [(costs, Fraction(cutoff))] if costs and math.isfinite(cutoff) else []


def _rows(lp: LinearProgram) -> Iterator[tuple[Entries, Fraction]]:
    """Yields each finite side of each row as  entries @ x <= cap."""
    starts, columns, values = lp.A.indptr.tolist(), lp.A.indices.tolist(), lp.A.data.tolist()
    for i, (low, high) in enumerate(zip(lp.row_lower.tolist(), lp.row_upper.tolist(), strict=True)):
        part = slice(starts[i], starts[i + 1])
        entries = [(j, Fraction(v)) for j, v in zip(columns[part], values[part], strict=True)]
        if math.isfinite(high):
            yield entries, Fraction(high)
        if math.isfinite(low):
            yield [(j, -v) for j, v in entries], -Fraction(low)


class _Box:
    """Column bounds as they become known, float64, and those that this pass has found: the tightest for each side."""

    def __init__(self, lower: list[float], upper: list[float]) -> None:
        self.lower, self.upper = lower, upper
        self._found: dict[tuple[int, bool], Fraction] = {}  # by column and whether it is an upper bound

    def look_at(self, entries: Entries, cap: Fraction) -> None:
        """Finds the bounds for infinite ones that  entries @ x <= cap  implies."""
        endless = [(j, a) for j, a in entries if math.isinf(self._at_least(j, a))]
        if len(endless) > 1:
            return
        candidates = [(j, a) for j, a in endless or entries if math.isinf(self._at_most(j, a))]
        if not candidates:
            return
        lone = endless[0][0] if endless else -1
        left = cap - sum((a * Fraction(self._at_least(j, a)) for j, a in entries if j != lone), Fraction(0))
        for j, a in candidates:
            bound = (left if j == lone else left + a * Fraction(self._at_least(j, a))) / a
            key, tighter = (j, a > 0), min if a > 0 else max
            self._found[key] = tighter(bound, self._found.get(key, bound))

    def take_over(self) -> bool:
        """Makes what was found known, rounded outward; tells whether that was anything."""
        found = False
        for (j, is_upper), bound in self._found.items():
            side = self.upper if is_upper else self.lower
            side[j] = float_at_least(bound) if is_upper else float_at_most(bound)
            found |= math.isfinite(side[j])
        self._found.clear()
        return found

    def _at_least(self, j: int, a: Fraction) -> float:
        """Returns the bound of x_j at which a x_j is smallest."""
        return self.lower[j] if a > 0 else self.upper[j]

    def _at_most(self, j: int, a: Fraction) -> float:
        return self.upper[j] if a > 0 else self.lower[j]
