"""What one member did on its way, as `solve --trace` records it: relative residuals and gap at every check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from batchlp_cli.report.outcome import number

SERIES = ("iteration", "primal", "dual", "gap", "omega", "restarts")


@dataclass(frozen=True, slots=True)
class Trace:
    """Equally long series, one entry a check: iterations so far, three relative errors, primal weight, restarts so far."""

    name: str
    backend: str
    iteration: tuple[float, ...]
    primal: tuple[float | None, ...]
    dual: tuple[float | None, ...]
    gap: tuple[float | None, ...]
    omega: tuple[float | None, ...]
    restarts: tuple[float, ...]

    @staticmethod
    def of(record: Mapping[str, object]) -> Trace | None:
        """Returns the trace that a record of a run folder holds, None where it holds no complete one."""
        found = [record.get(name) for name in SERIES]
        lists = [[number(v) for v in values] for values in found if isinstance(values, list)]
        if len(lists) < len(SERIES) or len({len(values) for values in lists}) != 1 or not lists[0]:
            return None
        iteration, primal, dual, gap, omega, restarts = lists
        counts = (tuple(v or 0.0 for v in values) for values in (iteration, restarts))
        at, restarted = counts
        told = (tuple(primal), tuple(dual), tuple(gap), tuple(omega))
        return Trace(str(record.get("name")), str(record.get("backend")), at, *told, restarted)
