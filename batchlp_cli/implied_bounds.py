"""Column bounds that rows, and a cutoff on the cost, imply where a column has none. What they are good for is in safe_bound.py.

Columns are doubled to w = [x, -x], so that every bound is a lower one, w >= z, and every row M @ w <= cap has M >= 0. Then
    w_q <= (cap_i - sum over p != q of M_ip z_p) / M_iq,
every rounding upwards. [J. Andersen, K. Andersen, Presolving in linear programming, Math. Program. 71 (1995), 221-245]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.products import TINY, UNIT_ROUNDOFF, Doubled, Numbers, gamma

PASSES = 11
"""Most passes for implied bounds, the first over the cost only. Of 59 Netlib optima 2, 5, 11, 51 give 11, 29, 41, 44 a bound."""


def bounds_by_cost(numbers: Numbers, cutoff: Vector, member: Indices, column: Indices) -> tuple[Vector, Vector]:
    """Returns bounds of columns [k] of members [k] in which those that c @ x <= cutoff [B] implies stand for infinite ones."""
    n = numbers.cost.shape[1]
    z, cost = _doubled_columns(numbers, max(len(a) for a in (numbers.cost, numbers.col_lower, numbers.col_upper)))
    row = _CostRow.of(z, cost)
    mine = member if len(z) > 1 else np.zeros_like(member)
    left = row.left(cutoff)[member]
    sides = []
    for w, other in ((column, column + n), (column + n, column)):
        own, opposite, price = z[mine, w], z[mine, other], cost[mine, other]
        usable = (price > 0) & (row.count[mine] == np.isinf(opposite)) & np.isfinite(left)
        room = np.full(w.shape, np.inf)
        np.divide(left, price, out=room, where=usable)
        implied = -_raised(opposite, room)
        sides.append(np.where(np.isinf(own) & np.isfinite(implied), implied, own))
    return sides[0], -sides[1]


def implied_bounds(numbers: Numbers, cutoff: Vector, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Returns column bounds [B, n] in which those that the rows and c @ x <= cutoff imply stand for infinite ones."""
    n = low.shape[1]
    # w = [x, -x] >= z,   M @ w <= cap,   cost @ w <= cutoff,   with M >= 0 and cost >= 0
    z, cost = _doubled_columns(numbers, len(low))
    cap = _stacked(len(low), numbers.row_upper, -numbers.row_lower)
    needed = np.concatenate([high > 0, low < 0], axis=1)
    active = np.arange(len(low))
    for attempt in range(PASSES):
        # the cost alone is cheap and often enough, so it goes first
        above = _room_of_cost(z[active], cost[active], cutoff[active])
        if attempt:
            above = np.minimum(above, _room_of_rows(numbers.matrix.doubled, z[active], cap[active]))
        above = _raised(z[active], above)
        # -w_q is another column of w: its lower bound is minus the upper bound of w_q
        implied = -np.roll(above, n, axis=1)
        found = np.isinf(z[active]) & np.isfinite(implied)
        z[active] = np.where(found, implied, z[active])
        missing = (needed[active] & np.isinf(z[active])).any(axis=1)
        active = active[missing & (found.any(axis=1) | (attempt == 0))]
        if active.size == 0:
            break
    return z[:, :n], -z[:, n:]


def _doubled_columns(numbers: Numbers, members: int) -> tuple[Vector, Vector]:
    """Returns z and cost [B, 2n] of the doubled columns w = [x, -x]: w >= z, and c @ x = cost @ w with cost >= 0."""
    z = _stacked(members, numbers.col_lower, -numbers.col_upper)
    return z, _stacked(members, np.maximum(numbers.cost, 0.0), np.maximum(-numbers.cost, 0.0))


def _stacked(members: int, first: Vector, second: Vector) -> Vector:
    """Returns [first, second] for each member: [B, 2 size]."""
    both = [np.broadcast_to(a, (members, a.shape[1])) for a in (first, second)]
    return np.concatenate(both, axis=1)


def _raised(z: Vector, room: Vector) -> Vector:
    """Returns z + room (0 for an infinite z), padded for this addition and for the division that made room: [B, 2n]."""
    bound = np.where(np.isinf(z), 0.0, z) + room
    bound = bound + 4 * UNIT_ROUNDOFF * (np.abs(bound) + np.abs(room)) + TINY
    return np.where(np.isfinite(bound), bound, np.inf)


