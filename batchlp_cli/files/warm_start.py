"""Starting points from an earlier run: the solution of the same name, else that of the first member of the same group."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import NoneType

import numpy as np

from batchlp_cli.errors import ReadError, UsageError
from batchlp_cli.files.claims import ClaimReader
from batchlp_cli.files.ledger import Row
from batchlp_cli.files.run_rows import load_run
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.status import Status


class SavedStarts:
    """The optimal solutions of a run folder, read one at a time when a member asks for its start."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError where the folder is none of a run, or keeps no optimal solution."""
        run = load_run(folder)
        self._folder = run.folder
        self._reader = ClaimReader(run.folder)
        usable = [row for row in run.rows if row.get("status") == Status.OPTIMAL and row.get("solution")]
        if not usable:
            raise UsageError(f"{folder} holds no optimal solution to start from; keep solutions with --solutions sol or npz")
        self._by_name: dict[str, Row] = {str(row["name"]): row for row in usable}
        self._by_group: dict[str, Row] = {}
        for row in usable:
            self._by_group.setdefault(str(row["group"]), row)

        self._groups: dict[str, str] = {}

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Returns how to copy starts: as None."""
        return NoneType, ()

    def announce(self, group: str, names: Iterable[str]) -> None:
        """Takes in which group instances are of that will ask for their starts."""
        self._groups = dict.fromkeys(names, group) | self._groups

    def point(self, name: str, lp: LinearProgram) -> tuple[Vector, Vector] | None:
        """Returns x [n] and y [m] where an instance starts, None where there is none for it.

        Raises UsageError where the stored solution does not fit the LP, or is not finite.
        """
        row = self._by_name.get(name) or self._by_group.get(self._groups.get(name, ""))
        if row is None:
            return None
        file = str(row["solution"])
        try:
            found = self._reader.read(file, str(row["name"]), lp, Status.OPTIMAL).solution
        except ReadError as error:
            raise UsageError(f"--warm-start {self._folder}, for {name}: {error}") from error
        x, y = found.x, found.y
        for what, vector, size in (("x", x, lp.n), ("row duals", y, lp.m)):
            _check(f"--warm-start {self._folder}: {file}", what, vector, size)
        assert x is not None
        assert y is not None
        return x, y


def _check(where: str, what: str, vector: Vector | None, size: int) -> None:
    if vector is None or vector.shape != (size,):
        raise UsageError(f"{where} has {what} of shape {None if vector is None else vector.shape}, expected ({size},)")
    if not np.isfinite(vector).all():
        raise UsageError(f"{where} has {what} with a NaN or an infinity, expected finite numbers")
