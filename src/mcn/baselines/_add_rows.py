"""`add_rows`, a sum of rows that stays in registers, written in the compiler's own language."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

_WIDE = 16  # numbers of a vector of `add_rows`; the compiler makes two of it where registers are narrower
ROWS = 2 * _WIDE
"""Width of what `add_rows` adds."""


class _Vectors:
    """Loads, stores and multiply-adds of vectors of one kind, at one place of the code."""

    def __init__(self, builder: Any, number: Any, size: int, lanes: int) -> None:
        self._builder, self._size, self._lanes = builder, size, lanes
        self.kind = ir.VectorType(number, lanes)
        # One rounding where the processor has it, two elsewhere; never a choice of the optimiser.
        self._multiply_add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(self.kind, [self.kind] * 3), f"llvm.fmuladd.v{lanes}f{8 * size}"
        )

    def slot(self) -> Any:
        """Return a place for a sum; the compiler makes a register of it."""
        return cgutils.alloca_once(self._builder, self.kind)

    def place(self, array: Any, position: Any, offset: int) -> Any:
        """Return the address of entries ``position + offset …`` of a flat array."""
        position = self._builder.add(position, ir.Constant(position.type, offset))
        return self._builder.bitcast(self._builder.gep(array, [position]), self.kind.as_pointer())

    def load(self, place: Any) -> Any:
        """Read a vector; arrays are aligned to their numbers only."""
        return self._builder.load(place, align=self._size)

    def store(self, vector: Any, place: Any) -> None:
        """Write a vector."""
        self._builder.store(vector, place, align=self._size)

    def repeated(self, array: Any, position: Any) -> Any:
        """Return a vector with one entry of an array in all places."""
        nothing = ir.Constant(self.kind, ir.Undefined)
        one = self._builder.load(self._builder.gep(array, [position]))
        one = self._builder.insert_element(nothing, one, ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), self._lanes), [0] * self._lanes)
        return self._builder.shuffle_vector(one, nothing, everywhere)

    def add_product(self, a: Any, b: Any, slot: Any) -> None:
        """Add a times b to what the slot holds."""
        self._builder.store(self._builder.call(self._multiply_add, [a, b, self._builder.load(slot)]), slot)


@intrinsic
def add_rows(
    _context: Any,
    values: Any,
    rows: Any,
    first: Any,
    last: Any,
    table: Any,
    at: Any,
    width: Any,
    out: Any,
    to: Any,
) -> Any:
    """Add ``Σ_e values[e] · table[at + rows[e]·width + j]`` to ``out[to + j]`` for e < last, j < ROWS.

    Arrays are contiguous and taken as flat; rows are not negative. The sums stay in registers; numba's own
    code for such a loop cannot know that `out` is no part of `table`, and writes them after every row.
    """
    if any(array.layout != "C" for array in (values, rows, table, out)):
        raise TypingError("add_rows takes contiguous arrays only")
    whole = types.intp
    signature = types.void(values, rows, whole, whole, table, whole, whole, out, whole)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        number = context.get_data_type(kinds[0].dtype)
        vectors = _Vectors(builder, number, context.get_abi_sizeof(number), _WIDE)
        values, rows, table, out = (
            context.make_array(kinds[i])(context, builder, arguments[i]).data for i in (0, 1, 4, 7)
        )
        first, last, at, width, to = (arguments[i] for i in (2, 3, 5, 6, 8))
        offsets = range(0, ROWS, _WIDE)
        sums = [vectors.slot() for _ in offsets]
        for offset, slot in zip(offsets, sums, strict=True):
            builder.store(vectors.load(vectors.place(out, to, offset)), slot)
        with cgutils.for_range(builder, builder.sub(last, first)) as loop:
            e = builder.add(first, loop.index)
            value = vectors.repeated(values, e)
            row = builder.load(builder.gep(rows, [e]))
            row = builder.zext(row, e.type) if row.type.width < e.type.width else row
            line = builder.add(at, builder.mul(row, width))
            for offset, slot in zip(offsets, sums, strict=True):
                vectors.add_product(value, vectors.load(vectors.place(table, line, offset)), slot)
        for offset, slot in zip(offsets, sums, strict=True):
            vectors.store(builder.load(slot), vectors.place(out, to, offset))
        return context.get_dummy_value()

    return signature, generate
