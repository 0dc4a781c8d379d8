"""`batchlp calibrate`: what an iteration costs on this machine, measured once and kept."""

from __future__ import annotations

import json
import sys

import click

from batchlp_cli.commands.options import option
from batchlp_cli.errors import BackendMissing, OutputError

EPILOG = """\b
Examples:
  batchlp calibrate                  a few seconds; later runs use what was measured
  batchlp calibrate --seconds 5      measure longer, on a machine that others use too
  batchlp solve models/ --no-cache   solve without it
"""


@click.command("calibrate", epilog=EPILOG, context_settings={"max_content_width": 110})
@option("--seconds", type=click.FloatRange(0.1, 600), default=1.0, show_default=True, help="Time that each size may take.")
@option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def command(seconds: float, quiet: bool) -> int:
    """Measure what an iteration of the batched first-order backend costs on this machine.

    The figure is kept in the user's cache folder ($BATCHLP_CACHE_DIR names another place). With it, --backend auto knows without
    trying that small models are better off with simplex. One JSON object goes to stdout.
    """
    from batchlp_cli.backends.auto.cost import fingerprint, measure_profile, save_profile

    try:
        profile = measure_profile(seconds)
    except ModuleNotFoundError as error:
        raise BackendMissing(f"there is nothing to calibrate: {error}; try: pip install 'batchlp[pdhg]'") from error
    try:
        path = save_profile(profile)
    except OSError as error:
        raise OutputError(f"the profile cannot be kept: {error}; BATCHLP_CACHE_DIR names another folder") from error
    measured = [{"entries": size, "iteration": cost} for size, cost in profile.points]
    record = {"machine": fingerprint(), "measured": measured, "path": str(path)}
    sys.stdout.write(json.dumps(record) + "\n")
    if not quiet:
        for size, cost in profile.points:
            click.echo(f"{size} rows, columns and nonzeros: an iteration of a member costs {cost * 1e6:.3g} us", err=True)
        click.echo(f"kept in {path}", err=True)
    return 0
