"""Threads that run kernels over chunks of work; kernels release the GIL."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray


def available_threads() -> int:
    """Return how many cores this process may use (the affinity mask, not the machine's total)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_helped = threading.local()


def processor_seconds() -> float:
    """Return the processor time of this thread, with that of the threads that helped it in `run_chunks`."""
    return time.thread_time() + float(getattr(_helped, "seconds", 0.0))


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
    chunks = iter(range(len(bounds) - 1))  # threads take from it in turn: the GIL makes a step of it whole

    def drain(worker: int) -> None:
        for i in chunks:
            work(worker, int(bounds[i]), int(bounds[i + 1]))
            if done is not None:
                done(i)

    threads = max(1, min(threads, len(bounds) - 1))
    if threads == 1:
        drain(0)
        return
    pool = _pool(threads - 1)

    def help_out(worker: int) -> float:
        began = time.thread_time()
        drain(worker)
        return time.thread_time() - began

    others = [pool.submit(help_out, worker) for worker in range(1, threads)]
    try:
        drain(0)  # the caller works too
        _helped.seconds = getattr(_helped, "seconds", 0.0) + sum(other.result() for other in others)
    except BaseException:  # an interrupt, say: let the workers run out of chunks
        for _ in chunks:
            pass
        wait(others)
        raise


def cut_rows(ptr: NDArray[Any], parts: int, start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
    """Cut the rows of a CSR from `start` to `stop` into ranges of about equal numbers of entries."""
    stop = len(ptr) - 1 if stop is None else stop
    first, last = int(ptr[start]), int(ptr[stop])
    at = np.array([first + (last - first) * part // parts for part in range(1, parts)], ptr.dtype)
    inner = np.searchsorted(ptr[start : stop + 1], at) + start
    return np.concatenate([[start], inner, [stop]]).astype(np.int64)


_pools: dict[tuple[int, int, int], ThreadPoolExecutor] = {}


def _pool(workers: int) -> ThreadPoolExecutor:
    """Return a pool of threads that stays: starting threads anew costs as much as counting in a small graph.

    One pool per process (a forked one has no threads) and calling thread (who may wait for its own).
    """
    key = (os.getpid(), threading.get_ident(), workers)
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(workers, thread_name_prefix="graphmotifs")
    return _pools[key]
