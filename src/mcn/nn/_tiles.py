"""Products with wide dense matrices, near the speed of a BLAS, with the same bits at any thread count.

A BLAS chooses its own threads, and how it cuts a sum depends on their number; neither NumPy nor torch can
hold a single call to one thread without changing the setting of the whole process. The inner tile of a
product is small, so it is written here: a few rows by one or two vectors that stay in registers. Every
entry of a result is one chain of multiply-adds per block, and the borders of blocks depend on the shapes
alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.nn._rng import hash32, threshold
from mcn.nn._vectors import Vectors
from mcn.nn._work import spread

_LINE = 64  # bytes in the width of a tile and of a panel: one line of the cache
# Vectors in the width of a tile, and its rows: 6 × 2 vectors of sums, 2 of the panel and 1 of the rows are 15
# of 16 registers; where the processor has vectors of 64 bytes, 12 × 1 of these. Every entry is summed by
# itself, so that its bits do not depend on the tile.
_PARTS, _HEIGHT = (1, 12) if get_host_cpu_features().get("avx512f", False) else (2, 6)
_DEPTH = 256  # terms of a sum before it is added to the result; a panel of them fits in the first cache
_GROUP = 96  # rows that are copied together: 96 KB, in the second cache
_COLUMNS = 112  # columns that are copied together; an odd number of lines, which spreads them over the cache
_ALL = np.empty(0, np.int64)  # all rows; None would make the kernels compile twice


@intrinsic
def _tile(
    _context: Any,
    a: Any,
    a_at: Any,
    a_row: Any,
    a_step: Any,
    b: Any,
    b_at: Any,
    b_step: Any,
    depth: Any,
    out: Any,
    at: Any,
    row: Any,
) -> Any:
    """Add ``Σ_k a[a_at + i·a_row + k·a_step] · b[b_at + k·b_step + j]`` to ``out[at + i·row + j]``.

    All arrays are flat; i runs over a tile's rows, j over the entries of its width, k over 0 … depth.
    """
    whole = types.intp
    signature = types.void(a, whole, whole, whole, b, whole, whole, whole, out, whole, whole)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        number = context.get_data_type(kinds[0].dtype)
        size = context.get_abi_sizeof(number)
        lanes = _LINE // _PARTS // size
        vectors = Vectors(builder, number, size, lanes)
        a, b, out = (context.make_array(kinds[i])(context, builder, arguments[i]).data for i in (0, 4, 8))
        a_at, a_row, a_step, b_at, b_step, depth, at, row = (arguments[i] for i in (1, 2, 3, 5, 6, 7, 9, 10))

        def integer(value: int) -> Any:
            return ir.Constant(b_at.type, value)

        sums = [[vectors.slot() for _ in range(_PARTS)] for _ in range(_HEIGHT)]
        for slot in (slot for pair in sums for slot in pair):
            builder.store(vectors.zero(), slot)
        starts = [builder.add(a_at, builder.mul(a_row, integer(i))) for i in range(_HEIGHT)]
        with cgutils.for_range(builder, depth) as loop:
            line = builder.add(b_at, builder.mul(loop.index, b_step))
            panel = [vectors.load(vectors.place(b, line, j * lanes)) for j in range(_PARTS)]
            step = builder.mul(loop.index, a_step)
            for start, pair in zip(starts, sums, strict=True):
                one = vectors.repeated(a, builder.add(start, step))
                for part, slot in zip(panel, pair, strict=True):
                    vectors.add_product(one, part, slot)
        for i, pair in enumerate(sums):
            line = builder.add(at, builder.mul(row, integer(i)))
            for j, slot in enumerate(pair):
                target = vectors.place(out, line, j * lanes)
                vectors.store(builder.fadd(vectors.load(target), builder.load(slot)), target)
        return context.get_dummy_value()

    return signature, generate


@kernel
def _strips(matrix: Any, width: int) -> Any:
    """Copy strips of `width` columns one after the other, the last filled up with zeros, as a flat array."""
    rows, columns = matrix.shape
    count = (columns + width - 1) // width
    out = np.zeros((count, rows, width), matrix.dtype)
    for r in range(rows):
        for s in range(count):
            for k in range(min(width, columns - s * width)):
                out[s, r, k] = matrix[r, s * width + k]
    return out.reshape(-1)


@kernel
def _copy(
    x: Any, at: int, size: int, position: int, limit: int, scale: Any, key: Any, out: Any, to: int
) -> None:
    """Copy `size` entries of the flat `x`, as zero where the hash of their position is below `limit`."""
    zero = x.dtype.type(0)
    # Unsigned, as in `mcn.nn.linear.drop`: LLVM makes no vectors of this otherwise.
    source, target, number = np.uint64(at), np.uint64(to), np.uint64(position)
    if limit == 0:
        for k in range(np.uint64(size)):
            out[target + k] = x[source + k]
    else:
        for k in range(np.uint64(size)):
            kept = hash32(number + k, key) >= limit
            out[target + k] = x[source + k] * scale if kept else zero


@kernel
def _add(tile: Any, rows: int, columns: int, width: int, out: Any, at: int, row: int) -> None:
    """Add the part of a tile that lies inside the result, and clear the tile."""
    for i in range(rows):
        for k in range(columns):
            out[at + i * row + k] += tile[i * width + k]
    tile[:] = 0


@kernel
def _product(
    start: int, stop: int, x: Any, rows: Any, panels: Any, limit: int, scale: Any, key: Any, out: Any
) -> None:
    """Add rows start … stop of ``dropout(x[rows]) @ w`` to `out`; no `rows` at all are all rows of x."""
    depth, columns = x.shape[1], out.shape[1]
    width = _LINE // x.itemsize
    entries, result = x.reshape(-1), out.reshape(-1)
    block, tile = np.zeros(_GROUP * _DEPTH, x.dtype), np.zeros(_HEIGHT * width, x.dtype)
    for first in range(start, stop, _GROUP):
        count = min(_GROUP, stop - first)
        for low in range(0, depth, _DEPTH):
            size = min(_DEPTH, depth - low)
            for i in range(count):
                n = first + i
                r = rows[n] if len(rows) else n
                _copy(entries, r * depth + low, size, n * depth + low, limit, scale, key, block, i * _DEPTH)
            for p in range(0, columns, width):
                for t in range(0, count, _HEIGHT):
                    at = (first + t) * columns + p
                    whole = t + _HEIGHT <= count and p + width <= columns
                    to, place, row = (result, at, columns) if whole else (tile, 0, width)
                    b_at = p * depth + low * width
                    _tile(block, t * _DEPTH, _DEPTH, 1, panels, b_at, width, size, to, place, row)
                    if not whole:
                        high, wide = min(_HEIGHT, count - t), min(width, columns - p)
                        _add(tile, high, wide, width, result, at, columns)


@kernel
def _weight_gradient(
    start: int, stop: int, x: Any, rows: Any, strips: Any, limit: int, scale: Any, key: Any, out: Any
) -> None:
    """Add columns start … stop of ``(dropout(x[rows]).T @ g).T`` to `out`, given g in strips of a tile."""
    total = len(rows) if len(rows) else x.shape[0]
    depth = x.shape[1]
    width = _LINE // x.itemsize
    entries, result = x.reshape(-1), out.reshape(-1)
    block, tile = np.zeros(_DEPTH * _COLUMNS, x.dtype), np.zeros(_HEIGHT * width, x.dtype)
    for first in range(0, total, _DEPTH):
        count = min(_DEPTH, total - first)
        for low in range(start, stop, _COLUMNS):
            size = min(_COLUMNS, stop - low)
            for i in range(count):
                n = first + i
                r = rows[n] if len(rows) else n
                a, b = r * depth + low, n * depth + low
                _copy(entries, a, size, b, limit, scale, key, block, i * _COLUMNS)
            for c in range(0, out.shape[0], _HEIGHT):
                for q in range(0, size, width):
                    at = c * depth + low + q
                    whole = c + _HEIGHT <= out.shape[0] and q + width <= size
                    to, place, row = (result, at, depth) if whole else (tile, 0, width)
                    a_at = c * total + first * _HEIGHT
                    _tile(strips, a_at, 1, _HEIGHT, block, q, _COLUMNS, count, to, place, row)
                    if not whole:
                        high, wide = min(_HEIGHT, out.shape[0] - c), min(width, size - q)
                        _add(tile, high, wide, width, result, at, depth)


def _dropout(x: NDArray[Any], p: float, key: int) -> tuple[int, Any, Any]:
    return threshold(p), x.dtype.type(1.0 / (1.0 - p)), np.uint64(key)


def product(
    x: NDArray[Any], w: NDArray[Any], rows: NDArray[np.int64] | None, p: float, key: int
) -> NDArray[Any]:
    """Compute ``dropout(x[rows]) @ w``; the masks go by the position among the rows taken."""
    taken = _ALL if rows is None else rows
    count = len(x) if rows is None else len(rows)
    out = np.zeros((count, w.shape[1]), w.dtype)
    panels, dropout = _strips(w, _LINE // w.itemsize), _dropout(x, p, key)
    spread(lambda a, b: _product(a, b, x, taken, panels, *dropout, out), count, count * w.size)
    return out


def weight_gradient(
    x: NDArray[Any], g: NDArray[Any], rows: NDArray[np.int64] | None, p: float, key: int
) -> NDArray[Any]:
    """Compute ``dropout(x[rows]).T @ g``, blocks of rows added in their order."""
    out = np.zeros((g.shape[1], x.shape[1]), g.dtype)
    if len(g):
        taken, strips, dropout = _ALL if rows is None else rows, _strips(g, _HEIGHT), _dropout(x, p, key)
        work = g.size * x.shape[1]
        spread(lambda a, b: _weight_gradient(a, b, x, taken, strips, *dropout, out), x.shape[1], work)
    return np.ascontiguousarray(out.T)
