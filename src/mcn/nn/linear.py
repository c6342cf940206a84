"""X W for dense X, dropout and bias, with the same bits at any thread count.

A BLAS splits its sums differently for every number of threads, and the choice of a motif is an argmax that
may turn on the last bit. So torch makes products here in blocks of rows, each on one thread; the borders of
the blocks depend on the shapes alone. Blocks are filled up with zeros to whole multiples of a few rows and
columns: a row of a product has the same bits wherever it lies and whichever rows are computed with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from mcn.nn._parallel import one_torch_thread, run, spread
from mcn.nn._rng import drop_settings, hash32

_ENTRIES, _FEWEST_ROWS = 2**16, 256  # of a block: a copy of it stays in the cache
_EVEN_ROWS, _EVEN_COLUMNS = 64, 16
_MOST_PARTS = 16  # partial sums of a weight gradient, which threads share
_NEW, _LEAST_VARIANCE = 0.1, 1e-5  # of batch normalisation: what an epoch adds to the running figures
_STRIDE = 4099  # a prime: rows that are longer overlap with those of other nodes, but none is the same


@kernel
def _drop(start: int, stop: int, x: Any, number: int, limit: int, scale: Any, key: Any, out: Any) -> None:
    """Copy entries start … stop of the flat `x`, as zero where the hash of their number is below `limit`."""
    zero, first = x.dtype.type(0), np.uint64(number)
    # Unsigned counters: a signed index may be negative to numba, and LLVM then checks for overlap too widely.
    for n in range(np.uint64(start), np.uint64(stop)):
        out[n] = x[n] * scale if hash32(first + n, key) >= limit else zero


@kernel
def _drop_rows(
    start: int, stop: int, indptr: Any, values: Any, numbers: Any, limit: int, scale: Any, key: Any, out: Any
) -> None:
    """Do the same for rows start … stop of a CSR, the entries of row r being numbered from numbers[r] on."""
    for r in range(start, stop):
        first, last = indptr[r], indptr[r + 1]
        _drop(0, last - first, values[first:last], numbers[r], limit, scale, key, out[first:last])


def dropped(x: NDArray[Any], p: float, key: int) -> NDArray[Any]:
    """Copy the array `x` with its entries dropped by (key, position); return `x` itself when p is 0."""
    if p == 0.0:
        return x
    out = np.empty_like(x)
    source, target, settings = x.reshape(-1), out.reshape(-1), drop_settings(p, key, x.dtype)
    spread(lambda a, b: _drop(a, b, source, 0, *settings, target), len(source), len(source))
    return out


def first_numbers(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the first entry of each node's row, where a node's id decides what is dropped.

    A node is then treated alike in every batch: two processes that share a batch, or one that has it all,
    drop the same entries of the same nodes.
    """
    return nodes * _STRIDE


def dropped_rows(
    indptr: NDArray[np.int64], values: NDArray[Any], nodes: NDArray[np.int64], p: float, key: int
) -> NDArray[Any]:
    """Copy the values of a CSR, dropped by (key, id of the row's node, place in the row)."""
    out, numbers, settings = np.empty_like(values), first_numbers(nodes), drop_settings(p, key, values.dtype)
    spread(
        lambda a, b: _drop_rows(a, b, indptr, values, numbers, *settings, out),
        len(nodes),
        values.size,
        indptr,
    )
    return out


