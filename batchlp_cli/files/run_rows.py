"""The rows of a finished run as they lie on disk, for whoever checks them: nothing is locked, repaired or left out unsaid.

Of two rows with one name the later counts, as in ledger.py; a line that is no row is told with its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from batchlp_cli.errors import UsageError
from batchlp_cli.files.ledger import Row

_NAME = re.compile(r"results(-\d+-of-\d+)?\.jsonl\Z")


@dataclass(frozen=True, slots=True)
class RunRows:
    """Rows of a run in the order of their names' first lines.

    folder: what the paths of solutions are relative to. reports: the report of each file of rows that has one, by the name of
    that file. counts: rows by name of the file. damage: (where, what is wrong) of lines and reports that cannot be used.
    whole: whether these are all the rows of the folder, so that a solution without a row is one too many.
    """

    folder: Path
    rows: tuple[Row, ...]
    reports: dict[str, Row]
    counts: dict[str, int]
    damage: tuple[tuple[str, str], ...]
    whole: bool


def load_run(path: Path) -> RunRows:
    """Returns the rows of a run folder, or of one file of rows with the solutions beside it.

    Raises UsageError where there is neither.
    """
    if path.is_dir():
        files = sorted(p for p in path.glob("results*.jsonl") if _NAME.match(p.name))
        if not files:
            raise UsageError(f"{path} holds no results.jsonl; expected a run folder, as `batchlp solve ... -o DIR` makes one")
        return _load(path, files, whole=True)
    if not path.is_file():
        raise UsageError(f"{path} is not there; expected a run folder (solve -o DIR) or its results.jsonl")
    others = [p for p in path.parent.glob("results*.jsonl") if _NAME.match(p.name) and p.name != path.name]
    return _load(path.parent, [path], whole=bool(_NAME.match(path.name)) and not others)


def rows_of_stream(data: bytes, folder: Path) -> RunRows:
    """Returns rows that came through a pipe, with solutions relative to a folder; there may be more rows elsewhere."""
    rows: dict[str, Row] = {}
    damage = tuple(_take(data, "stdin", rows))
    return RunRows(folder, tuple(rows.values()), {}, {}, damage, whole=False)


def _load(folder: Path, files: list[Path], *, whole: bool) -> RunRows:
    rows: dict[str, Row] = {}
    reports: dict[str, Row] = {}
    counts: dict[str, int] = {}
    damage: list[tuple[str, str]] = []
    for path in files:
        own: dict[str, Row] = {}
        try:
            damage += _take(path.read_bytes(), path.name, own)
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror or error}; see to its permissions") from error
        rows |= own
        counts[path.name] = len(own)
        report = path.with_name(path.name.replace("results", "report").removesuffix("l"))
        if _NAME.match(path.name) and report.is_file():
            try:
                reports[path.name] = _object(report.read_bytes())
            except (OSError, ValueError) as error:
                damage.append((report.name, f"this is no report of a run: {error}"))
    return RunRows(folder, tuple(rows.values()), reports, counts, tuple(damage), whole)


def _take(data: bytes, shown: str, rows: dict[str, Row]) -> Iterator[tuple[str, str]]:
    """Puts the rows of a file into `rows`; yields where a line is none."""
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            row = _object(line)
            if not isinstance(row.get("name"), str) or not isinstance(row.get("input"), str):
                raise ValueError("it has no name or no input")
        except ValueError as error:
            yield f"{shown}, line {number}", f"this is no row of results: {error}"
            continue
        rows[str(row["name"])] = row


def _object(data: bytes) -> Row:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    return value
