"""What is solved together: groups window by window, and a group as it is solved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from batchlp_cli.batch import Indices, picked
from batchlp_cli.files.read import ReadOutcome
from batchlp_cli.grouping import Group, Grouper
from batchlp_cli.solving import Stages
from batchlp_cli.watch import Watch


class Work:
    """A group as it is solved. batch: its distinct members.

    Members of the batch bear the names of rows: of those that are equal the first that a watch wants, else the first.
    """

    def __init__(self, group: Group, first: Indices, names: Sequence[str], watch: Watch) -> None:
        """first: for each member the first that is equal to it; names: of the rows."""
        self.group = group
        self.keys = np.array(group.keys, dtype=np.int64)
        self._order = np.argsort(first, kind="stable")  # the group's members, those that are equal together
        distinct = self._order[np.flatnonzero(np.diff(first[self._order], prepend=-1))]
        self._starts = np.searchsorted(first[self._order], np.append(distinct, first.size))
        whole = distinct.size == first.size
        self.batch = group.batch if whole else group.batch.take(distinct)
        called = tuple(names) if whole else picked(names, distinct)
        if watch.tracing:
            called = tuple(self._wanted(k, names, watch) for k in range(distinct.size))
        self.batch = replace(self.batch, names=called)

    def _wanted(self, member: int, names: Sequence[str], watch: Watch) -> str:
        own = [names[twin] for twin in self.copies(member)]
        return next(filter(watch.wants, own), own[0])

    def copies(self, member: int) -> list[int]:
        """Returns the group's members that are equal to one of the batch."""
        copies: list[int] = self._order[self._starts[member] : self._starts[member + 1]].tolist()
        return copies

    def tell(self, groups: dict[str, dict[str, object]], second_tries: int, words: dict[str, object]) -> None:
        """Adds the group to what a report tells of groups, by their ids; one that comes in several windows is one there."""
        batch = self.group.batch
        base = batch.base
        sizes = {"group": self.group.id, "rows": base.m, "columns": base.n, "nonzeros": base.nnz}
        counts = {"members": len(batch), "distinct": len(self.batch), "changes": len(batch.changes), "second_tries": second_tries}
        entry = groups.setdefault(self.group.id, sizes | dict.fromkeys(counts, 0))
        entry |= {key: int(str(entry[key])) + count for key, count in counts.items()} | words

    def twins(self, members: Indices) -> tuple[Indices, Indices | None]:
        """Returns the group's members that are equal to those of the batch, and for each its place in `members`, None for all in
        order."""
        starts, counts = self._starts[members], np.diff(self._starts)[members]
        if (counts == 1).all():
            return self._order[starts], None
        position = np.repeat(np.arange(counts.size), counts)
        own = np.arange(position.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._order[starts[position] + own], position


def windows(outcomes: Iterator[ReadOutcome], grouper: Grouper, limit_bytes: int, stages: Stages) -> Iterator[Sequence[Group]]:
    """Yields groups of the inputs read, window by window: a window ends when what it holds exceeds the limit."""
    while True:
        with stages.timed("read"):
            outcome = next(outcomes, None)
        if outcome is None:
            break
        with stages.timed("group"):
            assert outcome.lp is not None
            grouper.add(outcome.key, outcome.lp, outcome.matrix_digest)
            full = grouper.memory_bytes > limit_bytes
        if full:
            yield grouper.take_batches()
    yield grouper.take_batches()
