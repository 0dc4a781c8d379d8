"""Solutions as text that HiGHS reads back, and many solutions as one NumPy archive. Values have the signs of the user's model.

Text (.sol): HiGHS' raw style, as its writeSolution(path, 0) writes and its readSolution(path, 0) reads it, with all digits;
after it a ray, if there is one, which HiGHS does not read. Row duals and reduced costs of a maximisation are negated back.
Rays keep the signs of problem.py: they prove a statement about the constraints, or are a direction of x.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.files.frames import solutions_parquet
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import Selection
from batchlp_cli.solution import Basis, Solution, Status

MODEL_STATUS = {
    Status.OPTIMAL: "Optimal",
    Status.INFEASIBLE: "Infeasible",
    Status.UNBOUNDED: "Unbounded",
    Status.TIME_LIMIT: "Time limit reached",
    Status.ITERATION_LIMIT: "Iteration limit reached",
    Status.CUTOFF: "Bound on objective reached",
    Status.NUMERICAL_ERROR: "Solve error",
    Status.CRASHED: "Solve error",
    Status.UNREADABLE: "Load error",
}
"""HiGHS' words for our statuses."""

FEASIBILITY_TOL = 1e-7
"""HiGHS' default for primal and dual feasibility, absolute: above it, the point of an unfinished solve is called infeasible."""

COMPRESSION_LEVEL = 1
"""Of zlib: fast, and what the members of a batch have in common packs well at any level."""

_BLANKS = re.compile(r"\s")


def solution_text(lp: LinearProgram, solution: Solution, objective: float | None) -> str:
    """Returns a solution in HiGHS' raw style.

    objective: the proved optimal value for minimisation, or None, where the file tells the value of x instead, since HiGHS
    demands a number wherever there are values. Names are those that HiGHS knows: c0, r0 where the file gave none, and
    with an underscore for each blank.
    """
    cols, rows = written_names(lp)
    parts = ["Model status", MODEL_STATUS[solution.status], ""]
    parts += _primal(lp, solution, objective, cols, rows)
    parts += _dual(lp, solution, cols, rows)
    parts += _basis(solution.basis, cols, rows)
    parts += _ray(solution, cols, rows)
    return "\n".join(parts) + "\n"


def written_names(lp: LinearProgram) -> tuple[Sequence[str], Sequence[str]]:
    """Returns what columns and rows are called in a .sol file."""
    return _names(lp.col_names, "c", lp.n), _names(lp.row_names, "r", lp.m)


def _names(names: Sequence[str], letter: str, count: int) -> Sequence[str]:
    if not names:
        return [f"{letter}{k}" for k in range(count)]
    return [_BLANKS.sub("_", name) for name in names] if any(map(_BLANKS.search, names)) else names


def _primal(
    lp: LinearProgram, solution: Solution, objective: float | None, cols: Sequence[str], rows: Sequence[str]
) -> Iterator[str]:
    yield "# Primal solution values"
    x = solution.x
    if x is None:
        yield from ("None", "")
        return
    activity = lp.rows.times(x)
    yield _word(solution.status in (Status.OPTIMAL, Status.UNBOUNDED) or _is_primal_feasible(lp, x, activity))
    yield f"Objective {_number(lp.sign * (float(lp.c @ x) + lp.offset if objective is None else objective))}"
    yield from _section("Columns", cols, x)
    yield from _section("Rows", rows, activity)
    yield ""


