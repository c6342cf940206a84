"""Running kernels: on how many threads, and without autograd's bookkeeping where no gradient is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._threads import cut_rows, run_chunks

# Multiply-adds below which starting threads costs more than they save (about a millisecond of work).
_SHARE = 4_000_000
_CHUNKS_PER_THREAD = 4
_kernel_threads: ContextVar[int | None] = ContextVar("kernel_threads", default=None)


@contextmanager
def kernel_threads(count: int) -> Iterator[None]:
    """Let the kernels of the layers use `count` threads, whatever torch itself is set to."""
    token = _kernel_threads.set(count)
    try:
        yield
    finally:
        _kernel_threads.reset(token)


def num_kernel_threads(otherwise: int) -> int:
    """Threads that `kernel_threads` set, or `otherwise`."""
    return _kernel_threads.get() or otherwise


def threads_for(cost: int) -> int:
    """Threads that work of so many multiply-adds is shared by: as many as torch is set to, if it is large."""
    return num_kernel_threads(torch.get_num_threads()) if cost >= _SHARE else 1


def spread(
    work: Callable[[int, int], object], size: int, cost: int, indptr: NDArray[Any] | None = None
) -> None:
    """Call ``work(start, stop)`` over 0 … size, in one call or on as many threads as torch is set to.

    Every result must depend on its own position only, never on the borders of the chunks; then any
    number of threads gives the same bits.

    `cost` are the multiply-adds of all positions: only large work is shared. `indptr` balances the chunks by
    entries instead of positions.
    """
    threads = threads_for(cost)
    if threads == 1:
        work(0, size)
        return
    chunks = threads * _CHUNKS_PER_THREAD
    bounds = np.linspace(0, size, chunks + 1).astype(np.int64) if indptr is None else cut_rows(indptr, chunks)
    run_chunks(lambda _worker, start, stop: work(start, stop), bounds, threads)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch's own sums in one order whatever the machine; our kernels keep its threads."""
    threads = torch.get_num_threads()
    if threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        with kernel_threads(num_kernel_threads(threads)):
            yield
    finally:
        torch.set_num_threads(threads)


class _Forgetful:
    """Stands in for autograd's context when nothing will be differentiated: it keeps no tensor."""

    def save_for_backward(self, *tensors: torch.Tensor) -> None:
        """Keep nothing."""


def run(function: type[torch.autograd.Function], *arguments: Any) -> Any:
    """Call ``function.apply``; under `torch.no_grad` call its forward alone, which is quicker."""
    if torch.is_grad_enabled():
        return function.apply(*arguments)  # type: ignore[no-untyped-call]
    return function.forward(_Forgetful(), *arguments)
