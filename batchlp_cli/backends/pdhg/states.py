"""What is kept of each lane beside its iterate: counts, when what is looked at next, and the states of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from batchlp_cli.backends.pdhg.course import Entry
from batchlp_cli.backends.pdhg.restart import RestartState
from batchlp_cli.backends.pdhg.termination import TerminationState
from batchlp_cli.backends.pdhg.weight import WeightState
from batchlp_cli.batch import Indices
from batchlp_cli.problem import LinearProgram, Mask, Vector

WIDTHS = (1, 8, 16, 32, 64)
"""Widths that a tile is narrowed to when nobody waits and lanes fall idle."""


@dataclass(slots=True, eq=False)
class LaneStates:
    """Per lane [W]. entries: None for an idle lane. iterations, checks: since its member entered; k: since the last restart.

    next_proof, next_polish, next_mending, next_cutoff: iterations at which a ray, a polished point, a mended one, a bound are
    tried next. reloaded: lanes that were put elsewhere at this check; inside: those that had their interior steps.
    """

    entries: list[Entry | None]
    iterations: Vector
    k: Vector
    checks: Indices
    next_proof: Vector
    next_polish: Vector
    next_mending: Vector
    next_cutoff: Vector
    reloaded: Mask
    inside: Mask
    restart: RestartState
    weight: WeightState
    done: TerminationState

    @staticmethod
    def of(width: int) -> LaneStates:
        """Returns the states of lanes that have not begun."""
        return LaneStates(
            entries=[None] * width,
            iterations=np.zeros(width),
            k=np.zeros(width),
            checks=np.zeros(width, dtype=np.int64),
            next_proof=np.zeros(width),
            next_polish=np.zeros(width),
            next_mending=np.zeros(width),
            next_cutoff=np.zeros(width),
            reloaded=np.zeros(width, dtype=np.bool_),
            inside=np.zeros(width, dtype=np.bool_),
            restart=RestartState.of(width),
            weight=WeightState.of(width),
            done=TerminationState.of(width),
        )

    @property
    def width(self) -> int:
        """Number of lanes W."""
        return len(self.entries)

    @property
    def active(self) -> Mask:
        """The lanes that have a member."""
        return np.array([entry is not None for entry in self.entries], dtype=np.bool_)

    @property
    def codes(self) -> Indices:
        """The members in the lanes [W] as `numbers_of` wants them, -1 where a lane is idle."""
        return np.array([-1 if e is None else e.code for e in self.entries], dtype=np.int64)

    @property
    def total(self) -> Vector:
        """The iterations of the members in the lanes, those of earlier lanes included."""
        return self.iterations + [entry.iterations if entry is not None else 0 for entry in self.entries]

    @property
    def check_is_power(self) -> Mask:
        """The lanes at whose check, the 1st, 2nd, 4th, 8th, ..., what is dear is looked at."""
        power: Mask = (self.checks & (self.checks - 1)) == 0
        return power

    def names(self, names: Sequence[str], lanes: Mask) -> list[str | None]:
        """Returns the names of the members in some lanes, None for all others; names: those of the batch."""
        return [names[e.member] if e is not None and lanes[at] else None for at, e in enumerate(self.entries)]

    def entry(self, lane: int) -> Entry:
        """Returns the entry of a lane that has one."""
        entry = self.entries[lane]
        assert entry is not None
        return entry

    def take(self, lane: int) -> Entry:
        """Empties a lane and returns its entry."""
        entry, self.entries[lane] = self.entry(lane), None
        return entry

    def begin(self, lane: int, entry: Entry, given: LinearProgram, shift: float, omega: float) -> None:
        """Starts a lane with an entry, its member as given, what its value is above that of the reduced one, and a weight."""
        self.entries[lane] = entry
        for name in ("iterations", "k", "checks", "next_proof", "next_polish", "next_mending", "next_cutoff", "inside"):
            getattr(self, name)[lane] = 0
        self.weight.begin(lane, omega)
        self.done.begin(lane, given, shift)

    def moved(self, lanes: Indices, width: int) -> LaneStates:
        """Returns the states of a tile of another width: some lanes come first, in the order given; the others have not begun."""
        made = LaneStates.of(width)
        made.entries[: lanes.size] = [self.entries[lane] for lane in lanes]
        for old, new in ((self, made), (self.restart, made.restart), (self.weight, made.weight), (self.done, made.done)):
            for name in (f.name for f in fields(old)):
                values = getattr(old, name)
                if isinstance(values, np.ndarray):
                    getattr(new, name)[: lanes.size] = values[lanes]
        return made
