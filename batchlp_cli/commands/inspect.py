"""`batchlp inspect`: the groups, and why files are not together, without solving."""

from __future__ import annotations

from typing import Any

import click

from batchlp_cli.commands.options import discover_models, input_options, output_options, scenario_options, solve_settings

EPILOG = """\b
Examples:
  batchlp inspect models/                    a table of groups
  batchlp inspect models/ --format jsonl     one JSON object a group, and one an unreadable input
"""


@click.command("inspect", epilog=EPILOG, context_settings={"max_content_width": 110})
@input_options
@scenario_options
@output_options
def command(**flags: Any) -> int:
    """Show the groups of PATHS that share a matrix, why others do not, sizes, and what would run."""
    settings = solve_settings(flags)
    # What follows loads array libraries; meanwhile the server of the worker processes loads its own.
    from batchlp_cli.console import Talk
    from batchlp_cli.inspection import inspect_inputs

    discovery, stdin, producer = discover_models(flags, settings)
    talk = Talk(flags["format"], quiet=flags["quiet"], verbose=flags["verbose"])
    with talk:
        found = inspect_inputs(discovery, settings, stdin, talk.listen, producer)
        talk.show_inspection(found)
    return found.exit_code
