"""Brings finished members to their last place: solution file first, then the row, then whoever listens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from batchlp_cli.batch import Indices, Labels, LPBatch, picked
from batchlp_cli.events import Listen, RowReady, RowsReady
from batchlp_cli.files.results import RunFolder
from batchlp_cli.files.write import BatchArchive, solution_text
from batchlp_cli.kkt import Proofs
from batchlp_cli.optima import Optima
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.report.row_block import RowBlock, proved_rows
from batchlp_cli.report.rows import Model, Row, Source, Totals, duplicate_row, json_line, result_row, unreadable_row
from batchlp_cli.report.sources import Sources
from batchlp_cli.settings import Selection, SolutionFormat
from batchlp_cli.solution import Solution, Verdict

ARCHIVE_BYTES = 256 << 20
"""Open .npz files are written once they hold this much together, so that batches of any size need bounded memory."""

MOST_WAITING = 4096
"""Rows that wait for one write; they also go whenever the run would have to wait for its workers."""


class Listener(Protocol):
    """Whoever hears of rows beside the one that shows them."""

    def add(self, row: Row) -> None:
        """Takes a row."""
        ...

    def add_optima(self, probabilities: Vector, values: Vector) -> None:
        """Takes several rows with a verified optimum, by their probabilities, NaN where there is none, and objectives."""
        ...


class Recorder:
    """Writes rows and solutions of a run, and answers duplicates of an input from its one row.

    twins: for the name of an input, the sources that name the same file again; each gets its own row.
    selection: what an archive keeps of the vectors.
    """

    def __init__(
        self,
        folder: RunFolder | None,
        kind: SolutionFormat,
        digest: str,
        listen: Listen,
        twins: Mapping[str, Sequence[Source]],
        selection: Selection | None = None,
    ) -> None:
        self.totals = Totals()
        self._folder = folder
        self._kind = kind if folder is not None else SolutionFormat.NONE
        self._digest = digest
        self._listen = listen
        self._twins = twins
        self._selection = selection
        self._archives: dict[str, tuple[str, BatchArchive]] = {}  # by group: the file's name, and what goes into it
        self._archived_bytes = 0
        self._waiting: list[RowBlock | tuple[Row, str]] = []
        self._waiting_rows = 0
        self._told: tuple[LinearProgram, Labels | None, Model] | None = None
        self._listeners: list[Listener] = []

    def listen_also(self, listener: Listener) -> None:
        """Hands each row from now on to one more listener."""
        self._listeners.append(listener)

    def unreadable(self, source: Source, error: str) -> None:
        """Records an input that is no readable LP."""
        self._emit(unreadable_row(source, self._digest, error))
        self.settle()

    def kept(self, row: Row) -> None:
        """Takes over a row that an earlier run has left in the run folder."""
        self.totals.kept += 1
        self._announce(row)
        self._emit_twins(row)

    def finished(
        self, source: Source, batch: LPBatch, member: int, group: str, tries: Sequence[tuple[Solution, Verdict]]
    ) -> None:
        """Records a solved member: its solution file, then its row. Vectors are kept for whatever status has them."""
        row = result_row(source, self._digest, self._model(batch, member), batch.names[member], group, tries)
        solution = tries[-1][0]
        if self._kind is not SolutionFormat.NONE and (solution.x is not None or solution.ray is not None):
            row["solution"] = self._keep(source.name, group, batch, member, tries[-1])
        self._emit(row)

    @property
    def keeps_vectors(self) -> bool:
        """Whether solutions are written beside the rows."""
        return self._kind is not SolutionFormat.NONE

    def proved(self, sources: Sources, batch: LPBatch, members: Indices, group: str, optima: Optima, proofs: Proofs) -> None:
        """Records members whose optimum was proved at the first try; sources, claims and proofs are in the order of the members.

        Only where no vectors are kept: what is written is rows.
        """
        alike: dict[Model, list[int]] = {self._model(batch, 0): []}
        if batch.labels:
            alike = defaultdict(list)
            for k, member in enumerate(members.tolist()):
                alike[self._model(batch, member)].append(k)
        for model, some in alike.items():
            parts = sources, members, optima, proofs
            if len(alike) > 1:
                rows = np.asarray(some, dtype=np.int64)
                parts = sources.take(rows), members[rows], optima.take(rows), proofs.take(rows)
            mine, who, claims, words = parts
            names = picked(batch.names, who)
            self._keep_block(proved_rows(mine, names, model, (group, self._digest), claims, words))

    def _keep_block(self, block: RowBlock) -> None:
        self._waiting.append(block)
        self._waiting_rows += len(block)
        if self._waiting_rows >= MOST_WAITING:
            self.settle()

    def _model(self, batch: LPBatch, member: int) -> Model:
        """Returns what rows tell of a member's model, which is mostly what they told of the last one."""
        label = batch.labels[member] if batch.labels else None
        known = self._told
        if known is None or known[0] is not batch.base or known[1] is not label:
            known = self._told = batch.base, label, Model.of(batch.base, batch.label(member))
        return known[2]

    def flush(self) -> None:
        """Settles, and writes the .npz files that are being filled; groups are solved side by side, so there may be many."""
        self.settle()
        for name, archive in self._archives.values():
            assert self._folder is not None, "only what goes into a run folder is archived"
            data = archive.to_parquet() if self._kind is SolutionFormat.PARQUET else archive.to_bytes()
            self._folder.write_atomic(name, data)
        self._archives.clear()
        self._archived_bytes = 0

    def _keep(self, name: str, group: str, batch: LPBatch, member: int, last: tuple[Solution, Verdict]) -> str | None:
        if self._folder is None or self._kind is SolutionFormat.NONE:
            return None
        solution, verdict = last
        if self._kind is SolutionFormat.SOL:
            path = f"solutions/{name}.sol"
            text = solution_text(batch.member(member), solution, verdict.objective)
            self._folder.write_atomic(path, text.encode("utf-8", "surrogateescape"))
            return path
        if group not in self._archives:
            file = self._folder.free_name(f"solutions/{group}", f".{self._kind}")
            self._archives[group] = file, BatchArchive(batch.member(member), self._selection)
        path, archive = self._archives[group]
        before = archive.memory_bytes
        archive.add(name, (batch.base.m, batch.base.n), batch.label(member).maximize, solution)
        self._archived_bytes += archive.memory_bytes - before
        if self._archived_bytes > ARCHIVE_BYTES:
            self.flush()
        return path

    def _emit(self, row: Row) -> None:
        self._waiting.append((row, json_line(row)))
        self._waiting_rows += 1
        if self._waiting_rows >= MOST_WAITING:
            self.settle()

    def settle(self) -> None:
        """Brings rows that wait to disk, with one write, and to whoever listens. To be called before a run waits for anything."""
        waiting, self._waiting, self._waiting_rows = self._waiting, [], 0
        if waiting and self._folder is not None:
            names: list[str] = []
            texts: list[str] = []
            for one in waiting:
                names += one.names if isinstance(one, RowBlock) else [str(one[0]["name"])]
                texts.append(one.text if isinstance(one, RowBlock) else f"{one[1]}\n")
            self._folder.append_text(names, "".join(texts))
        for one in waiting:
            if isinstance(one, RowBlock):
                self._announce_block(one)
                continue
            self._announce(*one)
            self._emit_twins(one[0])

    def _announce_block(self, block: RowBlock) -> None:
        self.totals.add_verified(block.status, len(block))
        for listener in self._listeners:
            listener.add_optima(block.probabilities, block.objectives)
        if self._twins:
            for row in block.rows():
                self._emit_twins(row)
        self._listen(RowsReady(block))

    def _emit_twins(self, row: Row) -> None:
        for twin in self._twins.get(str(row["name"]), ()):
            digest = row["input_digest"]
            copy = duplicate_row(replace(twin, input_digest=str(digest) if digest else ""), row)
            if self._folder is not None and self._folder.reusable(twin.name, str(digest)) is None:
                self._folder.append(copy)
            self._announce(copy)

    def _announce(self, row: Row, line: str = "") -> None:
        self.totals.add(row)
        for listener in self._listeners:
            listener.add(row)
        self._listen(RowReady(row, line or json_line(row)))
