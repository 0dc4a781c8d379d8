"""What the referee multiplies: the matrix and the numbers of some members of a batch, and how far rounding can lead.

A member's products are the same, to the last bit, whatever its mates are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.matrix import Csr, Ints, by_rows, sums
from batchlp_cli.problem import Mask, Vector

if TYPE_CHECKING:
    import scipy.sparse as sp

UNIT_ROUNDOFF = 2.0**-53
TINY = 2.0**-960
"""Products below this are not trusted: those above it, and the bounds of their rounding errors, are safe from underflow."""

MOST_PARTS = 8
"""Matrices of some of the columns that are kept: those of the restricted LPs of a few worker processes."""

SCIPY_PAYS = 1 << 22
"""Entries of the matrix, over all members, from which on scipy's products gain more than its import takes."""


def needs_scipy(rows: Csr, members: int) -> bool:
    """Tells whether so many members of a matrix are judged with scipy's products."""
    return rows.nnz * members > SCIPY_PAYS


def gamma(operations: Vector | Indices | float) -> Vector:
    """Returns 1.01 k u / (1 - k u): bounds the relative error of k rounded operations [Higham, Accuracy and Stability, 3.1].

    The hundredth more is for the rounding of the sum of absolute terms that it is multiplied with.
    """
    ku = np.asarray(operations, dtype=np.float64) * UNIT_ROUNDOFF
    return 1.01 * ku / (1.0 - ku)


class Matrix:
    """A [m, n] and what the referee needs of it again and again, made once, when first needed.

    members: how many LPs will be judged with it, None for many. Few products are made by numpy alone, in the same order of
    terms, since importing scipy would take longer than they do.
    """

    def __init__(self, rows: Csr, members: int | None = None) -> None:
        self.rows = rows
        self.needs_scipy = members is None or needs_scipy(rows, members)
        self._parts: dict[bytes, Matrix] = {}

    @cached_property
    def row_counts(self) -> Indices:
        """Entries of each row: [m] int64."""
        return np.diff(self.rows.indptr).astype(np.int64)

    @cached_property
    def column_counts(self) -> Indices:
        """Entries of each column: [n] int64."""
        return np.bincount(self.rows.indices, minlength=self.rows.shape[1]).astype(np.int64)

    def times(self, X: Vector, *, absolute: bool = False) -> Vector:
        """Returns A @ x, or |A| @ x, for every row x of X: [B, n] -> [B, m]."""
        if self.needs_scipy:
            return times(abs(self.rows.scipy) if absolute else self.rows.scipy, X)
        return self.rows.times_all(X, absolute=absolute)

    def transposed_times(self, Y: Vector, *, absolute: bool = False) -> Vector:
        """Returns A.T @ y, or |A|.T @ y, for every row y of Y: [B, m] -> [B, n]."""
        if self.needs_scipy:
            return times(self._abs_At if absolute else self.At, Y)
        return self.rows.transposed_times_all(Y, absolute=absolute)

    def by_columns(self, Y: Vector) -> Vector:
        """Returns A.T @ y for every row y of Y, a column of A a row, which spares a transposition: [B, m] -> [n, B]."""
        return self.At @ np.ascontiguousarray(Y.T)

    def absolute_at(self, Y: Vector, member: Indices, column: Indices) -> Vector:
        """Returns |A|.T @ |y| of members [k] at columns [k]: [k]."""
        first, counts = self.At.indptr[column], self.column_counts[column]
        pair = np.repeat(np.arange(column.size), counts)
        entry = np.arange(pair.size) - np.repeat(np.cumsum(counts) - counts - first, counts)
        terms = np.abs(self.At.data[entry] * Y[member[pair], self.At.indices[entry]])
        return sums(pair, terms, column.size)

    @cached_property
    def column_size(self) -> float:
        """The largest sum of the absolute entries of a column, at least 1."""
        return float(np.bincount(self.rows.indices, np.abs(self.rows.data), self.rows.shape[1]).max(initial=1.0))

    def columns(self, which: Indices) -> Matrix:
        """Returns the matrix of some columns; of the same ones as in the last calls the same object."""
        key = which.tobytes()
        if key not in self._parts:
            if len(self._parts) >= MOST_PARTS:
                self._parts.pop(next(iter(self._parts)))
            self._parts[key] = Matrix(Csr.of(self.At[which].T.tocsr()), None if self.needs_scipy else 0)
        return self._parts[key]

    @cached_property
    def At(self) -> sp.csr_array:
        """A.T, by rows."""
        return self.rows.scipy.T.tocsr()

    @cached_property
    def _abs_At(self) -> sp.csr_array:
        return abs(self.At)

    @cached_property
    def negligible(self) -> float:
        """A product of an entry and a number of at least this size is not below TINY."""
        return TINY / min(1.0, float(np.abs(self.rows.data).min(initial=1.0)))

    @cached_property
    def doubled(self) -> Doubled:
        """The matrix M of the doubled columns [x, -x]."""
        (m, n), data = self.rows.shape, self.rows.data
        rows, cols = self.rows.row_of, self.rows.indices
        near, far = np.where(data > 0, cols, cols + n), np.where(data > 0, cols + n, cols)
        row, column, value = np.concatenate((rows, rows + m)), np.concatenate((near, far)), np.abs(np.concatenate((data, data)))
        by_column = np.argsort(column, kind="stable")
        by_column = by_column[value[by_column] != 0]
        row, column, value = row[by_column], column[by_column], value[by_column]
        M = by_rows((2 * m, 2 * n), row, column, value)
        pattern = Csr(M.shape, M.indptr, M.indices, np.ones_like(M.data))
        members = None if self.needs_scipy else 0
        return Doubled(Matrix(M, members), Matrix(pattern, members), row, column, value)


@dataclass(frozen=True, slots=True, eq=False)
class Doubled:
    """M [2m, 2n] >= 0 with  M @ [x, -x] = [A @ x, -A @ x],  by rows and by columns.

    pattern: M with every entry 1. row_of, column_of, values: [nnz] each, the entries of M column by column.
    """

    M: Matrix
    pattern: Matrix
    row_of: Ints
    column_of: Ints
    values: Vector


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of some members of a batch: [B, m] or [B, n] each, or [1, .] where all members agree."""

    matrix: Matrix
    cost: Vector
    row_lower: Vector
    row_upper: Vector
    col_lower: Vector
    col_upper: Vector

    def columns(self, which: Indices, matrix: Matrix) -> Numbers:
        """Returns the numbers of some columns, whose matrix is given."""
        cost, lower, upper = (a[:, which] for a in (self.cost, self.col_lower, self.col_upper))
        return Numbers(matrix, cost, self.row_lower, self.row_upper, lower, upper)

    def take(self, members: Sequence[int] | Indices) -> Numbers:
        """Returns the numbers of some members."""
        names = ("cost", "row_lower", "row_upper", "col_lower", "col_upper")
        arrays: list[Vector] = [getattr(self, name) for name in names]
        return Numbers(self.matrix, *(a if len(a) == 1 else a[np.asarray(members)] for a in arrays))


def times(A: sp.csr_array, rows: Vector) -> Vector:
    """Returns A @ x for every row x of `rows`: [B, n] -> [B, m]."""
    return np.ascontiguousarray((A @ rows.T).T)


def from_zero(lower: Vector, upper: Vector) -> Mask:
    """Tells which places are [0, inf) for every member, which is what most columns are: [B, size] each -> [size]."""
    return np.asarray(((lower == 0) & np.isposinf(upper)).all(axis=0), dtype=np.bool_)
