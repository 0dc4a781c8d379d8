"""The children that strong branching looks at: each fractional column of the root rounded down, and up."""

from __future__ import annotations

import numpy as np

from batchlp_cli.batch import Changes, Field, LPBatch
from batchlp_cli.errors import UsageError
from batchlp_cli.problem import LinearProgram, Vector

FRACTIONAL = 1e-5
"""Distance to the next integer from which a value counts as fractional."""


def branching_children(base: LinearProgram, x: Vector, members: int) -> LPBatch:
    """Returns up to `members` children of a relaxation with optimal point x [n]: for column j, one with x_j <= floor(x_j),
    then one with x_j >= ceil(x_j), the most fractional columns first (Applegate, Bixby, Chvatal and Cook 1995, DIMACS report
    95-05). A child may be infeasible.

    Raises UsageError where no integer column of x is fractional.
    """
    away = np.where(base.integer, np.abs(x - np.round(x)), 0.0)
    candidates = np.flatnonzero(away > FRACTIONAL)
    if candidates.size == 0:
        what = "is integral at its root" if base.integer.any() else "has no integer columns"
        raise UsageError(f"{base.name} {what}, so it has no children; try another seed, size or family")
    ordered = candidates[np.argsort(-away[candidates], kind="stable")].astype(np.int64)
    column = np.repeat(ordered, 2)[:members]
    up = np.arange(column.size) % 2 == 1
    codes = np.where(up, int(Field.COL_LOWER), int(Field.COL_UPPER)).astype(np.int8)
    value = np.where(up, np.ceil(x[column]), np.floor(x[column]))
    names = tuple(f"{base.name}_{base.col_name(int(j))}_{'up' if u else 'down'}" for j, u in zip(column, up, strict=True))
    return LPBatch(base, Changes(np.arange(column.size, dtype=np.int64), codes, column, value), names)
