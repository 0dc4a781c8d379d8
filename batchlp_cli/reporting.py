"""From run folders to what a report shows; the reading side of report/. Nothing is solved and no folder is changed."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from batchlp_cli.errors import UsageError
from batchlp_cli.files.ledger import replace_file
from batchlp_cli.files.results import output_errors
from batchlp_cli.files.stored import StoredFolder, collect_rows, open_stored, stored_pictures, stored_rows, stored_traces
from batchlp_cli.report.compared import compared_page
from batchlp_cli.report.comparison import Comparison
from batchlp_cli.report.concerns import concerns, headline
from batchlp_cli.report.facts import RunFacts, gather
from batchlp_cli.report.occupancy import Occupancy
from batchlp_cli.report.outcome import Outcome
from batchlp_cli.report.page import make_page
from batchlp_cli.report.rows import RESULT_FIELDS, SCHEMA_VERSION
from batchlp_cli.report.studied import Study, study_of
from batchlp_cli.report.trace import Trace


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run that a folder holds: its outcomes, their facts, and what was recorded on the way."""

    folder: StoredFolder
    outcomes: tuple[Outcome, ...]
    facts: RunFacts
    traces: tuple[Trace, ...]
    lanes: tuple[Occupancy, ...]
    study: Study | None = None


def load_runs(paths: Sequence[Path]) -> list[StoredRun]:
    """Returns the runs of some folders, with labels that tell them apart; raises UsageError where one is no run folder."""
    return [_load(path, label) for path, label in zip(paths, labels(paths), strict=True)]


def labels(paths: Sequence[Path]) -> list[str]:
    """Returns the shortest ends of paths that differ from each other; paths that are equal get numbers."""
    parts = [p.resolve().parts for p in paths]
    found = []
    for k, own in enumerate(parts):
        others = {tuple(o) for o in parts[:k] + parts[k + 1 :]} - {tuple(own)}
        size = next((s for s in range(1, len(own)) if all(o[-s:] != own[-s:] for o in others)), len(own))
        same = parts[:k].count(own)
        found.append("/".join(own[-size:]) + (f" ({same + 1})" if same else ""))
    return found


def _load(path: Path, label: str) -> StoredRun:
    folder = open_stored(path)
    outcomes = tuple(collect_rows(folder, Outcome.of))
    study = study_of(stored_rows(folder), stored_pictures(folder))
    facts = gather(label, outcomes, folder.reports, folder.notes, study.kind if study is not None else "")
    traces = tuple(trace for trace in map(Trace.of, stored_traces(folder)) if trace is not None)
    lanes = tuple(found for found in (Occupancy.of(report) for _, report in folder.reports) if found is not None)
    return StoredRun(folder, outcomes, facts, traces, lanes, study)


def report_record(run: StoredRun) -> dict[str, object]:
    """Returns the facts of a run as a record of plain values, with the headline and the concerns in words."""
    proved, sentence = headline(run.facts)
    words = {"schema_version": SCHEMA_VERSION, "all_verified": proved, "headline": sentence}
    told = [asdict(concern) for concern in concerns(run.facts)]
    return words | {"concerns": told} | asdict(run.facts)


def flat_rows(runs: Sequence[StoredRun]) -> Iterator[dict[str, object]]:
    """Yields the rows of all runs with plain values only: lists become text, attempts their number; with the run's label."""
    for run in runs:
        for row in stored_rows(run.folder):
            yield {"run": run.facts.label} | {key: _flat(key, row.get(key)) for key in _fields(runs)}


def _fields(runs: Sequence[StoredRun]) -> list[str]:
    """Returns the columns of a table of all rows: of studies those that their rows have."""
    studies = [run.study for run in runs if run.study is not None]
    own = [key for study in studies for row in study.models[:1] or study.found[:1] for key in row]
    return list(dict.fromkeys([*own, *(RESULT_FIELDS if len(studies) < len(runs) else ())]))


def write_page(target: Path, runs: Sequence[StoredRun], comparison: Comparison | None) -> str:
    """Writes the page of one run or several to a file (`-`: stdout); returns a note for the user, empty if there is none.

    Raises OutputError where the file cannot be written.
    """
    pairs = [pair for pair in common(runs) if all(o.verified for o in pair)] if len(runs) == 2 else []
    text, note = make_page(runs, comparison, [[o.solve_time for o in own] for own in zip(*pairs, strict=True)])
    _write(target, [text])
    return note


def is_comparison(path: Path) -> bool:
    """Tells whether a folder holds a comparison over sizes, as `batchlp compare -o DIR` makes one, and no run."""
    return (path / "compare.json").is_file() and not any(path.glob("results*.jsonl"))


def load_comparison(path: Path) -> dict[str, object]:
    """Returns what compare.json of a folder holds; raises UsageError where that cannot be read."""
    try:
        found = json.loads((path / "compare.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path / 'compare.json'} cannot be read: {error}; make it anew with `batchlp compare -o`") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path / 'compare.json'} holds {type(found).__name__}, expected an object; make it anew")
    return found


def write_compared(target: Path, folder: Path) -> None:
    """Writes the page of a comparison over sizes, with its curve. Raises UsageError for a damaged record, OutputError."""
    picture = folder / "crossover.svg"
    try:
        text = compared_page(load_comparison(folder), picture.read_bytes() if picture.is_file() else None)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{folder / 'compare.json'} is none of batchlp compare ({error!r}); make it anew") from error
    _write(target, [text])


def write_csv(target: Path, runs: Sequence[StoredRun]) -> None:
    """Writes the flat rows of runs as one table, a heading first; the column `run` is there for several runs only."""
    _write(target, _csv_lines(runs))


def _write(target: Path, texts: Iterable[str]) -> None:
    """Writes texts to a file, which is replaced only when all is written, or to stdout for `-`."""
    if str(target) == "-":
        for text in texts:
            sys.stdout.write(text)
        return
    with output_errors(target):
        replace_file(target, (text.encode("utf-8", "backslashreplace") for text in texts))


def _csv_lines(runs: Sequence[StoredRun]) -> Iterator[str]:
    line = io.StringIO()
    names = (["run"] if len(runs) > 1 else []) + _fields(runs)
    writer = csv.DictWriter(line, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in flat_rows(runs):
        writer.writerow({key: _encodable(value) for key, value in row.items()})
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def _flat(key: str, value: object) -> object:
    if not isinstance(value, list):
        return value
    return len(value) if key == "attempts" else "; ".join(str(item) for item in value)


def _encodable(value: object) -> object:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def common(runs: Sequence[StoredRun]) -> Iterable[tuple[Outcome, ...]]:
    """Returns, for each instance that has a row in every run, its outcomes in the order of the runs."""
    tables: list[dict[str, Outcome]] = [{o.name: o for o in run.outcomes} for run in runs]
    return [tuple(t[name] for t in tables) for name in tables[0] if all(name in t for t in tables)]
