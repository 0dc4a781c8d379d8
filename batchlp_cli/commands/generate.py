"""`batchlp generate`: the files of a seeded family of instances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batchlp_cli.commands.options import option, output_options
from batchlp_cli.errors import UsageError
from batchlp_cli.settings import SolveSettings
from batchlp_cli.worker import start_server

EPILOG = """\b
Examples:
  batchlp generate --list                                             families, sizes, what may vary, sources
  batchlp generate facility-location --size 30x60 --members 100 -o fl 100 LPs that differ in their costs
  batchlp generate transport --size 10x40 --seed 7 -o scenarios       demands are drawn anew for each member
  batchlp generate set-cover --as children --members 50 -o children   children of strong branching
  batchlp generate network-design --as mip --members 3 -o mips        with integer marks
"""

COLUMNS = {
    "name": "name",
    "rows": "rows",
    "columns": "columns",
    "nonzeros": "nonzeros",
    "objective": "known optimum",
    "file": "file",
}
LISTED = {
    "family": "family",
    "size": "size",
    "default": "default",
    "varies": "varies",
    "forms": "as",
    "summary": "what",
    "source": "source",
}


@click.command("generate", epilog=EPILOG, context_settings={"max_content_width": 110})
@click.argument("family", required=False)
@option("--list", is_flag=True, help="List the families and write nothing.")
@option("--size", help="Size of the base, such as 30x60; what the numbers count is in --list.  [default: see --list]")
@option("--members", type=click.IntRange(1), default=20, show_default=True, help="How many (of children: at most).")
@option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed gives the same bytes.")
@option(
    "--as",
    type=click.Choice(["family", "children", "mip"]),
    default="family",
    show_default=True,
    help="Related LPs, the children of a root in strong branching, or related MIPs.",
)
@option("--vary", help="What varies: cost, rhs, bounds or column (see --list).  [default: the family's first]")
@option("--output", "-o", metavar="DIR", type=click.Path(path_type=Path), help="The folder that the files go to.")
@option("--force", is_flag=True, help="Replace files of another content.")
@output_options
def command(**flags: Any) -> int:
    """Write the models of FAMILY as MPS files: related LPs, strong-branching children, or MIPs."""
    if flags["list"] and flags["family"] is None:
        return list_families(flags)
    if flags["list"] or flags["family"] is None or flags["output"] is None:
        raise UsageError("give a family and a folder (batchlp generate FAMILY -o DIR), or --list alone to see the families")
    if flags["as"] == "children":
        start_server("batchlp_cli.backends.highs.worker")
    from batchlp_cli.console import Talk
    from batchlp_cli.families import find_family
    from batchlp_cli.generation import Form, Recipe, write_family

    family = find_family(flags["family"])
    asked = {name: flags[name] for name in ("members", "seed", "vary")}
    recipe = Recipe(family=family.name, size=flags["size"] or family.size, form=Form(flags["as"]), **asked)
    talk = Talk(flags["format"], quiet=flags["quiet"], verbose=flags["verbose"])
    settings = SolveSettings(jobs=1)
    records = list(write_family(recipe, settings, flags["output"], force=flags["force"]))
    talk.show_records(records, COLUMNS)
    fewer = f", all that the root has of the {recipe.members} asked for" if len(records) < recipe.members else ""
    talk.say(f"{len(records)} models of {family.name} {recipe.size} (seed {recipe.seed}) are in {flags['output']}{fewer}")
    return 0


def list_families(flags: dict[str, Any]) -> int:
    """Shows all families on stdout."""
    from batchlp_cli.console import Talk
    from batchlp_cli.families import FAMILIES

    records = [
        {"family": f.name, "size": f.size_syntax, "default": f.size, "sizes": list(f.sizes), "varies": list(f.varies)}
        | {"forms": ["family", "children", "mip"] if f.integer else ["family"], "summary": f.summary, "source": f.source}
        for f in FAMILIES.values()
    ]
    Talk(flags["format"], quiet=flags["quiet"], verbose=flags["verbose"]).show_records(records, LISTED)
    return 0
