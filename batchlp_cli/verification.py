"""Checks a finished run from its inputs and stored solutions alone: reads, groups, judges and compares, and solves nothing.

Whatever does not fit together (an input that changed, a solution that is missing, damaged or of another instance, a number in
a row that nothing bears out, rows or solutions too many or too few) is a finding in the record of its row. Rows that end early
and solutions without a row have records of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from batchlp_cli.errors import ReadError
from batchlp_cli.events import Begun, InputRead, Listen, Note, RowReady
from batchlp_cli.exact_pool import ExactPool, ExactTask
from batchlp_cli.files.claims import Claim, ClaimReader
from batchlp_cli.files.inputs import Compression, ModelFormat, compression_of, format_of
from batchlp_cli.files.locate import Located, locate
from batchlp_cli.files.read import ModelReader, ReadOutcome, ReadRequest
from batchlp_cli.files.run_rows import RunRows
from batchlp_cli.grouping import Group, Grouper
from batchlp_cli.interrupts import Interruptions
from batchlp_cli.kkt import verify
from batchlp_cli.products import Matrix
from batchlp_cli.report.checks import CheckTotals, Evidence, Record, record
from batchlp_cli.report.rows import json_line
from batchlp_cli.settings import NegativeUpper, SolveSettings
from batchlp_cli.solution import Solution, Status

CHUNK_BYTES = 64 << 20
"""Solutions of a group that are in memory at once stay near this."""

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """How to check a run. settings: how to read, with tol that of the referee. exact: judge in rational arithmetic, too.

    root: where relative inputs are, and where moved ones are sought. input_format: of inputs whose ending does not tell.
    expected: (shown, real path) of inputs that must have a row.
    """

    settings: SolveSettings
    exact: bool = False
    root: Path = Path()
    input_format: ModelFormat | None = None
    expected: tuple[tuple[str, str], ...] = ()


def settings_of_run(run: RunRows, settings: SolveSettings, *, tol: float | None, negative_upper: str | None) -> SolveSettings:
    """Returns the settings with tolerance and reading rule of the run's report where none are given: the loosest tolerance."""
    told = [of for report in run.reports.values() if isinstance(of := report.get("settings"), dict)]
    tols = [t for s in told if isinstance(t := s.get("tol"), float) and 1e-10 <= t <= 1e-1]
    rules = [r for s in told if (r := s.get("negative_upper")) in {rule.value for rule in NegativeUpper}]
    tol = tol if tol is not None else max(tols, default=settings.tol)
    rule = NegativeUpper(negative_upper or (rules[0] if rules else settings.negative_upper))
    return replace(settings, tol=tol, negative_upper=rule)


def verify_run(run: RunRows, options: VerifyOptions, listen: Listen) -> CheckTotals:
    """Checks every row of a run and tells the records to `listen`; returns their counts, with the exit code.

    Raises Interrupted on SIGINT or SIGTERM.
    """
    with ExitStack() as stack:
        stack.enter_context(Interruptions())
        check = _Verification(run, options, listen, stack)
        check.check_rows()
        check.check_the_whole()
        return check.totals


