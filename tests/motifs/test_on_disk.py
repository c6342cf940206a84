"""Counts of a packed graph: the store knows them, and refuses those of another graph."""

from pathlib import Path

import numpy as np
import pytest
import random_graphs

import mcn
from graphmotifs import simple_graph
from tests.conftest import refuses

EDGES = random_graphs.powerlaw_cluster(400, 6, 0.6, seed=2)
N = 403  # three nodes without edges


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> mcn.GraphStore:
    return mcn.GraphStore.write(tmp_path_factory.mktemp("store") / "graph", [EDGES], N)


def per_neighbour(counts: mcn.MotifCounts, motif: str) -> np.ndarray:
    """What the store's entries must hold, from the symmetric matrix: an independent way."""
    dense = counts.adjacency(motif).toarray()
    source, target = simple_graph(EDGES, N).edge_index
    return dense[source, target]


def test_counts_in_a_folder_of_their_own(store: mcn.GraphStore, tmp_path: Path) -> None:
    found = mcn.count_motifs(store, motifs=["edge", "2-star", "triangle"], out=tmp_path)
    assert set(found) == {"edge", "2-star", "triangle"}
    assert isinstance(found["triangle"], np.memmap)
    expected = mcn.count_motifs(EDGES, N)
    for motif, values in found.items():
        assert np.array_equal(values, per_neighbour(expected, motif)), motif
    files = ["count.2-star.npy", "count.triangle.npy", "manifest.json"]
    assert sorted(file.name for file in tmp_path.iterdir()) == files


def test_every_motif_into_the_store_itself(store: mcn.GraphStore) -> None:
    expected = mcn.count_motifs(EDGES, N)
    mcn.count_motifs(store, out=store.path)
    mcn.count_motifs(store, motifs=["4-path"], out=store.path)
    counts = mcn.GraphStore.open(store.path, verify=True).counts
    assert set(counts) == {*mcn.EDGE_ORBITS, "4-path"}
    for motif, values in counts.items():
        assert np.array_equal(values, per_neighbour(expected, motif)), motif


def test_a_store_counts_in_memory_as_its_edges_do(store: mcn.GraphStore) -> None:
    assert np.array_equal(mcn.count_motifs(store).per_edge, mcn.count_motifs(EDGES, N).per_edge)
    refuses(r"num_nodes is 5, but .* has 403 nodes", mcn.count_motifs, store, 5)
    estimates = mcn.count_motifs(store, approximate=0.1)
    assert estimates == mcn.count_motifs(EDGES, N, approximate=0.1)


def test_refusals(store: mcn.GraphStore, tmp_path: Path) -> None:
    refuses(r"out= is for counts of an mcn.GraphStore", mcn.count_motifs, EDGES, out=tmp_path)
    how = {"motifs": ["triangle"], "out": store.path, "induced": False}
    refuses("counts are of induced subgraphs", mcn.count_motifs, store, **how)
    other = mcn.GraphStore.write(tmp_path / "other", [[[0, 1, 2], [1, 2, 0]]])
    how = {"motifs": ["triangle"], "out": tmp_path / "counts"}
    mcn.count_motifs(other, **how)
    refuses("these counts are of another graph", mcn.count_motifs, store, **how)
