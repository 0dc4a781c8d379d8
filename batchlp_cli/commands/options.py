"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from batchlp_cli.errors import UsageError
from batchlp_cli.files.discover import Discovery, discover, read_file_list
from batchlp_cli.files.inputs import ModelFormat
from batchlp_cli.settings import (
    BackendName,
    Device,
    NegativeUpper,
    Precision,
    SolveSettings,
    available_cores,
    available_memory_bytes,
)

if TYPE_CHECKING:
    from batchlp_cli.producers import Producer

PIECE_BYTES = 1 << 20
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Size(click.ParamType):  # type: ignore[type-arg]
    """A number of bytes such as 500M, 4G, 1.5GiB or 1048576; the units are powers of 1024."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the bytes, or fails in words."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", str(value), re.IGNORECASE)
        if found is None:
            self.fail(f"{value!r} is no size; expected a number and a unit such as 500M or 4G", param, ctx)
        return int(float(found[1]) * _UNITS[found[2].lower()])


class Choices(click.ParamType):  # type: ignore[type-arg]
    """A comma-separated list of words from a fixed set."""

    name = "list"

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Returns the words, or fails in words."""
        given = tuple(w.strip() for w in str(value).split(",") if w.strip())
        for word in given:
            if word not in self.words:
                self.fail(f"{word!r} is none of {', '.join(self.words)}", param, ctx)
        return given


class Shard(click.ParamType):  # type: ignore[type-arg]
    """One shard of several, as i/n with i from 1 to n."""

    name = "i/n"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Returns (i, n), or fails in words."""
        found = re.fullmatch(r"(\d+)/(\d+)", str(value))
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            self.fail(f"{value!r} is no shard; expected i/n with i from 1 to n, such as 1/4 for the first of four", param, ctx)
        return int(found[1]), int(found[2])


def option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """A click option that can also be given as the variable BATCHLP_NAME, which its help shows."""
    long = next(n for n in names if n.startswith("--")).split("/")[0]
    variable = "BATCHLP_" + long[2:].upper().replace("-", "_")
    return click.option(*names, envvar=settings.pop("envvar", variable), show_envvar=True, **settings)


def input_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the arguments and options that name the inputs."""
    for decorate in reversed(
        (
            click.argument("paths", nargs=-1, type=str),
            option("--files-from", metavar="FILE", help="Also read the paths listed in FILE, one a line (- for stdin)."),
            option("--null", is_flag=True, help="The paths of --files-from end with a NUL byte, as `find -print0` writes."),
            option(
                "--input-format",
                type=click.Choice([f.value for f in ModelFormat]),
                help="Format of the model on stdin (-), and of files whose ending does not tell.",
            ),
            option(
                "--negative-upper",
                type=click.Choice([rule.value for rule in NegativeUpper]),
                default="free",
                show_default=True,
                help="MPS: a negative upper bound without a lower one frees the lower bound, keeps it at 0, or is an error.",
            ),
            option("--read-timeout", type=float, default=60.0, show_default=True, help="Seconds that reading a file may take."),
            option("--max-file-size", type=Size(), default="2G", show_default=True, help="Largest file after decompression."),
            option("--memory", type=Size(), help="What a window of inputs may take.  [default: a quarter of the memory given]"),
            option("--jobs", "-j", type=click.IntRange(1), help="Worker processes.  [default: the cores given]"),
        )
    ):
        function = decorate(function)
    return function


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say how to talk."""
    for decorate in reversed(
        (
            option(
                "--format",
                type=click.Choice(["auto", "table", "jsonl", "csv"]),
                default="auto",
                show_default=True,
                help="Form of the rows on stdout; auto is a table on a terminal and JSON lines elsewhere.",
            ),
            option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors."),
            option("--verbose", "-v", count=True, help="Say more on stderr."),
        )
    ):
        function = decorate(function)
    return function


def discover_inputs(flags: dict[str, Any], limit_bytes: int) -> tuple[Discovery, bytes | None]:
    """Returns the inputs that the command line names, and the bytes of the model on stdin if one is read from there.

    Of stdin and of a list of files no more than limit_bytes are kept: a model that has more is an input with a problem.
    """
    paths, files_from, null, input_format = (flags[name] for name in ("paths", "files_from", "null", "input_format"))
    if "-" in paths and files_from == "-":
        raise UsageError("stdin cannot be both a model (-) and a list of files (--files-from -); give the list in a file")
    if "-" in paths and input_format is None:
        raise UsageError("a model on stdin (-) needs its format: add --input-format mps or --input-format lp")
    if null and files_from is None:
        raise UsageError("--null says how --files-from is written; add --files-from FILE")
    listed: list[str] = []
    if files_from is not None:
        listed = read_file_list(_list_bytes(files_from, limit_bytes), null=null)
    if not paths and files_from is None:
        raise UsageError("nothing to read: give files, folders, globs, - for stdin, or --files-from FILE")
    found = discover([*paths, *listed], input_format=None if input_format is None else ModelFormat(input_format))
    if "-" not in paths:
        return found, None
    data = _at_most(sys.stdin.buffer, limit_bytes)
    if data is None:
        problem = f"more than {limit_bytes} bytes come from stdin; raise --max-file-size"
        inputs = tuple(i if i.path is not None or i.problem else replace(i, problem=problem) for i in found.inputs)
        found = replace(found, inputs=inputs)
    return found, data


def _list_bytes(files_from: str, limit_bytes: int) -> bytes:
    try:
        with nullcontext(sys.stdin.buffer) if files_from == "-" else open(files_from, "rb") as stream:
            data = _at_most(stream, limit_bytes)
    except OSError as error:
        raise UsageError(f"--files-from {files_from}: {error.strerror}; expected a file with one path a line") from error
    if data is None:
        raise UsageError(f"--files-from {files_from}: more than {limit_bytes} bytes; expected a file with one path a line")
    return data


def _at_most(stream: BinaryIO, limit_bytes: int) -> bytes | None:
    """Returns what a stream holds, or None as soon as that is more than the limit."""
    pieces, size = [], 0
    while piece := stream.read(PIECE_BYTES):
        size += len(piece)
        if size > limit_bytes:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def solve_settings(flags: dict[str, Any]) -> SolveSettings:
    """Returns the settings that the flags ask for."""
    return SolveSettings(
        backend=BackendName(flags.get("backend", "auto")),
        jobs=flags["jobs"] or available_cores(),
        tol=flags.get("tol", 1e-6),
        time_limit=math.inf if flags.get("time_limit") is None else flags["time_limit"],
        iteration_limit=flags.get("iteration_limit"),
        memory_bytes=flags["memory"] or available_memory_bytes() // 4,
        read_timeout=flags["read_timeout"],
        max_file_bytes=flags["max_file_size"],
        negative_upper=NegativeUpper(flags["negative_upper"]),
        precision=Precision(flags.get("precision", "auto")),
        device=Device(flags.get("device", "auto")),
        cache=not flags.get("no_cache", False),
        crossover=flags.get("crossover", False),
        fallback=not flags.get("no_fallback", False),
    )


def scenario_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that make many scenarios of one model."""
    path = click.Path(path_type=Path, exists=True, dir_okay=False)
    for decorate in reversed(
        (
            option(
                "--scenarios", metavar="TABLE", type=path, help="Solve the one model PATHS under each scenario of this table."
            ),
            option("--scale", is_flag=True, help="The numbers of the table are factors of what the model has."),
            option("--smps", is_flag=True, help="PATHS are CORE TIME STOCH of a stochastic program, or their common stem."),
            option("--samples", metavar="N", type=click.IntRange(1), help="Draw N scenarios of a program with too many."),
            option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of --samples."),
        )
    ):
        function = decorate(function)
    return function


