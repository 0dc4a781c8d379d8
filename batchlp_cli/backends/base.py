"""The one protocol that every backend follows, and the lazy way to one by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Protocol

from batchlp_cli.batch import LPBatch
from batchlp_cli.errors import BackendMissing
from batchlp_cli.optima import Claim
from batchlp_cli.settings import BackendName, SolveSettings
from batchlp_cli.solution import Solution


class Backend(Protocol):
    """Solves batches. One object serves many batches, so that worker processes and caches live on between them."""

    name: str

    def solve(
        self, batch: LPBatch, settings: SolveSettings, warm_start: Solution | None = None
    ) -> Iterator[tuple[int, Solution]]:
        """Yields (member, claim) once for every member, in any order, as members finish.

        Claims are host float64 in original units, stored for minimisation. Deadlines and limits are the backend's duty;
        a member that cannot be solved gets a status, never an exception. warm_start is a solution of the base.
        """
        ...

    def solve_many(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, int, Solution]]:
        """Yields (batch, member, claim) once for every member of every batch, so that small batches fill the machine too."""
        ...

    def solve_together(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, Claim]]:
        """Yields (batch, claim) until every member of every batch had one: claims come for one member or for several at once."""
        ...

    def choices(self) -> Sequence[str]:
        """Returns for each batch of the last call what was chosen, with its reason, in words; empty if nothing was."""
        ...

    def prepare(self, members: int) -> None:
        """Starts what takes time to start and so many members will need; callable from another thread, before a solve."""
        ...

    def close(self) -> None:
        """Stops all work at once and frees processes; callable from another thread, and twice."""
        ...


_MODULES = {
    BackendName.AUTO: ("batchlp_cli.backends.auto.together", "AutoBackend", "highspy"),
    BackendName.HIGHS: ("batchlp_cli.backends.highs.pool", "HighsBackend", "highspy"),
    BackendName.PDHG: ("batchlp_cli.backends.pdhg.solve", "PdhgBackend", "batchlp[pdhg]"),
}


def load_backend(name: BackendName, settings: SolveSettings) -> Backend:
    """Imports and makes the backend of that name; raises BackendMissing where what it needs is not installed."""
    module, attribute, needs = _MODULES[name]
    if name is BackendName.PDHG and settings.fallback:
        module, attribute = "batchlp_cli.backends.auto.together", "LanesFirst"
    try:
        backend: Backend = getattr(import_module(module), attribute).of(settings)
    except ModuleNotFoundError as error:
        raise BackendMissing(
            f"the backend {name} needs {needs}, which is not installed: {error}; try: pip install '{needs}'"
        ) from error
    return backend
