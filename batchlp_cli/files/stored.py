"""What earlier runs have left in their folders, read without a lock and without changing anything: rows, reports, traces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from batchlp_cli.errors import UsageError
from batchlp_cli.files.ledger import DamagedLedger, Row, rows_in

T = TypeVar("T")

_TAGGED = re.compile(r"(?:results|report)(-\d+-of-\d+)?\.jsonl?\Z")


@dataclass(frozen=True, slots=True)
class StoredFolder:
    """A run folder as found: files of rows, reports with their tags ("" or "-i-of-n"), and what was wrong, in sentences."""

    path: Path
    ledgers: tuple[Path, ...]
    reports: tuple[tuple[str, Row], ...]
    notes: tuple[str, ...]


def open_stored(path: Path) -> StoredFolder:
    """Returns what a run folder holds; raises UsageError where it is none."""
    if not path.is_dir():
        what = "a file" if path.exists() else "not there"
        raise UsageError(f"{path} is {what}; expected a run folder, as `batchlp solve ... -o DIR` makes one")
    ledgers = sorted(p for p in path.glob("results*.jsonl") if _TAGGED.match(p.name))
    found = {_tag(p): p for p in path.glob("report*.json") if _TAGGED.match(p.name)}
    if not ledgers and not found:
        raise UsageError(f"{path} holds no results.jsonl and no report.json; expected a run folder, made by `batchlp solve -o`")
    tags = {_tag(p) for p in ledgers} & set(found) or set(found)  # resuming without shards leaves old reports of shards
    reports, notes = [], []
    for tag in sorted(tags):
        report = _read_object(found[tag])
        if report is None:
            notes.append(f"{found[tag].name} is no JSON object and was left out")
        else:
            reports.append((tag, report))
    return StoredFolder(path, tuple(ledgers), tuple(reports), tuple(notes))


def collect_rows(folder: StoredFolder, convert: Callable[[Row], T]) -> list[T]:
    """Returns what `convert` makes of the row that counts of every name: the last one, and a verified one of another file before
    one that is not. Raises UsageError for a file that is damaged in its middle or cannot be read.
    """
    return [kept for _, _, kept in _choose(folder, lambda _, row: convert(row)).values()]


def stored_rows(folder: StoredFolder) -> Iterator[Row]:
    """Yields the rows that `collect_rows` converts, in the order of the files, with memory for their names only."""
    chosen = _choose(folder, lambda offset, _: offset)
    for number, path in enumerate(folder.ledgers):
        for offset, row in _rows(path):
            if chosen[str(row["name"])][1:] == (number, offset):
                yield row


def _choose(folder: StoredFolder, convert: Callable[[int, Row], T]) -> dict[str, tuple[bool, int, T]]:
    """Returns by name of the row that counts: whether it is verified, the number of its file, and what `convert` makes of it."""
    chosen: dict[str, tuple[bool, int, T]] = {}
    for number, path in enumerate(folder.ledgers):
        for offset, row in _rows(path):
            name, verified = str(row["name"]), row.get("verified") is True
            old = chosen.get(name)
            if old is None or old[1] == number or verified or not old[0]:
                chosen[name] = verified, number, convert(offset, row)
    return chosen


def stored_traces(folder: StoredFolder) -> Iterator[Row]:
    """Yields the traces of a run folder in the order of their names; what is no JSON object is passed over."""
    for path in sorted((folder.path / "traces").rglob("*.json")):
        trace = _read_object(path)
        if trace is not None:
            yield trace


def stored_pictures(folder: StoredFolder) -> list[tuple[str, bytes]]:
    """Returns (name of the model, SVG) of the pictures that a study has left, in the order of the names."""
    places = sorted((folder.path / "figures").rglob("*.svg"))
    return [(place.relative_to(folder.path / "figures").as_posix().removesuffix(".svg"), place.read_bytes()) for place in places]


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    try:
        with path.open("rb") as stream:
            yield from ((offset, row) for offset, _, row in rows_in(stream, path))
    except DamagedLedger as error:
        raise UsageError(f"{error}; remove that line to report the others") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error


def _tag(path: Path) -> str:
    found = _TAGGED.match(path.name)
    return (found and found[1]) or ""


def _read_object(path: Path) -> Row | None:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
