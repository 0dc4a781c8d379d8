"""A worker of the HiGHS backend that dies, hangs or raises at members with a given offset.

The base's name is the path of the file that a worker leaves behind when it dies once.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from batchlp_cli.backends.highs.chunk import ChunkAnswer, ChunkTask
from batchlp_cli.backends.highs.worker import MemberTask, Opening, make_handler
from batchlp_cli.batch import Field
from batchlp_cli.solution import Solution

DIES, DIES_ONCE, HANGS, RAISES, DAWDLES = 1001.0, 1002.0, 1003.0, 1004.0, 1005.0
SLOWNESS = 0.2


def make_faulty_handler() -> Callable[[object], Solution | ChunkAnswer]:
    """Returns the handler of a worker that misbehaves where the member's offset says so."""
    solve = make_handler()
    mark = Path("unset")

    def misbehave(payload: object) -> Solution | ChunkAnswer:
        nonlocal mark
        assert isinstance(payload, (MemberTask, ChunkTask))
        mark = Path(payload.opening.base.name) if isinstance(payload.opening, Opening) else mark
        offsets = payload.changes.value[payload.changes.field == Field.OFFSET]
        fault = float(offsets.max(initial=0.0))  # of a chunk the worst
        if fault == DIES or (fault == DIES_ONCE and not mark.exists()):
            if fault == DIES_ONCE:
                mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == DAWDLES:
            return dawdle(payload)
        if fault == HANGS:
            time.sleep(600)
        if fault == RAISES:
            raise RuntimeError("no solver feels like it")
        return solve(payload)

    def dawdle(payload: MemberTask | ChunkTask) -> Solution | ChunkAnswer:
        """Takes 0.2 seconds more a member, and says so."""
        time.sleep(SLOWNESS * (payload.members if isinstance(payload, ChunkTask) else 1))
        answer = solve(payload)
        return replace(answer, seconds=answer.seconds + SLOWNESS) if isinstance(answer, Solution) else answer

    return misbehave
