"""Halpern steps compiled for the CPU: a tile of lanes that stays in cache, and a single member on all cores.

The formulas are in base.py. Every operation on a lane is the same in all variants and is rounded as written (fma where it
says so), so that a member's bits depend neither on the width of its tile nor on its lane nor on its mates.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from batchlp_cli.backends.pdhg.kernels.cache import compiled
from batchlp_cli.backends.pdhg.kernels.gather import add_row_times, fma


@numba.njit(nogil=True, error_model="numpy")
def _move_columns(transposed: Any, x: Any, x0: Any, xb: Any, y: Any, numbers: Any, tau: Any, f: Any, h: Any, g: Any) -> None:
    """Takes the primal half of a step on all lanes; f and h are (k+1)/(k+2) and 1/(k+2), g is room for a row."""
    tp, tx, tv = transposed
    c, lv, uv, col_slot, lane_c, lane_lv, lane_uv = numbers
    two, width = x.dtype.type(2), x.shape[1]
    for j in range(x.shape[0]):
        xj, x0j, xbj, s = x[j], x0[j], xb[j], col_slot[j]
        # -(c - A'y)
        if s < 0:
            cost = -c[j]
            for w in range(width):
                g[w] = cost
        else:
            for w in range(width):
                g[w] = -lane_c[s, w]
        add_row_times(g, y, tx, tv, tp[j], tp[j + 1])
        # xh = clip(x - tau (c - A'y), lv, uv);   xb = 2 xh - x;   x+ = (k+1)/(k+2) xb + x0/(k+2)
        if s < 0:
            low, high = lv[j], uv[j]
            for w in range(width):
                v = fma(tau[w], g[w], xj[w])
                v = low if v < low else v
                v = high if v > high else v
                v = fma(two, v, -xj[w])
                xbj[w] = v
                xj[w] = fma(f[w], v, h[w] * x0j[w])
        else:
            lows, highs = lane_lv[s], lane_uv[s]
            for w in range(width):
                v = fma(tau[w], g[w], xj[w])
                v = lows[w] if v < lows[w] else v
                v = highs[w] if v > highs[w] else v
                v = fma(two, v, -xj[w])
                xbj[w] = v
                xj[w] = fma(f[w], v, h[w] * x0j[w])


@numba.njit(nogil=True, error_model="numpy")
def _move_rows(A: Any, y: Any, y0: Any, xb: Any, numbers: Any, sigma: Any, per_sigma: Any, f: Any, h: Any, g: Any) -> None:
    """Takes the dual half of a step on all lanes; f, h and g as for `_move_columns`."""
    ap, ax, av = A
    lc, uc, row_slot, lane_lc, lane_uc = numbers
    two, width = y.dtype.type(2), y.shape[1]
    for i in range(y.shape[0]):
        yi, y0i, s = y[i], y0[i], row_slot[i]
        for w in range(width):
            g[w] = 0
        add_row_times(g, xb, ax, av, ap[i], ap[i + 1])
        # t = y/sigma - A xb;   yh = sigma (t - clip(t, -uc, -lc));   yb = 2 yh - y
        if s < 0:
            low, high = -uc[i], -lc[i]
            for w in range(width):
                t = fma(yi[w], per_sigma[w], -g[w])
                q = low if t < low else t
                q = high if q > high else q
                t = fma(two, sigma[w] * (t - q), -yi[w])
                yi[w] = fma(f[w], t, h[w] * y0i[w])
        else:
            lows, highs = lane_uc[s], lane_lc[s]
            for w in range(width):
                t = fma(yi[w], per_sigma[w], -g[w])
                q = -lows[w] if t < -lows[w] else t
                q = -highs[w] if q > -highs[w] else q
                t = fma(two, sigma[w] * (t - q), -yi[w])
                yi[w] = fma(f[w], t, h[w] * y0i[w])


@compiled()
def advance_lanes(matrix: Any, x: Any, x0: Any, xb: Any, y: Any, y0: Any, numbers: Any, rates: Any, steps: Any) -> None:
    """Takes steps on all lanes; matrix is (A~', A~) as (indptr, indices, values) each, rates is (tau, sigma, k)."""
    c, lv, uv, lc, uc, col_slot, lane_c, lane_lv, lane_uv, row_slot, lane_lc, lane_uc = numbers
    columns, rows = (c, lv, uv, col_slot, lane_c, lane_lv, lane_uv), (lc, uc, row_slot, lane_lc, lane_uc)
    tau, sigma, k = rates
    width, one, two = x.shape[1], x.dtype.type(1), x.dtype.type(2)
    g, f, h, per_sigma = (np.empty(width, x.dtype), np.empty(width, x.dtype), np.empty(width, x.dtype), np.empty(width, x.dtype))
    for w in range(width):
        per_sigma[w] = one / sigma[w]
    for _ in range(steps):
        # (k+1)/(k+2) and 1/(k+2)
        for w in range(width):
            f[w], h[w] = (k[w] + one) / (k[w] + two), one / (k[w] + two)
            k[w] += one
        _move_columns(matrix[0], x, x0, xb, y, columns, tau, f, h, g)
        _move_rows(matrix[1], y, y0, xb, rows, sigma, per_sigma, f, h, g)


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