def scenario_producer(flags: dict[str, Any], settings: SolveSettings) -> tuple[Producer | None, tuple[str, ...]]:
    """Returns what makes the scenarios that the flags ask for (None for plain files), and the paths to read models from."""
    if flags["scale"] and flags["scenarios"] is None:
        raise UsageError("--scale says how the table of --scenarios is meant; add --scenarios TABLE")
    if (flags["samples"] is not None or flags["seed"]) and not flags["smps"]:
        raise UsageError("--samples and --seed draw from a stochastic program; add --smps")
    if flags["scenarios"] is None and not flags["smps"]:
        return None, flags["paths"]
    from batchlp_cli.files.smps import find_smps
    from batchlp_cli.producers import SmpsProducer, TableProducer

    if flags["smps"] and flags["scenarios"] is not None:
        raise UsageError("--smps and --scenarios both make scenarios; give one of them")
    if flags["files_from"] is not None:
        raise UsageError("scenarios are of one model; give it as PATHS, without --files-from")
    if flags["smps"]:
        files = find_smps(flags["paths"])
        return SmpsProducer(files, flags["samples"], flags["seed"], settings.max_file_bytes), (str(files.core),)
    return TableProducer(flags["scenarios"], flags["scale"]), flags["paths"]


def discover_models(flags: dict[str, Any], settings: SolveSettings) -> tuple[Discovery, bytes | None, Producer | None]:
    """Returns the inputs that the flags name, the bytes of a model on stdin, and what makes scenarios of the one input."""
    producer, paths = scenario_producer(flags, settings)
    form = "mps" if flags["smps"] else flags["input_format"]
    discovery, stdin = discover_inputs({**flags, "paths": paths, "input_format": form}, settings.max_file_bytes)
    if producer is not None and len(discovery.inputs) != 1:
        raise UsageError(f"PATHS name {len(discovery.inputs)} models; scenarios are of one, so give one file")
    return discovery, stdin, producer
