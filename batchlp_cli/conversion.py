"""Reads a model and a folder of files, or a model and a table, and writes the other one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from batchlp_cli.errors import OutputError, ReadError, UsageError
from batchlp_cli.files.discover import discover
from batchlp_cli.files.inputs import Input
from batchlp_cli.files.read import ModelReader, ReadRequest
from batchlp_cli.files.results import output_errors
from batchlp_cli.files.scenario_folder import write_folder, write_table
from batchlp_cli.files.scenario_names import scenario_name
from batchlp_cli.files.scenarios import table_windows
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings


def folder_to_table(model: str, folder: str, table: Path, settings: SolveSettings) -> int:
    """Writes the models of a folder as a table of what differs from the model; returns how many there are."""
    inputs = discover([folder]).inputs
    if not inputs:
        raise UsageError(f"{folder}: no model in this folder; expected files that end in .mps or .lp")
    with ModelReader(settings) as reader, output_errors(table):
        (base,) = (lp for _, lp in _read(reader, discover([model]).inputs))
        part = table.with_name(f".{table.name}.part")
        try:
            with part.open("w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
                count = write_table(((_name(found, folder), lp) for found, lp in _read(reader, inputs)), base, stream)
            os.replace(part, table)
        finally:
            part.unlink(missing_ok=True)
    return count


def table_to_folder(model: str, table: Path, folder: Path, settings: SolveSettings, *, scale: bool, only: Sequence[str]) -> int:
    """Writes the scenarios of a table as MPS files into a new or empty folder; only: the names of those to write."""
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise OutputError(f"{folder} is not empty; choose another folder, so that no scenario mixes with what is there")
    with ModelReader(settings) as reader:
        ((_, base),) = _read(reader, discover([model]).inputs)
    windows = table_windows(table, base, scale=scale, memory_bytes=settings.memory_bytes // 8)
    if only:
        wanted, found = set(only), set[str]()
        chosen = []
        for window in windows:
            members = [k for k, name in enumerate(window.batch.names) if name in wanted]
            found.update(window.batch.names[k] for k in members)
            if members:
                chosen.append(window.taken(members))
        if wanted - found:
            raise UsageError(f"{table}: no scenario {sorted(wanted - found)[0]!r}; expected a name of its column scenario")
        windows = iter(chosen)
    with output_errors(folder):
        return write_folder(windows, folder)


def _read(reader: ModelReader, inputs: Sequence[Input]) -> Iterator[tuple[Input, LinearProgram]]:
    """Yields the LP of each input; raises ReadError for the first that is none."""
    for found in inputs:
        if found.problem:
            raise ReadError(f"{found.shown}: {found.problem}")
    by_key = {found.index: found for found in inputs}
    for outcome in reader.read(ReadRequest.of(found) for found in inputs):
        if outcome.lp is None:
            raise ReadError(outcome.error)
        yield by_key[outcome.key], outcome.lp


def _name(found: Input, folder: str) -> str:
    """Returns the scenario that a file of a folder stands for: its path below the folder without the endings of a model."""
    assert found.path is not None
    relative = os.path.relpath(found.path, folder)
    for ending in (".gz", ".bz2", ".zst", ".mps", ".lp"):
        if relative.lower().endswith(ending):
            relative = relative[: -len(ending)]
    return scenario_name(relative)
