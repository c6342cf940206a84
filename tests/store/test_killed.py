"""Packing and counting killed at any moment leave nothing half-written; called again, they end alike.

    python -m tests.store.test_killed pack|count FOLDER MOMENTS

is the work itself, in a process without threads. It prints a JSON line: at how many moments the work was not
finished, and what went wrong. A moment is a call of a Python or a built-in function, so that there is one
before and after every write.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import random_graphs

import mcn
from graphmotifs import on_disk
from mcn.store import pack_graph
from tests.conftest import python

MEGA = 2**20


class Packing:
    """An edge list with names, and a table, packed."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        self._edges, self._nodes = folder / "edges.csv", folder / "nodes.csv"
        pairs = rng.integers(0, 60, (500, 2)).tolist()
        self._edges.write_text("\n".join(f"n{a},n{b}" for a, b in pairs) + "\n")
        rows = [f"n{i},{i % 2},{i / 7:.3f}" for i in range(60)]
        self._nodes.write_text("\n".join(["id,label,size", *rows]) + "\n")

    def __call__(self, out: Path) -> None:
        pack_graph(self._edges, self._nodes, out=out, memory=MEGA)

    def finished(self, out: Path) -> bool:
        if not (out / "manifest.json").exists():
            return False
        mcn.GraphStore.open(out, verify=True)
        return True


class Counting:
    """Triangles and 2-stars of a packed graph, counted into a folder."""

    def __init__(self, folder: Path) -> None:
        edges = random_graphs.powerlaw_cluster(120, 4, 0.5, seed=2)
        self._store = mcn.GraphStore.write(folder / "graph", [edges], 120)
        on_disk._LEAST, on_disk._UNIT = 100, 20  # type: ignore[attr-defined]

    def __call__(self, out: Path) -> None:
        mcn.count_motifs(self._store, motifs=["triangle", "2-star"], out=out, threads=1, memory=2**16)

    def finished(self, out: Path) -> bool:
        if not (out / "manifest.json").exists():
            return False
        return set(self._store.counts_in(out)) == {"edge", "triangle", "2-star"}


def calls_of(work: Callable[[], None], killed_at: int | None = None) -> int:
    """How many calls there are in the work; this process may be killed at one of them."""
    count = 0

    def note(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if count == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def killed_at(moment: int, work: Callable[[], None]) -> None:
    """Do the work in a process that is killed at its `moment`-th call."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    calls_of(work, moment)
    os._exit(0)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def main(what: str, folder: Path, moments: int) -> dict[str, Any]:
    work = {"pack": Packing, "count": Counting}[what](folder)
    work(folder / "compiled")
    count = calls_of(lambda: work(folder / "whole"))
    expected, wrong, unfinished = contents(folder / "whole"), [], 0
    for moment in np.linspace(1, count, moments).astype(int).tolist():
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        killed_at(moment, lambda out=out: work(out))  # type: ignore[misc]
        try:
            done = work.finished(out)
            unfinished += not done
            if not done:
                work(out)
            found = contents(out)
        except (ValueError, OSError, KeyError, IndexError) as error:
            wrong.append(f"{moment} of {count}: {type(error).__name__}: {error}")
            continue
        if found != expected:
            names = sorted(name for name in found.keys() | expected if found.get(name) != expected.get(name))
            wrong.append(f"{moment} of {count}: {names}")
    return {"unfinished": unfinished, "wrong": wrong}


LEAST = {15: 10, 40: 30}
"""Moments, and how many of them are before the end."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("moments", [15, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("what", ["pack", "count"])
def test_killed_at_any_moment(what: str, moments: int, tmp_path: Path, repository: Path) -> None:
    words = ["-W", "ignore", "-m", "tests.store.test_killed", what, tmp_path, moments]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # the graphs of the benchmarks too
    done = python(*words, check=False, cwd=repository, env=paths, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert LEAST[moments] <= found["unfinished"] < moments  # at the last moments everything is there


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
