"""Reads solutions back that write.py has written: what a run claims of an instance, as text (.sol) or in an archive (.npz).

What is damaged, missing or of another model is a ReadError in words: whoever checks a run names it and goes on.
"""

from __future__ import annotations

import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from batchlp_cli.errors import ReadError
from batchlp_cli.files.write import MODEL_STATUS, written_names
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import BASIS_CODES, Basis, BasisArray, Solution, Status

OPEN_ARCHIVES = 4
"""Archives that are kept in memory; members of a group usually share one."""

_BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A solution as stored, for minimisation, and what else its file says.

    activity: A @ x [m], objective: in the sense of the file; None where the file has none.
    """

    solution: Solution
    objective: float | None = None
    activity: Vector | None = None


class ClaimReader:
    """Reads solutions of one run folder; keeps the last archives open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._archives: OrderedDict[str, _Archive | ReadError] = OrderedDict()  # a damaged one is not read again and again

    def read(self, relative: str, name: str, lp: LinearProgram, status: Status) -> Claim:
        """Returns what a file says of the instance `name`, whose row has the status. Raises ReadError."""
        path = self._folder / relative
        if not path.resolve().is_relative_to(self._folder.resolve()):
            raise ReadError(f"{relative} leads out of the run folder; it was not read")
        if not path.is_file():
            raise ReadError(f"the solution file {relative} is missing")
        if path.suffix == ".parquet":
            raise ReadError(
                f"{relative} is for data frames and is not read back; a run to be verified needs --solutions sol or npz"
            )
        if path.suffix == ".npz":
            return self._archive(relative, path).claim(relative, name, lp, status)
        return read_text(path, relative, lp, status)

    def members(self, relative: str) -> list[str]:
        """Returns the names of the instances that an archive holds. Raises ReadError."""
        return list(self._archive(relative, self._folder / relative).names)

    def _archive(self, relative: str, path: Path) -> _Archive:
        if relative not in self._archives:
            try:
                self._archives[relative] = _Archive(path, relative)
            except ReadError as error:
                self._archives[relative] = error
            if len(self._archives) > OPEN_ARCHIVES:
                self._archives.popitem(last=False)
        self._archives.move_to_end(relative)
        found = self._archives[relative]
        if isinstance(found, ReadError):
            raise found
        return found


class _Archive:
    """The arrays of one .npz file, read as a whole, and the place of each name."""

    def __init__(self, path: Path, relative: str) -> None:
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                self._arrays = {key: stored[key] for key in stored.files}
            self.names: list[str] = self._arrays["name"].tolist()
            self._statuses: list[str] = self._arrays["status"].tolist()
            self._maximize: list[bool] = self._arrays["maximize"].tolist()
        except _BROKEN as error:
            raise ReadError(f"{relative} is damaged or no archive of solutions: {error}") from error
        self._place = {name: k for k, name in enumerate(self.names)}
        counts = {len(self._statuses), len(self._maximize), len(self._place)}
        if counts != {len(self.names)}:
            raise ReadError(f"{relative} is damaged: its names, statuses and senses are not one for each member")

    def claim(self, relative: str, name: str, lp: LinearProgram, status: Status) -> Claim:
        """Returns the member of that name."""
        k = self._place.get(name)
        if k is None:
            raise ReadError(f"{relative} holds no member {name}")
        _same("status", self._statuses[k], status.value, relative)
        _same("sense", "max" if self._maximize[k] else "min", "max" if lp.maximize else "min", relative)
        sizes = {"x": lp.n, "dual": lp.m, "reduced_cost": lp.n, "dual_ray": lp.m, "primal_ray": lp.n}
        x, y, r, dual_ray, primal_ray = (self._vector(key, k, size, relative) for key, size in sizes.items())
        y, r = (None if v is None else lp.sign * v for v in (y, r))
        ray = dual_ray if status is Status.INFEASIBLE else primal_ray
        return Claim(Solution(status, x=x, y=y, r=r, ray=ray))

    def _vector(self, key: str, k: int, size: int, relative: str) -> Vector | None:
        array = self._arrays.get(key)
        if array is None and key.endswith("_ray"):
            return None
        if array is None or array.dtype != np.float64 or array.shape != (len(self.names), size):
            found = "missing" if array is None else f"of {array.dtype} and shape {array.shape}"
            expected = f"expected float64 of shape ({len(self.names)}, {size})"
            raise ReadError(f"{relative}: {key} is {found}, {expected}; a part kept by --keep or --columns cannot be verified")
        return None if np.isnan(array[k]).all() and size else np.asarray(array[k], dtype=np.float64)


