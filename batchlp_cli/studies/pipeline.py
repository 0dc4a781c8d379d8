"""A study of each model of a discovery: read, study, record its rows, and write the model with its new bounds.

Models are studied one after another, since each makes a batch that fills the machine. A model that cannot be read or studied is a
row, never the end of a run.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from batchlp_cli.errors import ModelError, OutputError, UsageError
from batchlp_cli.events import Begun, InputRead, Listen, Note, RowReady
from batchlp_cli.files.discover import Discovery, Input
from batchlp_cli.files.ledger import write_beside
from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.files.read import ModelReader, ReadRequest
from batchlp_cli.files.results import RunFolder, output_errors
from batchlp_cli.interrupts import Interruptions
from batchlp_cli.problem import LinearProgram
from batchlp_cli.report.rows import SCHEMA_VERSION, Row, Source, json_line, machine, settings_digest, settings_record, versions
from batchlp_cli.settings import SolutionFormat, SolveSettings
from batchlp_cli.solution import Status
from batchlp_cli.solving import Solver
from batchlp_cli.studies.branching import BranchOptions, branch_model
from batchlp_cli.studies.incumbent import incumbent_point, objective_of, read_values
from batchlp_cli.studies.records import (
    BRANCH_FIELDS,
    TIGHTEN_FIELDS,
    branch_rows,
    branch_words,
    draw_branching,
    study_row,
    tighten_rows,
    tighten_words,
    unreadable_study_row,
)
from batchlp_cli.studies.tightening import TightenOptions, tighten_model

Studied = tuple[list[Row], Row, LinearProgram | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """What a study is asked for beside its own options. output: the run folder, or None. write_model: where the only model goes
    with its new bounds, or None. stdin: the model that `-` names. resume, retry_failed, shard: as for a run."""

    settings: SolveSettings
    output: Path | None = None
    write_model: Path | None = None
    stdin: bytes | None = None
    resume: bool = False
    retry_failed: bool = False
    shard: tuple[int, int] | None = None
    started: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True, slots=True)
class Study:
    """A kind of study. study: one model to its rows, the model's own row, and the model with new bounds or None. draw: rows and
    the model's own row to a figure as SVG, None where there is none."""

    name: str
    fields: tuple[str, ...]
    words: Callable[[Row], str]
    options: BranchOptions | TightenOptions
    study: Callable[[LinearProgram, Source, str, Solver, Listen], Studied]
    draw: Callable[[list[Row], Row], str | None] = lambda rows, row: None


def branching(options: BranchOptions, incumbent: Path | None = None) -> Study:
    """Returns the study `branch`; incumbent: a file whose point gives the cutoff of each model."""
    values = None if incumbent is None else read_values(incumbent)

    def study(lp: LinearProgram, source: Source, digest: str, solver: Solver, listen: Listen) -> Studied:
        given = options if values is None else replace(options, cutoff=_cutoff_of(lp, values))
        result = branch_model(lp, given, solver, listen)
        return *branch_rows(result, source, digest), result.tightened() if result.fixings and not result.closed else None

    return Study("branch", BRANCH_FIELDS, branch_words, options, study, draw_branching)


def tightening(options: TightenOptions, incumbent: Path | None = None) -> Study:
    """Returns the study `tighten`; incumbent: a file whose point gives the cutoff of each model."""
    values = None if incumbent is None else read_values(incumbent)

    def study(lp: LinearProgram, source: Source, digest: str, solver: Solver, listen: Listen) -> Studied:
        given = options if values is None else replace(options, cutoff=_cutoff_of(lp, values))
        result = tighten_model(lp, given, solver, listen)
        return *tighten_rows(result, source, digest), result.tightened

    return Study("tighten", TIGHTEN_FIELDS, tighten_words, options, study)


def _cutoff_of(lp: LinearProgram, values: dict[str, float]) -> float:
    """Returns the objective of an incumbent, in the model's own sense."""
    return lp.sign * objective_of(lp, incumbent_point(lp, values))


def run_study(discovery: Discovery, study: Study, options: StudyOptions, listen: Listen) -> Row:
    """Studies every model and returns the report, which is also in the run folder if there is one.

    Raises UsageError where one file is asked for and there are several models, OutputError where a file cannot be written, and
    Interrupted on a signal; what was finished before is kept.
    """
    if options.write_model is not None and len(discovery.inputs) != 1:
        raise UsageError(f"--write-model names one file for {len(discovery.inputs)} models; use -o DIR for several")
    if options.write_model is not None and options.write_model.is_dir():
        raise OutputError(f"{options.write_model} is a folder; --write-model expects the name of a file")
    with ExitStack() as stack:
        interruptions = stack.enter_context(Interruptions())
        course = _Course(discovery, study, options, listen, stack)
        listen(Begun(len(discovery.inputs)))
        for source, outcome in course.models():
            finished = course.study_model(source, outcome)
            with interruptions.held():
                course.record(*finished)
        return course.close()


