"""What steering sees of a call of the backend, and what it may ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from batchlp_cli.backends.auto.stint import Stint
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.batch import LPBatch

if TYPE_CHECKING:
    from batchlp_cli.backends.pdhg.solve import PdhgBackend


class Books(Protocol):
    """One call: who works on what, and the ways to change that."""

    batches: Sequence[LPBatch]
    jobs: int
    highs: HighsBackend
    lanes: PdhgBackend | None
    stint: Stint | None

    @property
    def loading(self) -> bool:
        """Tells whether the lanes are being loaded."""
        ...

    def load_lanes(self) -> None:
        """Begins to load the lanes, beside what HiGHS does."""
        ...

    def start_stint(self, stint: Stint) -> None:
        """Starts lanes on what a stint gives them."""
        ...

    def stop_stint(self) -> None:
        """Lets lanes end at their next check."""
        ...

    def hand_over(self, k: int, member: int) -> None:
        """Gives a member to HiGHS, before all that wait there."""
        ...

    def call_back(self, k: int, member: int) -> bool:
        """Takes a member away from its HiGHS worker and lets it wait again; tells whether it may."""
        ...
