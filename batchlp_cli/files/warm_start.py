"""Starting points from an earlier run: the solution of the same name, else that of the first member of the same group."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from types import NoneType

import numpy as np

from batchlp_cli.errors import ReadError, UsageError
from batchlp_cli.files.claims import ClaimReader
from batchlp_cli.files.ledger import Row
from batchlp_cli.files.run_rows import load_run
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import BasisArray, Solution
from batchlp_cli.status import Status

KEPT = 4
"""Solutions of first members that stay in memory: members of a group follow each other, and many may want the same one."""


class SavedStarts:
    """The optimal solutions of a run folder, read one at a time when a member asks for its start; from any thread."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError where the folder is none of a run, or keeps no optimal solution."""
        run = load_run(folder)
        self._folder = folder
        self._reader = ClaimReader(run.folder)
        usable = [row for row in run.rows if row.get("status") == Status.OPTIMAL and row.get("solution")]
        if not usable:
            raise UsageError(f"{folder} holds no optimal solution to start from; keep solutions with --solutions sol or npz")
        self._by_name: dict[str, Row] = {str(row["name"]): row for row in usable}
        self._first: dict[str, Row] = {}
        for row in usable:
            self._first.setdefault(str(row["group"]), row)
        self._groups: dict[str, str] = {}
        self._kept: OrderedDict[str, Solution | None] = OrderedDict()  # of first members, by group
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Returns how to copy starts: as None."""
        return NoneType, ()

    def announce(self, group: str, names: Sequence[str], base: LinearProgram) -> None:
        """Takes in which group instances are of that will ask for their starts.

        Raises UsageError where the instance of the same name had another size, whoever is going to solve it.
        """
        for name in names:
            row = self._by_name.get(name)
            if row is not None and (row.get("rows"), row.get("columns")) != (base.m, base.n):
                found = f"{row.get('columns')} columns and {row.get('rows')} rows"
                raise UsageError(
                    f"--warm-start {self._folder}: {row['solution']} is of a model {name} with {found}, "
                    f"expected {base.n} columns and {base.m} rows; name a run of the same models"
                )
            self._groups[name] = group

    def point(self, name: str, lp: LinearProgram) -> tuple[Vector, Vector] | None:
        """Returns x [n] and y [m] where an instance starts, None where there is none for it.

        Raises UsageError where the stored solution does not fit the LP, or is not finite.
        """
        found = self._solution(name, lp)
        return None if found is None or found.x is None or found.y is None else (found.x, found.y)

    def basis(self, name: str, lp: LinearProgram) -> tuple[BasisArray, BasisArray] | None:
        """Returns the basis where an instance starts, None where none was kept. Raises UsageError as `point` does."""
        found = self._solution(name, lp)
        return None if found is None or found.basis is None else (found.basis.cols, found.basis.rows)

    def _solution(self, name: str, lp: LinearProgram) -> Solution | None:
        row = self._by_name.get(name)
        with self._lock:
            if row is None:
                return self._of_group(name, lp)
            try:
                return self._read(row, lp)
            except ReadError as error:
                raise UsageError(f"--warm-start {self._folder}, for {name}: {error}") from error

    def _of_group(self, name: str, lp: LinearProgram) -> Solution | None:
        """Returns the solution of the group's first, None where its names or its sense are others: nobody named that one."""
        group = self._groups.get(name, "")
        if group not in self._first:
            return None
        if group not in self._kept:
            try:
                self._kept[group] = self._read(self._first[group], lp)
            except ReadError:
                self._kept[group] = None
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return self._kept[group]

    def _read(self, row: Row, lp: LinearProgram) -> Solution:
        """Returns the solution of a row, whose vectors fit the LP; raises ReadError, or UsageError where they do not."""
        file = str(row["solution"])
        found = self._reader.read(file, str(row["name"]), lp, Status.OPTIMAL).solution
        for what, vector, size in (("x", found.x, lp.n), ("row duals", found.y, lp.m)):
            _check(f"--warm-start {self._folder}: {file}", what, vector, size)
        return found


def _check(where: str, what: str, vector: Vector | None, size: int) -> None:
    if vector is None or vector.shape != (size,):
        raise UsageError(f"{where} has {what} of shape {None if vector is None else vector.shape}, expected ({size},)")
    if not np.isfinite(vector).all():
        raise UsageError(f"{where} has {what} with a NaN or an infinity, expected finite numbers")
