"""Brings finished members to their last place: solution file first, then the row, then whoever listens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from batchlp_cli.events import Listen, RowReady
from batchlp_cli.files.results import RunFolder
from batchlp_cli.files.write import BatchArchive, solution_text
from batchlp_cli.problem import LinearProgram
from batchlp_cli.report.rows import Row, Source, Totals, duplicate_row, result_row, unreadable_row
from batchlp_cli.settings import SolutionFormat
from batchlp_cli.solution import Solution, Verdict

ARCHIVE_BYTES = 256 << 20
"""An .npz file is written once it holds this much, so that a batch of any size needs bounded memory."""


class Recorder:
    """Writes rows and solutions of a run, and answers duplicates of an input from its one row.

    twins: for the name of an input, the sources that name the same file again; each gets its own row.
    """

    def __init__(
        self,
        folder: RunFolder | None,
        kind: SolutionFormat,
        digest: str,
        listen: Listen,
        twins: Mapping[str, Sequence[Source]],
    ) -> None:
        self.totals = Totals()
        self._folder = folder
        self._kind = kind if folder is not None else SolutionFormat.NONE
        self._digest = digest
        self._listen = listen
        self._twins = twins
        self._archive: BatchArchive | None = None
        self._archive_name = ""
        self._archive_group = ""

    def unreadable(self, source: Source, error: str) -> None:
        """Records an input that is no readable LP."""
        self._emit(unreadable_row(source, self._digest, error))

    def kept(self, row: Row) -> None:
        """Takes over a row that an earlier run has left in the run folder."""
        self._announce(row)
        self._emit_twins(row)

    def finished(self, source: Source, lp: LinearProgram, group: str, tries: Sequence[tuple[Solution, Verdict]]) -> None:
        """Records a solved instance: its solution file, then its row. Vectors are kept for whatever status has them."""
        row = result_row(source, self._digest, lp, group, tries)
        solution, verdict = tries[-1]
        if solution.x is not None or solution.ray is not None:
            row["solution"] = self._keep(source.name, group, lp, solution, verdict)
        self._emit(row)

    def flush(self) -> None:
        """Writes the .npz file that is being filled, if there is one."""
        if self._archive is not None and self._folder is not None:
            self._folder.write_atomic(self._archive_name, self._archive.to_bytes())
            self._archive = None

    def _keep(self, name: str, group: str, lp: LinearProgram, solution: Solution, verdict: Verdict) -> str | None:
        if self._folder is None or self._kind is SolutionFormat.NONE:
            return None
        if self._kind is SolutionFormat.SOL:
            path = f"solutions/{name}.sol"
            self._folder.write_atomic(path, solution_text(lp, solution, verdict.objective).encode("utf-8", "surrogateescape"))
            return path
        if self._archive_group != group:
            self.flush()
        if self._archive is None:
            self._archive, self._archive_group = BatchArchive(lp), group
            self._archive_name = self._folder.free_name(f"solutions/{group}", ".npz")
        path = self._archive_name
        self._archive.add(name, lp, solution)
        if self._archive.memory_bytes > ARCHIVE_BYTES:
            self.flush()
        return path

    def _emit(self, row: Row) -> None:
        if self._folder is not None:
            self._folder.append(row)
        self._announce(row)
        self._emit_twins(row)

    def _emit_twins(self, row: Row) -> None:
        for twin in self._twins.get(str(row["name"]), ()):
            digest = row["input_digest"]
            copy = duplicate_row(replace(twin, input_digest=str(digest) if digest else ""), row)
            if self._folder is not None and self._folder.reusable(twin.name, str(digest)) is None:
                self._folder.append(copy)
            self._announce(copy)

    def _announce(self, row: Row) -> None:
        self.totals.add(row)
        self._listen(RowReady(row))
