"""Batches that do not come from many files: one model, and a scenario table or a stochastic program that says what changes.

A producer yields windows of scenarios; here they get names, digests and their part of a sharded run. Solving is elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.files.read import ReadOutcome
from batchlp_cli.files.read.messages import digest_matrix
from batchlp_cli.files.scenario_names import file_names
from batchlp_cli.files.scenarios import Scenarios, table_windows
from batchlp_cli.files.smps import Program, SmpsFiles, read_program
from batchlp_cli.grouping import ID_LENGTH, Group
from batchlp_cli.problem import Vector
from batchlp_cli.report.sources import Sources, SourcesByKey

WINDOW_SHARE = 8
"""Part of the memory of a window that goes to the scenarios themselves; the rest is for their results on the way."""


class Producer(Protocol):
    """Makes scenarios of a model that is read."""

    @property
    def shown(self) -> str:
        """What the scenarios come from, as the user knows it."""
        ...

    def open(self, core: ReadOutcome) -> Sequence[str]:
        """Takes the model; returns notes. Raises UsageError where model and scenarios do not belong together."""
        ...

    def windows(self, memory_bytes: int) -> Iterator[list[Scenarios]]:
        """Yields the scenarios in order; those of one window in a list by their matrices."""
        ...

    def mean(self) -> Scenarios | None:
        """Returns the one LP in which everything random has its mean, None where that is not known."""
        ...

    def held_at(self, x: Vector, memory_bytes: int) -> Iterator[list[Scenarios]]:
        """Yields the scenarios with the columns of the first period held at x."""
        ...


@dataclass(slots=True)
class TableProducer:
    """Scenarios from a table. scale: the numbers are factors."""

    path: Path
    scale: bool = False
    core: ReadOutcome | None = None

    @property
    def shown(self) -> str:
        """The table's path."""
        return str(self.path)

    def open(self, core: ReadOutcome) -> Sequence[str]:
        """Takes the model that the table changes."""
        self.core = core
        return ()

    def windows(self, memory_bytes: int) -> Iterator[list[Scenarios]]:
        """Yields the scenarios of the table."""
        assert self.core is not None
        assert self.core.lp is not None
        for window in table_windows(self.path, self.core.lp, scale=self.scale, memory_bytes=memory_bytes):
            yield [window]

    def mean(self) -> None:
        """Returns None: a table does not tell which columns are decided first."""

    def held_at(self, x: Vector, memory_bytes: int) -> Iterator[list[Scenarios]]:
        """Is never asked, as there is no mean."""
        raise NotImplementedError


@dataclass(slots=True)
class SmpsProducer:
    """Scenarios of a stochastic program; samples: how many to draw, None for all there are."""

    files: SmpsFiles
    samples: int | None = None
    seed: int = 0
    limit_bytes: int = 2 << 30
    program: Program | None = field(default=None)

    @property
    def shown(self) -> str:
        """The stochastic file's path."""
        return str(self.files.stoch)

    def open(self, core: ReadOutcome) -> Sequence[str]:
        """Reads what is random against the core."""
        assert core.lp is not None
        limits = {"samples": self.samples, "seed": self.seed, "limit_bytes": self.limit_bytes}
        self.program = read_program(self.files, core.lp, **limits)  # type: ignore[arg-type]
        return self.program.stoch.notes

    def windows(self, memory_bytes: int) -> Iterator[list[Scenarios]]:
        """Yields the scenarios of the program."""
        assert self.program is not None
        return self.program.windows(memory_bytes)

    def mean(self) -> Scenarios | None:
        """Returns the mean scenario; None where there is no first period to hold."""
        assert self.program is not None
        return self.program.mean() if len(self.program.periods) > 1 else None

    def held_at(self, x: Vector, memory_bytes: int) -> Iterator[list[Scenarios]]:
        """Yields the scenarios with the first period's columns held at x."""
        assert self.program is not None
        return self.program.windows(memory_bytes, fixed=x)


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Groups of scenarios, and for each key in them where its row comes from."""

    groups: list[Group]
    sources: SourcesByKey


def scenario_groups(
    producer: Producer, core: ReadOutcome, memory_bytes: int, shard: tuple[int, int] | None = None, held: Vector | None = None
) -> Iterator[Window]:
    """Yields windows of scenarios as groups. shard: (i, n), every n-th scenario from the i-th on, in the order they come.

    held: [n], where the columns of the first period are held."""
    start = 0
    name_group = _group_namer(core)
    share = memory_bytes // WINDOW_SHARE
    for window in producer.windows(share) if held is None else producer.held_at(held, share):
        groups: list[Group] = []
        found: list[tuple[Indices, Sources]] = []
        position = start
        for scenarios in window:
            keys = np.arange(position, position + len(scenarios.batch), dtype=np.int64)
            position += len(scenarios.batch)
            mine = keys if shard is None else keys[(keys - (shard[0] - 1)) % shard[1] == 0]
            part = scenarios if mine.size == keys.size else scenarios.taken(mine - keys[0])
            if mine.size:
                groups.append(Group(name_group(part), part.batch, tuple(mine.tolist())))
                found.append((mine, sources_of(part, core, producer.shown)))
        start = position
        yield Window(groups, SourcesByKey.joined(found))


def _group_namer(core: ReadOutcome) -> Callable[[Scenarios], str]:
    assert core.lp is not None
    own = core.lp.rows

    def name(scenarios: Scenarios) -> str:
        rows = scenarios.batch.base.rows
        return (core.matrix_digest if rows.shares(own) else digest_matrix(rows))[:ID_LENGTH]

    return name


def sources_of(scenarios: Scenarios, core: ReadOutcome, shown: str) -> Sources:
    """Returns where the rows of scenarios come from; the digest covers the model's bytes and the scenario's changes."""
    names, changes, rows = scenarios.batch.names, scenarios.batch.changes, scenarios.batch.base.rows
    edges = np.searchsorted(changes.member, np.arange(len(names) + 1)).tolist()
    fields, indices, values = changes.field.tobytes(), changes.index.tobytes(), changes.value.tobytes()
    matrix = rows.data.tobytes() if core.lp is None or not rows.shares(core.lp.rows) else b""
    common = hashlib.blake2b(core.input_digest.encode() + matrix, digest_size=16)
    digests = []
    for name, a, b in zip(names, edges, edges[1:], strict=False):
        digest = common.copy()
        own = fields[a:b], indices[8 * a : 8 * b], values[8 * a : 8 * b]
        digest.update(b"".join((name.encode("utf-8", "surrogateescape"), b"\0", *own)))
        digests.append(digest.hexdigest())
    read_time = np.zeros(len(names))
    return Sources(file_names(names), f"{shown}:", names, tuple(digests), read_time, scenarios.probability, tuple(core.warnings))