class _Verification:
    """One check of a run: its rows by number, the readers, and the counts."""

    def __init__(self, run: RunRows, options: VerifyOptions, listen: Listen, stack: ExitStack) -> None:
        self.run, self.options, self.listen = run, options, listen
        self.totals = CheckTotals()
        self.claims = ClaimReader(run.folder)
        self.reader = stack.enter_context(ModelReader(options.settings))
        self.pool = stack.enter_context(ExactPool(options.settings.jobs)) if options.exact else None
        self.names = {str(row["input"]): str(row["name"]) for row in run.rows if row.get("duplicate_of") is None}
        self.seen: set[str] = set()

    def check_rows(self) -> None:
        """Reads the input of every row and checks the rows in windows of groups."""
        self.listen(Begun(len(self.run.rows)))
        self.totals.inputs = len(self.run.rows)
        settings = self.options.settings
        grouper = Grouper(settings.memory_bytes // 2)
        for outcome in self.reader.read(self._requests()):
            self.listen(InputRead())
            row = self.run.rows[outcome.key]
            if not self._is_to_be_judged(row, outcome):
                continue
            assert outcome.lp is not None
            grouper.add(outcome.key, outcome.lp, outcome.matrix_digest)
            if grouper.memory_bytes > settings.memory_bytes:
                self._check_groups(grouper.take_batches())
        self._check_groups(grouper.take_batches())

    def _requests(self) -> Iterator[ReadRequest]:
        """Yields what is to be read; a row whose input is not there has its record at once."""
        for key, row in enumerate(self.run.rows):
            shown = str(row["input"])
            found = locate(shown, self.options.root, str(row.get("input_digest") or ""))
            if not isinstance(found, Located):
                self.listen(InputRead())
                missing = row.get("status") == Status.UNREADABLE and row.get("input_digest") is None
                self._emit(record(row, () if missing else (found,)))
                continue
            self.seen.add(found.real)
            kind, packed = format_of(found.path) or (self.options.input_format, compression_of(found.path))
            if kind is None:
                self.listen(InputRead())
                unreadable = row.get("status") == Status.UNREADABLE
                self._emit(record(row, () if unreadable else ("the format of the input is unknown: add --input-format",)))
                continue
            yield ReadRequest(key, found.path, None, kind, packed or Compression.NONE, shown)

    def _is_to_be_judged(self, row: Row, outcome: ReadOutcome) -> bool:
        """Tells whether there is an LP to judge a row by; emits the record where there is not."""
        self.totals.read += outcome.lp is not None
        unreadable = row.get("status") == Status.UNREADABLE
        findings: list[str] = []
        if outcome.lp is None and not outcome.input_digest:
            findings = [] if unreadable else [f"the input cannot be read: {outcome.error}"]
        elif outcome.input_digest != (row.get("input_digest") or ""):
            digest = outcome.input_digest[:16] or "none"
            findings = [
                f"the input has changed: its SHA-256 begins with {digest}, the row says {str(row.get('input_digest'))[:16]}"
            ]
        elif outcome.lp is None and not unreadable:
            findings = [f"the input cannot be read: {outcome.error}"]
        elif outcome.lp is not None and unreadable:
            findings = ["the row says unreadable, but the input can be read"]
        elif row.get("status") not in set(Status):
            findings = [f"the row's status is {row.get('status')!r}, which is none"]
        elif not unreadable:
            return True
        self._emit(record(row, findings))
        return False

    def _check_groups(self, groups: Sequence[Group]) -> None:
        for group in groups:
            size = max(1, CHUNK_BYTES // (8 * (3 * group.batch.base.n + 2 * group.batch.base.m + 1)))
            matrix = Matrix(group.batch.base.rows, len(group.batch))
            for start in range(0, len(group.batch), size):
                self._check_members(group, range(start, min(start + size, len(group.batch))), matrix)

    def _check_members(self, group: Group, members: Sequence[int], matrix: Matrix) -> None:
        """Judges some members of a group: all whose solutions can be read."""
        claims: dict[int, Claim] = {}
        for k in members:
            row = self.run.rows[group.keys[k]]
            try:
                claims[k] = self._claim(row, group, k)
            except ReadError as error:
                self._emit(record(row, (str(error),)))
        verdicts = verify(
            group.batch.take(list(claims)), [c.solution for c in claims.values()], self.options.settings.tol, matrix
        )
        waiting: dict[int, Evidence] = {}
        for (k, claim), verdict in zip(claims.items(), verdicts, strict=True):
            evidence = Evidence(group.batch.member(k), claim.solution, claim.objective, claim.activity, verdict)
            if self.pool is not None and verdict.verified:
                waiting[k] = evidence
            else:
                self._emit(record(self.run.rows[group.keys[k]], (), evidence))
        self._check_exactly(group, waiting)

    def _check_exactly(self, group: Group, waiting: Mapping[int, Evidence]) -> None:
        if self.pool is None or not waiting:
            return
        tol = self.options.settings.tol
        for k, exact, problem in self.pool.judge(ExactTask(k, e.lp, e.solution, tol) for k, e in waiting.items()):
            row = self.run.rows[group.keys[k]]
            self._emit(record(row, (problem,) if problem else (), replace(waiting[k], exact=exact)))

    def _claim(self, row: Row, group: Group, k: int) -> Claim:
        """Returns what is stored of a member; nothing where its row names no solution. Raises ReadError."""
        status, stored = Status(str(row["status"])), row.get("solution")
        if not isinstance(stored, str):
            # bounds that cross prove infeasibility without a ray; the referee sees to that
            if row.get("verified") is True and status is not Status.INFEASIBLE:
                raise ReadError(
                    "the row names no solution, so that its verdict cannot be checked (solved with --solutions none?)"
                )
            return Claim(Solution(status))
        twin = row.get("duplicate_of")
        name = str(row["name"]) if twin is None else self.names.get(str(twin), str(row["name"]))
        return self.claims.read(stored, name, group.batch.member(k), status)

    def check_the_whole(self) -> None:
        """Looks for what rows alone do not show: damaged lines, solutions and inputs without a row, too few rows."""
        for where, what in self.run.damage:
            self._emit(record({"name": where}, (what,)))
        for name, report in self.run.reports.items():
            told = report.get("rows")
            if isinstance(told, int) and self.run.counts[name] < told:
                findings = (f"the report of the run tells of {told} rows, the file holds {self.run.counts[name]}",)
                self._emit(record({"name": name}, findings))
        for shown, real in self.options.expected:
            if real not in self.seen:
                self._emit(record({"name": shown, "input": shown}, ("this input has no row",)))
        if self.run.whole:
            for name, where in self._orphans():
                self._emit(record({"name": name}, (f"{where} has a solution of it, but there is no row of this name",)))

    def _orphans(self) -> Iterator[tuple[str, str]]:
        """Yields (name, file) of stored solutions that no row names."""
        names = {str(row["name"]) for row in self.run.rows}
        folder = self.run.folder / "solutions"
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            relative = path.relative_to(self.run.folder).as_posix()
            if path.suffix == ".sol":
                name = path.relative_to(folder).as_posix().removesuffix(".sol")
                if name not in names:
                    yield name, relative
            elif path.suffix == ".npz":
                try:
                    members = self.claims.members(relative)
                except ReadError as error:
                    self.listen(Note(str(error)))
                    continue
                yield from ((name, relative) for name in members if name not in names)

    def _emit(self, found: Record) -> None:
        self.totals.add(found)
        self.listen(RowReady(found, json_line(found)))
