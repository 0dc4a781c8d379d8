"""A sparse matrix as its three plain arrays, for whoever reads it, sends it or passes it on; algebra is scipy's.

scipy takes longer to import than most models take to read, so it is imported when somebody first asks for its matrix.
Worker processes get by with the few products here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse as sp

Doubles = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Ints = np.ndarray[tuple[int, ...], np.dtype[np.int32]]


class Csr:
    """A [m, n] by rows: the entries of row i are data[indptr[i]:indptr[i + 1]] in the columns indices[...], ascending,
    each once, none of them zero. data: [nnz] float64; indices, indptr: int32 (int64 where scipy gave such)."""

    __slots__ = ("_scipy", "data", "indices", "indptr", "shape")

    def __init__(self, shape: tuple[int, int], indptr: Ints, indices: Ints, data: Doubles) -> None:
        self.shape, self.indptr, self.indices, self.data = shape, indptr, indices, data
        self._scipy: sp.csr_array | None = None

    @staticmethod
    def of(A: sp.csr_array) -> Csr:
        """Returns the arrays of a canonical scipy matrix, which stays the one that `scipy` returns."""
        m, n = A.shape
        rows = Csr((int(m), int(n)), cast(Ints, A.indptr), cast(Ints, A.indices), cast(Doubles, A.data))
        rows._scipy = A
        return rows

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return len(self.data)

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays."""
        return int(self.data.nbytes + self.indices.nbytes + self.indptr.nbytes)

    @property
    def scipy(self) -> sp.csr_array:
        """The same matrix as scipy's, sharing the arrays; the same object each time."""
        if self._scipy is None:
            from scipy.sparse import csr_array

            matrix = csr_array((self.data, self.indices, self.indptr), shape=self.shape)
            matrix.has_canonical_format = True
            # scipy keeps arrays of its own on the same memory; these are taken over, so that they tell the same matrix
            self._scipy, self.data, self.indices, self.indptr = matrix, matrix.data, matrix.indices, matrix.indptr
        return self._scipy

    def as_scipy_later(self) -> sp.csr_array:
        """Returns this object where scipy's is expected and these arrays will do (LinearProgram makes scipy's when asked)."""
        return cast("sp.csr_array", self)

    @property
    def row_of(self) -> Ints:
        """The row of each entry: [nnz] int32."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.indptr))

    def times(self, x: Doubles, *, absolute: bool = False) -> Doubles:
        """Returns A @ x, or |A| @ x: [m] float64."""
        data = np.abs(self.data) if absolute else self.data
        return sums(self.row_of, data * x[self.indices], self.shape[0])

    def transposed_times(self, y: Doubles, *, absolute: bool = False) -> Doubles:
        """Returns A.T @ y, or |A|.T @ y: [n] float64."""
        data = np.abs(self.data) if absolute else self.data
        return sums(self.indices, data * y[self.row_of], self.shape[1])

    def times_all(self, X: Doubles, *, absolute: bool = False) -> Doubles:
        """Returns `times` of every row of X: [B, n] -> [B, m] float64."""
        return self._sums_of_rows(self.row_of, X[:, self.indices], self.shape[0], absolute)

    def transposed_times_all(self, Y: Doubles, *, absolute: bool = False) -> Doubles:
        """Returns `transposed_times` of every row of Y: [B, m] -> [B, n] float64."""
        return self._sums_of_rows(self.indices, Y[:, self.row_of], self.shape[1], absolute)

    def _sums_of_rows(self, place: Ints, factors: Doubles, size: int, absolute: bool) -> Doubles:
        members = len(factors)
        places = place + size * np.arange(members, dtype=np.int64)[:, None]
        terms = factors * (np.abs(self.data) if absolute else self.data)
        return sums(places.ravel(), terms.ravel(), size * members).reshape(members, size)

    def take(self, keep: np.ndarray) -> Csr:
        """Returns the matrix of the rows to keep [m] bool, without entries that are zero; the same where that is all."""
        if np.count_nonzero(self.data) == self.nnz:
            return self if keep.all() else self._rows(keep)
        kept = np.repeat(keep, np.diff(self.indptr)) & (self.data != 0)
        before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(kept)))
        # what is kept before each row that is kept, and all of it
        indptr = np.append(before[self.indptr[:-1][keep]], before[-1]).astype(np.int32)
        return Csr((int(keep.sum()), self.shape[1]), indptr, self.indices[kept], self.data[kept])

    def _rows(self, keep: np.ndarray) -> Csr:
        """Returns the matrix of the rows to keep [m] bool, copied run by run."""
        edges = np.flatnonzero(np.diff(keep, prepend=False, append=False))
        runs = [slice(int(a), int(b)) for a, b in self.indptr[edges].reshape(-1, 2)]
        counts = np.diff(self.indptr)[keep]
        indptr = np.concatenate((np.zeros(1, dtype=np.int32), np.cumsum(counts, dtype=np.int32)))
        none = slice(0, 0)  # concatenate needs one
        indices, data = (np.concatenate([values[run] for run in runs or [none]]) for values in (self.indices, self.data))
        return Csr((len(counts), self.shape[1]), indptr, indices, data)

    def equals(self, other: Csr) -> bool:
        """Tells whether both have the same shape, pattern and values; the same arrays are not looked at."""
        return self.shares(other) or (
            self.shape == other.shape
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.data, other.data)
        )

    def shares(self, other: Csr) -> bool:
        """Tells whether both are the very same matrix, by its array of values."""
        return self is other or self.data is other.data

    def __reduce__(self) -> tuple[Any, ...]:
        return Csr, (self.shape, self.indptr, self.indices, self.data)


def sums(place: np.ndarray, values: Doubles, size: int) -> Doubles:
    """Returns the sum of the values [k] that go to each place: [size] float64."""
    return np.bincount(place, weights=values, minlength=size).astype(np.float64, copy=False)  # no values: int64 zeros


def by_rows(shape: tuple[int, int], rows: Ints, cols: Ints, data: Doubles) -> Csr:
    """Returns entries [nnz] given in the order of their columns as a matrix; those in one place stay side by side, zeros stay."""
    # Sorted stably, so that the columns within a row stay in order; for 16 bits numpy's stable sort is a radix sort.
    order = np.argsort(rows.astype(np.uint16), kind="stable")
    if shape[0] > 1 << 16:
        order = order[np.argsort((rows >> 16).astype(np.uint16)[order], kind="stable")]
    indptr = np.zeros(shape[0] + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    return Csr(shape, indptr, cols[order], data[order])
