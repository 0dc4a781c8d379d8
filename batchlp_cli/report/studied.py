"""What a study came to, branching or tightening: a row a model, and rows of what was found of columns, as cells of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from batchlp_cli.report.outcome import number
from batchlp_cli.report.words import seconds_in_words, value_in_words

Row = Mapping[str, object]
Cells = tuple[tuple[str, ...], list[tuple[str, ...]]]  # headings, rows

BRANCHING, TIGHTENING = "branching", "tightening"
MOST_FOUND = 200
"""Rows of columns that are kept for the page: those that matter most, which a study puts or marks first."""


@dataclass(frozen=True, slots=True)
class Study:
    """kind: BRANCHING or TIGHTENING; models, found: rows as results.jsonl holds them; count: how many were found in all.

    pictures: (name of the model, SVG as bytes).
    """

    kind: str
    models: tuple[Row, ...]
    found: tuple[Row, ...]
    count: int
    pictures: tuple[tuple[str, bytes], ...] = ()

    def model_cells(self) -> Cells:
        """Returns the table of the models, one column of text before the numbers, the status behind the name."""
        if self.kind == BRANCHING:
            headings = ("model", "status", "best", "root value", "candidates", "contenders", "fixings")
            own = [
                (_text(m, "best"), _value(m, "root_value"), *_counts(m, "candidates", "contenders", "fixings"))
                for m in self.models
            ]
        else:
            headings = ("model", "status", "rounds", "optimum", "changed bounds", "ends solved for", "ends filtered")
            names = ("changed_bounds", "solved", "filtered")
            own = [(_text(m, "rounds"), _value(m, "optimum"), *_counts(m, *names)) for m in self.models]
        rows = [
            (_text(m, "name"), _text(m, "status") or _text(m, "error"), *cells, *_counts(m, "iterations"), _time(m))
            for m, cells in zip(self.models, own, strict=True)
        ]
        return (*headings, "iterations", "solve time"), rows

    def found_cells(self) -> Cells:
        """Returns the table of candidates in the order of the ranking, or of ranges, those that changed first."""
        headings: tuple[str, ...]
        values: tuple[str, ...]
        if self.kind == BRANCHING:
            headings = ("candidate", "status", "place", "value", "score", "down bound", "up bound")
            values = ("x", "score", "down_bound", "up_bound")
            return headings, [
                (_text(r, "name"), _status(r), _text(r, "place") or "-", *(_value(r, key) for key in values)) for r in self.found
            ]
        headings = ("column or row", "status", "minimum", "maximum", "minimum before", "maximum before")
        values = ("minimum", "maximum", "old_minimum", "old_maximum")
        return headings, [(_text(r, "name"), _status(r), *(_value(r, key) for key in values)) for r in self.found]


def study_of(rows: Iterable[Row], pictures: Sequence[tuple[str, bytes]] = ()) -> Study | None:
    """Returns the study that rows are of, None for those of a run."""
    models: list[Row] = []
    found: list[Row] = []
    count, kind = 0, ""
    for row in rows:
        if "kind" not in row:
            return None
        kind = kind or (BRANCHING if "root_value" in row else TIGHTENING)
        if row.get("kind") == "model":
            models.append(row)
            continue
        count += 1
        found.append(row)
        if len(found) > 2 * MOST_FOUND:
            found = sorted(found, key=_rank)[:MOST_FOUND]
    return Study(kind, tuple(models), tuple(sorted(found, key=_rank)[:MOST_FOUND]), count, tuple(pictures)) if kind else None


def _rank(row: Row) -> tuple[bool, float]:
    """Puts changed ranges and fixings first, then candidates by their place."""
    return row.get("status") not in ("changed", "fixing"), number(row.get("place")) or 0.0


def _text(row: Row, key: str) -> str:
    value = row.get(key)
    return "" if value is None else str(value)


def _status(row: Row) -> str:
    return _text(row, "status") + ("" if row.get("verified") is True else ", not proved")


def _value(row: Row, key: str) -> str:
    return value_in_words(number(row.get(key)), ".8g")


def _counts(row: Row, *keys: str) -> tuple[str, ...]:
    values = (row.get(key) for key in keys)
    return tuple(f"{len(value) if isinstance(value, list) else int(number(value) or 0):,}" for value in values)


def _time(row: Row) -> str:
    return seconds_in_words(number(row.get("solve_time")))
