"""What a comparison came to: records, sentences, and the files that keep it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from batchlp_cli.batch import LPBatch
from batchlp_cli.errors import NothingReadable
from batchlp_cli.files.discover import Discovery
from batchlp_cli.files.ledger import replace_file
from batchlp_cli.files.read import ModelReader, ReadRequest
from batchlp_cli.files.results import output_errors
from batchlp_cli.grouping import Grouper
from batchlp_cli.report.comparison import SHIFT
from batchlp_cli.report.profile import shifted_mean
from batchlp_cli.report.rows import SCHEMA_VERSION, finite, machine, versions
from batchlp_cli.settings import SolveSettings
from batchlp_cli.studies.comparison import Comparison
from batchlp_cli.studies.crossover import Crossover, find_crossover

Record = dict[str, object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """records: one a size or group. words: what it all came to. failed: members without a verdict, of both sides."""

    sides: tuple[str, str]
    records: list[Record]
    crossover: Crossover
    words: str
    disagreements: list[str]
    failed: int
    settings: Record


def group_batches(discovery: Discovery, stdin: bytes | None, settings: SolveSettings) -> Iterator[tuple[str, LPBatch]]:
    """Yields (group, batch) of the inputs that can be read; raises NothingReadable where none can."""
    grouper = Grouper(settings.memory_bytes // 2)
    with ModelReader(settings) as reader:
        for outcome in reader.read(ReadRequest.of(i, stdin, None) for i in discovery.readable):
            if outcome.lp is not None:
                grouper.add(outcome.key, outcome.lp, outcome.matrix_digest)
    groups = grouper.take_batches()
    if not groups:
        raise NothingReadable("none of the inputs could be read as a linear program; batchlp inspect says why")
    for group in sorted(groups, key=lambda group: group.batch.base.nnz):
        yield group.id, group.batch


def record_of(comparison: Comparison) -> Record:
    """Returns the record of one size or group; times are seconds an LP, medians over the repeats."""
    base, timed = comparison.batch.base, comparison.timed
    record: Record = {"label": comparison.label, "members": len(comparison.batch)}
    record |= {"rows": base.m, "columns": base.n, "nonzeros": base.nnz, "speedup": finite(timed.speedup)}
    for name, side, times in zip(("first", "second"), comparison.sides, (side.seconds for side in comparison.sides), strict=True):
        record |= {
            f"{name}_time": finite(statistics.median(times)),
            f"{name}_times": times,
            f"{name}_cold": round(side.cold, 6),
            f"{name}_failed": side.failed,
            f"{name}_worst": finite(side.worst),
            f"{name}_choice": side.words,
        }
    return record | {"disagreements": len(comparison.disagreements)}


def describe(comparison: Comparison, sides: tuple[str, str]) -> str:
    """Says in one line what a size came to."""
    record = record_of(comparison)
    times = (f"{side} {record[f'{name}_time']:.3g} s" for side, name in zip(sides, ("first", "second"), strict=True))
    base = comparison.batch.base
    return f"{comparison.label}: {len(comparison.batch)} x ({base.m} rows, {base.nnz} nonzeros): {', '.join(times)} an LP"


def outcome_of(found: Sequence[Comparison], sides: tuple[str, str], settings: SolveSettings, repeats: int) -> Outcome:
    """Puts the sizes or groups together."""
    crossover = find_crossover([c.timed for c in found])
    words = crossover.in_words(*sides, [c.timed for c in found])
    means = [shifted_mean([t for c in found for t in c.sides[k].seconds], SHIFT) for k in (0, 1)]
    shown = " and ".join(f"{mean:.3g} s ({side})" for mean, side in zip(means, sides, strict=True))
    words += f"; shifted geometric means {shown} an LP"
    failed = sum(side.failed for c in found for side in c.sides)
    if failed:
        words += f"; {failed} members without a proved verdict, counted with the limit of {settings.time_limit:g} s"
    disagreements = [f"{c.label}, {sentence}" for c in found for sentence in c.disagreements]
    kept: Record = {"tol": settings.tol, "time_limit": finite(settings.time_limit), "jobs": settings.jobs, "repeats": repeats}
    return Outcome(sides, [record_of(c) for c in found], crossover, words, disagreements, failed, kept)


def write_comparison(folder: Path, outcome: Outcome) -> Iterator[str]:
    """Writes compare.json and, where matplotlib is there, crossover.svg; yields what was written, in words."""
    document = {"schema_version": SCHEMA_VERSION, "first": outcome.sides[0], "second": outcome.sides[1], "words": outcome.words}
    document |= {"settings": outcome.settings, "crossover": asdict(outcome.crossover), "sizes": outcome.records}
    document |= {"disagreements": outcome.disagreements, "versions": versions(), "machine": machine()}
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "compare.json", [json.dumps(document, indent=1).encode(), b"\n"])
        yield f"times and crossover are in {folder / 'compare.json'}"
        picture = _picture(outcome)
        if picture is None:
            yield "no figure: needs two sizes and matplotlib (pip install 'batchlp[report]')"
            return
        replace_file(folder / "crossover.svg", [picture.encode("utf-8")])
        yield f"the curve is in {folder / 'crossover.svg'}"


def _picture(outcome: Outcome) -> str | None:
    known = sorted((r for r in outcome.records if r["speedup"] is not None), key=lambda r: int(str(r["nonzeros"])))
    if len(known) < 2:
        return None
    try:
        from batchlp_cli.report.figures.crossover import draw_crossover
    except ModuleNotFoundError:
        return None
    pairs = [(r["first_times"], r["second_times"]) for r in known]
    repeats = [[b / a for a, b in zip(first, second, strict=True)] for first, second in pairs]  # type: ignore[call-overload]
    found = outcome.crossover
    interval = (found.low, found.high) if found.low is not None and found.high is not None else None
    sizes = [int(str(r["nonzeros"])) for r in known]
    speedups = [float(str(r["speedup"])) for r in known]
    return draw_crossover(outcome.sides, sizes, speedups, repeats, found.at, interval, outcome.words)
