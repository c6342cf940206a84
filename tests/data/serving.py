"""Raw files of data sets, and a real HTTP server on this machine that serves them."""

import functools
import http.server
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from torch_geometric.data import Data

import mcn
from mcn.data.datasets import RawFiles, _family


def raw_files(name: str) -> RawFiles:
    """The raw files of a data set."""
    return _family(name).raw_files(name)


def copied(shared: Path, name: str, to: Path) -> Path:
    """A folder with copies of a set's raw files, writable."""
    to.mkdir(parents=True)
    for file in raw_files(name).sums:
        shutil.copyfile(shared / raw_files(name).folders[0] / file, to / file)
    return to


def load_from(home: str, name: str) -> Data:
    """A data set whose missing files are fetched from another address than their public home."""
    served = raw_files(name)._replace(home=home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_family(name), "raw_files", lambda _: served)
        return mcn.load_dataset(name)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def unreachable() -> str:
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"
