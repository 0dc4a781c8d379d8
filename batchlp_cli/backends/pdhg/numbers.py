"""Costs and bounds of a tile: one number a row or column where its members agree, a slot with a number a lane where not.

So a tile of W lanes whose members differ from the base in s places holds n + m + s W numbers, never (n + m) W.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.batch import Field, Indices, LPBatch
from batchlp_cli.problem import Vector

Array = Any
"""An array of the kernel's library: numpy.ndarray or torch.Tensor."""


class Numbers(NamedTuple):
    """Costs and bounds of the lanes of a tile (a named tuple, which compiled kernels take as it is).

    c, lv, uv: [n] shared; lc, uc: [m] shared. col_slot [n], row_slot [m] int32: -1 where shared numbers hold, else the row s
    of lane_c, lane_lv, lane_uv [slots, W] or of lane_lc, lane_uc [slots, W] with a number a lane.
    """

    c: Array
    lv: Array
    uv: Array
    lc: Array
    uc: Array
    col_slot: Array
    lane_c: Array
    lane_lv: Array
    lane_uv: Array
    row_slot: Array
    lane_lc: Array
    lane_uc: Array


_COLUMN_FIELDS = (Field.COST, Field.COL_LOWER, Field.COL_UPPER)
_ROW_FIELDS = (Field.ROW_LOWER, Field.ROW_UPPER)


def numbers_of(batch: LPBatch, members: Indices) -> Numbers:
    """Returns the numbers of a tile in original units. members: [W] int64, -1 for a lane without one, which has the base's.

    A negative member -2 - i means member i without its costs.
    """
    col_slot, columns = _lane_values(batch, members, _COLUMN_FIELDS, batch.base.n)
    row_slot, rows = _lane_values(batch, members, _ROW_FIELDS, batch.base.m)
    base = batch.base
    shared = (base.c, base.col_lower, base.col_upper, base.row_lower, base.row_upper)
    parts = (*shared, col_slot, *columns, row_slot, *rows)
    return Numbers._make(parts)


def _lane_values(
    batch: LPBatch, members: Indices, fields: tuple[Field, ...], size: int
) -> tuple[np.ndarray[Any, np.dtype[np.int32]], list[Vector]]:
    """Returns the slots [size] of the places in which some lane differs from the base, and the lanes' numbers there."""
    present = np.where(members < -1, -2 - members, members)
    used = np.flatnonzero(present >= 0)
    costless = np.flatnonzero(members < -1) if Field.COST in fields else np.zeros(0, dtype=np.int64)
    table = batch.changes.take(present[used])
    wanted = np.isin(table.field, np.array(fields, dtype=np.int8))
    places = np.unique(table.index[wanted]) if costless.size == 0 else np.arange(size)
    slot = np.full(size, -1, dtype=np.int32)
    slot[places] = np.arange(places.size, dtype=np.int32)
    values = []
    for code in fields:
        base: Vector = getattr(batch.base, code.attribute)
        lanes = np.repeat(base[places][:, None], members.size, axis=1)  # [slots, W]
        here = table.field == code
        lanes[slot[table.index[here]], used[table.member[here]]] = table.value[here]
        if code is Field.COST:
            lanes[:, costless] = 0.0
        values.append(lanes)
    return slot, values


def scaled_numbers(numbers: Numbers, matrix: ScaledMatrix, dtype: np.dtype[Any]) -> Numbers:
    """Returns the numbers in the units of the iterates: c~ = D2 c, column bounds D2^-1 (.), row bounds D1 (.)."""
    D1, D2 = matrix.row_scale, matrix.col_scale
    columns = np.flatnonzero(numbers.col_slot >= 0)
    rows = np.flatnonzero(numbers.row_slot >= 0)
    d2, d1 = D2[columns][:, None], D1[rows][:, None]
    values = numbers._replace(
        c=D2 * numbers.c,
        lv=numbers.lv / D2,
        uv=numbers.uv / D2,
        lc=D1 * numbers.lc,
        uc=D1 * numbers.uc,
        lane_c=d2 * numbers.lane_c,
        lane_lv=numbers.lane_lv / d2,
        lane_uv=numbers.lane_uv / d2,
        lane_lc=d1 * numbers.lane_lc,
        lane_uc=d1 * numbers.lane_uc,
    )
    slots = ("col_slot", "row_slot")
    with np.errstate(over="ignore"):
        return Numbers(*(a if name in slots else a.astype(dtype) for name, a in zip(Numbers._fields, values, strict=True)))