def _same(what: str, stored: str, expected: str, relative: str) -> None:
    if stored != expected:
        raise ReadError(f"{relative} has the {what} {stored!r}, expected {expected!r} as in the row")


def read_text(path: Path, relative: str, lp: LinearProgram, status: Status) -> Claim:
    """Returns what a .sol file says of an LP, whose names it must have in their order. Raises ReadError."""
    try:
        lines = path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    except OSError as error:
        raise ReadError(f"{relative} cannot be read: {error.strerror}") from error
    return _Text(lines, relative, lp).claim(status)


class _Text:
    """The lines of a .sol file, taken from the first to the last."""

    def __init__(self, lines: Sequence[str], relative: str, lp: LinearProgram) -> None:
        self._lines, self._relative, self._lp = lines, relative, lp
        self._at = 0
        self._cols, self._rows = written_names(lp)

    def claim(self, status: Status) -> Claim:
        """Returns what the file says."""
        if self._lines[-1]:
            raise ReadError(f"{self._relative} is cut off in line {len(self._lines)}")
        self._expect("Model status")
        _same("model status", self._next(), MODEL_STATUS[status], self._relative)
        x = y = r = activity = ray = objective = None
        if self._begins("# Primal solution values"):
            objective = self._objective()
            x, activity = self._section("Columns", self._cols), self._section("Rows", self._rows)
        if self._begins("# Dual solution values"):
            r, y = (self._lp.sign * v for v in (self._section("Columns", self._cols), self._section("Rows", self._rows)))
        basis = self._basis()
        title = self._peek()
        if title in ("# Dual ray", "# Primal ray"):
            self._at += 1
            ray = self._section("Rows", self._rows) if title == "# Dual ray" else self._section("Columns", self._cols)
        if self._peek():
            raise self._error("the end of the file", self._next())
        return Claim(Solution(status, x=x, y=y, r=r, ray=ray, basis=basis), objective, activity)

    def _begins(self, title: str) -> bool:
        """Takes the title of a part and its word; tells whether values follow."""
        self._expect(title)
        return self._next() != "None"

    def _basis(self) -> Basis | None:
        """Takes the basis, which is no part of what is verified, but a place to start from."""
        self._expect("# Basis")
        self._expect("HiGHS_basis_file v2")
        if self._next() != "Valid":
            return None
        return Basis(self._codes("Columns", self._cols), self._codes("Rows", self._rows))

    def _codes(self, title: str, names: Sequence[str]) -> BasisArray:
        codes = self._section(title, names)
        if not np.isin(codes, range(BASIS_CODES)).all():
            raise self._error(f"basis codes from 0 to {BASIS_CODES - 1}", f"others among its {title}")
        return codes.astype(np.int8)

    def _objective(self) -> float:
        word, _, number = self._next().partition(" ")
        if word != "Objective":
            raise self._error("Objective and a number", f"{word} {number}")
        return self._number(number)

    def _section(self, title: str, names: Sequence[str]) -> Vector:
        self._expect(f"# {title} {len(names)}")
        return np.array([self._value(name) for name in names], dtype=np.float64)

    def _value(self, name: str) -> float:
        line = self._next()
        found, _, number = line.rpartition(" ")
        if found != name:
            raise self._error(f"a value of {name}", line)
        return self._number(number)

    def _number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise self._error("a number", text) from None

    def _expect(self, title: str) -> None:
        found = self._next()
        if found != title:
            raise self._error(title, found)

    def _next(self) -> str:
        """Takes the next line that is not blank."""
        line = self._peek()
        if not line:
            raise ReadError(f"{self._relative} is cut off after line {len(self._lines)}")
        self._at += 1
        return line

    def _peek(self) -> str:
        """Returns the next line that is not blank, empty at the end; blank ones before it are passed for good."""
        while self._at < len(self._lines) and not self._lines[self._at]:
            self._at += 1
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _error(self, expected: str, found: str) -> ReadError:
        return ReadError(f"{self._relative}, line {self._at}: found {found!r}, expected {expected}")
