"""Presolve for a batch: a smaller LP for the lanes, by rules whose way back gives x and y exactly.

A rule touches only numbers in which all members agree, and asks of the others only what holds for every member, so one
reduction serves the batch. Rules: rows without entries and rows that always hold go; a row with one entry becomes a column
bound; a row that holds in one corner only fixes its columns; fixed columns become numbers; columns whose reduced cost can have
but one sign go to their bound; a column with one entry becomes a wider row, its cost a price of that row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from batchlp_cli.backends.pdhg.restoration import FixedColumns, ForcingRow, Restoration, SingletonRows, Slacks, Step
from batchlp_cli.batch import Changes, Field, Indices, LPBatch
from batchlp_cli.problem import LinearProgram, Mask, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductionParameters:
    """What presolve may do.

    passes: most rounds over all rules, 0 for none (default 30). smallest: entries below this divide nothing (default 1e-4).
    near: relative distance of an activity from a row's bound that counts as none (default 1e-12).
    """

    passes: int = 30
    smallest: float = 1e-4
    near: float = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """A reduced batch and the way back; hints: row duals [m] of the LP as given that may prove all members infeasible."""

    batch: LPBatch
    restoration: Restoration
    hints: tuple[Vector, ...] = ()


def keep_whole(batch: LPBatch, At: sp.csr_array) -> Reduction:
    """Returns a batch as it is, with a way back that changes nothing; At: A.T by rows."""
    m, n = batch.base.m, batch.base.n
    return Reduction(batch, Restoration(batch.base.A, At, np.arange(m), np.arange(n), ()))


def reduce_batch(batch: LPBatch, parameters: ReductionParameters) -> Reduction:
    """Returns the reduced batch; a batch of members without rows or columns stays as it is."""
    work = _Work(batch, parameters)
    if any(np.isposinf(hull[2]).any() or np.isneginf(hull[3]).any() for hull in (work.row, work.col)):
        return work.result()  # such bounds leave no x, and their products are NaN
    for _ in range(parameters.passes):
        before = len(work.steps), work.rows.sum(), work.cols.sum()
        for rule in (work.drop_idle_rows, work.move_singletons, work.fix, work.force, work.fix_by_sign, work.widen):
            if work.hints:
                break
            rule()
        if work.hints or before == (len(work.steps), work.rows.sum(), work.cols.sum()):
            break
    return work.result()


class _Work:
    """The LP on its way: masks of the rows and columns that are left, and the numbers of the base and of the members' hull."""

    def __init__(self, batch: LPBatch, parameters: ReductionParameters) -> None:
        base = batch.base
        self.p, self.batch, self.A, self.At = parameters, batch, base.A, _by_rows(sp.csr_array(base.A.T))
        self.steps: list[Step] = []
        self.hints: list[Vector] = []
        self.rows, self.cols = np.ones(base.m, dtype=np.bool_), np.ones(base.n, dtype=np.bool_)
        self.c = base.c.copy()
        self.shift = np.zeros(base.m), np.zeros(base.m)  # of lower and upper row bounds, -inf and inf where they went
        self.row = self._hull(Field.ROW_LOWER, Field.ROW_UPPER)
        self.col = self._hull(Field.COL_LOWER, Field.COL_UPPER)
        self.plus, self.minus = _part(self.A, self.A.data > 0), _part(self.A, self.A.data < 0)
        self.pattern, self.pattern_t, self.ones_plus, self.ones_minus = map(_ones, (self.A, self.At, self.plus, self.minus))
        changed = batch.changes.field
        self.varied_cost = self._touched(changed == Field.COST, base.n)
        self.varied_col = self._touched((changed == Field.COL_LOWER) | (changed == Field.COL_UPPER), base.n)
        self.varied_row = self._touched((changed == Field.ROW_LOWER) | (changed == Field.ROW_UPPER), base.m)

    def _touched(self, which: Mask, size: int) -> Mask:
        touched = np.zeros(size, dtype=np.bool_)
        touched[self.batch.changes.index[which]] = True
        return touched

    def _hull(self, lower: Field, upper: Field) -> Vector:
        """Returns [4, size]: least lower, greatest upper, greatest lower, least upper bound over the base and all members."""
        t = self.batch.changes
        low, high = getattr(self.batch.base, lower.attribute), getattr(self.batch.base, upper.attribute)
        hull = np.stack([low, high, low, high])
        for position, code, reduce in (
            (0, lower, np.minimum),
            (1, upper, np.maximum),
            (2, lower, np.maximum),
            (3, upper, np.minimum),
        ):
            here = t.field == code
            reduce.at(hull[position], t.index[here], t.value[here])
        return hull

    def _row_counts(self) -> Vector:
        return np.where(self.rows, self.pattern @ self.cols.astype(np.float64), 0.0)

    def drop_idle_rows(self) -> None:
        """Drops rows that hold for all x within bounds; notices rows that hold for none."""
        low, high = self._activity()
        most_lower, least_upper = self.row[2], self.row[3]
        size = self.p.near * (1 + np.abs(np.where(np.isfinite(low), low, 0)) + np.abs(np.where(np.isfinite(high), high, 0)))
        holds = (low >= most_lower - size) & (high <= least_upper + size)
        self.rows &= ~holds
        if len(self.batch) == 0:
            return
        never = self.rows & ((low > self.row[1] + 1e3 * size) | (high < self.row[0] - 1e3 * size))
        for i in np.flatnonzero(never)[:3]:
            price = np.zeros(self.rows.size)
            price[i] = -1.0 if low[i] > self.row[1, i] else 1.0
            self.hints.append(self._restoration(np.arange(self.rows.size)).prices(np.zeros(self.cols.size), price))

    def _activity(self) -> tuple[Vector, Vector]:
        """Returns the least and the greatest activity [m] of the rows that are left, over the hull of column bounds."""
        lv, uv = self.col[0], self.col[1]
        ends = []
        for sign, near, far in ((-1, lv, uv), (1, uv, lv)):
            a = np.where(self.cols & np.isfinite(near), near, 0.0)
            b = np.where(self.cols & np.isfinite(far), far, 0.0)
            count = self.ones_plus @ (self.cols & np.isinf(near)) + self.ones_minus @ (self.cols & np.isinf(far))
            ends.append(np.where(count > 0, sign * np.inf, self.plus @ a + self.minus @ b))
        return ends[0], ends[1]

    def move_singletons(self) -> None:
        """Makes rows of one entry bounds of their columns, where members agree on both."""
        free = self.cols & ~self.varied_col
        single = self.rows & (self._row_counts() == 1) & ~self.varied_row
        rows = np.flatnonzero(single)
        cols = np.rint((self.pattern @ np.where(self.cols, np.arange(self.cols.size), 0.0))[rows]).astype(np.int64)
        a = (self.A @ self.cols.astype(np.float64))[rows]
        keep = free[cols] & (np.abs(a) >= self.p.smallest)
        rows, cols, a = rows[keep], cols[keep], a[keep]
        _, first = np.unique(cols, return_index=True)  # one a column and pass
        rows, cols, a = rows[first], cols[first], a[first]
        if rows.size == 0:
            return
        ends = self.row[0:2, rows] / a
        low, high = ends.min(axis=0), ends.max(axis=0)
        old_low, old_high = self.col[0, cols], self.col[1, cols]
        crossed = np.maximum(low, old_low) > np.minimum(high, old_high)
        with np.errstate(invalid="ignore"):
            hair = crossed & (np.maximum(low, old_low) - np.minimum(high, old_high) <= 1e-13 * (1 + np.abs(low)))
        keep = ~crossed | hair
        rows, cols, a, low, high = rows[keep], cols[keep], a[keep], low[keep], high[keep]
        old_low, old_high = self.col[0, cols], self.col[1, cols]
        lower, upper = low > old_low, high < old_high
        new_low = np.where(lower, low, old_low)
        new_high = np.maximum(new_low, np.where(upper, high, old_high))
        self.col[0, cols] = self.col[2, cols] = new_low
        self.col[1, cols] = self.col[3, cols] = new_high
        self.rows[rows] = False
        self.steps.append(SingletonRows(rows, cols, a, lower, upper))

    def fix(self) -> None:
        """Makes numbers of columns whose bounds are equal."""
        self._fix(np.flatnonzero(self.cols & ~self.varied_col & (self.col[0] == self.col[1])), self.col[0])

    def _fix(self, cols: Indices, values: Vector) -> None:
        if cols.size == 0:
            return
        x = np.zeros(self.cols.size)
        x[cols] = values[cols]
        self._shift(-(self.A @ x), -(self.A @ x))
        self.cols[cols] = False
        self.steps.append(FixedColumns(cols, values[cols].copy()))

    def _shift(self, lower: Vector, upper: Vector) -> None:
        self.row += np.stack([lower, upper, lower, upper])
        self.shift[0][:] += lower
        self.shift[1][:] += upper

    def force(self) -> None:
        """Fixes the columns of rows that hold in one corner of the box only."""
        low, high = self._activity()
        taken = ~self.cols | self.varied_col
        forcing = {}
        for side, activity, bound in ((-1.0, low, self.row[1]), (1.0, high, self.row[0])):
            with np.errstate(invalid="ignore"):
                tight = np.abs(activity - bound) <= self.p.near * (1 + np.abs(bound))
            forcing[side] = np.flatnonzero(self.rows & ~self.varied_row & np.isfinite(activity) & np.isfinite(bound) & tight)
        for side, rows in forcing.items():
            for i in rows:
                inside = slice(self.A.indptr[i], self.A.indptr[i + 1])
                cols, a = self.A.indices[inside].astype(np.int64), self.A.data[inside]
                cols, a = cols[self.cols[cols]], a[self.cols[cols]]
                if cols.size == 0 or taken[cols].any() or np.abs(a).min() < self.p.smallest:
                    continue
                taken[cols] = True
                values = np.zeros(self.cols.size)
                values[cols] = np.where((a > 0) == (side < 0), self.col[0, cols], self.col[1, cols])
                self.rows[i] = False
                self.steps.append(ForcingRow(int(i), cols, a, side))
                self._fix(cols, values)

    def fix_by_sign(self) -> None:
        """Fixes columns whose reduced cost has one sign for all row duals that price finite sides only."""
        # y_i > 0 needs a finite lower side, y_i < 0 a finite upper one
        above, below = (self.rows & np.isfinite(self.row[2])), (self.rows & np.isfinite(self.row[3]))
        plus, minus = self.ones_plus.T, self.ones_minus.T
        falls = plus @ above.astype(np.float64) + minus @ below.astype(np.float64) > 0  # r_j may be below c_j
        rises = plus @ below.astype(np.float64) + minus @ above.astype(np.float64) > 0
        free = self.cols & ~self.varied_cost & ~self.varied_col
        at_low = free & ~falls & (self.c >= 0) & np.isfinite(self.col[0])
        at_high = free & ~rises & (self.c <= 0) & np.isfinite(self.col[1]) & ~at_low
        self._fix(np.flatnonzero(at_low), self.col[0])
        self._fix(np.flatnonzero(at_high), self.col[1])

    def widen(self) -> None:
        """Makes wider rows of columns with one entry, where their cost is 0 or can be a price of the row."""
        counts = self.pattern_t @ self.rows.astype(np.float64)
        cols = np.flatnonzero(self.cols & (counts == 1) & ~self.varied_cost & ~self.varied_col)
        rows = np.rint((self.pattern_t @ np.where(self.rows, np.arange(self.rows.size), 0.0))[cols]).astype(np.int64)
        a = (self.At @ self.rows.astype(np.float64))[cols]
        price = self.c[cols] / a
        equal = (self.row[0, rows] == self.row[1, rows]) & ~self.varied_row[rows]
        free = np.isinf(self.col[0, cols]) & np.isinf(self.col[1, cols])
        side = np.where(equal | ~free, 0.0, np.sign(price))
        there = np.where(side > 0, np.isfinite(self.row[0, rows]), np.isfinite(self.row[1, rows])) & ~self.varied_row[rows]
        keep = (np.abs(a) >= self.p.smallest) & ((price == 0) | equal | ((side != 0) & there))
        order = np.flatnonzero(keep)[np.argsort(-np.abs(a[keep]), kind="stable")]
        _, first = np.unique(rows[order], return_index=True)
        chosen = order[first]
        if chosen.size:
            self._widen(rows[chosen], cols[chosen], a[chosen], price[chosen], side[chosen])

    def _widen(self, rows: Indices, cols: Indices, a: Vector, price: Vector, side: Vector) -> None:
        lv, uv = self.col[0, cols].copy(), self.col[1, cols].copy()
        shift = self.shift[0][rows].copy(), self.shift[1][rows].copy()
        self.steps.append(Slacks(rows, cols, a, price, shift, side, lv, uv))
        # l - max(a x_j) <= rest <= u - min(a x_j)
        ends = np.stack([a * lv, a * uv])
        lower, upper = np.zeros(self.rows.size), np.zeros(self.rows.size)
        lower[rows], upper[rows] = -ends.max(axis=0), -ends.min(axis=0)
        self._shift(lower, upper)
        prices = np.zeros(self.rows.size)
        prices[rows] = price
        # c - A' k
        self.c -= self.At @ prices
        self.c[cols] = 0.0
        self.cols[cols] = False

    def _restoration(self, rows: Indices) -> Restoration:
        return Restoration(self.A, self.At, rows, np.flatnonzero(self.cols), tuple(self.steps))

    def result(self) -> Reduction:
        """Returns the reduced batch."""
        rows, cols = np.flatnonzero(self.rows), np.flatnonzero(self.cols)
        if not self.steps and rows.size == self.rows.size:
            return Reduction(self.batch, self._restoration(rows), tuple(self.hints))
        base = self.batch.base
        # where members agree the hull is the base; elsewhere the base moves as all members do
        lc, uc = (
            np.where(self.varied_row, low + by, hull)
            for low, by, hull in zip((base.row_lower, base.row_upper), self.shift, self.row[:2], strict=True)
        )
        lv, uv = (
            np.where(self.varied_col, own, hull) for own, hull in zip((base.col_lower, base.col_upper), self.col[:2], strict=True)
        )
        small = LinearProgram(base.name, self.c[cols], _by_rows(self.A[rows][:, cols]), lc[rows], uc[rows], lv[cols], uv[cols])
        labels = ()
        return Reduction(
            LPBatch(small, self._changes(rows, cols), self.batch.names, labels), self._restoration(rows), tuple(self.hints)
        )

    def _changes(self, rows: Indices, cols: Indices) -> Changes:
        """Returns the members' changes of what is left, in the reduced LP's numbers."""
        table, base = self.batch.changes, self.batch.base
        place = {Field.COST: (cols, base.n), Field.ROW_LOWER: (rows, base.m)}
        value, index = table.value.copy(), np.full(len(table), -1, dtype=np.int64)
        by = {Field.COST: self.c - base.c, Field.ROW_LOWER: self.shift[0], Field.ROW_UPPER: self.shift[1]}
        for code in (Field.COST, Field.COL_LOWER, Field.COL_UPPER, Field.ROW_LOWER, Field.ROW_UPPER):
            kept, size = place[Field.ROW_LOWER if code in (Field.ROW_LOWER, Field.ROW_UPPER) else Field.COST]
            new = np.full(size, -1, dtype=np.int64)
            new[kept] = np.arange(kept.size)
            here = table.field == code
            index[here] = new[table.index[here]]
            if code in by:
                value[here] += by[code][table.index[here]]
        keep = index >= 0
        return Changes(table.member[keep], table.field[keep], index[keep], value[keep])


def _part(A: sp.csr_array, which: Mask) -> sp.csr_array:
    part = sp.csr_array((np.where(which, A.data, 0.0), A.indices.copy(), A.indptr.copy()), shape=A.shape)
    part.eliminate_zeros()
    return part


def _ones(A: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((np.ones_like(A.data), A.indices, A.indptr), shape=A.shape)


def _by_rows(A: sp.csr_array) -> sp.csr_array:
    A.sort_indices()
    return A
