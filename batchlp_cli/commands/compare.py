"""`batchlp compare`: two ways of solving against each other, and the size at which they change places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batchlp_cli.commands.options import discover_inputs, input_options, option, output_options, solve_settings
from batchlp_cli.errors import UsageError
from batchlp_cli.worker import start_server

if TYPE_CHECKING:
    from batchlp_cli.batch import LPBatch
    from batchlp_cli.settings import SolveSettings

EPILOG = """\b
Examples:
  batchlp compare pdhg-vs-simplex --family facility-location          from small to large, and the crossover
  batchlp compare pdhg-vs-simplex --family koerkel-ghosh-c --sizes 30x30,60x60,120x120 --tol 1e-4 -o cmp
  batchlp compare simplex-warm-vs-simplex-cold models/                your own files, a row a group
  batchlp compare gpu-vs-simplex models/                              needs a CUDA device, else exit code 4
Sides: simplex, simplex-warm, simplex-cold, ipm, pdhg, pdhg-float64, pdhg-mixed, gpu, auto.
"""

COLUMNS = {
    "label": "group or size",
    "members": "members",
    "nonzeros": "nonzeros",
    "first_time": "first, s an LP",
    "second_time": "second, s an LP",
    "speedup": "first faster, times",
    "first_failed": "first failed",
    "second_failed": "second failed",
    "disagreements": "disagree",
}


@click.command("compare", epilog=EPILOG, context_settings={"max_content_width": 110})
@click.argument("comparison", metavar="A-vs-B")
@input_options
@option("--family", help="Compare on a generated family instead of files; see `batchlp generate --list`.")
@option("--sizes", help="Sizes of the family, from small to large, such as 20x20,40x40.  [default: the family's own]")
@option("--as", type=click.Choice(["family", "children"]), default="family", show_default=True, help="What members are.")
@option("--vary", help="What varies in the family.  [default: the family's first]")
@option("--members", type=click.IntRange(2), default=32, show_default=True, help="Members of each size.")
@option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the family.")
@option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="How often each side solves each batch, in turn.")
@option("--tol", type=float, default=1e-6, show_default=True, help="Relative tolerance of the referee, for both sides.")
@option("--time-limit", type=float, default=60.0, show_default=True, help="Seconds an LP may take; failures count with it.")
@option("--output", "-o", metavar="DIR", type=click.Path(path_type=Path), help="Keep compare.json and crossover.svg here.")
@output_options
def command(**flags: Any) -> int:
    """Solve the same members with A and with B, judge every answer, and compare times.

    PATHS are files and folders, or --family names a generated family at several sizes. Reading is not counted.
    """
    settings = solve_settings(flags)
    start_server("batchlp_cli.files.read.worker", "batchlp_cli.backends.highs.worker")
    from batchlp_cli.console import Talk
    from batchlp_cli.studies.comparing import describe, outcome_of, write_comparison
    from batchlp_cli.studies.comparison import compare_batch, make_sides, parse_sides

    sides = parse_sides(flags["comparison"])
    if (flags["family"] is None) == (not flags["paths"] and flags["files_from"] is None):
        raise UsageError("compare on files (PATHS) or on a generated family (--family NAME), one of them")
    talk = Talk(flags["format"], quiet=flags["quiet"], verbose=flags["verbose"])
    backends = make_sides(sides, settings)
    found = []
    try:
        for label, batch in batches_of(flags, settings):
            found.append(compare_batch(label, batch, backends, settings, flags["repeats"]))
            talk.say(describe(found[-1], sides))
    finally:
        for backend in backends:
            backend.close()
    outcome = outcome_of(found, sides, settings, flags["repeats"])
    for sentence in outcome.disagreements:
        talk.say(f"DISAGREEMENT {sentence}", level=0)
    talk.show_records(outcome.records, COLUMNS)
    talk.say(outcome.words)
    if flags["output"] is not None:
        for note in write_comparison(flags["output"], outcome):
            talk.say(note)
    return 1 if outcome.disagreements or outcome.failed else 0


def batches_of(flags: dict[str, Any], settings: SolveSettings) -> Any:
    """Yields (label, batch) of the sizes of a family, or of the groups of files."""
    if flags["family"] is not None:
        yield from _family_batches(flags, settings)
        return
    from batchlp_cli.studies.comparing import group_batches

    discovery, stdin = discover_inputs(flags, settings.max_file_bytes)
    yield from group_batches(discovery, stdin, settings)


def _family_batches(flags: dict[str, Any], settings: SolveSettings) -> Any:
    from batchlp_cli.families import find_family
    from batchlp_cli.generation import Form, Recipe, make_batch

    family = find_family(flags["family"])
    sizes = flags["sizes"].split(",") if flags["sizes"] else family.sizes
    for size in sizes:
        asked = {name: flags[name] for name in ("members", "seed", "vary")}
        batch: LPBatch = make_batch(Recipe(family=family.name, size=size.strip(), form=Form(flags["as"]), **asked), settings)[0]
        yield f"{family.name} {size.strip()}", batch
