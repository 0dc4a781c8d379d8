"""One row of a sparse matrix times the lanes of a tile, and one row of each half of a step, for compiled code.

Blocks of lanes are emitted as vectors (emit.py); what is left of a width that no block divides is done lane by lane, with
the same operations in the same order: bits do not depend on the width.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from batchlp_cli.backends.pdhg.kernels.emit import Block, as_word, pointers_of, spread_or_load


def _multiply_add(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """Returns a * b + c, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return a(a, a, a), generate


fma: Any = intrinsic(_multiply_add)
"""fma(a, b, c) in compiled code: a * b + c, rounded once."""


def _row_sum(lanes: int) -> Any:
    """Returns the intrinsic that adds a row times `lanes` lanes, from lane b on, to g; `one` has the type of an element.

    addresses: of g [W], x [., W], indices (32 bits) and values; row: (start, stop, b, W).
    """

    @intrinsic
    def add(typingctx: Any, one: Any, addresses: Any, row: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            element = context.get_data_type(signature.args[0])
            g, x, index, value = pointers_of(builder, element, arguments[1], 4)
            start, stop, b, width = _words(builder, arguments[2], 4)
            block = Block(builder, element, lanes, width, b)
            block.store(block.add_row_times(block.load(g), (_indices(builder, index), value, start, stop), x), g)
            return context.get_dummy_value()

        return types.none(one, addresses, row), generate

    return add


def _column_step(lanes: int) -> Any:
    """Returns the intrinsic that takes column j of the primal half of a step on `lanes` lanes, from lane b on.

    addresses: of x, x0, xb, y, indices, values, tau, f, h; row: (start, stop, j, b, W, slot); bounds: (c, lv, uv) of the
    column as scalars, or addresses of arrays [., W] of which row `slot` is meant.
    """

    @intrinsic
    def step(typingctx: Any, one: Any, addresses: Any, row: Any, bounds: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            element = context.get_data_type(signature.args[0])
            x, x0, xb, y, index, value, *rates = pointers_of(builder, element, arguments[1], 9)
            start, stop, j, b, width, slot = _words(builder, arguments[2], 6)
            block = Block(builder, element, lanes, width, b)
            cost, low, high = _bounds(block, element, signature.args[3], arguments[3], slot)
            tau, f, h = (block.load(rate) for rate in rates)
            # -(c - A'y)
            g = block.add_row_times(block.negative(cost), (_indices(builder, index), value, start, stop), y)
            # xh = clip(x - tau (c - A'y), lv, uv);   xb = 2 xh - x;   x+ = (k+1)/(k+2) xb + x0/(k+2)
            at = block.load(x, j)
            moved = block.clip(block.fma(tau, g, at), low, high)
            reflected = block.fma(block.constant(2.0), moved, block.negative(at))
            block.store(reflected, xb, j)
            block.store(block.fma(f, reflected, block.times(h, block.load(x0, j))), x, j)
            return context.get_dummy_value()

        return types.none(one, addresses, row, bounds), generate

    return step


def _row_step(lanes: int) -> Any:
    """Returns the intrinsic that takes row i of the dual half of a step; bounds: (lc, uc), the rest as for `_column_step`.

    addresses: of y, y0, xb, indices, values, sigma, 1/sigma, f, h.
    """

    @intrinsic
    def step(typingctx: Any, one: Any, addresses: Any, row: Any, bounds: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            element = context.get_data_type(signature.args[0])
            y, y0, xb, index, value, *rates = pointers_of(builder, element, arguments[1], 9)
            start, stop, i, b, width, slot = _words(builder, arguments[2], 6)
            block = Block(builder, element, lanes, width, b)
            lower, upper = _bounds(block, element, signature.args[3], arguments[3], slot)
            sigma, per_sigma, f, h = (block.load(rate) for rate in rates)
            g = block.add_row_times(block.constant(0.0), (_indices(builder, index), value, start, stop), xb)
            # t = y/sigma - A xb;   yh = sigma (t - clip(t, -uc, -lc));   yb = 2 yh - y;   y+ = (k+1)/(k+2) yb + y0/(k+2)
            at = block.load(y, i)
            t = block.fma(at, per_sigma, block.negative(g))
            q = block.clip(t, block.negative(upper), block.negative(lower))
            moved = block.times(sigma, block.minus(t, q))
            reflected = block.fma(block.constant(2.0), moved, block.negative(at))
            block.store(block.fma(f, reflected, block.times(h, block.load(y0, i))), y, i)
            return context.get_dummy_value()

        return types.none(one, addresses, row, bounds), generate

    return step


def _words(builder: Any, value: Any, count: int) -> list[Any]:
    return [as_word(builder, builder.extract_value(value, k)) for k in range(count)]


def _bounds(block: Block, element: Any, given_types: Any, given: Any, slot: Any) -> list[Any]:
    parts = (block.builder.extract_value(given, k) for k in range(len(given_types)))
    return [spread_or_load(block, element, t, part, slot) for t, part in zip(given_types, parts, strict=True)]


def _indices(builder: Any, pointer: Any) -> Any:
    return builder.bitcast(pointer, ir.IntType(32).as_pointer())


_add_8, _add_16, _add_32 = _row_sum(8), _row_sum(16), _row_sum(32)
column_8, column_16, column_32, column_64 = _column_step(8), _column_step(16), _column_step(32), _column_step(64)
row_8, row_16, row_32, row_64 = _row_step(8), _row_step(16), _row_step(32), _row_step(64)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def add_row_times(g: Any, x: Any, index: Any, value: Any, start: Any, stop: Any) -> None:
    """Adds row [start, stop) of a CSR matrix with 32-bit indices times x [., W] to g [W]; all are contiguous, of one type."""
    width, b, one = x.shape[1], 0, g.dtype.type(1)
    addresses = (g.ctypes.data, x.ctypes.data, index.ctypes.data, value.ctypes.data)
    while b + 32 <= width:
        _add_32(one, addresses, (start, stop, b, width))
        b += 32
    if b + 16 <= width:
        _add_16(one, addresses, (start, stop, b, width))
        b += 16
    if b + 8 <= width:
        _add_8(one, addresses, (start, stop, b, width))
        b += 8
    while b < width:
        total = g[b]
        for p in range(start, stop):
            total = fma(value[p], x[index[p], b], total)
        g[b] = total
        b += 1
