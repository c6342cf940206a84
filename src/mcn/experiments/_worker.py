"""A worker process: takes units from a pipe, sends rows back, ends with its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from mcn.experiments._engine import attempt, sendable

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Set to 1 in the environment of a worker: they share the cores among themselves."""


def serve(connection: Connection[Any, Any]) -> None:
    """Run units until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # what there is to say about the graph, the parent has said
    while True:
        try:
            unit = connection.recv()
        except EOFError:
            return
        connection.send(sendable(attempt(unit)))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)  # in the middle of a unit: nobody waits for its row any more
