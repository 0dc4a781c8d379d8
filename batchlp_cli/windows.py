"""What is solved together: groups window by window, and a group as it is solved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.files.read import ReadOutcome
from batchlp_cli.grouping import Group, Grouper
from batchlp_cli.solving import Stages
from batchlp_cli.watch import Watch


class Work:
    """A group as it is solved. batch: its distinct members; copies: for each of those, the group's members equal to it.

    Members of the batch bear the names of rows: those of `names`, by the group's keys, that a watch wants, else the first.
    """

    def __init__(self, group: Group, first: Indices, names: Callable[[int], str], watch: Watch) -> None:
        self.group = group
        if (first == np.arange(first.size)).all():  # no two are equal
            self.copies = [[member] for member in range(first.size)]
            self.batch = replace(group.batch, names=tuple(map(names, group.keys)))
            return
        distinct = np.unique(first)
        members: defaultdict[int, list[int]] = defaultdict(list)
        for member, original in enumerate(first.tolist()):
            members[original].append(member)
        self.copies = [members[original] for original in distinct.tolist()]
        called = [[names(group.keys[twin]) for twin in twins] for twins in self.copies]
        chosen = tuple(next(filter(watch.wants, own), own[0]) for own in called)
        self.batch = replace(group.batch.take(distinct), names=chosen)

    def tell(self, groups: dict[str, dict[str, object]], second_tries: int, words: dict[str, object]) -> None:
        """Adds the group to what a report tells of groups, by their ids; one that comes in several windows is one there."""
        batch = self.group.batch
        base = batch.base
        sizes = {"group": self.group.id, "rows": base.m, "columns": base.n, "nonzeros": base.nnz}
        counts = {"members": len(batch), "distinct": len(self.batch), "changes": len(batch.changes), "second_tries": second_tries}
        entry = groups.setdefault(self.group.id, sizes | dict.fromkeys(counts, 0))
        entry |= {key: int(str(entry[key])) + count for key, count in counts.items()} | words

    def twins(self, members: Indices) -> tuple[list[int], Indices | None]:
        """Returns the group's members that are equal to those of the batch, and for each its place in `members`, None for all in
        order."""
        counts = [len(self.copies[member]) for member in members.tolist()]
        twins = [twin for member in members.tolist() for twin in self.copies[member]]
        return twins, None if len(twins) == len(counts) else np.repeat(np.arange(len(counts)), counts)


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
