"""Talking to a person or a pipe: rows on stdout; progress, notes and the summary on stderr. It knows no solver."""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from batchlp_cli.events import Begun, Event, InputRead, Note, RowReady, Rows, RowsReady
from batchlp_cli.events import Progress as Progressed
from batchlp_cli.report.rows import RESULT_FIELDS, json_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from batchlp_cli.inspection import GroupView, Inspection

_COLOURS = {"optimal": "green", "infeasible": "yellow", "unbounded": "yellow"}
_WIDE = 10_000  # columns of a table that no terminal cuts


class Talk:
    """Shows the events of a run. `form` is auto, table, jsonl or csv; auto is a table when stdout is a terminal.

    fields: the keys of a row. headings: of the table, by key, where rows are not those of solved instances; with `input` among
    them there is a table for each input, below its name. digits: of the numbers. A row of kind model ends those of a study's
    model, and is told in words instead of in the table.
    """

    def __init__(
        self,
        form: str,
        *,
        quiet: bool,
        verbose: int,
        fields: Sequence[str] = RESULT_FIELDS,
        headings: Mapping[str, str] | None = None,
        digits: int = 4,
    ) -> None:
        self._digits = digits
        self._fields, self._headings = list(fields), headings
        terminal = sys.stdout.isatty()
        self.form = ("table" if terminal else "jsonl") if form == "auto" else form
        self.level = 0 if quiet else 1 + verbose
        self._rows: list[Mapping[str, object]] = []
        self._header = False
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._read = self._done = self._total = 0
        if sys.stderr.isatty() and not quiet:
            self._progress = _progress()

    def __enter__(self) -> Talk:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()
        if error is not None and self.form == "table" and self._rows and not isinstance(error, BrokenPipeError):
            self._show_table()

    def say(self, text: str, level: int = 1) -> None:
        """Says a sentence on stderr unless the user wants less talk than that."""
        if level > self.level:
            return
        if self._progress is not None:
            self._progress.console.print(text, markup=False, soft_wrap=True)  # above the bar
        else:
            print(text, file=sys.stderr, flush=True)

    def listen(self, event: Event) -> None:
        """Shows one event of the pipeline."""
        match event:
            case Note(text, level):
                self.say(text, level)
            case Begun(inputs):
                self._total = inputs
                if self._progress is not None:
                    self._task = self._progress.add_task("reading", total=inputs, rate="")
            case InputRead():
                self._read += 1
                self._move()
            case RowReady(row, line):
                self._done += row.get("kind", "model") == "model"
                self._move()
                self._row(row, line)
            case RowsReady(rows):
                self._done += len(rows)
                self._move()
                self._together(rows)
            case Progressed(what, done, of):
                if self._progress is not None and self._task is not None:
                    self._progress.update(self._task, description=f"{what} {done} of {of}")

    def finish_rows(self, text: str) -> None:
        """Ends the data on stdout and says a sentence on stderr."""
        if self._progress is not None:
            self._progress.stop()
        if self.form == "table":
            self._show_table()
        sys.stdout.flush()
        self.say(text)

    def finish(self, report: Mapping[str, object], output: Path | None) -> None:
        """Ends the data on stdout and says on stderr what the run came to."""
        self.finish_rows(summary(report))
        if output is not None:
            self.say(
                f"rows, solutions and report are in {output}; batchlp report {shlex.quote(str(output))} shows what they come to"
            )

    def show_inspection(self, found: Inspection) -> None:
        """Shows groups and unreadable inputs in the form that was asked for."""
        if self._progress is not None:
            self._progress.stop()
        records = [_group_record(view) for view in found.groups]
        records += [{"unreadable": shown, "error": error} for shown, error in found.unreadable]
        if self.form == "table":
            _print_table(_group_table(found.groups))
            for shown, error in found.unreadable:
                print(f"unreadable: {shown}: {error}")
        elif self.form == "jsonl":
            for record in records:
                sys.stdout.write(json.dumps(record) + "\n")
        else:
            names = list(dict.fromkeys(key for record in records for key in record))
            self._csv(names, records)
        sys.stdout.flush()

    def show_records(self, records: Sequence[Mapping[str, object]], headings: Mapping[str, str]) -> None:
        """Shows records in the form that was asked for: all keys as data, those of `headings` (key: heading) as a table."""
        if self._progress is not None:
            self._progress.stop()
        if self.form == "table":
            _print_table(_record_table(records, headings, 4))
        elif self.form == "jsonl":
            for record in records:
                sys.stdout.write(json_line(record) + "\n")
        else:
            self._csv(list(dict.fromkeys(key for record in records for key in record)), [dict(record) for record in records])
        sys.stdout.flush()

    def _move(self) -> None:
        if self._progress is None or self._task is None:
            return
        task = self._progress.tasks[0]
        speed = f"{self._done / task.elapsed:.1f} LP/s" if self._done and task.elapsed else ""
        words = "solving" if self._done else f"reading {self._read}"
        self._progress.update(self._task, completed=self._done, description=words, rate=speed)

    def _row(self, row: Mapping[str, object], line: str) -> None:
        if self.form == "jsonl":
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        elif self.form == "csv":
            self._csv(self._fields, [row], header=not self._header)
            self._header = True
            sys.stdout.flush()
        else:
            self._rows.append(row)

    def _together(self, rows: Rows) -> None:
        if self.form == "jsonl":
            sys.stdout.write("\n".join([*rows.lines, ""]))
            sys.stdout.flush()
            return
        for row in rows.rows():
            self._row(row, "")

    def _csv(self, names: list[str], rows: list[Mapping[str, object]] | list[dict[str, object]], header: bool = True) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        if header:
            writer.writeheader()
        for row in rows:
            writer.writerow({k: json.dumps(v) if isinstance(v, (list, dict)) else v for k, v in row.items()})
        sys.stdout.write(text.getvalue())

    def _show_table(self) -> None:
        from rich.markup import escape
        from rich.table import Table

        if self._headings is not None:
            records = [row for row in self._rows if row.get("kind") != "model"]
            # a path in every row would leave the numbers no room
            by_input, headings = "input" in self._headings, {k: h for k, h in self._headings.items() if k != "input"}
            for title, mine in groupby(records, key=lambda row: str(row["input"]) if by_input else None):
                _print_table(_record_table(list(mine), headings, self._digits, title))
            self._rows = []
            return
        table = Table()
        table.add_column("input", overflow="fold")
        for heading in ("status", "verified"):
            table.add_column(heading)
        for heading in ("objective", "gap", "iterations", "time"):
            table.add_column(heading, justify="right")
        table.add_column("remark", overflow="fold")
        for row in sorted(self._rows, key=lambda r: str(r["input"])):
            status = str(row["status"])
            colour = _COLOURS.get(status, "red") if row["verified"] else "red"
            shown = [_number(row["objective"], ".10g"), _number(row["gap_rel"], ".1e"), _number(row["iterations"], "d")]
            time = _number(row["solve_time"], ".3f")
            yes = "yes" if row["verified"] else "no"
            table.add_row(escape(str(row["input"])), f"[{colour}]{status}[/]", yes, *shown, time, escape(remark(row)))
        _print_table(table)
        self._rows = []


