"""What the scenarios of a run come to together: the expected value of their optimal values, and what the mean is worth.

    WS   sum of p_s z_s over the scenarios: wait and see, each scenario solved on its own
    EV   the value of the one LP in which everything random has its mean
    EEV  the sum of p_s z_s with the columns of the first period held at the EV's solution

For a minimisation EV's solution costs EEV on average, and no solution can do better than WS.
[J. Birge and F. Louveaux, Introduction to Stochastic Programming, section 4.2]
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from batchlp_cli.problem import Vector
from batchlp_cli.status import Status


@dataclass(slots=True)
class Expectation:
    """Sums over rows that have a probability: of p, and of p times the objective; and how many have no verified optimum."""

    scenarios: int = 0
    probability: float = 0.0
    weighted: float = 0.0
    without_value: dict[str, int] = field(default_factory=dict)

    def add(self, row: Mapping[str, object]) -> None:
        """Takes a row in; one without a probability does not count."""
        p, value = row["probability"], row["objective"]
        if not isinstance(p, float):
            return
        self.scenarios += 1
        self.probability += p
        if row["status"] == Status.OPTIMAL and isinstance(value, (int, float)):
            self.weighted += p * value
        else:
            word = str(row["status"]) if row["verified"] else "not verified"
            self.without_value[word] = self.without_value.get(word, 0) + 1

    def add_optima(self, probabilities: Vector, values: Vector) -> None:
        """Takes rows in that have a verified optimum: their probabilities, NaN where there is none, and their objectives."""
        counts = np.isfinite(probabilities) & np.isfinite(values)
        p, value = probabilities[counts], values[counts]
        self.scenarios += int(p.size)
        # one after the other, so that sums do not depend on which rows come together
        self.probability = float(np.cumsum(np.append(self.probability, p))[-1])
        self.weighted = float(np.cumsum(np.append(self.weighted, p * value))[-1])

    @property
    def value(self) -> float | None:
        """The expected value over the sum of the probabilities; None where some scenario has no value."""
        if self.without_value or not self.probability:
            return None
        return self.weighted / self.probability

    def in_words(self) -> str:
        """Returns the value, or why there is none."""
        if self.value is not None:
            return f"{self.value:.10g}"
        counts = ", ".join(f"{count} {word}" for word, count in sorted(self.without_value.items()))
        return f"none: {counts} of {self.scenarios} scenarios"


@dataclass(slots=True)
class Study:
    """The three values of a stochastic program. mean: EV, None where the mean LP has no verified optimum."""

    wait_and_see: Expectation
    mean: float | None = None
    mean_solution: Expectation | None = None

    def record(self) -> dict[str, object]:
        """Returns what the report keeps."""
        eev = self.mean_solution
        return {
            "scenarios": self.wait_and_see.scenarios,
            "probability": self.wait_and_see.probability,
            "wait_and_see": self.wait_and_see.value,
            "mean_value": self.mean,
            "mean_solution": None if eev is None else eev.value,
            "without_value": dict(self.wait_and_see.without_value),
            "mean_solution_without_value": {} if eev is None else dict(eev.without_value),
        }

    def sentences(self) -> list[str]:
        """Returns what a person is told."""
        told = [f"expected value of the scenarios (wait and see, WS): {self.wait_and_see.in_words()}"]
        if not math.isclose(self.wait_and_see.probability, 1.0, rel_tol=1e-4):
            told[0] += f" (over probabilities that sum to {self.wait_and_see.probability:.6g})"
        if self.mean_solution is not None:
            told.append(f"value of the mean scenario (EV): {self.mean:.10g}")
            told.append(f"expected result of the mean scenario's first stage (EEV): {self.mean_solution.in_words()}")
        return told
