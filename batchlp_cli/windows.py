"""What is solved together: groups window by window, and a group as it is solved; and the clock of the stages."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.files.read import ReadOutcome
from batchlp_cli.grouping import Group, Grouper


class Stages:
    """Wall time of the main thread by stage, in seconds."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the time that the block takes to a stage."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - begun


class Work:
    """A group as it is solved. batch: its distinct members; copies: for each of those, the group's members equal to it."""

    def __init__(self, group: Group, first: Indices) -> None:
        distinct = np.unique(first)
        members: defaultdict[int, list[int]] = defaultdict(list)
        for member, original in enumerate(first.tolist()):
            members[original].append(member)
        self.group = group
        self.batch = group.batch.take(distinct)
        self.copies = [members[original] for original in distinct.tolist()]


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
