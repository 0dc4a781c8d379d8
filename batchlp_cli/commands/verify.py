"""`batchlp verify`: a finished run checked again, from its inputs and its stored solutions."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batchlp_cli.commands.options import Size, option, output_options, solve_settings
from batchlp_cli.errors import NothingReadable, UsageError
from batchlp_cli.files.discover import discover
from batchlp_cli.files.inputs import ModelFormat
from batchlp_cli.settings import NegativeUpper
from batchlp_cli.worker import start_server

if TYPE_CHECKING:
    from batchlp_cli.files.run_rows import RunRows

HEADINGS = {
    "name": "name", "status": "status", "check": "check", "objective": "objective", "dual_bound": "dual bound",
    "gap_rel": "gap", "exact_verdict": "exact", "findings": "findings", "notes": "notes",
}  # fmt: skip

EPILOG = """\b
Examples:
  batchlp verify run1                        every verdict of the run folder run1
  batchlp verify run1 --exact                also in rational arithmetic
  batchlp verify run1 models/                and name the inputs in models/ that have no row
  batchlp verify run1 --root /data/moved     the inputs lie elsewhere now
  batchlp verify run1 --format jsonl | jq -r 'select(.check == "fails") | .name'
"""


@click.command("verify", epilog=EPILOG, context_settings={"max_content_width": 110})
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("paths", nargs=-1, type=str)
@option("--exact", is_flag=True, help="Judge in rational arithmetic, too, without any rounding.")
@option("--tol", type=float, help="Relative tolerance of the referee.  [default: that of the run]")
@option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    show_default=True,
    help="Where relative inputs lie, and where those that have moved are sought.",
)
@option("--input-format", type=click.Choice([f.value for f in ModelFormat]), help="Format of inputs whose ending does not tell.")
@option(
    "--negative-upper",
    type=click.Choice([rule.value for rule in NegativeUpper]),
    help="How the run read a negative upper bound.  [default: as its report says]",
)
@option("--read-timeout", type=float, default=60.0, show_default=True, help="Seconds that reading a file may take.")
@option("--max-file-size", type=Size(), default="2G", show_default=True, help="Largest file after decompression.")
@option("--memory", type=Size(), help="What a window of inputs may take.  [default: a quarter of the memory given]")
@option("--jobs", "-j", type=click.IntRange(1), help="Worker processes.  [default: the cores given]")
@output_options
def command(run: Path, paths: tuple[str, ...], **flags: Any) -> int:
    """Check every verdict of RUN, a run folder or its results.jsonl (- for rows on stdin), again.

    Inputs are read anew, solutions are taken from the run folder, nothing is solved. One row for each row of the run tells
    whether it holds, and what is wrong where it does not. Inputs that PATHS name and that have no row are named, too.
    """
    given = flags | {"tol": flags["tol"] or 1e-6, "negative_upper": flags["negative_upper"] or "free"}
    settings = solve_settings(given)
    start_server("batchlp_cli.files.read.worker", *(["batchlp_cli.exact_pool"] if flags["exact"] else []))
    # What follows loads array libraries; meanwhile the server of the worker processes loads its own.
    from batchlp_cli.console import Talk
    from batchlp_cli.report.checks import CHECK_FIELDS
    from batchlp_cli.verification import VerifyOptions, settings_of_run, verify_run

    rows = _load(run, settings.max_file_bytes)
    options = VerifyOptions(
        settings=settings_of_run(rows, settings, tol=flags["tol"], negative_upper=flags["negative_upper"]),
        exact=flags["exact"],
        root=flags["root"],
        input_format=None if flags["input_format"] is None else ModelFormat(flags["input_format"]),
        expected=_expected(paths, flags["input_format"]),
    )
    talk = Talk(flags["format"], quiet=flags["quiet"], verbose=flags["verbose"], fields=CHECK_FIELDS, headings=HEADINGS)
    with talk:
        totals = verify_run(rows, options, talk.listen)
        counts = ", ".join(f"{count} {words}" for words, count in totals.in_words().items() if count)
        talk.finish_rows(f"{counts or 'no rows'} (tolerance {options.settings.tol:g}{', exact' if options.exact else ''})")
    if totals.exit_code == NothingReadable.exit_code:
        raise NothingReadable("none of the inputs could be read again; tell with --root where they are")
    return totals.exit_code


def _load(run: Path, most_bytes: int) -> RunRows:
    """Returns the rows of a run folder, or those on stdin; raises UsageError where these are more than so many bytes."""
    from batchlp_cli.files.run_rows import load_run, rows_of_stream

    if str(run) != "-":
        return load_run(run)
    data = sys.stdin.buffer.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise UsageError(f"the rows on stdin are more than {most_bytes} bytes; raise --max-file-size, or name the run folder")
    return rows_of_stream(data, Path())


def _expected(paths: tuple[str, ...], input_format: str | None) -> tuple[tuple[str, str], ...]:
    """Returns (shown, real path) of the inputs that the paths name."""
    found = discover(paths, input_format=None if input_format is None else ModelFormat(input_format))
    return tuple((i.shown, os.path.realpath(i.path)) for i in found.inputs if i.path is not None and not i.problem)
