"""Against orbit-count, where it is installed (`make bench` does that), and bit for bit those of 0.2.0."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_graphs import barabasi_albert, erdos_renyi, powerlaw_cluster, rmat

import graphmotifs
from graphmotifs import MotifCounts

nx = pytest.importorskip("networkx")

# Column of ours for each column of orbit-count, whose order swaps two of the tailed triangle's orbits.
ORBIT_COUNT_ORDER = [1, 2, 3, 4, 5, 6, 7, 9, 8, 10, 11, 12]

RANDOM = {
    "sparse": lambda: erdos_renyi(300, 900, seed=1),
    "dense": lambda: erdos_renyi(60, 900, seed=2),
    "hubs": lambda: barabasi_albert(400, 5, seed=3),
    "triangles": lambda: powerlaw_cluster(400, 6, 0.7, seed=4),
    "skewed": lambda: rmat(8, 1200, seed=5),
}


def read(folder: Path, name: str) -> tuple[int, np.ndarray]:
    with np.load(folder / "graphs" / f"{name}.npz", allow_pickle=False) as file:
        return int(file["n"]), file["edge"].T


@pytest.fixture(params=[*RANDOM, "ca-GrQc"])
def edges(request: pytest.FixtureRequest) -> np.ndarray:
    """int64 [2, M], u < v, sorted."""
    if request.param in RANDOM:
        return RANDOM[request.param]()
    return graphmotifs.count(read(request.getfixturevalue("data_root"), request.param)[1]).pairs.T.copy()


def test_orbit_count(edges: np.ndarray) -> None:
    orbit_count = pytest.importorskip("orbit_count")
    graph = nx.Graph()
    graph.add_nodes_from(range(edges.max() + 1))
    graph.add_edges_from(edges.T.tolist())
    counts = graphmotifs.count(edges)
    nodes = orbit_count.node_orbit_counts(graph, graphlet_size=4)
    np.testing.assert_array_equal(np.asarray(nodes), counts.per_node)
    found = orbit_count.edge_orbit_counts(graph, graphlet_size=4)
    order = [tuple(sorted(edge)) for edge in graph.edges]
    of_pair = {pair: row for row, pair in enumerate(map(tuple, counts.pairs.tolist()))}
    ours = counts.per_edge[[of_pair[pair] for pair in order]][:, ORBIT_COUNT_ORDER]
    np.testing.assert_array_equal(np.asarray(found), ours)


DIGESTS = {
    "ca-AstroPh": "843cf6db7fc832b673f3ac9494e57bb8",
    "ca-GrQc": "cb6446a5222f68a86d2429ee3c07276f",
    "coAuthorsDBLP": "74dcfc00bd606478928ed74c09b4d37b",
    "email-Enron": "44ab398e67a80f35e66778927fcb6c20",
    "facebook_combined": "aea306a42388782cfc74fe5a4167a088",
    "luxembourg_osm": "18b0d35dadf6f1998b48094ad8ca8ccb",
}
PAIR_DIGESTS = {
    "ca-GrQc": "9745baf4c0a7bd4b287afcb5be7af4ad",
    "facebook_combined": "a57d753c8544649e52e8e55eb80bdccc",
    "luxembourg_osm": "eb054ca2d2b28239e7f5172390cf9634",
}


def digest(name: str, data_root: Path, arrays: Callable[[MotifCounts], Iterable[Any]]) -> str:
    """The first half of the SHA-256 of what is counted in a public graph, induced and not."""
    n, edges = read(data_root, name)
    sha = hashlib.sha256()
    for induced in (True, False):
        for numbers in arrays(graphmotifs.count(edges, n, induced=induced)):
            sha.update(np.ascontiguousarray(numbers, "<i8").tobytes())
    return sha.hexdigest()[:32]


def of_pairs(counts: MotifCounts) -> Iterator[Any]:
    for graphlet in graphmotifs.GRAPHLETS:
        matrix = counts.adjacency(graphlet, scope="pairs")
        yield from (matrix.indptr, matrix.indices, matrix.data)


@pytest.mark.parametrize("name", DIGESTS)
def test_edges_and_nodes(name: str, data_root: Path) -> None:
    found = digest(name, data_root, lambda counts: (counts.pairs, counts.per_edge, counts.per_node))
    assert found == DIGESTS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIR_DIGESTS)
def test_pairs_of_nodes(name: str, data_root: Path) -> None:
    assert digest(name, data_root, of_pairs) == PAIR_DIGESTS[name]
