"""`batchlp report`: what a run came to, on the terminal, as one page, or as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batchlp_cli.commands.options import option
from batchlp_cli.errors import UsageError

if TYPE_CHECKING:
    from batchlp_cli.console_report import ReportTalk

EPILOG = """\b
Examples:
  batchlp report run1                      the answer, where the time went, what to look at
  batchlp report run1 --html               one page with figures: run1/report.html
  batchlp report run1 --csv rows.csv       all rows as a flat table
  batchlp report sizes --html              the page of `batchlp compare -o sizes`, with the crossover curve
  batchlp report run1 run2 --html vs.html  two runs side by side, with a performance profile

Figures need matplotlib: pip install 'batchlp[report]'. The page comes without them, too.
"""


@click.command("report", epilog=EPILOG, context_settings={"max_content_width": 110})
@click.argument("folders", metavar="DIR...", nargs=-1, type=click.Path(path_type=Path))
@option(
    "--html",
    metavar="[FILE]",
    is_flag=False,
    flag_value="",
    type=str,
    help="Write one self-contained page.  [default FILE: report.html in DIR, for several DIR comparison.html in the first]",
)
@option(
    "--csv",
    metavar="[FILE]",
    is_flag=False,
    flag_value="-",
    type=str,
    help="Write all rows as a flat table.  [default FILE: stdout]",
)
@option(
    "--format",
    type=click.Choice(["auto", "table", "jsonl"]),
    default="auto",
    show_default=True,
    help="Form of the summary on stdout; auto is text on a terminal and a JSON line a run elsewhere.",
)
@option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def command(**flags: Any) -> int:
    """Show what the runs in the run folders DIR came to: counts, times, groups, failures, accuracy; several are compared."""
    folders, html, table = destinations(flags["folders"], flags["html"], flags["csv"])
    from batchlp_cli.console_report import ReportTalk
    from batchlp_cli.report.comparison import compare
    from batchlp_cli.reporting import common, is_comparison, load_runs, write_csv, write_page

    talk = ReportTalk(flags["format"], quiet=flags["quiet"])
    if len(folders) == 1 and is_comparison(folders[0]):
        return _report_sizes(folders[0], html, table, talk)
    runs = load_runs(folders)
    comparison = compare([run.facts for run in runs], list(common(runs))) if len(runs) > 1 else None
    if html is not None:
        note = write_page(html, runs, comparison)
        talk.say(f"the page is {html}" if str(html) != "-" else "the page is on stdout")
        if note:
            talk.say(note)
    if table is not None:
        write_csv(table, runs)
        talk.say(f"the rows are in {table}" if str(table) != "-" else "the rows are on stdout")
    if "-" not in (str(html), str(table)):
        talk.show(runs, comparison)
    return 0


def _report_sizes(folder: Path, html: Path | None, table: Path | None, talk: ReportTalk) -> int:
    """Shows a comparison over sizes: in a sentence, and as a page."""
    from batchlp_cli.reporting import load_comparison, write_compared

    if table is not None:
        raise UsageError(f"{folder} holds a comparison, which has no rows: `batchlp compare --format csv` gives its table")
    if html is not None:
        write_compared(html, folder)
    if str(html) != "-":
        click.echo(str(load_comparison(folder).get("words", "")))
        if html is not None:
            talk.say(f"the page is {html}")
    return 0


def destinations(folders: tuple[Path, ...], html: str | None, table: str | None) -> tuple[list[Path], Path | None, Path | None]:
    """Returns the run folders, and where page and table go (None: not asked for, `-`: stdout).

    A folder right after --html or --csv is taken as DIR, since neither is written onto a folder.
    """
    given = list(folders)
    if table is not None and Path(table).is_dir():
        given.insert(0, Path(table))
        table = "-"
    if html is not None and html and Path(html).is_dir():
        given.insert(0, Path(html))
        html = ""
    if not given:
        raise UsageError("nothing to report: give the run folder that `batchlp solve ... -o DIR` has made")
    if html == "":
        html = str(given[0] / ("report.html" if len(given) == 1 else "comparison.html"))
    if html is not None and html == table:
        raise UsageError(f"--html and --csv both go to {html}; give them different files")
    return given, None if html is None else Path(html), None if table is None else Path(table)
