"""Counts of a graph on disk: equal to those in memory, whatever the buffer, also after an interruption."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import random_graphs
from conftest import refuses, rows_of

import graphmotifs
from graphmotifs import GraphRows, MotifCounts, on_disk, simple_graph
from graphmotifs.catalogue import stage_of

EDGES = random_graphs.powerlaw_cluster(400, 6, 0.6, seed=2)
N = 403  # three nodes without edges


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> GraphRows:
    return rows_of(EDGES, N, tmp_path_factory.mktemp("rows"))


def per_neighbour(counts: MotifCounts, motif: str) -> np.ndarray:
    """What the store's entries must hold, from the symmetric matrix: an independent way."""
    dense = counts.adjacency(motif).toarray()
    source, target = simple_graph(EDGES, N).edge_index
    return dense[source, target]


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("edges_of_a_block", [16, 300, 10**6])
@pytest.mark.parametrize("threads", [1, 2])
def test_triangles_and_stars_within_any_buffer(
    store: GraphRows,
    tmp_path: Path,
    monkeypatch,
    induced: bool,
    edges_of_a_block: int,
    threads: int,
) -> None:
    monkeypatch.setattr(on_disk, "_LEAST", edges_of_a_block)
    monkeypatch.setattr(on_disk, "_UNIT", 100)
    expected = graphmotifs.count(EDGES, N, induced=induced)
    options = {"induced": induced, "threads": threads, "memory": 2**16}
    found = graphmotifs.count(store, motifs=["edge", "2-star", "triangle"], out=tmp_path, **options)
    assert set(found) == {"edge", "2-star", "triangle"}
    assert isinstance(found["triangle"], np.memmap)
    for motif, values in found.items():
        assert np.array_equal(values, per_neighbour(expected, motif)), motif
    files = ["count.2-star.npy", "count.triangle.npy"]
    assert sorted(file.name for file in tmp_path.iterdir()) == files


def test_every_motif_into_a_folder(store: GraphRows, tmp_path: Path) -> None:
    expected = graphmotifs.count(EDGES, N)
    names = [*graphmotifs.EDGE_ORBITS, "4-path"]
    for motif, values in graphmotifs.count(store, motifs=names, out=tmp_path).items():
        assert np.array_equal(values, per_neighbour(expected, motif)), motif
        names.remove(motif)
    assert names == []


def test_rows_count_in_memory_as_their_edges_do(store: GraphRows) -> None:
    assert np.array_equal(graphmotifs.count(store).per_edge, graphmotifs.count(EDGES, N).per_edge)
    refuses(r"num_nodes is 5, but .* has 403 nodes", graphmotifs.count, store, 5)
    assert graphmotifs.count(store, approximate=0.1) == graphmotifs.count(EDGES, N, approximate=0.1)


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 1, 2], [1, 5], r"entry 1 \(in row 1\) is in column 5"),
        ([0, 2, 3, 4], [2, 1, 0, 0], "the neighbours of node 0 are not ascending"),
        ([0, 1, 1], [1], "not every edge stands in the rows of both its nodes"),
    ],
)
def test_rows_that_are_no_graph(indptr: list[int], indices: list[int], message: str) -> None:
    rows = GraphRows(np.array(indptr), np.array(indices, np.int32))
    refuses(message, graphmotifs.count, rows)


class Stop(Exception):
    pass


def test_an_interrupted_count_is_begun_anew(store: GraphRows, tmp_path: Path, monkeypatch: Any) -> None:
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
        graphmotifs.count(store, **how)
    assert list(tmp_path.iterdir()) == []
    found = graphmotifs.count(store, **how)["triangle"]
    assert np.array_equal(found, per_neighbour(graphmotifs.count(EDGES, N), "triangle"))


def test_refusals(store: GraphRows, tmp_path: Path) -> None:
    refuses(r"out= is for counts of GraphRows", graphmotifs.count, EDGES, out=tmp_path)
    refuses("memory must be at least", graphmotifs.count, store, motifs=["triangle"], out=tmp_path, memory=10)
    refuses("unknown motif 'square'", graphmotifs.count, store, motifs=["square"], out=tmp_path)
    refuses(r"write \['triangle'\]", graphmotifs.count, EDGES, motifs="triangle")


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("motif", ["edge", "triangle", "4-clique", "tailed-triangle", "4-cycle"])
def test_only_what_is_needed_is_counted(tmp_path: Path, motif: str, induced: bool) -> None:
    everything = graphmotifs.count(EDGES, N, induced=induced)
    some = graphmotifs.count(EDGES, N, motifs=[motif], induced=induced)
    stage = stage_of(motif, induced)
    assert some.enumerated.stage == stage
    assert (some.enumerated.k is None) == (stage < 2)
    some.save(tmp_path / "some.npz")
    again = MotifCounts.load(tmp_path / "some.npz")
    for counts in (some, again):
        assert motif in counts.motifs
        for name in counts.motifs:
            assert np.array_equal(counts.column(name), everything.column(name)), name
        known = {line.orbit: line for line in everything.totals()}
        assert all(line == known[line.orbit] for line in counts.totals())
    for name in set(graphmotifs.MOTIFS) - set(some.motifs):
        refuses("this motif was not counted", some.column, name)
    if stage < 3:
        with pytest.raises(ValueError, match="per_edge needs all motifs"):
            _ = some.per_edge
