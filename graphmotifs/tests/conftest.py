"""What the tests of the engine share."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmotifs


def refuses(message: str, call: Any, /, *args: Any, error: type = ValueError, **options: Any) -> str:
    """Check that a call is refused by an error, by default a `ValueError`, whose message matches; return it.

    What the package itself refuses is said in one line.
    """
    with pytest.raises(error, match=message) as caught:
        call(*args, **options)
    said = str(caught.value)
    del caught  # which holds this frame: what an error keeps open is closed now, not at some later time
    assert error is not ValueError or "\n" not in said
    return said


def python(*words: object, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, and keep what it says."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)


def rows_of(edges: Any, num_nodes: int, folder: Path) -> graphmotifs.GraphRows:
    """The rows of a graph, mapped from two files in a folder."""
    graph = graphmotifs.simple_graph(edges, num_nodes)
    np.save(folder / "indptr.npy", np.concatenate([[0], np.cumsum(graph.degrees)]))
    np.save(folder / "indices.npy", graph.edge_index[1].astype(np.int32))
    mapped = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("indptr", "indices"))
    return graphmotifs.GraphRows(*mapped)


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder beside the project with real networks in `graphs`."""
    folder = Path(__file__).resolve().parents[3] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the data sets are not beside the project (../shared/data)")
    return folder