def _block_rows(width: int) -> int:
    return max(_FEWEST_ROWS, _ENTRIES // max(1, width) // _EVEN_ROWS * _EVEN_ROWS)


def _block(
    x: torch.Tensor, rows: torch.Tensor | None, start: int, stop: int, p: float, key: int, more: int = 0
) -> torch.Tensor:
    """Return rows start … stop of ``dropout(x[rows])``, and so many more rows of zeros."""
    taken = x[start:stop] if rows is None else x.index_select(0, rows[start:stop])
    if p == 0.0:
        return torch.constant_pad_nd(taken, (0, 0, 0, more)) if more else taken
    block = x.new_empty(stop - start + more, x.shape[1])
    block[stop - start :] = 0
    flat = taken.numpy().reshape(-1)
    _drop(
        0, len(flat), flat, start * x.shape[1], *drop_settings(p, key, flat.dtype), block.numpy().reshape(-1)
    )
    return block


def _product(
    x: torch.Tensor, w: torch.Tensor, rows: torch.Tensor | None = None, p: float = 0.0, key: int = 0
) -> torch.Tensor:
    """Compute ``dropout(x[rows]) @ w``; the masks go by the position among the rows taken."""
    count, width = len(x) if rows is None else len(rows), w.shape[1]
    even = torch.constant_pad_nd(w, (0, -width % _EVEN_COLUMNS)) if width % _EVEN_COLUMNS else w
    size = _block_rows(x.shape[1])
    if count <= size:
        with one_torch_thread():
            block = _block(x, rows, 0, count, p, key, -count % _EVEN_ROWS)
            return torch.mm(block, even)[:count, :width].contiguous()
    out = w.new_empty(count, width)

    def work(start: int, stop: int) -> None:
        torch.set_num_threads(1)  # which every thread has to say for itself
        for first in range(start * size, min(count, stop * size), size):
            last = min(count, first + size)
            block = _block(x, rows, first, last, p, key, (first - last) % _EVEN_ROWS)
            out[first:last] = torch.mm(block, even)[: last - first, :width]

    with one_torch_thread():
        spread(work, -(-count // size), count * w.numel())
    return out


def _weight_gradient(
    x: torch.Tensor, g: torch.Tensor, rows: torch.Tensor | None, p: float, key: int
) -> torch.Tensor:
    """Compute ``dropout(x[rows]).T @ g``: sums over blocks in their order, then over parts of the blocks.

    It is made as ``(g.T @ dropout(x[rows])).T``, which is several times quicker where g has few columns.
    """
    count, size = len(g), _block_rows(x.shape[1])
    blocks = -(-count // size)
    if blocks <= 1:
        with one_torch_thread():
            return torch.mm(g.t(), _block(x, rows, 0, count, p, key)).t().contiguous()
    share = -(-blocks // _MOST_PARTS)
    parts = g.new_zeros(-(-blocks // share), g.shape[1], x.shape[1])

    def work(start: int, stop: int) -> None:
        torch.set_num_threads(1)
        for number in range(start * share, min(blocks, stop * share)):
            first, last = number * size, min(count, (number + 1) * size)
            parts[number // share].addmm_(g[first:last].t(), _block(x, rows, first, last, p, key))

    with one_torch_thread():
        spread(work, len(parts), g.numel() * x.shape[1])
        total = parts[0]
        for part in parts[1:]:
            total += part
        return total.t().contiguous()


class _Linear(torch.autograd.Function):
    """Neither the rows that are taken nor the dropped features are stored: backward makes them anew."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, rows: torch.Tensor | None, p: float, key: int
    ) -> torch.Tensor:
        x, weight = x.detach().contiguous(), weight.detach().contiguous()
        ctx.save_for_backward(x, weight)
        ctx.rest = (rows, p, key)
        return _product(x, weight, *ctx.rest)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x, weight), g, (rows, p, key) = ctx.saved_tensors, grads[0].contiguous(), ctx.rest
        grad_x = grad_w = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.from_numpy(dropped(_product(g, weight.t().contiguous()).numpy(), p, key))
        if ctx.needs_input_grad[1]:
            grad_w = _weight_gradient(x, g, rows, p, key)
        return grad_x, grad_w, None, None, None


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, p: float, key: int, nodes: NDArray[np.int64] | None
    ) -> torch.Tensor:
        ctx.rest = (p, key, nodes)
        values = x.detach().contiguous().numpy()
        if nodes is None:
            return torch.from_numpy(dropped(values, p, key))
        indptr = np.arange(len(values) + 1) * values[0].size if len(values) else np.zeros(1, np.int64)
        return torch.from_numpy(dropped_rows(indptr, values.reshape(-1), nodes, p, key).reshape(values.shape))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _Dropout.forward(ctx, grads[0], *ctx.rest), None, None, None


class _AddBias(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return x + bias

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        with one_torch_thread():
            return grads[0], grads[0].sum(0)


class _BatchNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor) -> torch.Tensor:
        with one_torch_thread():
            out, *saved = torch.native_batch_norm(x, None, None, mean, variance, True, _NEW, _LEAST_VARIANCE)
        ctx.save_for_backward(x, *saved)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, *saved = ctx.saved_tensors
        wanted = [True, False, False]
        with one_torch_thread():
            of_x = torch.ops.aten.native_batch_norm_backward(
                grads[0], x, None, None, None, *saved, True, _LEAST_VARIANCE, wanted
            )[0]
        return of_x, None, None


def linear(
    x: torch.Tensor, weight: torch.Tensor, p: float = 0.0, key: int = 0, rows: NDArray[np.int64] | None = None
) -> torch.Tensor:
    """``dropout(x[rows]) @ weight`` on the CPU; `weight` is [in, out]. With `rows`, x is a constant."""
    x = x.to(weight.dtype)
    taken = None if rows is None else torch.from_numpy(rows)
    out: torch.Tensor = run(_Linear, x if rows is None else x.detach(), weight, taken, p, key)
    return out


def dropout(x: torch.Tensor, p: float, key: int, nodes: NDArray[np.int64] | None = None) -> torch.Tensor:
    """`x` with its entries dropped by (key, position), the kept ones scaled by 1/(1-p), on the CPU.

    With `nodes`, the id of each row's node and the place in the row decide instead of the position.
    """
    if p == 0.0:
        return x
    out: torch.Tensor = run(_Dropout, x, p, key, nodes)
    return out


def add_bias(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """``x + bias`` on the CPU, the bias's gradient summed by one thread."""
    out: torch.Tensor = run(_AddBias, x, bias)
    return out


def batch_norm(x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, training: bool) -> torch.Tensor:
    """`x` less its column means, over their deviations; in training the running figures move a tenth on.

    Otherwise the running `mean` and `variance` are used. On the CPU one thread sums.
    """
    if training and x.device.type == "cpu":
        out: torch.Tensor = run(_BatchNorm, x, mean, variance)
        return out
    return torch.nn.functional.batch_norm(
        x, mean, variance, training=training, momentum=_NEW, eps=_LEAST_VARIANCE
    )
