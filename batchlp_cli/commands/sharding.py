"""Which part of the inputs a run works on: --shard, or that of a SLURM array task."""

from __future__ import annotations

import os
from dataclasses import replace

from batchlp_cli.errors import UsageError
from batchlp_cli.files.discover import Discovery, shard_inputs


def slurm_shard() -> tuple[int, int] | None:
    """Returns the shard (i, n) of a SLURM array task, or None outside of one."""
    names = ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT")
    task, count = (os.environ.get(name, "") for name in names)
    if not (task.isdigit() and count.isdigit() and int(count) > 0):
        return None
    first = os.environ.get("SLURM_ARRAY_TASK_MIN", "0")
    step = os.environ.get("SLURM_ARRAY_TASK_STEP", "1")
    position = (int(task) - int(first)) // max(1, int(step))
    if not 0 <= position < int(count):
        raise UsageError(
            f"SLURM_ARRAY_TASK_ID is {task} and SLURM_ARRAY_TASK_COUNT {count}, which name no part of the inputs; "
            "set SLURM_ARRAY_TASK_MIN too, or give --shard i/n"
        )
    return position + 1, int(count)


def own_part(discovery: Discovery, shard: tuple[int, int] | None) -> Discovery:
    """Returns the inputs of a shard (i, n), of None all, with a note of which part they are."""
    if shard is None:
        return discovery
    i, n = shard
    part = shard_inputs(discovery, i, n)
    note = f"shard {i} of {n}: {len(part.inputs)} of {len(discovery.inputs)} inputs (--shard 1/1 takes all)"
    return replace(part, notes=(note, *part.notes))
