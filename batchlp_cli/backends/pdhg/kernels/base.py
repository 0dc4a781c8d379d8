"""What a kernel does to a tile, and the tile. Kernels step and sum; what is decided from the sums is written once, outside.

One step, for every lane with its own tau = eta/omega, sigma = eta*omega and k steps since its last restart at (x0, y0):
    v = x - tau (c - A'y);        xh = clip(v, lv, uv);              xb = 2 xh - x
    t = y/sigma - A xb;           yh = sigma (t - clip(t, -uc, -lc));    yb = 2 yh - y
    x+ = (k+1)/(k+2) xb + x0/(k+2);    y+ = (k+1)/(k+2) yb + y0/(k+2)
in scaled units (scaling.py). Arrays of a tile are [n, W] and [m, W]: the lane axis is contiguous, so that one entry of the
matrix meets all lanes at once. Interfaces are batch first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np

from batchlp_cli.backends.pdhg.numbers import Array, Numbers
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.problem import Mask, Vector


class Moved(IntEnum):
    """Rows of what `Kernel.probe` returns: how far one step would go, and how far (xh, yh) is from the anchor (scaled)."""

    DX_SQUARED = 0  # ||xh - x||^2
    DY_SQUARED = 1  # ||yh - y||^2
    CROSS = 2  # <yh - y, A (xh - x)>
    PRIMAL_SQUARED = 3  # ||xh - x0||^2
    DUAL_SQUARED = 4  # ||yh - y0||^2


class Measured(IntEnum):
    """Rows of what `Kernel.measure` returns for X = clip(D2 xh, lv, uv), Y = D1 yh, r = c - A'Y, all on the unscaled LP.

    A price that meets an infinite bound is loose: it has no term in a dual value.
    """

    PRIMAL_SQUARED = 0  # ||AX - proj(AX)||^2
    LOOSE_SQUARED = 1  # sum of squares of loose Y_i and r_j
    PRIMAL_VALUE = 2  # c @ X
    DUAL_VALUE = 3  # D(Y) without offset
    DUAL_TERMS = 4  # sum of |terms| of D(Y)
    FARKAS_VALUE = 5  # D(Y) with c = 0
    FARKAS_TERMS = 6  # sum of |terms| of that
    FARKAS_LOOSE = 7  # sum of loose |A'Y|_j
    DUAL_LARGEST = 8  # max |Y_i|


class Direction(IntEnum):
    """Rows of what `Kernel.directions` returns for d = D2 (xh - x0), moved into the column bounds' cone, and e = D1 (yh - y0)."""

    FARKAS_VALUE = 0  # D(e) with c = 0, where e_i = 0 for sides that are infinite
    FARKAS_TERMS = 1  # sum of |terms| of that
    FARKAS_LOOSE = 2  # sum of loose |A'e|_j
    SLOPE = 3  # c @ d
    LEAVES = 4  # largest distance of (A d)_i from the recession cone of row i
    LARGEST = 5  # max |d_j|


@dataclass(slots=True, eq=False)
class Tile:
    """The iterates of W lanes. Arrays belong to the kernel's library; dtype is that of the iterates.

    x, x0, xh, dx: [n, W]; y, y0, yh: [m, W]; X [n, W], Y [m, W] float64 in original units, as of the last `measure`.
    tau, sigma, k: [W]. numbers: original units, float64; scaled: units and dtype of the iterates. dx: room for xb, and
    xh - x after `probe`.
    """

    matrix: ScaledMatrix
    entries: Any
    x: Array
    x0: Array
    xh: Array
    dx: Array
    y: Array
    y0: Array
    yh: Array
    X: Array
    Y: Array
    tau: Array
    sigma: Array
    k: Array
    numbers: Numbers
    scaled: Numbers

    @property
    def width(self) -> int:
        """Number of lanes W."""
        return int(self.k.shape[0])


class Kernel(Protocol):
    """Steps and sums over all lanes of a tile; a lane's numbers depend on no other lane."""

    name: str

    def use_threads(self, threads: int) -> None:
        """Sets how many threads a member alone may use, where the kernel has a say in it."""
        ...

    def array(self, values: Any, dtype: np.dtype[Any]) -> Array:
        """Returns host values as an array of the kernel's library, on its device."""
        ...

    def host(self, values: Array) -> np.ndarray[Any, Any]:
        """Returns an array of the kernel's library on the host."""
        ...

    def entries(self, matrix: ScaledMatrix, dtype: np.dtype[Any]) -> Any:
        """Returns the matrix as the kernel wants it: scaled in dtype, and as given in float64."""
        ...

    def advance(self, tile: Tile, steps: int) -> None:
        """Takes reflected Halpern steps on every lane; k grows by as many."""
        ...

    def probe(self, tile: Tile) -> Vector:
        """Computes xh, yh of the step that would come next, without taking it; returns [5, W], rows as in `Moved`."""
        ...

    def measure(self, tile: Tile) -> Vector:
        """Takes (xh, yh) to original units as X, Y and returns [9, W], rows as in `Measured`."""
        ...

    def directions(self, tile: Tile) -> Vector:
        """Returns [6, W], rows as in `Direction`, for how (xh, yh) differ from the anchor."""
        ...

    def restart(self, tile: Tile, lanes: Mask) -> None:
        """Puts x, x0 to xh and y, y0 to yh in some lanes, and their k to 0."""
        ...


