"""Code for blocks of lanes, written out as vectors: what the compiler does not get out of plain loops over lanes.

A block is a fixed number of lanes, held in vector registers from the first load to the last store. A lane's arithmetic is
the same in a block of any size: sums are chains of fused multiply-adds in the order of the row's entries.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core import types

cgutils: Any = _cgutils  # untyped
Vectors = list[Any]

VECTOR = 8
"""Lanes of one vector in the code that is generated; the compiler cuts it into what the machine has."""

_WORD = ir.IntType(64)


class Block:
    """Emits code for `lanes` lanes from lane `first` on, of arrays whose rows have `width` lanes, of one element type."""

    def __init__(self, builder: Any, element: Any, lanes: int, width: Any, first: Any) -> None:
        self.builder, self.lanes = builder, lanes
        self._width, self._first = width, first
        self._bits = 64 if isinstance(element, ir.DoubleType) else 32
        self._vector = ir.VectorType(element, VECTOR)
        self._fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(self._vector, [self._vector] * 3), f"llvm.fma.v{VECTOR}f{self._bits}"
        )

    def load(self, data: Any, row: Any = None) -> Vectors:
        """Loads the block's lanes of a row of an array [., W], or of an array [W]."""
        return [self.builder.load(p, align=self._bits // 8) for p in self._places(data, row)]

    def store(self, values: Vectors, data: Any, row: Any = None) -> None:
        """Stores the block's lanes."""
        for value, place in zip(values, self._places(data, row), strict=True):
            self.builder.store(value, place, align=self._bits // 8)

    def spread(self, scalar: Any) -> Vectors:
        """Returns the block with one scalar in all lanes."""
        undefined = ir.Constant(self._vector, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), [0] * VECTOR)
        return [self.builder.shuffle_vector(first, undefined, lanes)] * (self.lanes // VECTOR)

    def constant(self, value: float) -> Vectors:
        """Returns the block with one number in all lanes."""
        return [ir.Constant(self._vector, [value] * VECTOR)] * (self.lanes // VECTOR)

    def fma(self, a: Vectors, b: Vectors, c: Vectors) -> Vectors:
        """Returns a * b + c, rounded once."""
        return [self.builder.call(self._fma, three) for three in zip(a, b, c, strict=True)]

    def times(self, a: Vectors, b: Vectors) -> Vectors:
        """Returns a * b."""
        return [self.builder.fmul(*two) for two in zip(a, b, strict=True)]

    def minus(self, a: Vectors, b: Vectors) -> Vectors:
        """Returns a - b."""
        return [self.builder.fsub(*two) for two in zip(a, b, strict=True)]

    def negative(self, a: Vectors) -> Vectors:
        """Returns -a."""
        return [self.builder.fneg(v) for v in a]

    def clip(self, a: Vectors, low: Vectors, high: Vectors) -> Vectors:
        """Returns a with low where it is below, then high where it is above; a NaN stays."""
        raised = [self.builder.select(self.builder.fcmp_ordered("<", v, u), u, v) for v, u in zip(a, low, strict=True)]
        return [self.builder.select(self.builder.fcmp_ordered(">", v, u), u, v) for v, u in zip(raised, high, strict=True)]

    def add_row_times(self, start_from: Vectors, entries: tuple[Any, Any, Any, Any], data: Any) -> Vectors:
        """Returns start_from plus a row (indices, values, start, stop) of a CSR matrix times an array [., W]."""
        builder = self.builder
        index, value, start, stop = entries
        sums = [cgutils.alloca_once(builder, self._vector) for _ in start_from]  # become registers
        for begin, total in zip(start_from, sums, strict=True):
            builder.store(begin, total)
        with cgutils.for_range_slice(builder, start, stop, ir.Constant(_WORD, 1)) as (p, _):
            row = builder.load(builder.gep(index, [p]))
            row = builder.sext(row, _WORD) if row.type.width < 64 else row
            a = self.spread(builder.load(builder.gep(value, [p])))
            totals = self.fma(a, self.load(data, row), [builder.load(total) for total in sums])
            for new, total in zip(totals, sums, strict=True):
                builder.store(new, total)
        return [builder.load(total) for total in sums]

    def _places(self, data: Any, row: Any) -> Vectors:
        builder = self.builder
        offset = self._first if row is None else builder.add(builder.mul(row, self._width), self._first)
        start = builder.gep(data, [offset])
        places = (builder.gep(start, [ir.Constant(_WORD, q * VECTOR)]) for q in range(self.lanes // VECTOR))
        return [builder.bitcast(place, self._vector.as_pointer()) for place in places]


def pointers_of(builder: Any, element: Any, addresses: Any, count: int) -> list[Any]:
    """Returns a tuple of addresses as pointers to elements. Addresses, since handing arrays on costs counting references."""
    parts = (builder.extract_value(addresses, k) for k in range(count))
    return [builder.inttoptr(part, element.as_pointer()) for part in parts]


def as_word(builder: Any, value: Any) -> Any:
    """Returns an integer with 64 bits."""
    return builder.sext(value, _WORD) if value.type.width < 64 else value


def spread_or_load(block: Block, element: Any, given_type: Any, given: Any, slot: Any) -> Vectors:
    """Returns a scalar in all lanes, or the block's lanes of row `slot` of the array [., W] at an address."""
    if isinstance(given_type, types.Integer):
        return block.load(block.builder.inttoptr(given, element.as_pointer()), slot)
    return block.spread(given)
