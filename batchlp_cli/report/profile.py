"""Performance profiles: for each run, the share of instances that it solves within a factor of the best time.
[Dolan, Moré: Benchmarking optimization software with performance profiles. Math. Program. 91 (2002)]"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Times = Sequence[Sequence[float]]
SHOWN_FACTORS = (1.0, 2.0, 4.0, 10.0, 100.0)

SHORTEST = 1e-4
"""Seconds below which times are taken as equal: what a clock on a busy machine can't tell apart is no win."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One run's curve: it solves the share rho[k] of instances within factor tau[k] of the best; it ends at what it solves."""

    label: str
    tau: tuple[float, ...]
    rho: tuple[float, ...]

    def at(self, factor: float) -> float:
        """Returns the share of instances within a factor of the best."""
        return max((rho for tau, rho in zip(self.tau, self.rho, strict=True) if tau <= factor), default=0.0)


def performance_profiles(labels: Sequence[str], times: Times) -> tuple[Profile, ...]:
    """Returns a curve a run from times[run][instance] in seconds, inf where that run has no verified answer.

    Instances that no run solved count for the whole of which shares are taken, as in the paper.
    """
    floored = [[max(t, SHORTEST) for t in own] for own in times]
    best = [min(column) for column in zip(*floored, strict=True)]
    profiles = []
    for label, own in zip(labels, floored, strict=True):
        # r_ps = t_ps / min_s t_ps
        ratios = sorted(t / b for t, b in zip(own, best, strict=True) if math.isfinite(t))
        # rho_s(tau) = |{p : r_ps <= tau}| / n, a step at each ratio
        ends = [k for k, ratio in enumerate(ratios) if k + 1 == len(ratios) or ratios[k + 1] > ratio]
        tau, rho = tuple(ratios[k] for k in ends), tuple((k + 1) / len(best) for k in ends)
        profiles.append(Profile(label, tau, rho))
    return tuple(profiles)


def shifted_mean(times: Sequence[float], shift: float) -> float | None:
    """Returns the shifted geometric mean exp(mean(log(t + s))) - s of seconds, None of nothing."""
    return math.exp(sum(math.log(t + shift) for t in times) / len(times)) - shift if times else None
