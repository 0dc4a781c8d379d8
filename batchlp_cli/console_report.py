"""The report of a run on a terminal: the answer first, then times, groups, failures, accuracy, machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from batchlp_cli.report.comparison import Comparison
from batchlp_cli.report.concerns import Severity, concerns, headline
from batchlp_cli.report.facts import QUANTILES, RunFacts
from batchlp_cli.report.markup import plain
from batchlp_cli.report.studied import Study
from batchlp_cli.report.words import bytes_in_words, percent, plural, seconds_in_words, value_in_words
from batchlp_cli.reporting import StoredRun, report_record

_MOST_GROUPS, _MOST_SLOW, _MOST_CONCERNS = 10, 5, 12
_COLOURS = {Severity.MISSING: "red", Severity.COSTLY: "yellow", Severity.NOTED: "cyan"}
_PIPE_WIDTH = 120
_BAR = 30


class ReportTalk:
    """Shows runs on stdout as text or as JSON lines, and says the rest on stderr."""

    def __init__(self, form: str, *, quiet: bool) -> None:
        terminal = sys.stdout.isatty()
        self.form = ("table" if terminal else "jsonl") if form == "auto" else form
        self._quiet = quiet
        self._out = Console(file=sys.stdout, width=None if terminal else _PIPE_WIDTH, highlight=False)
        self._err = Console(file=sys.stderr, highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """Says a sentence on stderr."""
        if not self._quiet:
            self._err.print(_safe(text))

    def show(self, runs: Sequence[StoredRun], comparison: Comparison | None) -> None:
        """Shows each run, and how they compare if there are several."""
        if self.form == "jsonl":
            for run in runs:
                sys.stdout.write(json.dumps(report_record(run)) + "\n")
            if comparison is not None:
                sys.stdout.write(json.dumps(comparison.record()) + "\n")
            return
        if comparison is not None:
            self._comparison(comparison)
        for run in runs:
            self._run(run.facts, run.study)

    def _run(self, facts: RunFacts, study: Study | None) -> None:
        proved, sentence = headline(facts)
        took = "" if facts.wall_time is None else f" {seconds_in_words(facts.wall_time)}."
        self._out.print(f"[bold]{_safe(facts.label)}[/]: [bold {'green' if proved else 'red'}]{_safe(sentence)}[/]{took}")
        self._line("status", (f"{t.count:,} {t.status}" + _unproved(t.count, t.verified) for t in facts.tallies))
        found = concerns(facts)
        for concern in found[:_MOST_CONCERNS]:
            self._out.print(f"  [{_COLOURS[concern.severity]}]•[/] {_safe(concern.text)}")
        if len(found) > _MOST_CONCERNS:
            self._out.print(f"  and {len(found) - _MOST_CONCERNS} more: see --html")
        self._stages(facts)
        if study is not None:
            self._models(study)
        self._shares(facts)
        self._groups(facts)
        self._slowest(facts)
        self._accuracy(facts)
        about = [f"{key.replace('_', ' ')} {value}" for key, value in facts.settings.items() if key in ("backend", "jobs", "tol")]
        self._line("settings", about)
        cores, memory = facts.machine.get("cores", "?"), bytes_in_words(_size(facts.machine.get("memory_bytes")))
        if facts.machine:
            self._line("machine", [str(facts.machine.get("system")), f"{cores} cores", memory])
        self._line("versions", (f"{name} {version}" for name, version in facts.versions.items()))
        self._out.print()

    def _line(self, heading: str, words: Iterable[str]) -> None:
        text = ", ".join(words)
        if text:
            self._out.print(f"[bold]{heading}[/] {_safe(text)}")

    def _stages(self, facts: RunFacts) -> None:
        total = sum(facts.stage_times.values())
        if not total:
            return
        table = _grid("stage", "time", "share", "")
        for stage, seconds in facts.stage_times.items():
            bar = "█" * round(_BAR * seconds / total)
            table.add_row(_safe(stage), seconds_in_words(seconds), percent(seconds / total), bar)
        self._out.print(table)

    def _models(self, study: Study) -> None:
        headings, rows = study.model_cells()
        table = _grid(*headings)
        for row in rows[:_MOST_GROUPS]:
            table.add_row(*map(_safe, row))
        self._out.print(table)
        if len(rows) > _MOST_GROUPS:
            self._out.print(f"  and {plural(len(rows) - _MOST_GROUPS, 'model')} more")

    def _shares(self, facts: RunFacts) -> None:
        table = _grid("solved by", "members", "solve time, summed", "iterations")
        for share in facts.shares:
            who = f"{share.backend} {share.method}".strip()
            table.add_row(_safe(who), f"{share.count:,}", seconds_in_words(share.solve_time), f"{share.iterations:,}")
        if facts.shares:
            self._out.print(table)

    def _groups(self, facts: RunFacts) -> None:
        if not facts.groups:
            return
        table = _grid("group", "members", "verified", "rows", "columns", "nonzeros", "solve time", "choice", last_text=True)
        for g in facts.groups[:_MOST_GROUPS]:
            sizes = [f"{v:,}" for v in (g.members, g.verified, g.rows, g.columns, g.nonzeros)]
            table.add_row(_safe(g.group), *sizes, seconds_in_words(g.solve_time), _safe(g.choice or g.backends))
        self._out.print(table)
        if len(facts.groups) > _MOST_GROUPS:
            self._out.print(f"  and {plural(len(facts.groups) - _MOST_GROUPS, 'smaller group')}")

    def _slowest(self, facts: RunFacts) -> None:
        table = _grid("slowest members", "time", "iterations", "status", last_text=True)
        for o in facts.slowest[:_MOST_SLOW]:
            table.add_row(_safe(o.name), seconds_in_words(o.solve_time), f"{o.iterations:,}", _safe(o.status))
        if len(facts.slowest) > 1:
            self._out.print(table)

    def _accuracy(self, facts: RunFacts) -> None:
        if not facts.accuracy:
            return
        tolerance = value_in_words(facts.tolerance, ".0e")
        table = _grid(f"relative, tolerance {tolerance}", *quantile_names())
        for spread in facts.accuracy:
            table.add_row(spread.measure, *(f"{value:.1e}" for value in spread.quantiles))
        self._out.print(table)

    def _comparison(self, comparison: Comparison) -> None:
        for sentence in comparison.sentences():
            self._out.print(_safe(sentence))
        table = _grid("run", "verified", "wall time", "solve time, summed", "fastest on", "geometric mean")
        for side in comparison.sides:
            times = seconds_in_words(side.wall_time), seconds_in_words(side.solve_time)
            mean = seconds_in_words(side.mean_time)
            table.add_row(_safe(side.label), f"{side.verified:,} of {comparison.count:,}", *times, f"{side.fastest:,}", mean)
        self._out.print(table)
        for difference in comparison.differences[:_MOST_CONCERNS]:
            self._out.print(f"  [red]•[/] {_safe(difference.name)}: {_safe(difference.text)}")
        if len(comparison.differences) > _MOST_CONCERNS:
            self._out.print(f"  and {len(comparison.differences) - _MOST_CONCERNS} more")
        self._out.print()


def quantile_names() -> tuple[str, ...]:
    """Returns headings for QUANTILES."""
    return tuple({0.5: "median", 1.0: "largest"}.get(q, f"{100 * q:.0f} %") for q in QUANTILES)


def _grid(first: str, *others: str, last_text: bool = False) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for k, heading in enumerate(others):
        text = not heading or (last_text and k == len(others) - 1)
        table.add_column(heading, justify="left" if text else "right", overflow="fold")
    return table


def _safe(text: str) -> str:
    return escape(plain(text))


def _unproved(count: int, verified: int) -> str:
    return "" if verified == count else f" ({count - verified:,} not verified)"


def _size(value: object) -> int | None:
    return value if isinstance(value, int) else None
