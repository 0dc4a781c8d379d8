"""What a run is asked for beside how to solve."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from batchlp_cli.settings import Selection, SolutionFormat, SolveSettings
from batchlp_cli.status import Status

if TYPE_CHECKING:
    from batchlp_cli.producers import Producer


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The wishes of one run.

    output: the run folder, or None to keep nothing on disk. solutions: what to keep of the vectors. resume: skip what the
    folder already holds for the same bytes and settings. retry_failed: but solve again what has no verified verdict.
    shard: (i, n), 1-based, for the names of the files. fail_on: statuses that make the exit code 1. stdin: the model
    that `-` names. producer: makes scenarios of the one model that is read. selection: what .npz and
    Parquet files keep. parquet: write results.parquet, too. trace: patterns of the names of members whose iterates are
    recorded. warm_start: a run folder whose solutions lanes start from. started: time.perf_counter() when the program began.
    """

    settings: SolveSettings
    output: Path | None = None
    solutions: SolutionFormat = SolutionFormat.SOL
    resume: bool = False
    retry_failed: bool = False
    shard: tuple[int, int] | None = None
    fail_on: frozenset[Status] = frozenset()
    stdin: bytes | None = None
    producer: Producer | None = None
    selection: Selection = field(default_factory=Selection)
    parquet: bool = False
    trace: tuple[str, ...] = ()
    warm_start: Path | None = None
    started: float = field(default_factory=time.perf_counter)
