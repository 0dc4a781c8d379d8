"""What is counted for each lane, and how the states of lanes move to a tile of another width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.problem import Mask, Vector

WIDTHS = (1, 8, 16, 32, 64)
"""Widths that a tile is narrowed to when nobody waits and lanes fall idle."""

State = TypeVar("State")


@dataclass(slots=True, eq=False)
class Tally:
    """Per lane [W]: iterations of its member here, k steps since its last restart, checks; the iterations from which a proof or
    a polished point is next due; whether the lane was just put elsewhere."""

    iterations: Vector
    k: Vector
    checks: Indices
    next_proof: Vector
    next_polish: Vector
    reloaded: Mask

    @staticmethod
    def of(width: int) -> Tally:
        """Returns the tally of lanes that have not begun."""
        iterations, k, proof, polish = (np.zeros(width) for _ in range(4))
        return Tally(iterations, k, np.zeros(width, dtype=np.int64), proof, polish, np.zeros(width, dtype=np.bool_))

    def begin(self, lane: int) -> None:
        """Starts a lane with a member."""
        self.iterations[lane] = self.k[lane] = self.checks[lane] = self.next_proof[lane] = self.next_polish[lane] = 0


def resized(state: State, kept: Indices, width: int) -> State:
    """Returns the state of a tile of another width: the lanes `kept` first, the others as lanes that have not begun.

    state: a dataclass of arrays [W] with a static `of(width)`.
    """
    kind: Any = type(state)
    made: State = kind.of(width)
    for name in kind.__slots__:
        getattr(made, name)[: kept.size] = getattr(state, name)[kept]
    return made