class _Course:
    """One run of a study: reader, solver, run folder and counts."""

    def __init__(self, discovery: Discovery, study: Study, options: StudyOptions, listen: Listen, stack: ExitStack) -> None:
        self.discovery, self.study, self.options, self.listen = discovery, study, options, listen
        about = f"{settings_digest(options.settings, SolutionFormat.NONE)} {study.name} {study.options}"
        self.digest = hashlib.sha256(about.encode()).hexdigest()[:16]
        self.folder: RunFolder | None = None
        if options.output is not None:
            self.folder = RunFolder.open(
                options.output,
                resume=options.resume,
                retry_failed=options.retry_failed,
                shard=options.shard,
                settings_digest=self.digest,
            )
            stack.callback(self.folder.close)
        self.reader = stack.enter_context(ModelReader(options.settings))
        self.solver = stack.enter_context(Solver(options.settings))
        self.rows = self.verified = self.readable = self.kept = 0
        self.models_done: list[Row] = []
        for note in discovery.notes:
            listen(Note(note))

    def models(self) -> Iterator[tuple[Source, LinearProgram | str]]:
        """Yields each input with its LP, or with why there is none; not those whose rows an earlier run has left."""
        sources = {i.index: Source(i.name, i.shown) for i in self.discovery.inputs}
        for found in self.discovery.inputs:
            if found.duplicate_of is not None:
                yield sources[found.index], f"the same file as {sources[found.duplicate_of].shown}; studied once"
            elif found.problem:
                yield sources[found.index], found.problem
        for outcome in self.reader.read(self._request(i) for i in self.discovery.readable):
            self.listen(InputRead())
            source = replace(sources[outcome.key], input_digest=outcome.input_digest, warnings=tuple(outcome.warnings))
            row = self._earlier(source.name) if outcome.unchanged else None
            if row is not None:
                self._keep(row)
                continue
            yield source, outcome.error if outcome.lp is None else outcome.lp

    def _request(self, found: Input) -> ReadRequest:
        known = self.folder.known_digest(found.name) if self.folder is not None and self._earlier(found.name) else None
        return ReadRequest.of(found, self.options.stdin, known)

    def _earlier(self, name: str) -> Row | None:
        """Returns the row of a model that an earlier run has left, which comes after all others of the model; None where there
        is none that can be used again, or the new model is to go elsewhere too."""
        digest = None if self.folder is None else self.folder.known_digest(name)
        row = None if self.folder is None or digest is None else self.folder.reusable(name, digest)
        if row is None or self.folder is None or self.options.write_model is not None or row["kind"] != "model":
            return None
        written = row["model_file"]
        return row if written is None or (self.folder.path / str(written)).is_file() else None

    def _keep(self, row: Row) -> None:
        """Takes over what an earlier run has left of a model."""
        self.listen(RowReady(row, json_line(row)))
        self.readable += row["status"] != Status.UNREADABLE
        self.kept += 1
        self._count(row)

    def _count(self, row: Row) -> None:
        self.rows += 1
        self.verified += bool(row["verified"])
        self.models_done.append(row)

    def study_model(self, source: Source, model: LinearProgram | str) -> Studied:
        """Returns what the study of a model came to; an error is the row of the model."""
        if isinstance(model, str):
            return [], unreadable_study_row(self.study.fields, source, self.digest, model), None
        self.readable += 1
        try:
            rows, row, changed = self.study.study(model, source, self.digest, self.solver, self.listen)
        except ModelError as error:
            row = study_row(self.study.fields, "model", source, self.digest) | {"error": str(error)}
            return [], row | {"warnings": list(source.warnings)}, None
        return rows, row | {"warnings": list(source.warnings)}, changed

    def record(self, rows: list[Row], row: Row, changed: LinearProgram | None) -> None:
        """Writes the new model, then the rows, and tells whoever listens."""
        row["model_file"] = self._write_model(str(row["name"]), changed)
        if self.folder is not None:
            self.folder.forget_parts(str(row["name"]), str(row["input"]))
        for each in (*rows, row):
            if self.folder is not None:
                self.folder.append(each)
            self.listen(RowReady(each, json_line(each)))
        picture = None if self.folder is None else self.study.draw(rows, row)
        if self.folder is not None and picture is not None:
            self.folder.write_atomic(f"figures/{row['name']}.svg", picture.encode("utf-8", "replace"))
        self.listen(Note(self.study.words(row)))
        self.rows += len(rows)
        self._count(row)

    def _write_model(self, name: str, changed: LinearProgram | None) -> str | None:
        if changed is None and self.options.write_model is not None:
            self.listen(Note(f"no new bounds, so {self.options.write_model} is not written"))
        if changed is None or (self.folder is None and self.options.write_model is None):
            return None
        try:
            data = write_mps(replace(changed, name=name)).encode("utf-8", "surrogateescape")
        except ModelError as error:
            self.listen(Note(f"the model with its new bounds is not written: {error}"))
            return None
        if self.options.write_model is not None:
            path = self.options.write_model
            with output_errors(path):
                write_beside(path.with_name(f".{path.name}.part"), path, [data])
        if self.folder is None:
            return str(self.options.write_model)
        self.folder.write_atomic(f"models/{name}.mps", data)
        return f"models/{name}.mps"

    def close(self) -> Row:
        """Returns the report of the run, and keeps it in the run folder."""
        done = len(self.models_done)
        code = 3 if not self.readable else int(self.verified < done)
        settings = settings_record(self.options.settings)
        report: Row = {"schema_version": SCHEMA_VERSION, "study": self.study.name, "state": "finished", "exit_code": code}
        report |= {"models": done, "rows": self.rows, "verified": self.verified, "kept": self.kept, "results": self.models_done}
        report |= {"wall_time": round(time.perf_counter() - self.options.started, 6), "settings": settings}
        report |= {"shard": list(self.options.shard) if self.options.shard else None}
        report |= {"options": {k: v if v is None else str(v) for k, v in asdict(self.study.options).items()}}
        report |= {"stage_times": {k: round(v, 6) for k, v in self.solver.stages.seconds.items()}}
        report |= {"settings_digest": self.digest, "versions": versions(), "machine": machine()}
        if self.folder is not None:
            self.folder.write_report(report)
        return report
