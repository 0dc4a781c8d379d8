"""What the referee measures of points: residuals, objective and safe bound, a slice of members at a time, from original data.

What is proved by them is decided in kkt.py, where the tests are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.matrix import sums
from batchlp_cli.optima import Optima
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.products import Matrix, Numbers, from_zero
from batchlp_cli.safe_bound import NearPrices, lower_bound, near_prices
from batchlp_cli.solution import Solution, Status


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Residuals of a slice, arrays [B]; NaN where a member has no finite vectors to measure.

    objective: with offset. bound: the safe bound, with offset. wrong_r: largest difference of the claimed r, relative.
    own_rel: largest violation of a row relative to that row's own bound; worst_row: [B] int, the row.
    """

    residuals: Vector
    objective: Vector
    bound: Vector
    wrong_r: Vector
    own_rel: Vector
    worst_row: Indices


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The vectors of claims as rows, x [B, n], y [B, m], r [B, n], and which of them are usable [B]; the others are rows of 0.

    r is None where no claim has any. With few, x [B, k] holds only its columns.
    """

    x: Vector
    y: Vector
    r: Vector | None
    has_x: Mask
    has_y: Mask
    has_r: Mask
    few: FewColumns | None = None

    @staticmethod
    def of(solutions: Sequence[Solution], m: int, n: int) -> Points:
        """Returns what the claims hold."""
        (x, has_x), (y, has_y) = _stack([s.x for s in solutions], n), _stack([s.y for s in solutions], m)
        if all(s.r is None for s in solutions):
            return Points(x, y, None, has_x, has_y, np.zeros(len(solutions), dtype=np.bool_))
        r, has_r = _stack([s.r for s in solutions], n)
        return Points(x, y, r, has_x, has_y, has_r)

    @staticmethod
    def of_optima(x: Vector, y: Vector, few: FewColumns | None = None) -> Points:
        """Returns points that are rows already, x [B, n], or [B, k] with few, and y [B, m]; they may be overwritten."""
        has_x, has_y = _usable(x), _usable(y)
        return Points(x, y, None, has_x, has_y, np.zeros(len(x), dtype=np.bool_), few)

    def in_form(self, solutions: Sequence[Solution]) -> list[bool]:
        """Tells which claims are optimal ones with nothing wrong in the form of their vectors; of the others it says nothing."""
        whole = (self.has_x & self.has_y & self.has_r).tolist()
        return [fine and s.status is Status.OPTIMAL for s, fine in zip(solutions, whole, strict=True)]


class FewColumns:
    """Columns in which the points of some claims differ from a common rest."""

    def __init__(self, optima: Optima, matrix: Matrix) -> None:
        assert optima.used is not None
        assert optima.rest is not None
        self.used = optima.used
        self.matrix = matrix.columns(self.used)
        self._rest = optima.rest.copy()
        self._rest[self.used] = 0.0
        self._moved = np.flatnonzero(self._rest)
        self.activity = matrix.times(self._rest[None, :])  # [1, m]

    def fit(self, numbers: Numbers) -> bool:
        """Tells whether the rest is within its bounds for all members, so that nothing need be said of it."""
        inside = (self._rest >= numbers.col_lower) & (self._rest <= numbers.col_upper)
        inside[:, self.used] = True
        return bool(inside.all())

    def value(self, numbers: Numbers) -> Vector:
        """Returns what the rest costs: [B] or [1]."""
        value: Vector = (numbers.cost[:, self._moved] * self._rest[self._moved]).sum(axis=1)
        return value


def _stack(vectors: Sequence[Vector | None], size: int) -> tuple[Vector, Mask]:
    """Returns the vectors as rows [B, size], and which are usable; missing, of wrong length or not finite are rows of 0."""
    if all(vector is not None and np.shape(vector) == (size,) for vector in vectors):
        whole = np.array(vectors, dtype=np.float64).reshape(len(vectors), size)
        return whole, _usable(whole)
    rows, usable = np.zeros((len(vectors), size)), np.zeros(len(vectors), dtype=np.bool_)
    for k, vector in enumerate(vectors):
        if vector is not None and np.shape(vector) == (size,) and np.isfinite(vector).all():
            rows[k], usable[k] = vector, True
    return rows, usable


def _usable(rows: Vector) -> Mask:
    """Returns which of the rows [B, size] are finite, and makes the others rows of 0."""
    # a NaN becomes both the least and the largest
    ends = rows.min(axis=1, initial=0.0), rows.max(axis=1, initial=0.0)
    finite: Mask = np.asarray(np.isfinite(ends).all(axis=0), dtype=np.bool_)
    rows[~finite] = 0.0
    return finite


def measure(numbers: Numbers, offset: Vector, points: Points) -> Measures:
    """Returns residuals, objective and safe bound of every member from its claimed x, y and r."""
    y = points.y
    with np.errstate(over="ignore", invalid="ignore"):
        p, activity, own = _products(numbers, points)
        primal_abs, primal_rel, own_rel, worst_row = _primal(own, points.x, activity)
        near = near_prices(numbers, y) if points.r is None else None
        r = numbers.cost - numbers.matrix.transposed_times(y) if near is None else np.zeros((0, 0))
        dual_abs, D = _dual(numbers, y, r) if near is None else _dual_by_near(numbers, y, near)
        scale = 1 + _norm(numbers.cost)
        gap = np.abs(p - D)
        gap_rel = _ratio(gap, 1 + np.abs(p) + np.abs(D))
        wrong_r = np.zeros(len(y))
        if points.r is not None:
            away = points.r - r
            wrong_r = np.where(points.has_r, _ratio(np.abs(away, out=away).max(axis=1, initial=0.0), scale), 0.0)
        objective = p + offset
    columns = [primal_abs, primal_rel, dual_abs, _ratio(dual_abs, scale), gap, gap_rel]
    has_x, has_y = points.has_x, points.has_y
    there = np.stack([has_x, has_x, has_y, has_y, has_x & has_y, has_x & has_y])
    residuals = np.where(there, np.stack(columns), np.nan)
    bound = np.where(has_y, lower_bound(numbers, y, offset, r, near), -np.inf)
    return Measures(residuals, objective, bound, wrong_r, own_rel, worst_row)


def _products(numbers: Numbers, points: Points) -> tuple[Vector, Vector, Numbers]:
    """Returns c @ x [B], A @ x [B, m], and the numbers of the columns that x has."""
    few, x = points.few, points.x
    own = numbers if few is None else numbers.columns(few.used, few.matrix)
    p, activity = (own.cost * x).sum(axis=1), own.matrix.times(x)
    return (p, activity, own) if few is None else (p + few.value(numbers), activity + few.activity, own)


def _primal(numbers: Numbers, x: Vector, activity: Vector) -> tuple[Vector, Vector, Vector, Indices]:
    """Returns the absolute and the relative primal residual, and the worst row relative to its own bound, with its index."""
    lc, uc, lv, uv = numbers.row_lower, numbers.row_upper, numbers.col_lower, numbers.col_upper
    rows = np.maximum(np.maximum(lc - activity, activity - uc), 0.0)  # maximum hands a NaN on
    b = np.maximum(_finite_size(lc), _finite_size(uc))
    row_norm = _norm(rows)
    relative = _ratio(row_norm, 1 + _norm(b))
    col_norm: Vector = np.zeros(len(x))
    if not ((x >= lv).all() and (x <= uv).all()):  # a vertex seldom leaves its box at all
        cols = np.maximum(np.maximum(lv - x, x - uv), 0.0)
        nearest = np.where(x < lv, _finite_size(lv), _finite_size(uv))
        relative = np.maximum(relative, (cols / (1 + nearest)).max(axis=1, initial=0.0))
        col_norm = _norm(cols)
    own: Vector = rows / (1 + b)
    worst = own.argmax(axis=1).astype(np.int64) if own.shape[1] else np.zeros(len(own), dtype=np.int64)
    return np.hypot(row_norm, col_norm), relative, own.max(axis=1, initial=0.0), worst


def _dual(numbers: Numbers, y: Vector, r: Vector) -> tuple[Vector, Vector]:
    """Returns the absolute dual residual and the dual value D; what prices an infinite bound is in the one, not the other."""
    rows, loose_y = _price(y, numbers.row_lower, numbers.row_upper)
    cols, loose_r = _price(r, numbers.col_lower, numbers.col_upper)
    return np.hypot(_norm(loose_y), _norm(loose_r)), rows + cols


def _dual_by_near(numbers: Numbers, y: Vector, near: NearPrices) -> tuple[Vector, Vector]:
    """Returns the same from the reduced costs that matter."""
    members = len(y)
    rows, loose_y = _price(y, numbers.row_lower, numbers.row_upper)
    side = np.where(near.r > 0, *near.sides(numbers))
    infinite = np.isinf(side)
    cols = sums(near.member, near.r * np.where(infinite, 0.0, side), members)
    loose = np.flatnonzero(infinite & (near.r != 0))
    worst = np.zeros(members)
    np.maximum.at(worst, near.member[loose], np.abs(near.r[loose]))
    part = near.r[loose] / worst[near.member[loose]]  # so that squares neither overflow nor vanish
    return np.hypot(_norm(loose_y), worst * np.sqrt(sums(near.member[loose], part * part, members))), rows + cols


def _price(price: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Returns sum over (price > 0 ? price * lower : price * upper) where that side is finite, and the other prices."""
    told = np.flatnonzero(~from_zero(lower, upper))
    if 2 * told.size >= price.shape[1]:
        return _price_boxes(price, lower, upper)
    loose = np.minimum(price, 0.0)
    if not told.size:
        return np.zeros(len(price)), loose
    value, loose[:, told] = _price_boxes(price[:, told], lower[:, told], upper[:, told])
    return value, loose


def _price_boxes(price: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    side = np.where(price > 0, lower, upper)
    infinite = np.isinf(side)
    terms = price * np.where(infinite, 0.0, side)
    return terms.sum(axis=1), np.where(infinite, price, 0.0)


def _finite_size(values: Vector) -> Vector:
    """Returns |values| with 0 for infinities."""
    return np.where(np.isfinite(values), np.abs(values), 0.0)


def _norm(values: Vector) -> Vector:
    """Returns the Euclidean norm of each row: [B, size] -> [B], also where the squares overflow."""
    norm: Vector = np.sqrt(np.einsum("bj,bj->b", values, values))
    large = ~np.isfinite(norm)
    if large.any():
        size = np.abs(values[large]).max(axis=1, initial=0.0)
        norm[large] = size * np.linalg.norm(values[large] / size[:, None], axis=1)
    return norm


def _ratio(value: Vector, scale: Vector) -> Vector:
    """Returns value / scale; NaN where the scale has overflowed, which would make anything small."""
    return np.where(np.isfinite(scale), value / scale, np.nan)
