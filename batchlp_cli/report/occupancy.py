"""Lanes in use over time, as report.json keeps it: equal spans of time with the lanes that worked and those that there were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from batchlp_cli.report.outcome import number


@dataclass(frozen=True, slots=True)
class Occupancy:
    """span: seconds of an entry; busy, width: lane-seconds of each span in which lanes held a member, and in which they were."""

    span: float
    busy: tuple[float, ...]
    width: tuple[float, ...]

    @property
    def share(self) -> float:
        """Share of the lanes' time in which they held a member."""
        whole = sum(self.width)
        return sum(self.busy) / whole if whole else 0.0

    @staticmethod
    def of(report: Mapping[str, object]) -> Occupancy | None:
        """Returns what a report tells of lanes, None where it tells nothing."""
        found = report.get("lanes")
        if not isinstance(found, dict):
            return None
        span, busy, width = number(found.get("span")), found.get("busy"), found.get("width")
        if not span or not isinstance(busy, list) or not isinstance(width, list) or len(busy) != len(width) or not busy:
            return None
        series = (tuple(number(v) or 0.0 for v in values) for values in (busy, width))
        return Occupancy(span, *series)
