"""Reads and groups like a run, solves nothing, and tells what would be solved and why files are not together."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from batchlp_cli.batch import Field, LPBatch
from batchlp_cli.dispatch import choose_backend
from batchlp_cli.events import Begun, InputRead, Listen, Note
from batchlp_cli.files.discover import Discovery
from batchlp_cli.files.read import ModelReader, ReadRequest
from batchlp_cli.grouping import Group, Grouper, unlike
from batchlp_cli.interrupts import Interruptions
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings

if TYPE_CHECKING:
    from batchlp_cli.producers import Producer

EXAMPLES = 3
"""How many members a group's description names."""


@dataclass(slots=True)
class GroupView:
    """What inspect tells of one group; sizes in bytes, changes counted by field."""

    group: str
    rows: int
    columns: int
    nonzeros: int
    integer_columns: int
    members: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    memory_bytes: int = 0
    backend: str = ""
    reason: str = ""
    examples: list[str] = field(default_factory=list)
    unlike: str = ""

    def add(self, batch: LPBatch, shown: list[str], settings: SolveSettings) -> None:
        """Takes one more window of the group's members into account."""
        self.members += len(batch)
        for code in Field:
            count = int((batch.changes.field == code).sum())
            if count:
                self.changes[code.name.lower()] += count
        self.memory_bytes = max(self.memory_bytes, batch.base.memory_bytes) + batch.changes.memory_bytes
        choice = choose_backend(batch, settings)
        self.backend, self.reason = str(choice.backend), choice.reason
        self.examples += shown[: EXAMPLES - len(self.examples)]


@dataclass(slots=True)
class Inspection:
    """All groups, and the inputs that are no readable LP with the reason."""

    groups: list[GroupView]
    unreadable: list[tuple[str, str]]

    @property
    def exit_code(self) -> int:
        """Returns 0 when all inputs are readable, 1 when some are, 3 when none is."""
        if not self.groups:
            return 3
        return 1 if self.unreadable else 0


def inspect_inputs(
    discovery: Discovery, settings: SolveSettings, stdin: bytes | None, listen: Listen, producer: Producer | None = None
) -> Inspection:
    """Reads and groups the inputs, in the same windows as a run, and returns what would be solved.

    producer: makes scenarios of the one model that is read."""
    for note in discovery.notes:
        listen(Note(note))
    shown = {i.index: i.shown for i in discovery.inputs}
    views: dict[str, GroupView] = {}
    bases: dict[str, LinearProgram] = {}
    unreadable = [(i.shown, i.problem) for i in discovery.inputs if i.problem]
    wanted = discovery.readable
    listen(Begun(len(wanted)))
    grouper = Grouper(settings.memory_bytes // 2)
    with ExitStack() as stack:
        stack.enter_context(Interruptions())
        reader = stack.enter_context(ModelReader(settings))
        for outcome in reader.read(ReadRequest.of(i, stdin) for i in wanted):
            listen(InputRead())
            if outcome.lp is None:
                unreadable.append((shown[outcome.key], outcome.error))
                continue
            if producer is not None:
                from batchlp_cli.producers import scenario_groups  # files need none of it

                for note in producer.open(outcome):
                    listen(Note(note))
                for window in scenario_groups(producer, outcome, settings.memory_bytes):
                    names = {key: source.shown for key, source in window.sources.items()}
                    _look(window.groups, views, bases, names, settings)
                continue
            grouper.add(outcome.key, outcome.lp, outcome.matrix_digest)
            if grouper.memory_bytes > settings.memory_bytes:
                _look(grouper.take_batches(), views, bases, shown, settings)
        _look(grouper.take_batches(), views, bases, shown, settings)
    return Inspection(list(views.values()), unreadable)


def _look(
    groups: list[Group],
    views: dict[str, GroupView],
    bases: dict[str, LinearProgram],
    shown: dict[int, str],
    settings: SolveSettings,
) -> None:
    for group in groups:
        base = group.batch.base
        if group.id not in views:
            view = GroupView(group.id, base.m, base.n, base.nnz, int(base.integer.sum()))
            views[group.id] = view
            view.unlike = _nearest(base, bases)
            bases[group.id] = base
        views[group.id].add(group.batch, [shown[key] for key in group.keys], settings)


def _nearest(base: LinearProgram, bases: dict[str, LinearProgram]) -> str:
    """Returns why a group is apart from the earlier one that it looks most like, or nothing where it looks like none.

    Two groups look alike when their shapes agree, or most of their column names.
    """
    for group, other in bases.items():
        if other.rows.shape == base.rows.shape:
            return f"not in {group} since {unlike(other, base)}"
    names = set(base.col_names)
    for group, other in bases.items():
        shared = len(names.intersection(other.col_names))
        if names and 2 * shared > max(len(names), len(other.col_names)):
            return f"not in {group} since {unlike(other, base)}"
    return ""
