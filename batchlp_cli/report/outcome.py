"""A row as reports look at it: the few facts that are counted, sorted and drawn, so that a million of them fit in memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from batchlp_cli.status import no_verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one instance. Residuals and gap are relative, times in seconds; None where there is no number.

    tries: attempts made; retry_time: seconds of those after the first; remark: the error or reason, empty if none.
    """

    name: str
    status: str
    verified: bool
    objective: float | None
    primal: float | None
    dual: float | None
    gap: float | None
    backend: str
    method: str
    iterations: int
    solve_time: float
    read_time: float
    group: str
    rows: int
    columns: int
    nonzeros: int
    tries: int
    retry_time: float
    remark: str
    warnings: int
    relaxed: bool
    duplicate: bool

    @property
    def solved(self) -> bool:
        """Whether a backend worked on it: neither unreadable nor answered from another row."""
        return self.tries > 0 and not self.duplicate

    @staticmethod
    def of(row: Mapping[str, object]) -> Outcome:
        """Returns the outcome of a row as results.jsonl holds it; what is missing there or no number becomes None, 0 or ""."""
        attempts = row.get("attempts")
        tries = [a for a in attempts if isinstance(a, dict)] if isinstance(attempts, list) else []
        warnings = row.get("warnings")
        return Outcome(
            name=_text(row.get("name")),
            status=_word(row.get("status")) or "unknown",
            verified=row.get("verified") is True,
            objective=number(row.get("objective")),
            primal=number(row.get("primal_residual_rel")),
            dual=number(row.get("dual_residual_rel")),
            gap=number(row.get("gap_rel")),
            backend=_word(row.get("backend")),
            method=_word(row.get("method")),
            iterations=count(row.get("iterations")),
            solve_time=number(row.get("solve_time")) or 0.0,
            read_time=number(row.get("read_time")) or 0.0,
            group=_word(row.get("group")),
            rows=count(row.get("rows")),
            columns=count(row.get("columns")),
            nonzeros=count(row.get("nonzeros")),
            tries=len(tries),
            retry_time=sum(number(a.get("seconds")) or 0.0 for a in tries[1:]),
            remark=_text(row.get("error")) or _text(row.get("reason")).removesuffix(no_verdict(str(row.get("status")))),
            warnings=len(warnings) if isinstance(warnings, list) else 0,
            relaxed=count(row.get("integer_columns")) > 0,
            duplicate=bool(row.get("duplicate_of")),
        )


def number(value: object) -> float | None:
    """Returns a finite number as float, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def count(value: object) -> int:
    """Returns a number as int, 0 for anything else."""
    return int(number(value) or 0)


def _text(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def _word(value: object) -> str:
    return sys.intern(_text(value))
