"""The compiled kernel for the CPU: which compiled function serves which tile."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from batchlp_cli.backends.pdhg.kernels import numba_steps, numba_sums
from batchlp_cli.backends.pdhg.kernels.base import Direction, Measured, Moved, Tile
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.problem import Mask, Vector

PARALLEL_NNZ = 30_000
"""Nonzeros from which one member alone is worth two synchronisations of all threads a step."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The matrix as compiled functions take it: (transposed, by rows) as (indptr, indices, values), and (D1, D2)."""

    scaled: tuple[Any, Any]
    given: tuple[Any, Any]
    scales: tuple[Vector, Vector]


class NumbaKernel:
    """Numba on host arrays. Many threads may advance a tile each; one member alone may use `threads` of its own."""

    name = "numba"

    def __init__(self, threads: int = 1) -> None:
        self.use_threads(threads)
        self._alone = threading.Lock()  # not every threading layer of Numba bears two callers

    def use_threads(self, threads: int) -> None:
        """Sets how many threads a member alone may use."""
        config: Any = numba.config
        self._threads = min(threads, config.NUMBA_NUM_THREADS)

    def array(self, values: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Returns a contiguous copy in dtype."""
        return np.array(values, dtype=dtype, order="C")

    def host(self, values: Any) -> np.ndarray[Any, Any]:
        """Returns the array itself."""
        array: np.ndarray[Any, Any] = values
        return array

    def entries(self, matrix: ScaledMatrix, dtype: np.dtype[Any]) -> Entries:
        """Returns the matrix, scaled in dtype and as given in float64, with 32-bit indices."""
        double = np.dtype(np.float64)
        scaled = (_csr(matrix.scaled_t, dtype), _csr(matrix.scaled, dtype))
        return Entries(scaled, (_csr(matrix.At, double), _csr(matrix.A, double)), (matrix.row_scale, matrix.col_scale))

    def advance(self, tile: Tile, steps: int) -> None:
        """Takes reflected Halpern steps on every lane."""
        rates = (tile.tau, tile.sigma, tile.k)
        arguments = (tile.entries.scaled, tile.x, tile.x0, tile.dx, tile.y, tile.y0, tile.scaled, rates, steps)
        if tile.width > 1:
            numba_steps.advance_lanes(*arguments)
        elif self._threads > 1 and tile.matrix.A.nnz >= PARALLEL_NNZ and self._alone.acquire(blocking=False):
            try:
                numba.set_num_threads(self._threads)
                numba_steps.advance_one_parallel(*arguments)
            finally:
                self._alone.release()
        else:
            numba_steps.advance_one(*arguments)

    def probe(self, tile: Tile) -> Vector:
        """Computes xh, yh of the next step; returns the sums of `Moved`."""
        sums = np.zeros((len(Moved), tile.width))
        rates = (tile.tau, tile.sigma, tile.k)
        numba_steps.probe(tile.entries.scaled, _points(tile), tile.scaled, rates, sums)
        return sums

    def measure(self, tile: Tile) -> Vector:
        """Takes (xh, yh) to original units; returns the sums of `Measured`."""
        sums = np.zeros((len(Measured), tile.width))
        entries = tile.entries
        numba_sums.measure(entries.given, entries.scales, tile.xh, tile.yh, tile.X, tile.Y, tile.numbers, sums)
        return sums

    def directions(self, tile: Tile) -> Vector:
        """Returns the sums of `Direction`."""
        sums = np.zeros((len(Direction), tile.width))
        points = (tile.x0, tile.xh, tile.y0, tile.yh)
        room = (np.empty(tile.X.shape), np.empty(tile.Y.shape))
        numba_sums.directions(tile.entries.given, tile.entries.scales, points, room, tile.numbers, sums)
        return sums

    def restart(self, tile: Tile, lanes: Mask) -> None:
        """Puts x, x0 to xh and y, y0 to yh in some lanes, and their k to 0."""
        numba_steps.restart(_points(tile), tile.k, lanes)


def _points(tile: Tile) -> tuple[Any, ...]:
    return tile.x, tile.x0, tile.xh, tile.dx, tile.y, tile.y0, tile.yh


def _csr(A: sp.csr_array, dtype: np.dtype[Any]) -> tuple[Any, Any, Any]:
    return A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data.astype(dtype)
