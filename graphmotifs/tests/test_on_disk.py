"""Counts of a graph on disk: equal to those in memory, whatever the buffer, also after an interruption."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import random_graphs
from tests.conftest import refuses

import mcn
from graphmotifs import on_disk
from graphmotifs.catalogue import stage_of
from mcn.data import simple_graph

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


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("edges_of_a_block", [16, 300, 10**6])
@pytest.mark.parametrize("threads", [1, 2])
def test_triangles_and_stars_within_any_buffer(
    store: mcn.GraphStore, tmp_path: Path, monkeypatch, induced: bool, edges_of_a_block: int, threads: int
) -> None:
    monkeypatch.setattr(on_disk, "_LEAST", edges_of_a_block)
    monkeypatch.setattr(on_disk, "_UNIT", 100)
    expected = mcn.count_motifs(EDGES, N, induced=induced)
    options = {"induced": induced, "threads": threads, "memory": 2**16}
    found = mcn.count_motifs(store, motifs=["edge", "2-star", "triangle"], out=tmp_path, **options)
    assert set(found) == {"edge", "2-star", "triangle"}
    assert isinstance(found["triangle"], np.memmap)
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


class Stop(Exception):
    pass


def test_an_interrupted_count_is_begun_anew(store: mcn.GraphStore, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(on_disk, "_LEAST", 300)
    monkeypatch.setattr(on_disk, "_UNIT", 50)
    kept = tmp_path / ".counting" / "lists.u32"  # as a count that was killed leaves it
    kept.parent.mkdir()
    kept.write_bytes(b"another graph's")
    done: list[float] = []

    def progress(fraction: float) -> None:
        done.append(fraction)
        if len(done) == 5:
            raise Stop

    how = {"motifs": ["triangle"], "out": tmp_path, "threads": 1, "memory": 2**16, "progress": progress}
    with pytest.raises(Stop):
        mcn.count_motifs(store, **how)
    assert list(tmp_path.iterdir()) == []
    found = mcn.count_motifs(store, **how)["triangle"]
    assert np.array_equal(found, per_neighbour(mcn.count_motifs(EDGES, N), "triangle"))


def test_refusals(store: mcn.GraphStore, tmp_path: Path) -> None:
    refuses(r"out= is for counts of an mcn.GraphStore", mcn.count_motifs, EDGES, out=tmp_path)
    refuses("memory must be at least", mcn.count_motifs, store, motifs=["triangle"], out=tmp_path, memory=10)
    how = {"motifs": ["triangle"], "out": store.path, "induced": False}
    refuses("counts are of induced subgraphs", mcn.count_motifs, store, **how)
    refuses("unknown motif 'square'", mcn.count_motifs, store, motifs=["square"], out=tmp_path)
    refuses(r"write \['triangle'\]", mcn.count_motifs, EDGES, motifs="triangle")
    other = mcn.GraphStore.write(tmp_path / "other", [[[0, 1, 2], [1, 2, 0]]])
    how = {"motifs": ["triangle"], "out": tmp_path / "counts"}
    mcn.count_motifs(other, **how)
    refuses("these counts are of another graph", mcn.count_motifs, store, **how)


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("motif", ["edge", "triangle", "4-clique", "tailed-triangle", "4-cycle"])
def test_only_what_is_needed_is_counted(tmp_path: Path, motif: str, induced: bool) -> None:
    everything = mcn.count_motifs(EDGES, N, induced=induced)
    some = mcn.count_motifs(EDGES, N, motifs=[motif], induced=induced)
    stage = stage_of(motif, induced)
    assert some.enumerated.stage == stage
    assert (some.enumerated.k is None) == (stage < 2)
    some.save(tmp_path / "some.npz")
    again = mcn.MotifCounts.load(tmp_path / "some.npz")
    for counts in (some, again):
        assert motif in counts.motifs
        for name in counts.motifs:
            assert np.array_equal(counts.column(name), everything.column(name)), name
        known = {line.orbit: line for line in everything.totals()}
        assert all(line == known[line.orbit] for line in counts.totals())
    for name in set(mcn.motifs.MOTIFS) - set(some.motifs):
        refuses("this motif was not counted", some.column, name)
    if stage < 3:
        with pytest.raises(ValueError, match="per_edge needs all motifs"):
            _ = some.per_edge
