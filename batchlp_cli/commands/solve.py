"""`batchlp solve`: from files and folders to verified answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batchlp_cli.commands.options import (
    Choices,
    Shard,
    discover_models,
    input_options,
    option,
    output_options,
    scenario_options,
    solve_settings,
)
from batchlp_cli.commands.sharding import own_part, slurm_shard
from batchlp_cli.errors import NothingReadable, UsageError
from batchlp_cli.settings import BackendName, Device, Precision, Selection, SolutionFormat, SolveSettings
from batchlp_cli.status import DECIDED, Status

if TYPE_CHECKING:
    from batchlp_cli.run_options import RunOptions

EPILOG = """\b
Examples:
  batchlp solve models/ extra.lp.gz             folders, files, globs; MPS and LP, plain or .gz .bz2 .zst
  batchlp solve models/ -o run1 --solutions npz rows in run1/results.jsonl, vectors in .npz files
  find . -name '*.mps' -print0 | batchlp solve --files-from - --null --format csv > rows.csv
  cat model.lp | batchlp solve - --input-format lp
  batchlp solve model.mps --scenarios demand.csv   one model, a table of what changes
  batchlp solve --smps storm.cor storm.tim storm.sto --samples 1000
  batchlp solve models/ -o run1 --shard 2/8     the second of eight equal parts, on any machine