def _room_of_rows(doubled: Doubled, z: Vector, cap: Vector) -> Vector:
    """Returns what M @ w <= cap with w >= z leaves to each w_q above z_q, but for the last roundings: [B, 2n]; inf if nothing.

    It is (cap_i - M_i @ z) / M_iq where z is finite on row i; where only z_q is infinite, with 0 in its place.
    """
    M = doubled.M
    infinite = np.isinf(z)
    # upper bounds of w that the box does not give
    wanted = np.asarray(np.roll(infinite, z.shape[1] // 2, axis=1).any(axis=0), dtype=np.bool_)
    lone = np.asarray(infinite.any(axis=0), dtype=np.bool_) & wanted
    z = np.where(infinite, 0.0, z)
    left = cap - M.times(z) + _padding(M.row_counts, M.times(np.abs(z)), cap)
    count = np.where(np.isfinite(left), doubled.pattern.times(infinite.astype(np.float64)), np.inf)
    room = _smallest_room(doubled, np.where(count == 0, left, np.inf), wanted)
    alone = _smallest_room(doubled, np.where(count == 1, left, np.inf), lone)
    return np.where(infinite, np.minimum(room, alone), room)


@dataclass(frozen=True, slots=True, eq=False)
class _CostRow:
    """What the one row  cost @ w <= cutoff  of each member, w >= z, is made of.

    start: [B] sum of cost * z over the finite z, size: [B] of its absolute values, count: [B] infinite z that have a cost;
    entries: how many terms the sums have.
    """

    start: Vector
    size: Vector
    count: Indices
    entries: int

    @staticmethod
    def of(z: Vector, cost: Vector) -> _CostRow:
        """Returns what z and cost [B, 2n] come to."""
        infinite = np.isinf(z)
        terms = cost * np.where(infinite, 0.0, z)
        count = (infinite & (cost > 0)).sum(axis=1)
        return _CostRow(terms.sum(axis=1), np.abs(terms).sum(axis=1), count, cost.shape[1])

    def left(self, cutoff: Vector) -> Vector:
        """Returns what the finite z leave of the cutoff [B], rounded up: [B]."""
        left = cutoff - self.start
        return np.asarray(left + _padding(self.entries, self.size, cutoff), dtype=np.float64)


def _room_of_cost(z: Vector, cost: Vector, cutoff: Vector) -> Vector:
    """Returns what `_room_of_rows` does, for the one row  cost @ w <= cutoff  of each member."""
    row = _CostRow.of(z, cost)
    left = row.left(cutoff)
    counted = np.isinf(z) & (cost > 0)
    usable = (cost > 0) & (row.count[:, None] == counted) & np.isfinite(left)[:, None]
    room = np.full(z.shape, np.inf)
    np.divide(left[:, None], cost, out=room, where=usable)
    return room


def _padding(entries: Indices | int, size: Vector, cap: Vector) -> Vector:
    """Returns a bound of the rounding error of  cap - sum of `entries` products  whose absolute values add up to size."""
    return gamma(np.asarray(entries) + 4.0) * size + 4 * UNIT_ROUNDOFF * np.abs(cap) + TINY


def _smallest_room(doubled: Doubled, left: Vector, wanted: Mask) -> Vector:
    """Returns for each wanted column q of M the smallest left_i / M_iq over its rows i: [B, 2m] -> [B, 2n]; else inf."""
    room = np.full((len(left), wanted.size), np.inf)
    # rows that say nothing for any member are left out, which is most of them
    telling = np.asarray(np.isfinite(left).any(axis=0), dtype=np.bool_)
    keep = np.flatnonzero(telling[doubled.row_of] & wanted[doubled.column_of])
    if keep.size:
        column = doubled.column_of[keep]
        starts = np.flatnonzero(np.diff(column, prepend=-1))
        ratios = np.take(left, doubled.row_of[keep], axis=1) / doubled.values[keep]
        room[:, column[starts]] = np.minimum.reduceat(ratios, starts, axis=1)
    return room