def _dual(lp: LinearProgram, solution: Solution, cols: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    yield "# Dual solution values"
    y, r = solution.y, solution.r
    if y is None or r is None or solution.x is None:  # HiGHS takes duals only together with values
        yield from ("None", "")
        return
    yield _word(solution.status is Status.OPTIMAL or _is_dual_feasible(lp, y, r))
    yield from _section("Columns", cols, lp.sign * r)
    yield from _section("Rows", rows, lp.sign * y)
    yield ""


def _basis(basis: Basis | None, cols: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    yield from ("# Basis", "HiGHS_basis_file v2")
    if basis is None:
        yield "None"
        return
    yield "Valid"
    for title, names, codes in (("Columns", cols, basis.cols), ("Rows", rows, basis.rows)):
        yield f"# {title} {len(names)}"
        yield from map("{} {}".format, names, codes.tolist())


def _ray(solution: Solution, cols: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    if solution.ray is None:
        return
    is_dual = solution.status is Status.INFEASIBLE
    yield from ("", "# Dual ray" if is_dual else "# Primal ray")
    yield from _section("Rows", rows, solution.ray) if is_dual else _section("Columns", cols, solution.ray)


def _section(title: str, names: Sequence[str], values: Vector) -> Iterator[str]:
    yield f"# {title} {len(names)}"
    yield from (f"{name} {_number(value)}" for name, value in zip(names, values.tolist(), strict=True))


def _number(value: float) -> str:
    """Returns the shortest text that reads back as the same number."""
    return repr(value + 0.0).removesuffix(".0")


def _word(is_feasible: bool) -> str:
    return "Feasible" if is_feasible else "Infeasible"


def _is_primal_feasible(lp: LinearProgram, x: Vector, activity: Vector) -> bool:
    # lv - tol <= x <= uv + tol,   lc - tol <= A @ x <= uc + tol; a NaN fails
    return all(
        bool(np.all(values >= lower - FEASIBILITY_TOL) and np.all(values <= upper + FEASIBILITY_TOL))
        for values, lower, upper in ((x, lp.col_lower, lp.col_upper), (activity, lp.row_lower, lp.row_upper))
    )


def _is_dual_feasible(lp: LinearProgram, y: Vector, r: Vector) -> bool:
    # y_i > 0 needs lc_i, y_i < 0 needs uc_i, and likewise r_j; r = c - A.T @ y; a NaN fails
    signs = all(
        bool(np.all((price <= FEASIBILITY_TOL) | np.isfinite(lower)) and np.all((price >= -FEASIBILITY_TOL) | np.isfinite(upper)))
        for price, lower, upper in ((y, lp.row_lower, lp.row_upper), (r, lp.col_lower, lp.col_upper))
    )
    return signs and bool(np.all(np.abs(lp.c - lp.rows.transposed_times(y) - r) <= FEASIBILITY_TOL))


class BatchArchive:
    """Collects solutions of LPs with one shape for one .npz file, which numpy.load reads without pickle, or a Parquet file.

    name, status: [B] str; maximize: [B] bool; x, reduced_cost: [B, n], dual: [B, m] float64; dual_ray: [B, m] and
    primal_ray: [B, n] where a member has one; row_names: [m], col_names: [n] str, of the first member. A vector that a
    member does not have is a row of NaN. n counts the columns that are selected.
    """

    def __init__(self, lp: LinearProgram, selection: Selection | None = None) -> None:
        self._lp = lp
        self._selection = selection or Selection()
        self._columns = _chosen(lp, self._selection.columns)
        self._names: list[str] = []
        self._statuses: list[str] = []
        self._maximize: list[bool] = []
        kept = {"x": "x", "dual": "y", "reduced_cost": "r"}
        own = [key for key, letter in kept.items() if letter in self._selection.vectors]
        self._vectors: dict[str, dict[int, Vector]] = {key: {} for key in (*own, "dual_ray", "primal_ray")}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._names)

    @property
    def memory_bytes(self) -> int:
        """Bytes of what has been collected."""
        return self._bytes

    def add(self, name: str, shape: tuple[int, int], maximize: bool, solution: Solution) -> None:
        """Takes one member; raises ValueError where its shape is not that of the archive."""
        if shape != (self._lp.m, self._lp.n):
            raise ValueError(
                f"{name} is {shape[0]} x {shape[1]}, expected {self._lp.m} x {self._lp.n} as the first in its archive"
            )
        member, sign = len(self._names), -1.0 if maximize else 1.0
        self._names.append(name)
        self._statuses.append(solution.status.value)
        self._maximize.append(maximize)
        ray = "dual_ray" if solution.status is Status.INFEASIBLE else "primal_ray"
        for key, vector, factor in (
            ("x", solution.x, 1.0),
            ("dual", solution.y, sign),
            ("reduced_cost", solution.r, sign),
            (ray, solution.ray, 1.0),
        ):
            if vector is not None and key in self._vectors:
                kept = vector if self._columns is None or key in ("dual", "dual_ray") else vector[self._columns]
                self._vectors[key][member] = factor * kept + 0.0
                self._bytes += kept.nbytes
        self._bytes += 200 + len(name)

    def arrays(self) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
        """Returns what was collected, by the names that it has in a file."""
        columns = self._lp.col_names
        if self._columns is not None:
            columns = tuple(self._lp.col_name(int(j)) for j in self._columns)
        text = {"name": self._names, "status": self._statuses, "row_names": self._lp.row_names, "col_names": columns}
        arrays: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = {
            key: np.array(values, dtype=np.str_) for key, values in text.items()
        }
        arrays["maximize"] = np.array(self._maximize, dtype=np.bool_)
        arrays |= {key: self._stack(key, rows) for key, rows in self._vectors.items() if rows or not key.endswith("_ray")}
        return arrays

    def to_bytes(self) -> bytes:
        """Returns the .npz file; the same members give the same bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for key, array in self.arrays().items():
                _write_array(archive, key, array)
        return buffer.getvalue()

    def to_parquet(self) -> bytes:
        """Returns a Parquet file in the long form, see frames.py; names that a file did not give are R1, C1, ..."""
        arrays = self.arrays()
        if not self._lp.row_names:
            arrays["row_names"] = np.array([self._lp.row_name(i) for i in range(self._lp.m)], dtype=np.str_)
        if not self._lp.col_names and self._columns is None:
            arrays["col_names"] = np.array([self._lp.col_name(j) for j in range(self._lp.n)], dtype=np.str_)
        return solutions_parquet(arrays)

    def _stack(self, key: str, rows: dict[int, Vector]) -> Vector:
        columns = self._lp.n if self._columns is None else self._columns.size
        stacked = np.full((len(self), self._lp.m if key in ("dual", "dual_ray") else columns), np.nan)
        for member, vector in rows.items():
            stacked[member] = vector
        return stacked


def _chosen(lp: LinearProgram, pattern: str | None) -> Indices | None:
    """Returns the columns that a pattern names, None for all."""
    if pattern is None:
        return None
    return np.array([j for j in range(lp.n) if fnmatchcase(lp.col_name(j), pattern)], dtype=np.int64)


def _write_array(archive: zipfile.ZipFile, key: str, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    info = zipfile.ZipInfo(f"{key}.npy")  # which has a fixed date
    archive.writestr(info, buffer.getbuffer(), zipfile.ZIP_DEFLATED, COMPRESSION_LEVEL)
