"""The ranked graph, and passes over it on threads, on a Ray cluster and where no kernel can be kept."""

import math
import os
import shutil
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import python, refuses, rows_of
from random_graphs import barabasi_albert, erdos_renyi, powerlaw_cluster, rmat

import graphmotifs
from graphmotifs import edge_kernels, passes, simple_graph
from graphmotifs.oriented import orient, orient_by_id
from graphmotifs.passes import enumerate_edges, new_counters, plan_passes, range_counter


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_orientation_of_a_graph_with_hubs_and_long_lists(threads: int) -> None:
    """Nodes are ranked by degree, ties by id; every edge leaves its lower end, and few leave a node."""
    hub = np.stack([np.zeros(300, np.int64), np.arange(1, 301)])
    graph = simple_graph(np.concatenate([hub, barabasi_albert(200, 8, seed=2)], axis=1))
    n, m = graph.num_nodes, graph.num_edges
    g = orient(graph, threads)
    order = np.argsort(graph.degrees, kind="stable")
    rank = np.argsort(order)
    np.testing.assert_array_equal(g.degree, graph.degrees[order])
    lows = np.repeat(np.arange(n), np.diff(g.out_ptr.astype(np.int64)))
    highs = np.repeat(np.arange(n), np.diff(g.in_ptr.astype(np.int64)))
    expected = np.sort(rank[graph.pairs], axis=1)
    np.testing.assert_array_equal(np.stack([lows, g.out], axis=1), expected[g.pair])
    assert sorted(g.pair.tolist()) == list(range(m))
    assert (np.diff(lows * n + g.out) > 0).all()  # lists are sorted
    both = np.unique(np.concatenate([expected, expected[:, ::-1]]), axis=0)
    np.testing.assert_array_equal(g.rows, both[:, 1])  # rows have the neighbours of every node, sorted
    np.testing.assert_array_equal(both[g.place, 1], highs)  # the in-lists name the same edges
    np.testing.assert_array_equal(both[g.place, 0], both[both[:, 0] > both[:, 1], 1])
    assert (np.diff(g.out_ptr.astype(np.int64)) <= math.isqrt(2 * m)).all()


NAMES = ("t", "s1", "s2", "k", "c")


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_graphs_of_few_steps_are_counted_as_numbered(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "SMALL", 0)
    monkeypatch.setattr(passes, "_LITTLE", 0)
    cliques = np.array([(u, u + d) for u in range(0, 90) for d in (1, 2, 3)]).T
    graph = simple_graph(np.concatenate([erdos_renyi(300, 900, seed=4), cliques], axis=1))
    g, found = orient_by_id(graph, threads, both=True), enumerate_edges(graph, threads)
    np.testing.assert_array_equal(g.degree, graph.degrees)
    np.testing.assert_array_equal(g.rows, graph.edge_index[1])
    monkeypatch.setattr(passes, "orient_by_id", lambda *_given, **_options: None)
    ranked = enumerate_edges(graph, 1)
    for name in NAMES:
        np.testing.assert_array_equal(getattr(found, name), getattr(ranked, name))
        assert getattr(ranked, name).any()
    star = np.stack([np.zeros(300, np.int64), np.arange(1, 301)])
    assert orient_by_id(simple_graph(star), both=True) is None
    assert orient_by_id(simple_graph(star)) is not None  # no list that an edge points at has an entry


def test_ranges_add_up_to_the_whole() -> None:
    edges = powerlaw_cluster(300, 6, 0.5, seed=3)
    graph = simple_graph(edges, 305)
    g = orient(graph)
    plan = plan_passes(g, 3, 7)
    assert len(plan.triangles) > 5

    def added(what: str, bounds, kind, t=None) -> list[np.ndarray]:
        parts = []
        for start, stop in list(pairwise(bounds))[::-1]:  # any order will do
            counters = list(new_counters(what, graph.num_edges, kind))
            range_counter(what, g, plan.room, t, counters)(int(start), int(stop))
            parts.append(counters)
        return [sum(each) for each in zip(*parts, strict=True)]

    t, s1 = added("triangles", plan.triangles, np.uint32)
    assert np.array_equal(added("triangles alone", plan.triangles, np.uint32)[0], t)
    s2, k = added("cliques", plan.triangles, np.uint32, t)
    c = edge_kernels.fold(*added("cycles", plan.cycles, np.uint32), g)
    expected = enumerate_edges(graph, 1)
    for name, found in zip(NAMES, (t, s1, s2, k), strict=False):
        assert np.array_equal(found, getattr(expected, name)[g.pair]), name
    assert np.array_equal(c, expected.c)


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_a_lost_machine_changes_nothing(tmp_path: Path, packed: bool) -> None:
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    edges = rmat(12, 40_000, seed=1)
    rows = rows_of(edges, 2**12, tmp_path) if packed else None
    expected = graphmotifs.count(edges, 2**12)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        lost = cluster.add_node(num_cpus=1)
        cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False)
        shares: list[float] = []
        gone = threading.Event()

        def progress(share: float) -> None:
            shares.append(share)
            if share > 0.2 and not gone.is_set():
                gone.set()
                cluster.remove_node(lost, allow_graceful=False)
                time.sleep(1)

        found = graphmotifs.count(edges if rows is None else rows, 2**12, engine="ray", progress=progress)
        assert gone.is_set()
        assert shares[-1] == 1.0
        for name in NAMES:
            assert np.array_equal(getattr(found.enumerated, name), getattr(expected.enumerated, name)), name
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_wrong_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    refuses("engine must be one of local, ray, got 'spark'", graphmotifs.count, [[0], [1]], engine="spark")
    refuses("is of a Ray cluster; it needs engine='ray'", graphmotifs.count, [[0], [1]], address="auto")
    monkeypatch.setitem(sys.modules, "ray", None)  # the extra that has it is named
    refuses(r"pip install 'graphmotifs\[ray\]'", graphmotifs.count, [[0], [1]], engine="ray")


COUNT = """
import graphmotifs
counts = graphmotifs.count([[0, 0, 1, 2, 3], [1, 2, 2, 3, 0]])
print(graphmotifs.__file__)
print(*(counts.column(name).tolist() for name in ("triangle", "chordal-cycle")), counts.per_node[0].tolist())
"""


@pytest.mark.slow
def test_a_read_only_install_counts(tmp_path: Path) -> None:
    source = Path(graphmotifs.__file__).parent
    package = tmp_path / "graphmotifs"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("in the way, for root too")
    nowhere = "/proc/nowhere"
    places = ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "IPYTHONDIR", "MPLCONFIGDIR")
    environment = os.environ | dict.fromkeys(places, nowhere)
    environment |= {"PYTHONPATH": str(tmp_path), "NUMBA_OPT": "0"}  # that it compiles, not how well
    done = python("-c", COUNT, env=environment, cwd=tmp_path, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    where, numbers = done.stdout.splitlines()
    assert Path(where).parent == package
    # The 4-cycle 0-1-2-3 with the chord 0-2; pairs 01 02 03 12 23.
    assert numbers == "[1, 2, 1, 1, 1] [1, 1, 1, 1, 1] [3, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]"
    assert not list(tmp_path.rglob("*.nb[ci]"))
