"""What a run tells whoever listens: plain values, so that the pipeline needs no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for the user: something skipped, a choice made and why, a warning."""

    text: str
    level: int = 1  # 0: always shown unless quiet, 1: shown by default, 2: shown with -v


@dataclass(frozen=True, slots=True)
class Begun:
    """The run has begun: how many inputs it has."""

    inputs: int


@dataclass(frozen=True, slots=True)
class InputRead:
    """One more input was read, or found unreadable."""


@dataclass(frozen=True, slots=True)
class RowReady:
    """A result row is complete and, where there is a run folder, on disk. line: the row as JSON, without the line's end."""

    row: Mapping[str, object]
    line: str


class Rows(Protocol):
    """Several rows, each of which is made when it is asked for."""

    def __len__(self) -> int: ...

    def rows(self) -> Iterator[Mapping[str, object]]:
        """Yields the rows."""
        ...

    @property
    def text(self) -> str:
        """The rows as JSON, a line each with its end."""
        ...


@dataclass(frozen=True, slots=True)
class RowsReady:
    """Several result rows are complete and, where there is a run folder, on disk."""

    rows: Rows


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work on one model is: what is counted, how many are done, and of how many."""

    what: str
    done: int
    of: int


Event = Note | Begun | InputRead | RowReady | RowsReady | Progress
Listen = Callable[[Event], None]
