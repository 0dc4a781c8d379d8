"""`batchlp scenarios`: a folder of files into a table of what changes, a table into a folder of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batchlp_cli.commands.options import Size, option
from batchlp_cli.errors import UsageError
from batchlp_cli.settings import SolveSettings, available_cores, available_memory_bytes
from batchlp_cli.worker import start_server

EPILOG = """\b
Examples:
  batchlp scenarios model.mps models/ -o scenarios.csv       a folder of files into a table
  batchlp scenarios model.mps scenarios.csv -o models/       a table into a folder of MPS files
  batchlp scenarios model.mps scenarios.csv -o one/ --only s17   one scenario as MPS, for others to check
"""


@click.command("scenarios", epilog=EPILOG, context_settings={"max_content_width": 110})
@click.argument("model", type=str)
@click.argument("source", metavar="DIR|TABLE", type=click.Path(exists=True))
@option("--output", "-o", metavar="PATH", type=click.Path(path_type=Path), required=True, help="The table or folder to write.")
@option("--scale", is_flag=True, help="The numbers of the table are factors of what the model has.")
@option("--only", metavar="NAME", multiple=True, help="Write only this scenario; may be given several times.")
@option("--memory", type=Size(), help="What a window of scenarios may take.  [default: a quarter of the memory given]")
@option("--jobs", "-j", type=click.IntRange(1), help="Worker processes that read.  [default: the cores given]")
def command(**flags: Any) -> int:
    """Convert the folder DIR of files like MODEL into a scenario table, or a TABLE into a folder of MPS files."""
    source, output = Path(flags["source"]), flags["output"]
    settings = SolveSettings(
        jobs=flags["jobs"] or available_cores(), memory_bytes=flags["memory"] or available_memory_bytes() // 4
    )
    if source.is_dir() and (flags["scale"] or flags["only"]):
        raise UsageError("--scale and --only say what to take of a table, and this is a folder; leave them out")
    if source.is_dir() and output.suffix.lower() != ".csv":
        raise UsageError(f"{output}: a table is written as CSV; give -o a name that ends in .csv")
    start_server("batchlp_cli.files.read.worker")
    from batchlp_cli.conversion import folder_to_table, table_to_folder

    if source.is_dir():
        count = folder_to_table(flags["model"], flags["source"], output, settings)
    else:
        count = table_to_folder(flags["model"], source, output, settings, scale=flags["scale"], only=flags["only"])
    click.echo(f"{count} scenario{'s' * (count != 1)} written to {output}", err=True)
    return 0