def _progress() -> Progress:
    """Returns the bar for a terminal on stderr, not yet shown. rich is imported only by those whom it shows something."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    rate = TextColumn("{task.fields[rate]}")
    console = Console(file=sys.stderr, highlight=False)
    return Progress(*columns, rate, TimeRemainingColumn(), console=console, transient=True)


def _print_table(table: Table) -> None:
    from rich.console import Console

    Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDE, highlight=False).print(table)


def _record_table(
    records: Sequence[Mapping[str, object]], headings: Mapping[str, str], digits: int, title: str | None = None
) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=None if title is None else escape(title), title_justify="left")
    for key, heading in headings.items():
        numeric = any(isinstance(record[key], int | float) for record in records)
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for record in records:
        table.add_row(*(escape(_cell(record[key], digits)) for key in headings))
    return table


def _cell(value: object, digits: int) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.{digits}g}"
        case list():
            return ", ".join(map(str, value))
    return str(value)


def _number(value: object, form: str) -> str:
    return "" if value is None else format(value, form)


def remark(row: Mapping[str, object]) -> str:
    """Returns what a person should know of a row beside its numbers, in one line."""
    parts: list[str] = []
    if row["duplicate_of"]:
        parts.append(f"same file as {row['duplicate_of']}")
    parts += [str(row[key]) for key in ("error", "reason") if row[key]]
    for key in ("notes", "warnings"):
        values = row[key]
        parts += [str(v) for v in values] if isinstance(values, list) else []
    return " ".join("; ".join(dict.fromkeys(parts)).split())


def summary(report: Mapping[str, object]) -> str:
    """Returns what a run came to, in one line."""
    statuses, stages = report["statuses"], report["stage_times"]
    assert isinstance(statuses, dict)
    assert isinstance(stages, dict)
    counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())) or "nothing"
    times = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages.items())
    return f"{report['rows']} rows: {counts}; {report['verified']} verified; {report['wall_time']:.2f} s ({times})"


def _group_record(view: GroupView) -> dict[str, object]:
    plain = {name: getattr(view, name) for name in view.__dataclass_fields__}
    return plain | {"changes": dict(view.changes)}


def _group_table(groups: list[GroupView]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table("group")
    for heading in ("members", "rows", "columns", "nonzeros", "memory"):
        table.add_column(heading, justify="right")
    for heading in ("changes", "members such as", "would run", "apart because"):
        table.add_column(heading, overflow="fold")
    for g in groups:
        changes = ", ".join(f"{count} {name}" for name, count in g.changes.items()) or "none"
        more = f" and {g.members - len(g.examples)} more" if g.members > len(g.examples) else ""
        sizes = [f"{g.members:,}", f"{g.rows:,}", f"{g.columns:,}", f"{g.nonzeros:,}", f"{g.memory_bytes / 1e6:.1f} MB"]
        words = (changes, ", ".join(g.examples) + more, f"{g.backend}: {g.reason}", g.unlike)
        table.add_row(g.group, *sizes, *(escape(w) for w in words))
    return table
