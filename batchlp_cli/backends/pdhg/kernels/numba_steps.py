"""Halpern steps compiled for the CPU: a tile of lanes that stays in cache, and a single member on all cores.

The formulas are in base.py. Every operation on a lane is the same in all variants and is rounded as written (fma where it
says so), so that a member's bits depend neither on the width of its tile nor on its lane nor on its mates.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from batchlp_cli.backends.pdhg.kernels.cache import compiled
from batchlp_cli.backends.pdhg.kernels.gather import (
    add_row_times,
    column_8,
    column_16,
    column_32,
    column_64,
    fma,
    row_8,
    row_16,
    row_32,
    row_64,
)


def _over_blocks(by_64: Any, by_32: Any, by_16: Any, by_8: Any) -> Any:
    """Returns what takes a matrix row in half a step on the lanes that blocks cover; place is (start, stop, row, W, slot)."""

    @numba.njit(nogil=True, error_model="numpy", inline="always")
    def move(one: Any, addresses: Any, place: Any, bounds: Any) -> None:
        start, stop, row, width, slot = place
        b = 0
        while b + 64 <= width:
            by_64(one, addresses, (start, stop, row, b, width, slot), bounds)
            b += 64
        if b + 32 <= width:
            by_32(one, addresses, (start, stop, row, b, width, slot), bounds)
            b += 32
        if b + 16 <= width:
            by_16(one, addresses, (start, stop, row, b, width, slot), bounds)
            b += 16
        if b + 8 <= width:
            by_8(one, addresses, (start, stop, row, b, width, slot), bounds)

    return move


_move_column = _over_blocks(column_64, column_32, column_16, column_8)
_move_row = _over_blocks(row_64, row_32, row_16, row_8)


@numba.njit(nogil=True, error_model="numpy")
def _move_columns(transposed: Any, iterates: Any, numbers: Any, rates: Any) -> None:
    """Takes the primal half of a step on all lanes; iterates is (x, x0, xb, y), rates (tau, f, h), see `advance_lanes`."""
    tp, tx, tv = transposed
    x, x0, xb, y = iterates
    tau, f, h = rates
    c, lv, uv, col_slot, lane_c, lane_lv, lane_uv = numbers
    width, one = x.shape[1], x.dtype.type(1)
    addresses = (
        x.ctypes.data, x0.ctypes.data, xb.ctypes.data, y.ctypes.data, tx.ctypes.data, tv.ctypes.data,
        tau.ctypes.data, f.ctypes.data, h.ctypes.data,
    )  # fmt: skip
    lanes = (lane_c.ctypes.data, lane_lv.ctypes.data, lane_uv.ctypes.data)
    for j in range(c.size):
        s = col_slot[j]
        if s < 0:
            _move_column(one, addresses, (tp[j], tp[j + 1], j, width, s), (c[j], lv[j], uv[j]))
        else:
            _move_column(one, addresses, (tp[j], tp[j + 1], j, width, s), lanes)
        for w in range(width - width % 8, width):
            cost, low, high = (c[j], lv[j], uv[j]) if s < 0 else (lane_c[s, w], lane_lv[s, w], lane_uv[s, w])
            # -(c - A'y)
            g = -cost
            for p in range(tp[j], tp[j + 1]):
                g = fma(tv[p], y[tx[p], w], g)
            # xh = clip(x - tau (c - A'y), lv, uv);   xb = 2 xh - x;   x+ = (k+1)/(k+2) xb + x0/(k+2)
            v = fma(tau[w], g, x[j, w])
            v = low if v < low else v
            v = high if v > high else v
            v = fma(x.dtype.type(2), v, -x[j, w])
            xb[j, w] = v
            x[j, w] = fma(f[w], v, h[w] * x0[j, w])


@numba.njit(nogil=True, error_model="numpy")
def _move_rows(A: Any, iterates: Any, numbers: Any, rates: Any) -> None:
    """Takes the dual half of a step on all lanes; iterates is (y, y0, xb), rates (sigma, 1/sigma, f, h)."""
    ap, ax, av = A
    y, y0, xb = iterates
    sigma, per_sigma, f, h = rates
    lc, uc, row_slot, lane_lc, lane_uc = numbers
    width, one = y.shape[1], y.dtype.type(1)
    addresses = (
        y.ctypes.data, y0.ctypes.data, xb.ctypes.data, ax.ctypes.data, av.ctypes.data,
        sigma.ctypes.data, per_sigma.ctypes.data, f.ctypes.data, h.ctypes.data,
    )  # fmt: skip
    lanes = (lane_lc.ctypes.data, lane_uc.ctypes.data)
    for i in range(lc.size):
        s = row_slot[i]
        if s < 0:
            _move_row(one, addresses, (ap[i], ap[i + 1], i, width, s), (lc[i], uc[i]))
        else:
            _move_row(one, addresses, (ap[i], ap[i + 1], i, width, s), lanes)
        for w in range(width - width % 8, width):
            low, high = (-uc[i], -lc[i]) if s < 0 else (-lane_uc[s, w], -lane_lc[s, w])
            g = y.dtype.type(0)
            for p in range(ap[i], ap[i + 1]):
                g = fma(av[p], xb[ax[p], w], g)
            # t = y/sigma - A xb;   yh = sigma (t - clip(t, -uc, -lc));   yb = 2 yh - y;   y+ = (k+1)/(k+2) yb + y0/(k+2)
            t = fma(y[i, w], per_sigma[w], -g)
            q = low if t < low else t
            q = high if q > high else q
            t = fma(y.dtype.type(2), sigma[w] * (t - q), -y[i, w])
            y[i, w] = fma(f[w], t, h[w] * y0[i, w])


@compiled()
def advance_lanes(matrix: Any, x: Any, x0: Any, xb: Any, y: Any, y0: Any, numbers: Any, rates: Any, steps: Any) -> None:
    """Takes steps on all lanes; matrix is (A~', A~) as (indptr, indices, values) each, rates is (tau, sigma, k)."""
    c, lv, uv, lc, uc, col_slot, lane_c, lane_lv, lane_uv, row_slot, lane_lc, lane_uc = numbers
    columns, rows = (c, lv, uv, col_slot, lane_c, lane_lv, lane_uv), (lc, uc, row_slot, lane_lc, lane_uc)
    tau, sigma, k = rates
    width, one, two = x.shape[1], x.dtype.type(1), x.dtype.type(2)
    f, h, per_sigma = np.empty(width, x.dtype), np.empty(width, x.dtype), np.empty(width, x.dtype)
    for w in range(width):
        per_sigma[w] = one / sigma[w]
    for _ in range(steps):
        # (k+1)/(k+2) and 1/(k+2)
        for w in range(width):
            f[w], h[w] = (k[w] + one) / (k[w] + two), one / (k[w] + two)
            k[w] += one
        _move_columns(matrix[0], (x, x0, xb, y), columns, (tau, f, h))
        _move_rows(matrix[1], (y, y0, xb), rows, (sigma, per_sigma, f, h))


def _advance_one(matrix: Any, x: Any, x0: Any, xb: Any, y: Any, y0: Any, numbers: Any, rates: Any, steps: Any) -> None:
    """Takes steps on the only lane of a tile, rows in parallel where it is compiled so; arguments as for `advance_lanes`."""
    (tp, tx, tv), (ap, ax, av) = matrix
    c, lv, uv, lc, uc, col_slot, lane_c, lane_lv, lane_uv, row_slot, lane_lc, lane_uc = numbers
    tau, sigma, k = rates[0][0], rates[1][0], rates[2]
    one, two = x.dtype.type(1), x.dtype.type(2)
    per_sigma = one / sigma
    for _ in range(steps):
        # (k+1)/(k+2) and 1/(k+2)
        f, h = (k[0] + one) / (k[0] + two), one / (k[0] + two)
        k[0] += one
        for j in numba.prange(x.shape[0]):
            s = col_slot[j]
            cost, low, high = (c[j], lv[j], uv[j]) if s < 0 else (lane_c[s, 0], lane_lv[s, 0], lane_uv[s, 0])
            # -(c - A'y)
            g = -cost
            for p in range(tp[j], tp[j + 1]):
                g = fma(tv[p], y[tx[p], 0], g)
            # xh = clip(x - tau (c - A'y), lv, uv);   xb = 2 xh - x;   x+ = (k+1)/(k+2) xb + x0/(k+2)
            v = fma(tau, g, x[j, 0])
            v = low if v < low else v
            v = high if v > high else v
            v = fma(two, v, -x[j, 0])
            xb[j, 0] = v
            x[j, 0] = fma(f, v, h * x0[j, 0])
        for i in numba.prange(y.shape[0]):
            s = row_slot[i]
            low, high = (-uc[i], -lc[i]) if s < 0 else (-lane_uc[s, 0], -lane_lc[s, 0])
            g = x.dtype.type(0)
            for p in range(ap[i], ap[i + 1]):
                g = fma(av[p], xb[ax[p], 0], g)
            # t = y/sigma - A xb;   yh = sigma (t - clip(t, -uc, -lc));   yb = 2 yh - y
            t = fma(y[i, 0], per_sigma, -g)
            q = low if t < low else t
            q = high if q > high else q
            t = fma(two, sigma * (t - q), -y[i, 0])
            y[i, 0] = fma(f, t, h * y0[i, 0])


advance_one = compiled()(_advance_one)
advance_one_parallel = compiled(parallel=True)(_advance_one)


@compiled()
def probe(matrix: Any, points: Any, numbers: Any, rates: Any, sums: Any) -> None:
    """Computes xh, yh of the next step and the sums of `Moved`; points is (x, x0, xh, dx, y, y0, yh)."""
    (tp, tx, tv), (ap, ax, av) = matrix
    c, lv, uv, lc, uc, col_slot, lane_c, lane_lv, lane_uv, row_slot, lane_lc, lane_uc = numbers
    tau, sigma, _ = rates
    x, x0, xh, dx, y, y0, yh = points
    n, m, width = x.shape[0], y.shape[0], x.shape[1]
    g, along = np.empty(width, x.dtype), np.empty(width, x.dtype)
    one, zero = x.dtype.type(1), x.dtype.type(0)
    for j in range(n):
        s = col_slot[j]
        for w in range(width):
            g[w] = -c[j] if s < 0 else -lane_c[s, w]
        add_row_times(g, y, tx, tv, tp[j], tp[j + 1])
        for w in range(width):
            # xh = clip(x - tau (c - A'y), lv, uv)
            low, high = (lv[j], uv[j]) if s < 0 else (lane_lv[s, w], lane_uv[s, w])
            v = fma(tau[w], g[w], x[j, w])
            v = low if v < low else v
            v = high if v > high else v
            xh[j, w] = v
            dx[j, w] = v - x[j, w]
            step, moved = np.float64(dx[j, w]), np.float64(v - x0[j, w])
            sums[0, w] += step * step
            sums[3, w] += moved * moved
    for i in range(m):
        s = row_slot[i]
        for w in range(width):
            g[w], along[w] = zero, zero
        add_row_times(g, xh, ax, av, ap[i], ap[i + 1])
        add_row_times(along, dx, ax, av, ap[i], ap[i + 1])
        for w in range(width):
            # t = y/sigma - A xb with A xb = A xh + A (xh - x);   yh = sigma (t - clip(t, -uc, -lc))
            low, high = (-uc[i], -lc[i]) if s < 0 else (-lane_uc[s, w], -lane_lc[s, w])
            t = fma(y[i, w], one / sigma[w], -(g[w] + along[w]))
            q = low if t < low else t
            q = high if q > high else q
            v = sigma[w] * (t - q)
            yh[i, w] = v
            step, moved = np.float64(v - y[i, w]), np.float64(v - y0[i, w])
            sums[1, w] += step * step
            sums[2, w] += step * np.float64(along[w])
            sums[4, w] += moved * moved


@compiled()
def restart(points: Any, k: Any, lanes: Any) -> None:
    """Puts x, x0 to xh and y, y0 to yh in the lanes whose flag is set, and their k to 0."""
    x, x0, xh, _, y, y0, yh = points
    for w in range(k.shape[0]):
        if lanes[w]:
            k[w] = 0
    for j in range(x.shape[0]):
        for w in range(k.shape[0]):
            if lanes[w]:
                x[j, w] = x0[j, w] = xh[j, w]
    for i in range(y.shape[0]):
        for w in range(k.shape[0]):
            if lanes[w]:
                y[i, w] = y0[i, w] = yh[i, w]
