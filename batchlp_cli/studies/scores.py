"""What a branching candidate is worth: scores of gains, and how sure a ranking is when values are known as intervals.

A child's relaxation lies in [bound, value]: a rigorous dual bound and the value of a point that the referee accepted. Gains
over the root, and so scores, are intervals too. Candidates are ranked by what is proved, the lower ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

EPSILON = 1e-6
"""Least gain in the product rule, so that a child without gain does not hide the other [T. Achterberg, thesis, 2007, 5.2]."""


class ScoreRule(StrEnum):
    """How the gains of the two children become one score."""

    PRODUCT = "product"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, low <= high, either of which may be infinite."""

    low: float
    high: float


def gain(child: Interval, root: Interval) -> Interval:
    """Returns the interval of child minus root, at least 0, since a child's feasible set is part of the root's."""
    return Interval(max(child.low - root.high, 0.0), max(child.high - root.low, 0.0))


def score(down: float, up: float, rule: ScoreRule) -> float:
    """Returns the score of two gains, each at least 0."""
    if rule is ScoreRule.MIN:
        return min(down, up)
    if rule is ScoreRule.MAX:
        return max(down, up)
    return max(down, EPSILON) * max(up, EPSILON)


def score_interval(down: Interval, up: Interval, rule: ScoreRule) -> Interval:
    """Returns the interval of the score; every rule is monotone in both gains, so the ends belong to the ends."""
    return Interval(score(down.low, up.low, rule), score(down.high, up.high, rule))


def rank(scores: Sequence[Interval]) -> tuple[list[int], list[int]]:
    """Returns the candidates from best to worst by the lower end, and those beside the first that might be better than it."""
    order = sorted(range(len(scores)), key=lambda k: (-scores[k].low, -scores[k].high, k))
    contenders = [k for k in order[1:] if scores[k].high > scores[order[0]].low]
    return order, contenders
