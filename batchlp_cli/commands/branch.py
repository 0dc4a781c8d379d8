"""`batchlp branch`: full strong branching at the root of each model."""

from __future__ import annotations

from typing import Any

import click

from batchlp_cli.commands.options import input_options, option, output_options
from batchlp_cli.commands.studying import check_cutoff, run_command, study_options, words_of

EPILOG = """\b
Examples:
  batchlp branch model.mps                      a row a fractional column: proved bounds of both children, score, place
  batchlp branch model.mps --cutoff 120 -o run  also fix what cannot beat 120; run/models holds the model with the fixings
  batchlp branch model.mps --candidates 'y*' --limit 50 --score min --format csv
"""


@click.command("branch", epilog=EPILOG, context_settings={"max_content_width": 110})
@input_options
@option("--candidates", multiple=True, metavar="NAME", help="Only columns of this name or pattern (several times).")
@option("--limit", type=click.IntRange(1), help="Only the N most fractional columns.  [default: all]")
@option(
    "--score",
    type=click.Choice(["product", "min", "max"]),
    default="product",
    show_default=True,
    help="How the gains of both children become a score.",
)
@study_options
@output_options
@click.pass_context
def command(context: click.Context, /, **flags: Any) -> int:
    """Full strong branching at the root of each of the MODELs (PATHS).

    Both children of every fractional integer column are solved as one batch. Each has a rigorous dual bound, whoever solved it.
    The root is the plain relaxation: root cuts are not added. A child that is infeasible or passes the cutoff fixes a bound.
    """
    check_cutoff(flags)
    from batchlp_cli.studies.scores import ScoreRule

    own = {
        "candidates": words_of(flags["candidates"]),
        "limit": flags["limit"],
        "rule": ScoreRule(flags["score"]),
        "cutoff": flags["cutoff"],
    }
    return run_command("branch", flags, own, context.obj)