"""


@click.command("solve", epilog=EPILOG, context_settings={"max_content_width": 110})
@input_options
@scenario_options
@option("--output", "-o", metavar="DIR", type=click.Path(path_type=Path), help="Keep rows, solutions and report in this folder.")
@option(
    "--solutions",
    type=click.Choice([f.value for f in SolutionFormat]),
    default="sol",
    show_default=True,
    help="What to keep of the solutions: a .sol file an instance, an .npz or Parquet file a batch, or nothing.",
)
@option("--keep", type=Choices(("x", "y", "r")), default="x,y,r", show_default=True, help="Vectors that .npz and Parquet keep.")
@option("--columns", metavar="PATTERN", help="Keep x and r of these columns only, such as 'flow_*' (.npz and Parquet).")
@option("--parquet", is_flag=True, help="Write results.parquet beside results.jsonl, for data frames.")
@option("--tol", type=float, default=1e-6, show_default=True, help="Relative tolerance of the referee.")
@option("--time-limit", type=float, help="Seconds an LP may take.  [default: none]")
@option("--iteration-limit", type=click.IntRange(0), help="Iterations an LP may take.  [default: none]")
@option(
    "--backend",
    type=click.Choice([b.value for b in BackendName]),
    default="auto",
    show_default=True,
    help="Who solves: HiGHS, batched PDHG, or whoever is measured to be faster.",
)
@option(
    "--precision",
    type=click.Choice([p.value for p in Precision]),
    default="auto",
    show_default=True,
    help="Arithmetic of the lanes; auto is mixed (float32 first) from --tol 1e-5 on, else float64.",
)
@option(
    "--device",
    type=click.Choice([d.value for d in Device]),
    default="auto",
    show_default=True,
    help="Where the lanes run; auto is a CUDA device if there is one, else the CPU.",
)
@option("--no-cache", is_flag=True, help="Neither use what earlier runs measured on this machine nor keep it.")
@option(
    "--warm-start",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Start lanes from the solutions of this run folder, by name, else by group.",
)
@option("--crossover", is_flag=True, help="Make the optima of lanes basic solutions, with HiGHS' crossover.")
@option("--no-fallback", is_flag=True, help="Do not solve again, carefully, what the referee refused.")
@option(
    "--fail-on",
    type=Choices(tuple(sorted(s.value for s in DECIDED))),
    default="",
    help="Exit with 1 also when an instance has one of these statuses, such as infeasible,unbounded.",
)
@option("--resume", is_flag=True, help="Skip what DIR already holds for the same bytes and the same settings.")
@option("--retry-failed", is_flag=True, help="As --resume, but solve again what has no verified verdict.")
@option("--shard", type=Shard(), help="Work on the i-th of n equal parts of the inputs; SLURM array variables are obeyed.")
@option(
    "--trace",
    metavar="PATTERN",
    multiple=True,
    help="Record residuals by iteration of the inputs with such names, such as 'case1*'; lanes only, needs -o.",
)
@option("--dry-run", is_flag=True, help="Show what would be solved, as `batchlp inspect` does, and solve nothing.")
@output_options
@click.pass_context
def command(context: click.Context, /, **flags: Any) -> int:
    """Solve all linear programs of the files and folders PATHS, and prove every answer.

    Models with one matrix are solved together. Integer models are relaxed. Every input gives exactly one row.
    """
    settings = solve_settings(flags)
    check_contradictions(flags)
    shard = flags["shard"] or slurm_shard()
    from batchlp_cli.files.read import ModelReader, ReadRequest  # loads numpy, as the server of the workers does meanwhile

    discovery, stdin, producer = discover_models(flags, settings)
    if producer is None:
        discovery = own_part(discovery, shard)
    elif shard is not None:
        note = f"shard {shard[0]} of {shard[1]}: every {shard[1]}th scenario from number {shard[0]} on (--shard 1/1 takes all)"
        discovery = replace(discovery, notes=(note, *discovery.notes))
    with ModelReader(settings) as reader:
        if not (flags["dry_run"] or flags["resume"] or flags["retry_failed"]):
            reader.begin(ReadRequest.of(found, stdin) for found in discovery.readable)
        # The rest is imported while the first files are read.
        from batchlp_cli.console import Talk

        talk = Talk(flags["format"], quiet=flags["quiet"], verbose=flags["verbose"])
        if flags["dry_run"]:
            from batchlp_cli.inspection import inspect_inputs

            with talk:
                inspected = inspect_inputs(discovery, settings, stdin, talk.listen, producer)
                talk.show_inspection(inspected)
            return inspected.exit_code
        from batchlp_cli.run import run

        options = replace(run_options(flags, settings, shard, stdin, started=context.obj), producer=producer)
        with talk:
            report = run(discovery, options, talk.listen, reader)
            talk.finish(report, options.output)
    code = int(str(report["exit_code"]))
    if code == NothingReadable.exit_code:
        raise NothingReadable("none of the inputs could be read as a linear program; the rows say why")
    return code


def check_contradictions(flags: dict[str, Any]) -> None:
    """Raises UsageError where flags contradict each other."""
    if (flags["resume"] or flags["retry_failed"]) and flags["output"] is None:
        raise UsageError("--resume and --retry-failed go on in a run folder; name it with -o DIR")
    if flags["trace"] and flags["output"] is None:
        raise UsageError("--trace records into a run folder; name it with -o DIR")
    if flags["parquet"] and flags["output"] is None:
        raise UsageError("--parquet writes into a run folder; name it with -o DIR")
    is_part = set(flags["keep"]) != set("xyr") or flags["columns"] is not None
    if is_part and flags["solutions"] not in ("npz", "parquet"):
        raise UsageError("--keep and --columns choose what .npz and Parquet files hold; add --solutions npz or parquet")
    if flags["parquet"] or flags["solutions"] == "parquet":
        from batchlp_cli.files.frames import load_pyarrow

        load_pyarrow()


def run_options(
    flags: dict[str, Any], settings: SolveSettings, shard: tuple[int, int] | None, stdin: bytes | None, started: float
) -> RunOptions:
    """Returns the options of the run that the flags ask for."""
    from batchlp_cli.run_options import RunOptions

    return RunOptions(
        settings=settings,
        output=flags["output"],
        solutions=SolutionFormat(flags["solutions"]),
        resume=flags["resume"] or flags["retry_failed"],
        retry_failed=flags["retry_failed"],
        shard=shard,
        fail_on=frozenset(Status(word) for word in flags["fail_on"]),
        stdin=stdin,
        trace=flags["trace"],
        warm_start=flags["warm_start"],
        selection=Selection(frozenset(flags["keep"]), flags["columns"]),
        parquet=flags["parquet"],
        started=started,
    )