def make_tile(kernel: Kernel, matrix: ScaledMatrix, entries: Any, width: int, dtype: np.dtype[Any]) -> Tile:
    """Returns a tile of idle lanes. Raises MemoryError where the device has no room for it."""
    double = np.dtype(np.float64)
    n, m = matrix.n, matrix.m
    wide = [kernel.array(np.zeros((size, width)), dtype) for size in (n, n, n, n, m, m, m)]
    points = [kernel.array(np.zeros((size, width)), double) for size in (n, m)]
    rates = [kernel.array(np.full(width, matrix.eta), dtype) for _ in range(2)]
    none = Numbers(*(kernel.array(np.zeros(0), dtype) for _ in Numbers._fields))
    k = kernel.array(np.zeros(width), dtype)
    return Tile(matrix, entries, *wide, *points, *rates, k, none, none)  # type: ignore[call-arg]  # lengths as above


def set_numbers(kernel: Kernel, tile: Tile, numbers: Numbers, scaled: Numbers) -> None:
    """Gives a tile its costs and bounds, from the host's arrays."""
    slots = ("col_slot", "row_slot")
    for name, values in (("numbers", numbers), ("scaled", scaled)):
        pairs = zip(Numbers._fields, values, strict=True)
        arrays = (kernel.array(a, np.dtype(np.int32) if field in slots else a.dtype) for field, a in pairs)
        setattr(tile, name, Numbers(*arrays))


def set_rates(kernel: Kernel, tile: Tile, omega: Vector) -> None:
    """Sets tau = eta/omega and sigma = eta*omega from the primal weights [W]."""
    dtype = kernel.host(tile.k).dtype
    tile.tau = kernel.array(tile.matrix.eta / omega, dtype)
    tile.sigma = kernel.array(tile.matrix.eta * omega, dtype)


def load_lane(kernel: Kernel, tile: Tile, lane: int, x: Vector, y: Vector) -> None:
    """Starts a lane at x [n], y [m] in original units, as its anchor."""
    dtype = kernel.host(tile.k).dtype
    x_scaled = kernel.array(x / tile.matrix.col_scale, dtype)
    y_scaled = kernel.array(y / tile.matrix.row_scale, dtype)
    tile.x[:, lane] = x_scaled
    tile.x0[:, lane] = x_scaled
    tile.y[:, lane] = y_scaled
    tile.y0[:, lane] = y_scaled
    tile.k[lane] = 0


def point_of(kernel: Kernel, tile: Tile, lane: int) -> tuple[Vector, Vector]:
    """Returns X [n], Y [m] of a lane in original units, as of the last `measure`."""
    return kernel.host(tile.X[:, lane]).copy(), kernel.host(tile.Y[:, lane]).copy()


def displacement_of(kernel: Kernel, tile: Tile, lane: int) -> tuple[Vector, Vector]:
    """Returns d = D2 (xh - x0) [n] and e = D1 (yh - y0) [m] of a lane."""
    d = kernel.host(tile.xh[:, lane] - tile.x0[:, lane]).astype(np.float64)
    e = kernel.host(tile.yh[:, lane] - tile.y0[:, lane]).astype(np.float64)
    return tile.matrix.col_scale * d, tile.matrix.row_scale * e


def resized_tile(kernel: Kernel, tile: Tile, lanes: list[int], width: int) -> Tile:
    """Returns a tile of `width` lanes whose first lanes are the given ones of another tile; numbers are still to be set."""
    dtype = kernel.host(tile.k).dtype
    made = make_tile(kernel, tile.matrix, tile.entries, width, dtype)
    for name in ("x", "x0", "xh", "y", "y0", "yh"):
        getattr(made, name)[:, : len(lanes)] = getattr(tile, name)[:, lanes]
    for name in ("tau", "sigma", "k"):
        getattr(made, name)[: len(lanes)] = getattr(tile, name)[lanes]
    return made
