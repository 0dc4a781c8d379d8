"""A known solution of a model: read from a file, checked against rows, bounds and integrality, and its objective."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from batchlp_cli.errors import ModelError, UsageError
from batchlp_cli.problem import LinearProgram, Vector

FEASIBILITY = 1e-6
"""How far an incumbent may be off a row or a bound, relative to 1 + its size, and an integer column off an integer."""


def read_values(path: Path) -> dict[str, float]:
    """Returns the column values of a .sol file: HiGHS' styles, or lines of name and value as MIPLIB and SCIP write them.

    Raises UsageError where the file cannot be read or holds no values.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"cannot read the incumbent {path}: {error.strerror}; expected a .sol file") from error
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith("# Columns")), None)
    values: dict[str, float] = {}
    for line in lines if start is None else lines[start + 1 :]:
        if start is not None and line.startswith("#"):
            break
        parts = line.split()
        if len(parts) >= 2 and not re.match(r"(#|=|objective|model|solution)", parts[0], re.IGNORECASE):
            try:
                values[parts[0]] = float(parts[1])
            except ValueError as error:
                raise UsageError(f"{path}: {line.strip()!r} is no name and value of a column; expected a .sol file") from error
    if not values:
        raise UsageError(f"{path} holds no values; expected lines of a column's name and its value")
    return values


def incumbent_point(lp: LinearProgram, values: dict[str, float]) -> Vector:
    """Returns the point x [n] that the values name; columns that are not named are 0, as in MIPLIB's files.

    Raises ModelError for a name that is none of the model's.
    """
    names = lp.col_names or tuple(f"c{j}" for j in range(lp.n))
    places = {re.sub(r"\s", "_", name): j for j, name in enumerate(names)}
    x = np.zeros(lp.n)
    for name, value in values.items():
        if name not in places:
            raise ModelError(f"the incumbent names {name!r}, which is no column of {lp.name}; is it of another model?")
        x[places[name]] = value
    return x


def objective_of(lp: LinearProgram, x: Vector) -> float:
    """Returns c @ x + offset, for minimisation, of a point that is feasible and integral; raises ModelError where it is not."""
    if not np.isfinite(x).all():
        raise ModelError(f"the incumbent of {lp.name} holds a number that is not finite")
    off = np.abs(x - np.round(x)) * lp.integer
    if off.max(initial=0.0) > FEASIBILITY:
        j = int(off.argmax())
        raise ModelError(f"the incumbent is not integral: column {lp.col_name(j)} of {lp.name} has {x[j]}, expected an integer")
    activity = np.asarray(lp.A @ x)
    for what, name_of, value, lower, upper in (
        ("row", lp.row_name, activity, lp.row_lower, lp.row_upper),
        ("column", lp.col_name, x, lp.col_lower, lp.col_upper),
    ):
        nearest = np.clip(value, lower, upper)
        wrong = np.abs(value - nearest) / (1.0 + np.abs(nearest))
        if wrong.max(initial=0.0) > FEASIBILITY:
            k = int(wrong.argmax())
            raise ModelError(
                f"the incumbent is not feasible: {what} {name_of(k)} of {lp.name} has {value[k]:.10g}, "
                f"expected {lower[k]:.10g} to {upper[k]:.10g}"
            )
    return float(lp.c @ x) + lp.offset
