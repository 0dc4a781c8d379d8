"""Lists of what is ready: every item once and in order, and a backlog that tells when too many wait."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp

from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backlog import Backlog
from batchlp_cli.batch import Changes, Field, LPBatch
from batchlp_cli.problem import LinearProgram
from batchlp_cli.pump import ready_lists
from batchlp_cli.settings import SolveSettings


def test_all_items_come_once_and_in_order() -> None:
    """Lists of at most so many items hold all of them in their order."""
    lists = list(ready_lists(iter(range(1000)), most=7))
    assert [item for some in lists for item in some] == list(range(1000))
    assert max(map(len, lists)) <= 7


def test_an_error_comes_after_the_items_before_it() -> None:
    """What was made before an exception is handled; then it is raised where the lists are taken."""

    def items() -> Iterator[int]:
        yield from range(5)
        raise KeyError("six")

    lists = ready_lists(items(), most=5)
    got: list[int] = []
    while len(got) < 5:
        got += next(lists)
    assert got == list(range(5))
    with pytest.raises(KeyError, match="six"):
        next(lists)


def test_a_backlog_is_full_until_somebody_handles_it() -> None:
    """It counts what was made and not taken, never blocks, and stays behind when it is pickled."""
    backlog, made = Backlog(3), threading.Event()

    def items() -> Iterator[int]:
        yield from range(10)
        made.set()

    lists = ready_lists(items(), most=4, backlog=backlog)
    assert not backlog.is_full()
    got = next(lists)
    assert made.wait(10)
    assert backlog.is_full()
    assert got + [item for some in lists for item in some] == list(range(10))
    assert not backlog.is_full()
    assert pickle.loads(pickle.dumps(backlog)) is None


def test_workers_begin_no_member_while_the_backlog_is_full() -> None:
    """With nobody who takes answers, HiGHS stops after those that it had begun; it goes on once they are taken, to the end."""
    base = LinearProgram("small", np.ones(2), sp.csr_array(np.ones((1, 2))), np.ones(1), np.full(1, 9.0), np.zeros(2), np.ones(2))
    members, most = 40, 5
    codes, row = np.full(members, Field.ROW_LOWER, dtype=np.int8), np.zeros(members, dtype=np.int64)
    changes = Changes(np.arange(members), codes, row, np.linspace(0.5, 1.5, members))
    batch = LPBatch(base, changes, tuple(map(str, range(members))))
    backlog, jobs, ahead = Backlog(most), 2, 2
    backend = HighsBackend(jobs)
    try:
        lists = ready_lists(backend.solve(batch, SolveSettings(jobs=jobs, backlog=backlog)), most=1, backlog=backlog)
        seen = [member for member, _ in next(lists)]
        end = time.monotonic() + 30
        while not backlog.is_full() and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.5)  # enough for all the others
        # when the last was begun, one answer of each worker may have been on its way
        assert most <= backlog.waiting() <= most + jobs + jobs * ahead
        seen += [member for some in lists for member, _ in some]
    finally:
        backend.close()
    assert sorted(seen) == list(range(members))
