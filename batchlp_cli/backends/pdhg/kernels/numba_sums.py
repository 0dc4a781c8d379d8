"""Residuals, dual values and directions of all lanes in one pass over rows and columns each, compiled for the CPU.

A check by array passes would cost as much as the steps between two checks. Formulas and the order of sums are in base.py.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from batchlp_cli.backends.pdhg.kernels.cache import compiled
from batchlp_cli.backends.pdhg.kernels.gather import add_row_times

_SQUARED, _LOOSE, _PRIMAL, _DUAL, _TERMS, _FARKAS, _FARKAS_TERMS, _FARKAS_LOOSE, _LARGEST = range(9)


@numba.njit(nogil=True, error_model="numpy")
def _side(price: Any, lower: Any, upper: Any) -> Any:
    """Returns the side that a price prices."""
    return lower if price > 0 else upper


@compiled()
def measure(matrix: Any, scales: Any, xh: Any, yh: Any, X: Any, Y: Any, numbers: Any, sums: Any) -> None:
    """Takes (xh, yh) to original units as X, Y and adds up the sums of `Measured`; matrix is (A', A), scales (D1, D2)."""
    (tp, tx, tv), (ap, ax, av) = matrix
    D1, D2 = scales
    c, lv, uv, lc, uc, col_slot, lane_c, lane_lv, lane_uv, row_slot, lane_lc, lane_uc = numbers
    n, m, width = X.shape[0], Y.shape[0], X.shape[1]
    g = np.empty(width)
    for j in range(n):
        s = col_slot[j]
        for w in range(width):
            cost, low, high = (c[j], lv[j], uv[j]) if s < 0 else (lane_c[s, w], lane_lv[s, w], lane_uv[s, w])
            v = D2[j] * np.float64(xh[j, w])
            v = low if v < low else v
            v = high if v > high else v
            X[j, w] = v
            sums[_PRIMAL, w] += cost * v
    for i in range(m):
        s = row_slot[i]
        for w in range(width):
            g[w] = 0
        add_row_times(g, X, ax, av, ap[i], ap[i + 1])
        for w in range(width):
            low, high = (lc[i], uc[i]) if s < 0 else (lane_lc[s, w], lane_uc[s, w])
            # ||AX - proj(AX)||^2
            off = low - g[w] if g[w] < low else (g[w] - high if g[w] > high else g[w] - g[w])  # hands a NaN on
            sums[_SQUARED, w] += off * off
            Y[i, w] = price = D1[i] * np.float64(yh[i, w])
            size = abs(price)
            sums[_LARGEST, w] = size if size > sums[_LARGEST, w] else sums[_LARGEST, w]
            side = _side(price, low, high)
            if np.isinf(side):
                sums[_LOOSE, w] += price * price
            else:
                term = price * side
                sums[_DUAL, w] += term
                sums[_TERMS, w] += abs(term)
    for w in range(width):
        sums[_FARKAS, w] = sums[_DUAL, w]
        sums[_FARKAS_TERMS, w] = sums[_TERMS, w]
    for j in range(n):
        s = col_slot[j]
        for w in range(width):
            g[w] = 0
        add_row_times(g, Y, tx, tv, tp[j], tp[j + 1])
        for w in range(width):
            cost, low, high = (c[j], lv[j], uv[j]) if s < 0 else (lane_c[s, w], lane_lv[s, w], lane_uv[s, w])
            # r = c - A'Y, and the same without costs
            r, a = cost - g[w], -g[w]
            side = _side(r, low, high)
            if np.isinf(side):
                sums[_LOOSE, w] += r * r
            else:
                sums[_DUAL, w] += r * side
                sums[_TERMS, w] += abs(r * side)
            side = _side(a, low, high)
            if np.isinf(side):
                sums[_FARKAS_LOOSE, w] += abs(a)
            else:
                sums[_FARKAS, w] += a * side
                sums[_FARKAS_TERMS, w] += abs(a * side)


@compiled()
def directions(matrix: Any, scales: Any, points: Any, room: Any, numbers: Any, sums: Any) -> None:
    """Adds up the sums of `Direction`; points is (x0, xh, y0, yh), room ([n, W], [m, W] float64) is written over."""
    (tp, tx, tv), (ap, ax, av) = matrix
    D1, D2 = scales
    c, lv, uv, lc, uc, col_slot, lane_c, lane_lv, lane_uv, row_slot, lane_lc, lane_uc = numbers
    x0, xh, y0, yh = points
    d, e = room
    n, m, width = d.shape[0], e.shape[0], d.shape[1]
    g = np.empty(width)
    for j in range(n):
        s = col_slot[j]
        for w in range(width):
            cost, low, high = (c[j], lv[j], uv[j]) if s < 0 else (lane_c[s, w], lane_lv[s, w], lane_uv[s, w])
            v = D2[j] * np.float64(xh[j, w] - x0[j, w])
            # into the recession cone of the column bounds
            v = 0.0 if (v < 0 and np.isfinite(low)) or (v > 0 and np.isfinite(high)) else v
            d[j, w] = v
            sums[3, w] += cost * v
            sums[5, w] = abs(v) if abs(v) > sums[5, w] else sums[5, w]
    for i in range(m):
        s = row_slot[i]
        for w in range(width):
            g[w] = 0
        add_row_times(g, d, ax, av, ap[i], ap[i + 1])
        for w in range(width):
            low, high = (lc[i], uc[i]) if s < 0 else (lane_lc[s, w], lane_uc[s, w])
            leaves = g[w] if g[w] > 0 and np.isfinite(high) else (-g[w] if g[w] < 0 and np.isfinite(low) else 0.0)
            sums[4, w] = leaves if leaves > sums[4, w] else sums[4, w]
            price = D1[i] * np.float64(yh[i, w] - y0[i, w])
            side = _side(price, low, high)
            price = 0.0 if np.isinf(side) else price
            e[i, w] = price
            term = 0.0 if price == 0 else price * side
            sums[0, w] += term
            sums[1, w] += abs(term)
    for j in range(n):
        s = col_slot[j]
        for w in range(width):
            g[w] = 0
        add_row_times(g, e, tx, tv, tp[j], tp[j + 1])
        for w in range(width):
            low, high = (lv[j], uv[j]) if s < 0 else (lane_lv[s, w], lane_uv[s, w])
            a = -g[w]
            side = _side(a, low, high)
            if np.isinf(side):
                sums[2, w] += abs(a)
            else:
                sums[0, w] += a * side
                sums[1, w] += abs(a * side)
