"""The pipeline on one screen: read, group, choose, solve, verify, try again where refused, record.

It works in windows bounded by memory, times every stage, and tells a listener what happens. It knows no terminal.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from batchlp_cli.batch import LPBatch
from batchlp_cli.dispatch import choose_backend
from batchlp_cli.errors import Interrupted
from batchlp_cli.events import Begun, InputRead, Listen, Note
from batchlp_cli.files.discover import Discovery, Input
from batchlp_cli.files.read import ModelReader, ReadOutcome, ReadRequest
from batchlp_cli.files.results import RunFolder
from batchlp_cli.files.warm_start import SavedStarts
from batchlp_cli.grouping import Group, Grouper, duplicate_members
from batchlp_cli.interrupts import Interruptions
from batchlp_cli.preparation import Preparation
from batchlp_cli.products import needs_scipy
from batchlp_cli.recorder import Recorder
from batchlp_cli.report.rows import (
    RESULT_FIELDS,
    SCHEMA_VERSION,
    Source,
    machine,
    peak_memory_bytes,
    settings_digest,
    settings_record,
    versions,
)
from batchlp_cli.run_options import RunOptions
from batchlp_cli.settings import BackendName
from batchlp_cli.solution import Solution, Verdict
from batchlp_cli.solving import Answer, Proved, Solver, Stages, Tries
from batchlp_cli.stochastic import Expectation, Study
from batchlp_cli.tracing import Tracer
from batchlp_cli.watch import Watch
from batchlp_cli.windows import Work, windows

if TYPE_CHECKING:
    from batchlp_cli.producers import Producer, Window


def run(discovery: Discovery, options: RunOptions, listen: Listen, reader: ModelReader | None = None) -> dict[str, object]:
    """Solves all inputs of a discovery and returns the report, which is also in the run folder if there is one.

    reader: one with the same settings that may have begun the first of the inputs, for a run that resumes nothing.

    Raises OutputError when the run folder cannot be written, BackendMissing when the backend is not there, and
    Interrupted on SIGINT or SIGTERM; in each case what was finished before is kept.
    """
    with ExitStack() as stack:
        interruptions = stack.enter_context(Interruptions())
        pipeline = Pipeline(discovery, options, listen, interruptions, stack, reader)
        try:
            pipeline.solve_everything()
        except Interrupted as signal_error:
            pipeline.close("interrupted", signal_error.exit_code)
            raise
        return pipeline.close("finished", pipeline.recorder.totals.exit_code(options.fail_on))


class Pipeline:
    """One run: the reader, the grouper, the solver, the recorder and the clock."""

    def __init__(
        self,
        discovery: Discovery,
        options: RunOptions,
        listen: Listen,
        interruptions: Interruptions,
        stack: ExitStack,
        reader: ModelReader | None,
    ) -> None:
        self.options = options
        self.watch = Watch(options.trace, say=lambda text: listen(Note(text)))
        self.starts = SavedStarts(options.warm_start) if options.warm_start is not None else None
        self._warm_start = str(options.warm_start) if options.warm_start is not None else None
        self.settings = replace(options.settings, watch=self.watch, starts=self.starts)
        self.discovery, self.inputs = discovery, discovery.inputs
        self.listen = listen
        self.held = interruptions.held
        self.stages = Stages()
        self.stages.seconds["start"] = time.perf_counter() - options.started
        self.sources: dict[int, Source] = {i.index: Source(i.name, i.shown) for i in self.inputs}
        self.digest = settings_digest(self.settings, options.solutions, kept=options.selection, start=self._warm_start)
        self.folder = self._open_folder(stack)
        self.tracer = Tracer(self.watch, self.folder)
        self.reader = stack.enter_context(reader or ModelReader(self.settings))
        self.preparation = Preparation(self.settings)
        self.solver = stack.enter_context(Solver(self.settings, self.stages, self.preparation, self._settle))
        self.grouper = Grouper(self.settings.memory_bytes // 2)
        self.recorder = Recorder(self.folder, options.solutions, self.digest, listen, self._twins(), options.selection)
        stack.callback(self.recorder.settle)  # also when something goes wrong, before the folder is closed
        self.groups: dict[str, dict[str, object]] = {}
        self.study: Study | None = None
        for note in discovery.notes:
            listen(Note(note))

    def solve_everything(self) -> None:
        """Runs the pipeline to its end."""
        self.listen(Begun(len(self.inputs)))
        for window in self._windows():
            self.solve_window(window)
        with self.stages.timed("write"), self.held():
            self.recorder.flush()
        self.tracer.finish(self.listen)

    def _windows(self) -> Iterator[Sequence[Group]]:
        """Yields what is solved together: files by their matrices, or scenarios of the one model there is."""
        if self.options.producer is None:
            yield from windows(self._outcomes(), self.grouper, self.settings.memory_bytes, self.stages)
            return
        for core in self._outcomes():
            yield from self._scenario_windows(self.options.producer, core)

    def _scenario_windows(self, producer: Producer, core: ReadOutcome) -> Iterator[Sequence[Group]]:
        """Yields the scenarios of a model, and then, if they have probabilities, tells what they come to together."""
        from batchlp_cli.producers import scenario_groups  # files need none of it

        for note in producer.open(core):
            self.listen(Note(note))
        seen = Expectation()
        self.recorder.listen_also(seen)
        yield from self._made(scenario_groups(producer, core, self.settings.memory_bytes, self.options.shard))
        self._settle()  # so that all scenarios are seen
        if seen.scenarios:
            self.study = self._study(producer, core, seen)
            for sentence in self.study.sentences():
                self.listen(Note(sentence))

    def _study(self, producer: Producer, core: ReadOutcome, seen: Expectation) -> Study:
        """Solves the mean scenario, and all scenarios with its first stage: what the mean is worth. Only for whole programs."""
        mean = producer.mean() if self.options.shard is None else None
        if mean is None or seen.value is None:
            return Study(seen)
        solution, verdict = self._solve_one(mean.batch)
        if verdict.objective is None or solution.x is None:
            self.listen(Note(f"the mean scenario has no verified optimum ({solution.status}), so there is no EV and no EEV"))
            return Study(seen)
        from batchlp_cli.producers import scenario_groups

        result = Expectation()
        kept = self.recorder, self.sources, self.groups
        self.recorder = Recorder(None, self.options.solutions, self.digest, lambda event: None, {})
        self.recorder.listen_also(result)
        self.groups = {}
        try:
            for window in scenario_groups(producer, core, self.settings.memory_bytes, held=solution.x):
                self.sources = window.sources
                self.solve_window(window.groups)
            self._settle()
        finally:
            self.recorder, self.sources, self.groups = kept
        return Study(seen, mean.batch.base.sign * verdict.objective, result)

    def _solve_one(self, batch: LPBatch) -> tuple[Solution, Verdict]:
        """Returns the claim and the verdict on a batch of one, tried twice like any other: a vertex if simplex may be used."""
        backend = self.settings.backend  # a first stage off by the tolerance, as lanes find, may be infeasible where it is held
        ((_, _, tries),) = self.solver.solve_many([batch], BackendName.HIGHS if backend is BackendName.AUTO else backend)
        return tries[-1]

    def _made(self, made: Iterator[Window]) -> Iterator[Sequence[Group]]:
        while True:
            with self.stages.timed("read"):
                window = next(made, None)
            if window is None:
                return
            self.sources = window.sources
            yield [group for group in map(self._without_kept, window.groups) if group.keys]

    def _without_kept(self, group: Group) -> Group:
        """Returns the members of a group that an earlier run has not left in the run folder; the rows of the others are kept."""
        if self.folder is None or not self.options.resume:
            return group
        left = []
        for member, key in enumerate(group.keys):
            source = self.sources[key]
            row = self.folder.reusable(source.name, source.input_digest)
            if row is None:
                left.append(member)
            else:
                with self.held():
                    self.recorder.kept(row)
        return Group(group.id, group.batch.take(left), tuple(group.keys[k] for k in left))

    def solve_window(self, groups: Sequence[Group]) -> None:
        """Solves the groups of a window, each distinct member once, tries again what was refused, and records every member."""
        names = {key: self.sources[key].name for group in groups for key in group.keys}
        works = [Work(group, duplicate_members(group.batch), names.__getitem__, self.watch) for group in groups]
        if any(needs_scipy(work.batch.base.rows, len(work.batch)) for work in works):
            self.preparation.load_scipy()
        if self.starts is not None:
            for work in works:
                self.starts.announce(work.group.id, work.batch.names, work.batch.base)
        choices = [choose_backend(work.batch, self.settings) for work in works]
        for name in dict.fromkeys(choice.backend for choice in choices):
            mine = [k for k, choice in enumerate(choices) if choice.backend is name]
            words = self._solve_with(name, [works[k] for k in mine])
            for k, (chosen, retried) in zip(mine, words, strict=True):
                self._describe(works[k], "; ".join(filter(None, (choices[k].reason, chosen))), retried)

    def _solve_with(self, name: BackendName, works: Sequence[Work]) -> list[tuple[str, int]]:
        """Solves works with one backend; returns for each what the backend chose, in words, and the number of second tries."""
        second_tries = [0] * len(works)
        for k, answer in self._answers([work.batch for work in works], name):
            if isinstance(answer, Proved):
                self._record_proved(works[k], answer)
            else:
                second_tries[k] += len(answer[1]) > 1
                self._record(works[k], *answer)
        return list(zip(self.solver.choices, second_tries, strict=True))

    def _answers(self, batches: Sequence[LPBatch], name: BackendName) -> Iterator[tuple[int, Answer]]:
        """Yields (batch, answer): one by one where more than rows is kept of each member."""
        if not self.recorder.keeps_vectors and not self.watch.tracing:
            yield from self.solver.solve_together(batches, name)
            return
        for k, member, tries in self.solver.solve_many(batches, name):
            yield k, (member, tries)

    def _record_proved(self, work: Work, proved: Proved) -> None:
        with self.stages.timed("write"), self.held():
            twins, position = work.twins(proved.optima.members)
            sources = [self.sources[work.group.keys[twin]] for twin in twins]
            optima, proofs = proved.optima, proved.proofs
            if position is not None:
                optima, proofs = optima.take(position), proofs.take(position)
            self.recorder.proved(sources, work.group.batch, twins, work.group.id, optima, proofs)

    def _settle(self) -> None:
        """Brings rows to disk, and to whoever listens, before anybody waits or counts them."""
        with self.stages.timed("write"), self.held():
            self.recorder.settle()

    def _record(self, work: Work, member: int, tries: Tries) -> None:
        with self.stages.timed("write"), self.held():
            self.tracer.keep(work.batch.names[member])
            for twin in work.copies[member]:
                source = self.sources[work.group.keys[twin]]
                self.recorder.finished(source, work.group.batch, twin, work.group.id, tries)

    def _outcomes(self) -> Iterator[ReadOutcome]:
        """Reads the inputs; yields what became an LP and records at once what did not."""
        for problem in (i for i in self.inputs if i.duplicate_of is None and i.problem):
            with self.held():
                self.listen(InputRead())
                self.recorder.unreadable(self.sources[problem.index], problem.problem)
        for outcome in self.reader.read(self._requests()):
            self.listen(InputRead())
            source = self.sources[outcome.key]
            read = replace(source, input_digest=outcome.input_digest, read_time=outcome.seconds, warnings=tuple(outcome.warnings))
            self.sources[outcome.key] = read
            if outcome.lp is not None:
                yield outcome
                continue
            with self.held():
                row = self.folder.reusable(source.name, outcome.input_digest) if outcome.unchanged and self.folder else None
                if row is not None:
                    self.recorder.kept(row)
                else:
                    self.recorder.unreadable(read, outcome.error)

    def _requests(self) -> Iterator[ReadRequest]:
        """Yields what is to be read; with the first file of the last worker, what comes after reading is got ready."""
        wanted = self.discovery.readable
        for k, found in enumerate(wanted, start=1):
            if k == min(self.settings.jobs, len(wanted)):
                self.preparation.begin(len(wanted))
            yield self._request(found)

    def _request(self, found: Input) -> ReadRequest:
        known = self.folder.known_digest(found.name) if self.folder is not None else None
        return ReadRequest.of(found, self.options.stdin, known)

    def _twins(self) -> dict[str, list[Source]]:
        twins: defaultdict[str, list[Source]] = defaultdict(list)
        for twin in (i for i in self.inputs if i.duplicate_of is not None):
            assert twin.duplicate_of is not None
            twins[self.sources[twin.duplicate_of].name].append(self.sources[twin.index])
        return twins

    def _open_folder(self, stack: ExitStack) -> RunFolder | None:
        o = self.options
        if o.output is None:
            return None
        folder = RunFolder.open(
            o.output, resume=o.resume, retry_failed=o.retry_failed, shard=o.shard, settings_digest=self.digest
        )
        stack.callback(folder.close)
        return folder

    def _describe(self, work: Work, reason: str, second_tries: int) -> None:
        work.tell(self.groups, second_tries, {"backend": str(self.settings.backend), "choice": reason})
        base, members = work.batch.base, len(work.group.batch)
        sizes = f"{members} x ({base.m} rows, {base.n} columns, {base.nnz} nonzeros)"
        self.listen(Note(f"group {work.group.id}: {sizes}: {reason}", level=2))

    def close(self, state: str, exit_code: int) -> dict[str, object]:
        """Keeps what is finished and returns the report."""
        self.recorder.flush()
        totals = self.recorder.totals
        report: dict[str, object] = {
            "schema_version": SCHEMA_VERSION,
            "state": state,
            "exit_code": exit_code,
            "inputs": len(self.inputs),
            "rows": totals.rows,
            "kept": totals.kept,
            "verified": totals.verified,
            "statuses": dict(totals.statuses),
            "wall_time": round(time.perf_counter() - self.options.started, 6),
            "stage_times": {stage: round(seconds, 6) for stage, seconds in self.stages.seconds.items()},
            "peak_memory_bytes": peak_memory_bytes(),
            "settings": settings_record(self.settings)
            | {"solutions": str(self.options.solutions), "warm_start": self._warm_start},
            "settings_digest": self.digest,
            "shard": list(self.options.shard) if self.options.shard else None,
            "versions": versions(),
            "machine": machine(),
            "groups": list(self.groups.values()),
            "lanes": self.watch.lanes(),
        } | ({"stochastic": self.study.record()} if self.study is not None else {})
        if self.folder is not None:
            self.folder.write_report(report)
            if self.options.parquet:
                self.folder.write_parquet(RESULT_FIELDS)
        return report
