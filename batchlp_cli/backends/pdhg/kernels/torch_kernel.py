"""The kernel in torch, line by line as in the paper, on any device that torch knows: the reference for all others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from batchlp_cli.backends.pdhg.kernels.base import Tile
from batchlp_cli.backends.pdhg.numbers import Numbers
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.problem import Mask, Vector

_TYPES = {"float64": torch.float64, "float32": torch.float32, "int32": torch.int32, "bool": torch.bool}
Matrices = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


class TorchKernel:
    """Eager torch. Entries are (A~, A~', A, A', D1, D2), the matrices as CSR tensors. Devices without float64 are refused."""

    name = "torch"

    def __init__(self, device: str = "cpu") -> None:
        self._device = torch.device(device)

    def use_threads(self, threads: int) -> None:
        """Sets how many threads torch may use on the CPU."""
        torch.set_num_threads(threads)

    def array(self, values: Any, dtype: np.dtype[Any]) -> torch.Tensor:
        """Returns host values as a tensor on the device; raises MemoryError where it is full."""
        try:
            return torch.tensor(np.ascontiguousarray(values), dtype=_TYPES[dtype.name], device=self._device)
        except torch.OutOfMemoryError as error:
            raise MemoryError(str(error)) from error

    def host(self, values: torch.Tensor) -> np.ndarray[Any, Any]:
        """Returns a tensor as a NumPy array."""
        array: np.ndarray[Any, Any] = values.detach().cpu().numpy()
        return array

    def entries(self, matrix: ScaledMatrix, dtype: np.dtype[Any]) -> Matrices:
        """Returns (A~, A~', A, A', D1, D2): scaled in dtype, as given in float64."""
        double = np.dtype(np.float64)
        scaled = (self._csr(matrix.scaled, dtype), self._csr(matrix.scaled_t, dtype))
        given = (self._csr(matrix.A, double), self._csr(matrix.At, double))
        return (*scaled, *given, self.array(matrix.row_scale, double), self.array(matrix.col_scale, double))

    def _csr(self, A: sp.csr_array, dtype: np.dtype[Any]) -> torch.Tensor:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
            parts = (torch.tensor(A.indptr), torch.tensor(A.indices), torch.tensor(A.data, dtype=_TYPES[dtype.name]))
            return torch.sparse_csr_tensor(*parts, size=A.shape, device=self._device, check_invariants=False)

    def advance(self, tile: Tile, steps: int) -> None:
        """Takes reflected Halpern steps on every lane."""
        A, At, *_ = tile.entries
        c, lv, uv, lc, uc = lane_numbers(tile.scaled)
        tau, sigma, k = tile.tau, tile.sigma, tile.k
        x, y = tile.x, tile.y
        for _ in range(steps):
            # (k+1)/(k+2) and 1/(k+2)
            f, h = (k + 1) / (k + 2), 1 / (k + 2)
            # xh = clip(x - tau (c - A'y), lv, uv);   xb = 2 xh - x
            xb = 2 * torch.clamp(x - tau * (c - _times(At, y)), lv, uv) - x
            # t = y/sigma - A xb;   yh = sigma (t - clip(t, -uc, -lc));   yb = 2 yh - y
            t = y / sigma - _times(A, xb)
            yb = 2 * sigma * (t - torch.clamp(t, -uc, -lc)) - y
            # x+ = (k+1)/(k+2) xb + x0/(k+2)
            x = f * xb + h * tile.x0
            y = f * yb + h * tile.y0
            k = k + 1
        tile.x, tile.y, tile.k = x, y, k

    def probe(self, tile: Tile) -> Vector:
        """Computes xh, yh of the next step; returns the sums of `Moved`."""
        A, At, *_ = tile.entries
        c, lv, uv, lc, uc = lane_numbers(tile.scaled)
        tile.xh = torch.clamp(tile.x - tile.tau * (c - _times(At, tile.y)), lv, uv)
        dx = tile.dx = tile.xh - tile.x
        A_dx = _times(A, dx)
        # A xb = A xh + A (xh - x)
        t = tile.y / tile.sigma - (_times(A, tile.xh) + A_dx)
        tile.yh = tile.sigma * (t - torch.clamp(t, -uc, -lc))
        dy = tile.yh - tile.y
        sums = (_sum(dx * dx), _sum(dy * dy), _sum(dy * A_dx))
        moved = (_sum((tile.xh - tile.x0) ** 2), _sum((tile.yh - tile.y0) ** 2))
        return self.host(torch.stack([*sums, *moved]))

    def measure(self, tile: Tile) -> Vector:
        """Takes (xh, yh) to original units; returns the sums of `Measured`."""
        _, _, A, At, D1, D2 = tile.entries
        c, lv, uv, lc, uc = lane_numbers(tile.numbers)
        X = tile.X = torch.clamp(D2[:, None] * tile.xh.double(), lv, uv)
        Y = tile.Y = D1[:, None] * tile.yh.double()
        AX, AtY = _times(A, X), _times(At, Y)
        primal = torch.clamp(torch.maximum(lc - AX, AX - uc), min=0.0)
        r = c - AtY
        rows, loose_y = _priced(Y, lc, uc)
        cols, loose_r = _priced(r, lv, uv)
        costless, loose_a = _priced(-AtY, lv, uv)
        loose = _sum(loose_y**2) + _sum(loose_r**2)
        dual = (_sum(rows) + _sum(cols), _sum(rows.abs()) + _sum(cols.abs()))
        farkas = (_sum(rows) + _sum(costless), _sum(rows.abs()) + _sum(costless.abs()), _sum(loose_a.abs()))
        return self.host(torch.stack([_sum(primal**2), loose, _sum(c * X), *dual, *farkas, _largest(Y)]))

    def directions(self, tile: Tile) -> Vector:
        """Returns the sums of `Direction`."""
        _, _, A, At, D1, D2 = tile.entries
        c, lv, uv, lc, uc = lane_numbers(tile.numbers)
        e = D1[:, None] * (tile.yh - tile.y0).double()
        e = torch.clamp(e, _cone(uc, -1.0), _cone(lc, 1.0))
        d = D2[:, None] * (tile.xh - tile.x0).double()
        d = torch.clamp(d, -_cone(lv, 0.0, at_finite=True), _cone(uv, 0.0, at_finite=True))
        rows, _ = _priced(e, lc, uc)
        cols, loose = _priced(-_times(At, e), lv, uv)
        along = _times(A, d)
        zero = torch.zeros_like(along)
        leaves = torch.maximum(torch.where(torch.isfinite(lc), -along, zero), torch.where(torch.isfinite(uc), along, zero))
        farkas = (_sum(rows) + _sum(cols), _sum(rows.abs()) + _sum(cols.abs()), _sum(loose.abs()))
        return self.host(torch.stack([*farkas, _sum(c * d), _largest(leaves, signed=True), _largest(d)]))

    def restart(self, tile: Tile, lanes: Mask) -> None:
        """Puts x, x0 to xh and y, y0 to yh in some lanes, and their k to 0."""
        here = torch.tensor(lanes, device=self._device)
        tile.x, tile.x0 = torch.where(here, tile.xh, tile.x), torch.where(here, tile.xh, tile.x0)
        tile.y, tile.y0 = torch.where(here, tile.yh, tile.y), torch.where(here, tile.yh, tile.y0)
        tile.k = torch.where(here, torch.zeros_like(tile.k), tile.k)


def lane_numbers(numbers: Numbers) -> tuple[torch.Tensor, ...]:
    """Returns c, lv, uv [n, W] and lc, uc [m, W], or [n, 1] and [m, 1] where no member of the tile differs from the base."""

    def spread(shared: torch.Tensor, slot: torch.Tensor, lanes: torch.Tensor) -> torch.Tensor:
        if lanes.shape[0] == 0:
            return shared[:, None]
        values = shared[:, None].repeat(1, lanes.shape[1])
        values[slot >= 0] = lanes
        return values

    columns = [spread(getattr(numbers, k), numbers.col_slot, getattr(numbers, f"lane_{k}")) for k in ("c", "lv", "uv")]
    rows = [spread(getattr(numbers, k), numbers.row_slot, getattr(numbers, f"lane_{k}")) for k in ("lc", "uc")]
    return (*columns, *rows)


def _times(A: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Returns A @ x: [m, n] CSR, [n, W] -> [m, W]."""
    if A.shape[0] == 0 or A.shape[1] == 0 or A.values().numel() == 0:
        return torch.zeros((A.shape[0], x.shape[1]), dtype=x.dtype, device=x.device)
    return A @ x


def _sum(values: torch.Tensor) -> torch.Tensor:
    return values.double().sum(dim=0)


def _largest(values: torch.Tensor, signed: bool = False) -> torch.Tensor:
    """Returns the largest of 0 and the values (or their absolutes) of each lane."""
    zero = torch.zeros((1, values.shape[1]), dtype=values.dtype, device=values.device)
    return torch.cat([values if signed else values.abs(), zero]).amax(dim=0)


def _priced(price: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns price * lower where price > 0, price * upper where price < 0, 0 where that side is infinite; and loose prices."""
    side = torch.where(price > 0, lower, upper)
    infinite = torch.isinf(side)
    zero = torch.zeros_like(price)
    return torch.where(infinite, zero, price * torch.where(infinite, zero, side)), torch.where(infinite, price, zero)


def _cone(bound: torch.Tensor, sign: float, at_finite: bool = False) -> torch.Tensor:
    """Returns sign * inf where the bound is finite and 0 where not; with at_finite 0 where finite and inf where not."""
    zero, endless = torch.zeros_like(bound), torch.full_like(bound, torch.inf)
    if at_finite:
        return torch.where(torch.isfinite(bound), zero, endless)
    return torch.where(torch.isfinite(bound), sign * endless, zero)
