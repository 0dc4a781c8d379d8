"""What members of a batch change, as dense values of the places that any of them changes: a row of numbers a member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchlp_cli.batch import Changes, Field, Indices
from batchlp_cli.problem import LinearProgram, Mask, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Places [q] of rows or columns, and what members have there: lower, upper [B, q]."""

    places: Indices
    lower: Vector
    upper: Vector

    def take(self, which: Indices) -> Sides:
        """Returns some of the members."""
        return Sides(self.places, self.lower[which], self.upper[which])

    @staticmethod
    def of(changes: Changes, members: int, lower: tuple[Field, Vector], upper: tuple[Field, Vector]) -> Sides:
        """Returns what changes say of bounds; lower, upper: their fields, and the values of the base."""
        is_lower, is_upper = changes.field == lower[0], changes.field == upper[0]
        places = distinct(changes.index[is_lower | is_upper], lower[1].size)
        return Sides(
            places, _dense(changes, is_lower, places, lower[1], members), _dense(changes, is_upper, places, upper[1], members)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Members in place of the base. costs: [B, p] at the columns `priced` [p]; rows, columns: their bounds."""

    priced: Indices
    costs: Vector
    rows: Sides
    columns: Sides

    def __len__(self) -> int:
        return len(self.costs)

    def take(self, which: Indices) -> Moves:
        """Returns some of the members."""
        return Moves(self.priced, self.costs[which], self.rows.take(which), self.columns.take(which))

    @staticmethod
    def of(base: LinearProgram, changes: Changes, members: int) -> Moves:
        """Returns the members 0, 1, ... of a table of changes; the offset, which no solver is told, is left out."""
        is_cost = changes.field == Field.COST
        priced = distinct(changes.index[is_cost], base.n)
        rows = (Field.ROW_LOWER, base.row_lower), (Field.ROW_UPPER, base.row_upper)
        columns = (Field.COL_LOWER, base.col_lower), (Field.COL_UPPER, base.col_upper)
        costs = _dense(changes, is_cost, priced, base.c, members)
        return Moves(priced, costs, Sides.of(changes, members, *rows), Sides.of(changes, members, *columns))


def distinct(places: Indices, size: int) -> Indices:
    """Returns the different ones of some places below `size`, ascending."""
    is_there = np.zeros(size, dtype=np.bool_)
    is_there[places] = True
    return np.flatnonzero(is_there)


def _dense(changes: Changes, which: Mask, places: Indices, base: Vector, members: int) -> Vector:
    """Returns what members have at places [q], from those of the changes: [B, q]."""
    values = np.repeat(base[None, places], members, axis=0)
    if places.size:
        values[changes.member[which], np.searchsorted(places, changes.index[which])] = changes.value[which]
    return values
