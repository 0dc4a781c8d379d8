"""`batchlp tighten`: the range of every column of each model over its relaxation."""

from __future__ import annotations

from typing import Any

import click

from batchlp_cli.commands.options import input_options, option, output_options
from batchlp_cli.commands.studying import check_cutoff, run_command, study_options, words_of

EPILOG = """\b
Examples:
  batchlp tighten model.mps -o run                the range of every column; run/models holds the tightened model
  batchlp tighten model.mps --cutoff 120 --rounds 5 --write-model tighter.mps
  batchlp tighten network.mps --fraction-of-optimum 0.9 --format csv   flux variability: reaction, minimum, maximum
  batchlp tighten model.mps --rows 'capacity*'    the least and greatest activity of rows
"""


@click.command("tighten", epilog=EPILOG, context_settings={"max_content_width": 110})
@input_options
@option("--columns", multiple=True, metavar="NAME", help="Only columns of this name or pattern (several times).")
@option("--rows", multiple=True, metavar="NAME", help="Activities of rows of this name or pattern (several times).")
@option("--fraction-of-optimum", type=click.FloatRange(0, 1), help="Keep the objective within this share of its optimum.")
@option("--rounds", type=click.IntRange(1), default=1, show_default=True, help="Go on with the new bounds, at most so often.")
@study_options
@output_options
@click.pass_context
def command(context: click.Context, /, **flags: Any) -> int:
    """Minimise and maximise every column of each of the MODELs (PATHS) over its relaxation.

    Every end is a rigorous bound, never the value of an approximate point; integer columns are rounded inwards. What a known
    point shows to be tight is not solved for. With --fraction-of-optimum this is flux variability analysis.
    """
    check_cutoff(flags, "fraction_of_optimum")
    names = {key: words_of(flags[key]) for key in ("columns", "rows")}
    numbers = {key: flags[key] for key in ("cutoff", "fraction_of_optimum", "rounds")}
    return run_command("tighten", flags, names | numbers, context.obj)
