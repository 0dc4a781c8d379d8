"""Runs the command line as a user does, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

Row = dict[str, object]


def environment(**extra: str) -> dict[str, str]:
    """Returns the environment without settings of a cluster or of batchlp that would change the outcome."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "BATCHLP_")) or k == "BATCHLP_CACHE_DIR"}
    return clean | extra


def command_line(*arguments: str | Path) -> list[str]:
    """Returns the command line of batchlp with these arguments."""
    return [sys.executable, "-m", "batchlp_cli", *map(str, arguments)]


def batchlp(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **extra: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs batchlp to its end and returns what it printed and its exit code."""
    return subprocess.run(
        command_line(*arguments), input=stdin, capture_output=True, cwd=cwd, env=environment(**extra), timeout=120, check=False
    )


def rows_of(done: subprocess.CompletedProcess[bytes]) -> list[Row]:
    """Returns the rows on stdout; fails when a line there is no JSON object."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows_in(folder: Path) -> list[Row]:
    """Returns the rows that a run folder holds; fails when a line is not complete."""
    return [json.loads(line) for path in sorted(folder.glob("results*.jsonl")) for line in path.read_text().splitlines()]
