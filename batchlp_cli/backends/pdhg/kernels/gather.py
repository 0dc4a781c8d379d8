"""The inner loop of all compiled kernels: one row of a sparse matrix times the lanes of a tile.

Blocks of 32 lanes are summed in vector registers, which a plain loop over lanes does not get out of the compiler. Every
lane's sum is a chain of fused multiply-adds in the order of the row's entries, whatever block it lies in: bits do not
depend on the width.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.core import types
from numba.extending import intrinsic

cgutils: Any = _cgutils  # untyped

VECTOR = 8
"""Lanes of one vector in the code that is generated; the compiler cuts it into what the machine has."""


def _multiply_add(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """Returns a * b + c, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return a(a, a, a), generate


fma: Any = intrinsic(_multiply_add)
"""fma(a, b, c) in compiled code: a * b + c, rounded once."""


def _block_sum(block: int) -> Any:
    """Returns the intrinsic that adds a row times `block` lanes, from lane b on, to g."""

    @intrinsic
    def add(typingctx: Any, g: Any, x: Any, index: Any, value: Any, start: Any, stop: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _emit_block(context, builder, signature, arguments, block)
            return context.get_dummy_value()

        return types.none(g, x, index, value, start, stop, b), generate

    return add


def _emit_block(context: Any, builder: Any, signature: Any, arguments: Any, block: int) -> None:
    """Emits  g[b : b+block] += sum over p in [start, stop) of value[p] * x[index[p], b : b+block]."""
    word = ir.IntType(64)
    arrays = [cgutils.create_struct_proxy(signature.args[k])(context, builder, arguments[k]) for k in range(4)]
    start, stop, b = (builder.sext(a, word) if a.type.width < 64 else a for a in arguments[4:])
    g, x, index, value = (a.data for a in arrays)
    width = cgutils.unpack_tuple(builder, arrays[1].shape)[1]
    element = context.get_data_type(signature.args[0].dtype)
    lanes = ir.VectorType(element, VECTOR)
    bits = 64 if isinstance(element, ir.DoubleType) else 32
    multiply_add = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(lanes, [lanes] * 3), f"llvm.fma.v{VECTOR}f{bits}"
    )

    def vector_at(base: Any, q: int) -> Any:
        return builder.bitcast(builder.gep(base, [ir.Constant(word, q * VECTOR)]), lanes.as_pointer())

    def everywhere(a: Any) -> Any:
        undefined = ir.Constant(lanes, ir.Undefined)
        first = builder.insert_element(undefined, a, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), [0] * VECTOR))

    align = bits // 8
    outputs = [vector_at(builder.gep(g, [b]), q) for q in range(block // VECTOR)]
    sums = [cgutils.alloca_once(builder, lanes) for _ in outputs]  # become registers
    for output, total in zip(outputs, sums, strict=True):
        builder.store(builder.load(output, align=align), total)
    with cgutils.for_range_slice(builder, start, stop, ir.Constant(word, 1)) as (p, _):
        row = builder.load(builder.gep(index, [p]))
        row = builder.sext(row, word) if row.type.width < 64 else row
        a = everywhere(builder.load(builder.gep(value, [p])))
        lane_row = builder.gep(x, [builder.add(builder.mul(row, width), b)])
        for q, total in enumerate(sums):
            entry = builder.load(vector_at(lane_row, q), align=align)
            builder.store(builder.call(multiply_add, [a, entry, builder.load(total)]), total)
    for output, total in zip(outputs, sums, strict=True):
        builder.store(builder.load(total), output, align=align)


_add_8, _add_16, _add_32 = _block_sum(8), _block_sum(16), _block_sum(32)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def add_row_times(g: Any, x: Any, index: Any, value: Any, start: Any, stop: Any) -> None:
    """Adds row [start, stop) of a CSR matrix times x [., W] to g [W]; x is contiguous."""
    width = x.shape[1]
    b = 0
    while b + 32 <= width:
        _add_32(g, x, index, value, start, stop, b)
        b += 32
    if b + 16 <= width:
        _add_16(g, x, index, value, start, stop, b)
        b += 16
    if b + 8 <= width:
        _add_8(g, x, index, value, start, stop, b)
        b += 8
    while b < width:
        total = g[b]
        for p in range(start, stop):
            total = fma(value[p], x[index[p], b], total)
        g[b] = total
        b += 1
