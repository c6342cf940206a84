"""Running kernels that release the GIL over chunks of work, on as many threads as pay off."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue

import numpy as np
from numpy.typing import NDArray


def available_threads() -> int:
    """Cores this process may use (the affinity mask, not the machine's total)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
