"""What varies in a family: one part of a base, redrawn for each member."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from batchlp_cli.batch import Changes, Field, LPBatch
from batchlp_cli.errors import UsageError
from batchlp_cli.families.blocks import Part, batch_of, member_names
from batchlp_cli.problem import LinearProgram, Vector


class Varied(StrEnum):
    """What `vary` changes from member to member."""

    RHS = "rhs"
    COST = "cost"
    BOUNDS = "bounds"
    COLUMN = "column"


def vary(base: LinearProgram, members: int, seed: int, what: str, *, size: float = 0.1, keep: Vector | None = None) -> LPBatch:
    """Returns a batch of LPs like the base, with one part of it (`Varied`) redrawn for each member by up to `size`, relative.

    cost: every non-zero cost is multiplied by a number of [1 - size, 1 + size]; a member is bounded where the base is bounded
    because of the signs of its costs or because its feasible set is. rhs: the sides of rows that are no equations
    move outwards, by up to size * max(1, |side|). bounds: finite bounds other than 0 move outwards, by up to size * |bound|.
    Outwards, a feasible base gives feasible members, and a bounded one bounded members, as the cost and the finite sides stay.
    column: the costs give way to one column's, to be made least in one member and greatest in the next, in a random order of
    the columns, as in flux variability and bound tightening; bounded where the column is.
    With `keep` ([n] float64, a feasible point) they move both ways, but never past that point, which stays feasible.

    Raises UsageError where the base has nothing of the kind to vary.
    """
    rng = np.random.default_rng(seed)
    parts: list[Part]
    match Varied(what):
        case Varied.COST:
            index = np.flatnonzero(base.c)
            parts = [(Field.COST, index, base.c[index] * rng.uniform(1 - size, 1 + size, (members, index.size)))]
        case Varied.RHS:
            point = None if keep is None else np.asarray(base.A @ keep)
            parts = [_moved(rng, base, field, (members, size), point) for field in (Field.ROW_LOWER, Field.ROW_UPPER)]
        case Varied.BOUNDS:
            parts = [_moved(rng, base, field, (members, size), keep) for field in (Field.COL_LOWER, Field.COL_UPPER)]
        case Varied.COLUMN:
            return _single_columns(rng, base, members)
    if not any(index.size for _, index, _ in parts):
        raise UsageError(f"{base.name} has no {what} to vary; expected one of cost, rhs, bounds, column that it has")
    return batch_of(base, parts)


def _single_columns(rng: np.random.Generator, base: LinearProgram, members: int) -> LPBatch:
    """Returns members that minimise x_j (even ones) or -x_j (odd ones) for columns j in random order."""
    number = np.arange(members, dtype=np.int64)
    column = rng.permutation(base.n)[number // 2 % base.n].astype(np.int64)
    zeroed = np.flatnonzero(base.c)
    # each member's changes: old costs to 0, then the column's; the later entry wins where both are one
    index = np.column_stack([np.tile(zeroed, (members, 1)), column])  # [B, k + 1]
    value = np.column_stack([np.zeros((members, zeroed.size)), np.where(number % 2, -1.0, 1.0)])
    member = np.repeat(number, zeroed.size + 1)
    codes = np.full(member.size, Field.COST, dtype=np.int8)
    return LPBatch(base, Changes(member, codes, index.ravel(), value.ravel()), member_names(base, members))


def _moved(rng: np.random.Generator, base: LinearProgram, field: Field, extent: tuple[int, float], point: Vector | None) -> Part:
    """Returns the finite entries of one side, moved outwards, or both ways as far as a point allows; extent: members, size."""
    values, (members, size), of_rows = getattr(base, field.attribute), extent, field in (Field.ROW_LOWER, Field.ROW_UPPER)
    movable = base.row_lower != base.row_upper if of_rows else (base.col_lower != base.col_upper) & (values != 0)
    index = np.flatnonzero(movable & np.isfinite(values))
    step = size * np.maximum(float(of_rows), np.abs(values[index]))  # [k]
    moved = step * rng.uniform(0.0 if point is None else -1.0, 1.0, (members, index.size))  # [B, k]
    if field in (Field.ROW_LOWER, Field.COL_LOWER):
        lower = values[index] - moved
        return field, index, lower if point is None else np.minimum(lower, point[index])
    upper = values[index] + moved
    return field, index, upper if point is None else np.maximum(upper, point[index])
