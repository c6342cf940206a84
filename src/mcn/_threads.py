"""Running kernels that release the GIL over chunks of work, on as many threads as pay off."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import Empty, SimpleQueue

import numpy as np
from numpy.typing import NDArray


def available_threads() -> int:
    """Cores this process may use (the affinity mask, not the machine's total)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


def run_chunks(
    work: Callable[[int, int, int], object],
    bounds: Sequence[int] | NDArray[np.int64],
    threads: int,
    done: Callable[[int], object] | None = None,
) -> None:
    """Call ``work(worker, start, stop)`` for every chunk ``[bounds[i], bounds[i+1])``.

    Each of the `threads` workers takes the next chunk when it is free, so uneven chunks balance out;
    a worker has a number of its own to write into private memory. `done(i)` is called after chunk i.
    """
    chunks: SimpleQueue[int] = SimpleQueue()
    for i in range(len(bounds) - 1):
        chunks.put(i)

    def drain(worker: int) -> None:
        while True:
            try:
                i = chunks.get_nowait()
            except Empty:
                return
            work(worker, int(bounds[i]), int(bounds[i + 1]))
            if done is not None:
                done(i)

    threads = max(1, min(threads, len(bounds) - 1))
    if threads == 1:
        drain(0)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            for finished in [pool.submit(drain, worker) for worker in range(threads)]:
                finished.result()
        except BaseException:  # an interrupt, say: let the workers run out of chunks
            while not chunks.empty():
                with suppress(Empty):
                    chunks.get_nowait()
            raise
