"""What the commands that study models share: options, and the way from flags to a finished study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from batchlp_cli.commands.options import Shard, discover_inputs, option, solve_settings
from batchlp_cli.commands.sharding import own_part, slurm_shard
from batchlp_cli.errors import NothingReadable, UsageError
from batchlp_cli.settings import BackendName
from batchlp_cli.worker import start_server

WORKERS = ("batchlp_cli.files.read.worker", "batchlp_cli.backends.highs.worker")


def study_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds how to solve and where results go."""
    backends = click.Choice([b.value for b in BackendName])
    for decorate in reversed(
        (
            option(
                "--cutoff",
                type=float,
                help="Objective that a solution must reach (branch: beat) to be of interest.  [default: none]",
            ),
            option(
                "--incumbent",
                type=click.Path(path_type=Path),
                metavar="FILE",
                help="A .sol file: its objective is the cutoff, after a check that it is feasible and integral.",
            ),
            option(
                "--output", "-o", metavar="DIR", type=click.Path(path_type=Path), help="Keep rows, report and new models here."
            ),
            option(
                "--write-model",
                metavar="FILE",
                type=click.Path(path_type=Path),
                help="Write the model with its new bounds as MPS.",
            ),
            option("--tol", type=float, default=1e-6, show_default=True, help="Relative tolerance of the referee."),
            option("--time-limit", type=float, help="Seconds an LP may take.  [default: none]"),
            option("--iteration-limit", type=click.IntRange(0), help="Iterations an LP may take.  [default: none]"),
            option("--backend", type=backends, default="auto", show_default=True, help="Who solves the batch."),
            option("--resume", is_flag=True, help="Skip models that DIR already holds for the same bytes and the same options."),
            option("--retry-failed", is_flag=True, help="As --resume, but study again what is not verified."),
            option("--shard", type=Shard(), help="Work on the i-th of n equal parts of the inputs; SLURM arrays are obeyed."),
            option("--no-fallback", is_flag=True, help="Do not solve again, carefully, what the referee refused."),
        )
    ):
        function = decorate(function)
    return function


def run_command(name: str, flags: dict[str, Any], own: dict[str, Any], started: float) -> int:
    """Runs the study of that name with its own options and returns the exit code."""
    settings = solve_settings(flags)
    if (flags["resume"] or flags["retry_failed"]) and flags["output"] is None:
        raise UsageError("--resume and --retry-failed go on in a run folder; name it with -o DIR")
    shard = flags["shard"] or slurm_shard()
    start_server(*WORKERS)
    # What follows loads array libraries; meanwhile the server of the worker processes loads its own.
    from batchlp_cli.console import Talk
    from batchlp_cli.report.words import plural
    from batchlp_cli.studies.branching import BranchOptions
    from batchlp_cli.studies.pipeline import StudyOptions, branching, run_study, tightening
    from batchlp_cli.studies.records import BRANCH_LAYOUT, TIGHTEN_LAYOUT
    from batchlp_cli.studies.tightening import TightenOptions

    if name == "branch":
        study, layout = branching(BranchOptions(**own), flags["incumbent"]), BRANCH_LAYOUT
    else:
        study, layout = tightening(TightenOptions(**own), flags["incumbent"]), TIGHTEN_LAYOUT
    discovery, stdin = discover_inputs(flags, settings.max_file_bytes)
    options = StudyOptions(
        settings=settings,
        output=flags["output"],
        write_model=flags["write_model"],
        stdin=stdin,
        resume=flags["resume"] or flags["retry_failed"],
        retry_failed=flags["retry_failed"],
        shard=shard,
        started=started,
    )
    loudness = {"quiet": flags["quiet"], "verbose": flags["verbose"]}
    talk = Talk(flags["format"], **loudness, fields=layout.fields, headings=layout.headings, digits=8)
    discovery = own_part(discovery, shard)
    with talk:
        report = run_study(discovery, study, options, talk.listen)
        models, rows = plural(int(str(report["models"])), "model"), plural(int(str(report["rows"])), "row")
        talk.finish_rows(f"{models}: {rows}, {report['verified']} verified; {report['wall_time']:.2f} s")
        if options.output is not None:
            talk.say(f"rows, report and new models are in {options.output}")
    code = int(str(report["exit_code"]))
    if code == NothingReadable.exit_code:
        raise NothingReadable("none of the inputs could be read as a linear program; the rows say why")
    return code


def words_of(given: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the patterns of an option that may be given several times."""
    return tuple(word for word in given if word)


def check_cutoff(flags: dict[str, Any], *others: str) -> None:
    """Raises UsageError where more than one option says what the cutoff is."""
    given = [name for name in ("cutoff", "incumbent", *others) if flags[name] is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join('--' + name.replace('_', '-') for name in given)} say one thing twice; give one of them")
