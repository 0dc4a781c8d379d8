"""Makes a linear program out of what an MPS file says: sides from types, right-hand sides and ranges; bounds; the objective.

Rules that look at the whole file stand here (the first set only, bounds in any order, ranges before right-hand sides);
docs/formats.md says whom each follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np

from batchlp_cli.files.mps_bounds import infinite, resolve_bounds
from batchlp_cli.files.mps_model import Int64s, MpsModel, Table, note_texts
from batchlp_cli.files.mps_numbers import INFINITE
from batchlp_cli.files.mps_trace import Findings, entry_line, line_of
from batchlp_cli.matrix import Csr, by_rows
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import NegativeUpper

N, L, G, E = b"NLGE"


@dataclass(frozen=True, slots=True)
class ParsedModel:
    """A linear program as a file gives it, and what a careful user should know about its reading.

    related: read as a change of another file, whose matrix and names it then shares.
    """

    lp: LinearProgram
    warnings: tuple[str, ...] = ()
    related: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """The matrix with all its N rows taken out. objective: number of the objective's row in the file, -1 for none; numbers:
    [rows in the file] int64, the number of each row in A, -1 for N rows; c: [n], as written."""

    A: Csr
    c: Vector
    objective: int
    numbers: Int64s
    row_names: tuple[str, ...]
    col_names: tuple[str, ...]


def build_matrix(model: MpsModel, data: bytes) -> Matrix:
    """Returns matrix, costs and names of a file. Raises ReadError at two entries in one place."""
    _check_sections(model, data)
    types = np.frombuffer(model.row_types, dtype=np.uint8)
    full = _full_matrix(model)
    _refuse_duplicates(model, full, data)
    objective = _objective(model, types, data)
    keep = types != N
    c = np.zeros(len(model.cols))
    if objective >= 0:
        own = slice(full.indptr[objective], full.indptr[objective + 1])
        c[full.indices[own]] = full.data[own]
    A = full.take(keep)
    row_names = tuple(compress(model.rows, keep.tolist()))
    numbers = np.where(keep, np.cumsum(keep) - 1, -1)
    return Matrix(A, c + 0.0, objective, numbers, row_names, tuple(model.cols))


def _check_sections(model: MpsModel, data: bytes) -> None:
    seen = {section for _, section in model.headers}
    for section in ("ROWS", "COLUMNS"):
        if section not in seen:
            line = model.headers[-1][0] if model.headers else 1
            Findings(model, data).refuse(line, f"no {section} section before the end", "one")


def _full_matrix(model: MpsModel) -> Csr:
    """Returns the matrix with its N rows, indices sorted, entries in one place side by side."""
    rows = np.frombuffer(model.entry_rows, dtype=np.int32)
    cols = np.frombuffer(model.entry_cols, dtype=np.int32)
    vals = np.frombuffer(model.entry_vals, dtype=np.float64)
    if (cols[1:] < cols[:-1]).any():
        order = np.argsort(cols, kind="stable")
        rows, cols, vals = rows[order], cols[order], vals[order]
    return by_rows((len(model.rows), len(model.cols)), rows, cols, vals)


def _refuse_duplicates(model: MpsModel, full: Csr, data: bytes) -> None:
    same = full.indices[1:] == full.indices[:-1]
    # Equal neighbours are two entries in one place unless a new row begins between them.
    begins = full.indptr[(full.indptr > 0) & (full.indptr < full.nnz)]
    same[begins - 1] = False
    if not same.any():
        return
    row_names, col_names = list(model.rows), list(model.cols)
    first = int(np.argmax(same)) + 1
    row = row_names[int(np.searchsorted(full.indptr, first, side="right")) - 1]
    col = col_names[full.indices[first]]
    line = entry_line(data, model, row, col)
    Findings(model, data).refuse(line, f"column {col!r} has two entries in row {row!r}", "one")


def _objective(model: MpsModel, types: np.ndarray, data: bytes) -> int:
    """Returns the number of the row that is the objective: the one that OBJNAME names, else the first N row, else -1."""
    free = np.flatnonzero(types == N)
    names = list(model.rows) if model.objective_name is not None or free.size > 1 else []
    objective = int(free[0]) if free.size else -1
    if model.objective_name is not None:
        objective = model.rows.get(model.objective_name, -1)
        if objective < 0 or types[objective] != N:
            line = next(n for n, section in model.headers if section in ("OBJNAME", "OBJECTIVE"))
            Findings(model, data).refuse(line, f"objective {model.objective_name!r} is no row of type N", "the name of one")
    if objective < 0:
        model.note("objective", "no row of type N, so the objective is 0")
    elif free.size > 1:
        model.note("free rows", f"{free.size} rows of type N; {names[objective]!r} is the objective, the others are left out")
    return objective


def finish(model: MpsModel, matrix: Matrix, data: bytes, negative_upper: NegativeUpper) -> ParsedModel:
    """Returns the linear program with sides, bounds, offset and sense, sharing the matrix. Raises ReadError."""
    whole = Findings(model, data, dict(model.notes))
    sides = _sides(whole, matrix)
    lower, upper, integer = resolve_bounds(whole, negative_upper)
    offset = _offset(whole, matrix.objective)
    maximize = bool(model.maximize)
    lp = LinearProgram(
        name=model.title or model.source,
        # 0 - c rather than -c: a cost of 0 stays a plain 0.
        c=0.0 - matrix.c if maximize else matrix.c,
        A=matrix.A.as_scipy_later(),
        row_lower=sides[0],
        row_upper=sides[1],
        col_lower=lower,
        col_upper=upper,
        offset=0.0 - offset if maximize else offset,
        maximize=maximize,
        integer=integer,
        row_names=matrix.row_names,
        col_names=matrix.col_names,
    )
    return ParsedModel(lp, note_texts(model, whole.notes))


def _sides(whole: Findings, matrix: Matrix) -> tuple[Vector, Vector]:
    """Returns row_lower and row_upper: [m] float64 each."""
    types = np.frombuffer(whole.model.row_types, dtype=np.uint8)
    b = _dense(whole, whole.model.rhs, "RHS", 0.0)
    r = _dense(whole, whole.model.ranges, "RANGES", np.nan)
    lower = np.where(types == L, -np.inf, b)
    upper = np.where(types == G, np.inf, b)
    ranged = ~np.isnan(r)
    if ranged.any():
        # L: [b - |r|, b]    G: [b, b + |r|]    E: [b, b + |r|] where r > 0, [b - |r|, b] where r < 0
        down = ranged & ((types == L) | ((types == E) & (r < 0)))
        up = ranged & ((types == G) | ((types == E) & (r >= 0)))
        size = infinite(np.abs(r))
        lower[down] = b[down] - size[down]
        upper[up] = b[up] + size[up]
        on_free = ranged & (types == N)
        whole.note("range", "ranges on rows of type N are left out", int(on_free.sum()))
    lower, upper = infinite(lower), infinite(upper)
    keep = types != N
    bad = np.flatnonzero(keep & ((lower == np.inf) | (upper == -np.inf)))
    if bad.size:
        line = line_of(whole.model.rhs, int(bad[0])) or line_of(whole.model.ranges, int(bad[0]))
        name = list(whole.model.rows)[bad[0]]
        whole.refuse(line, f"the right-hand side of row {name!r} is infinite on the wrong side", "a finite one")
    return lower[keep] + 0.0, upper[keep] + 0.0


def _dense(whole: Findings, table: Table, section: str, default: float) -> Vector:
    """Returns a value for each row of the file, the default where there is none. Refuses two different values for one row."""
    lines, index, value, _ = table.arrays()
    dense = np.full(len(whole.model.rows), default)
    dense[index] = value
    if not len(index) or np.bincount(index).max() == 1:
        return dense
    names = list(whole.model.rows)
    _, first = np.unique(index, return_index=True)
    again = np.setdiff1d(np.arange(len(index)), first)
    other = np.flatnonzero(dense[index] != value)
    if other.size:
        k = again[np.isin(index[again], index[other])][0]
        whole.refuse(int(lines[k]), f"row {names[index[k]]!r} has two different values in section {section}", "one")
    text = f"line {lines[again[0]]}: row {names[index[again[0]]]!r} has its value in section {section} twice"
    whole.note(f"repeated {section}", text, len(again))
    return dense


def _offset(whole: Findings, objective: int) -> float:
    """Returns the constant of the objective, minus its right-hand side (CPLEX, HiGHS)."""
    lines, index, value, _ = whole.model.rhs.arrays()
    at = np.flatnonzero(index == objective)
    if not at.size:
        return 0.0
    if abs(value[at[0]]) >= INFINITE:
        whole.refuse(int(lines[at[0]]), "an infinite objective constant", "a finite one")
    return 0.0 - float(value[at[0]])
