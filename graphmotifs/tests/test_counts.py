"""Counts: against brute force, as columns and matrices, and stored; files that are damaged or altered."""

import os
import pickle
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import count, instances, small_graph
from conftest import refuses
from random_graphs import powerlaw_cluster

import graphmotifs
from graphmotifs import MotifCounts, passes
from graphmotifs.catalogue import CATALOGUE
from graphmotifs.graph import simple_graph
from graphmotifs.oriented import orient
from graphmotifs.passes import Enumerated


class Call:
    """Unpickled by calling `function(*args)`, if one lets it."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self.function, self.args = function, args

    def __reduce__(self) -> Any:
        return self.function, self.args


EDGES = [[0, 0, 1, 2, 3, 0], [1, 2, 2, 3, 4, 4]]  # a triangle and a 4-cycle that share the edge 0-2


@pytest.fixture
def counts() -> MotifCounts:
    return graphmotifs.count(EDGES, 6)


def edge_array(edges: Any) -> np.ndarray:
    return np.array(edges, np.int64).reshape(-1, 2).T


def saved(counts: MotifCounts, folder: Path) -> tuple[Path, dict[str, Any]]:
    """A file of counts, and the arrays in it."""
    counts.save(folder / "counts.npz")
    with np.load(folder / "counts.npz") as file:
        return folder / "counts.npz", dict(file)


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_columns_adjacencies_and_totals(seed: int, induced: bool) -> None:
    n, edges = small_graph(seed)
    counts = graphmotifs.count(edge_array(edges), n, induced=induced)
    table = dict(zip(graphmotifs.EDGE_ORBITS, counts.per_edge.T, strict=True))
    for g in CATALOGUE:
        table[g.name] = sum(table[orbit] for orbit, _ in g.edge_orbits)
    for name, expected in table.items():
        column, matrix = counts.column(name), counts.adjacency(name)
        assert column.dtype == matrix.dtype == np.int64
        np.testing.assert_array_equal(column, expected)
        assert matrix.has_sorted_indices
        assert (matrix.data > 0).all()
        dense = np.zeros((n, n), np.int64)
        dense[tuple(counts.pairs.T)] = expected
        np.testing.assert_array_equal(matrix.toarray(), dense + dense.T)
    found = Counter(name for name, _ in instances(n, edges, induced))
    totals = counts.totals()
    assert [line.orbit for line in totals] == list(graphmotifs.EDGE_ORBITS)
    for line in totals:
        column = counts.column(line.orbit)
        assert (line.instances, line.per_edge) == (found[line.graphlet], column.sum())
        assert line.edges == np.count_nonzero(column)
        assert line.nodes == len(np.unique(counts.pairs[column > 0]))


def test_scope_errors(counts: MotifCounts) -> None:
    refuses(r"^scope must be 'edges' or 'pairs', got 'nodes'$", counts.adjacency, "triangle", scope="nodes")
    with pytest.raises(ValueError, match=r"'4-path-edge' is one orbit of '4-path'; ask for '4-path'$"):
        counts.adjacency("4-path-edge", scope="pairs")
    refuses(r"^unknown motif 'square'", counts.adjacency, "square", scope="pairs")


def test_repr_and_summary(counts: MotifCounts) -> None:
    assert repr(counts) == "MotifCounts(6 nodes, 6 edges)"
    assert repr(graphmotifs.count(EDGES, induced=False)) == "MotifCounts(5 nodes, 6 edges, induced=False)"
    lines = counts.summary().splitlines()
    assert lines[0] == repr(counts)
    assert lines[1].split() == ["motif", "instances", "edge", "orbit", "on", "edges", "edges", "nodes"]
    assert len(lines) == 2 + 13
    assert lines[4].split() == ["triangle", "1", "triangle", "3", "3", "3"]
    assert lines[8].split() == ["4-cycle", "1", "4-cycle", "4", "4", "4"]
    assert all(line == line.rstrip() for line in lines)


MESSY = [[*EDGES[0], 3, 2], [*EDGES[1], 3, 0]]  # with a self-loop and a repeat


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("edges", [MESSY, [[], []]])
def test_save_and_load(tmp_path: Path, induced: bool, edges: list[list[int]]) -> None:
    counts = graphmotifs.count(edges, 9, induced=induced)
    counts.save(tmp_path / "counts.npz")
    assert [file.name for file in tmp_path.iterdir()] == ["counts.npz"]
    loaded = MotifCounts.load(str(tmp_path / "counts.npz"))
    assert loaded.induced is induced
    assert repr(loaded) == repr(counts)
    for name in ("num_nodes", "self_loops", "duplicates", "one_way"):
        assert getattr(loaded.graph, name) == getattr(counts.graph, name)
    np.testing.assert_array_equal(loaded.pairs, counts.pairs)
    np.testing.assert_array_equal(loaded.per_edge, counts.per_edge)
    np.testing.assert_array_equal(loaded.per_node, counts.per_node)
    assert loaded.totals() == counts.totals()
    assert (loaded.adjacency("4-path", scope="pairs") != counts.adjacency("4-path", scope="pairs")).nnz == 0


def test_saving_replaces_an_earlier_file_whole_or_leaves_it(counts: MotifCounts, tmp_path: Path) -> None:
    (tmp_path / "c.npz").write_bytes(b"something else, and longer than nothing")
    counts.save(tmp_path / "c.npz")
    assert MotifCounts.load(tmp_path / "c.npz").num_edges == 6
    (tmp_path / "folder").mkdir()
    refuses("folder", counts.save, tmp_path / "folder", error=OSError)
    with pytest.raises(FileNotFoundError):
        counts.save(tmp_path / "absent" / "c.npz")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["c.npz", "folder"]


def test_numbers_of_other_types_are_the_same_counts(counts: MotifCounts, tmp_path: Path) -> None:
    """A kernel is compiled for every mixture of types that it meets: a file decides over none of them."""
    path, content = saved(counts, tmp_path)
    for wide in (["t"], ["s1", "k"], ["s2"], ["t", "s1", "s2", "k", "c"]):
        np.savez(path, **(content | {name: content[name].astype(np.uint64) for name in wide}))
        found = MotifCounts.load(path)
        assert np.array_equal(found.per_edge, counts.per_edge)
        assert np.array_equal(found.per_node, counts.per_node)
        t, s1, s2, k, _ = found._numbers[-5:]
        assert t.dtype == s1.dtype == np.uint32
        assert s2.dtype == k.dtype
    for name in ("t", "s1"):
        np.savez(path, **(content | {name: np.full(6, 2**32, np.uint64)}))
        refuses("damaged or altered", MotifCounts.load, path)


# indptr [0 3 4 5 6 6 6], indices [1 2 4 2 3 4]
ALTERED: dict[str, dict[str, Any]] = {
    "another format": {"format": np.array("mcn-motif-counts-0")},
    "more nodes": {"num_nodes": np.array(7)},
    "fewer nodes": {"num_nodes": np.array(5)},
    "a negative number of nodes": {"num_nodes": np.array(-1)},
    "far too many nodes": {"num_nodes": np.array(2**62)},
    "pointers of another type": {"indptr": np.array([0, 3, 4, 5, 6, 6, 6], np.int32)},
    "pointers of another byte order": {"indptr": np.array([0, 3, 4, 5, 6, 6, 6], ">i8")},
    "pointers that start late": {"indptr": np.array([1, 3, 4, 5, 6, 6, 6])},
    "pointers that end early": {"indptr": np.array([0, 3, 4, 5, 5, 5, 5])},
    "pointers that end late": {"indptr": np.array([0, 3, 4, 5, 6, 6, 600])},
    "pointers that go back": {"indptr": np.array([0, 5, 4, 5, 6, 6, 6])},
    "a neighbour out of range": {"indices": np.array([1, 2, 99, 2, 3, 4], np.uint32)},
    "a neighbour below its node": {"indices": np.array([1, 2, 4, 0, 3, 4], np.uint32)},
    "a self-loop": {"indices": np.array([0, 2, 4, 2, 3, 4], np.uint32)},
    "signed neighbours": {"indices": np.array([1, 2, 4, 2, 3, 4], np.int64)},
    "neighbours in a matrix": {"indices": np.array([[1], [2], [4], [2], [3], [4]], np.uint32)},
    "too few counts": {"t": np.zeros(5, np.uint32)},
    "too many counts": {"c": np.zeros(7, np.uint32)},
    "counts that are not whole": {"s1": np.zeros(6, np.float64)},
    "signed counts": {"k": np.full(6, -1)},
    "an array missing": {"s2": None},
    "a number missing": {"induced": None},
    "neighbours out of order": {"indices": np.array([2, 1, 4, 2, 3, 4], np.uint32)},
    "an edge twice": {"indices": np.array([1, 1, 4, 2, 3, 4], np.uint32)},
    "neighbours without a length": {"indices": np.array(3, np.uint32)},
    "several numbers of nodes": {"num_nodes": np.array([6, 6])},
    "half a node": {"num_nodes": np.array(6.5)},
    "infinitely many nodes": {"num_nodes": np.array(np.inf)},
    "no pointers at all": {"indptr": np.empty(0, np.int64), "num_nodes": np.array(-1)},
    "neither induced nor not": {"induced": np.array(7)},
    "a negative number of self-loops": {"self_loops": np.array(-3)},
}


@pytest.mark.parametrize("changes", ALTERED.values(), ids=ALTERED)
def test_an_altered_file_is_refused(counts: MotifCounts, tmp_path: Path, changes: dict[str, Any]) -> None:
    path, content = saved(counts, tmp_path)
    np.savez(path, **content)
    assert MotifCounts.load(path).num_edges == 6
    content |= changes
    np.savez(path, **{name: value for name, value in content.items() if value is not None})
    refuses(f"^{re.escape(str(path))}: ", MotifCounts.load, path)


def test_truncated_and_with_a_flipped_byte(counts: MotifCounts, tmp_path: Path) -> None:
    path, _ = saved(counts, tmp_path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        refuses("not a file of motif counts, or damaged", MotifCounts.load, path)
    for place in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        try:
            loaded = MotifCounts.load(path)
        except ValueError:
            continue
        np.testing.assert_array_equal(loaded.per_edge, counts.per_edge)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "counts.npz"
    np.savez(path, edge=np.zeros((3, 2)))
    np.save(tmp_path / "a.npy", np.arange(3))
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    contents = [path.read_bytes(), (tmp_path / "a.npy").read_bytes(), (tmp_path / "b.npz").read_bytes()]
    for content in (*contents, b"", b"hello", pickle.dumps([1, 2])):
        path.write_bytes(content)
        refuses("not a file of motif counts", MotifCounts.load, path)
    with pytest.raises(FileNotFoundError):
        MotifCounts.load(tmp_path / "absent.npz")


def test_a_pickle_in_the_archive_is_refused_and_not_run(counts: MotifCounts, tmp_path: Path) -> None:
    (path, content), marker = saved(counts, tmp_path), tmp_path / "ran"
    touch = Call(os.system, f"touch {marker}")
    for name in content:
        np.savez(path, **(content | {name: np.array([touch], dtype=object)}))
        refuses("not a file of motif counts, or damaged", MotifCounts.load, path)
    path.write_bytes(pickle.dumps(touch))
    refuses("not a file of motif counts", MotifCounts.load, path)
    assert not marker.exists()
    np.save(tmp_path / "a.npy", np.array([touch], dtype=object))
    np.load(tmp_path / "a.npy", allow_pickle=True)  # the payload is real
    assert marker.exists()


def test_counts_made_by_hand_are_checked(counts: MotifCounts) -> None:
    parts = {name: getattr(counts.enumerated, name) for name in ("t", "s1", "s2", "k", "c")}
    for wrong in (parts["t"][:-1], parts["t"].astype(np.int64), parts["t"][:, None]):
        message = r"^enumerated\.k has shape .*; expected uint32 or uint64 of shape \[6\]"
        refuses(message, MotifCounts, counts.graph, Enumerated(**(parts | {"k": wrong})))


IMPOSSIBLE = {
    "more triangles than neighbours": {"t": 99},
    "4-cliques without triangles": {"k": 5},
    "more 4-cycles than pairs of neighbours": {"c": 10**6},
    "degrees beyond the graph": {"s1": 10**9},
    "numbers that would overflow": {"s2": 2**64 - 1},
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_counts_that_no_graph_has_are_refused(name: str, counts: MotifCounts, tmp_path: Path) -> None:
    path, content = saved(counts, tmp_path)
    ((array, value),) = IMPOSSIBLE[name].items()
    content[array] = content[array].astype(np.uint64)
    np.savez(path, **content)
    np.testing.assert_array_equal(MotifCounts.load(path).per_edge, counts.per_edge)
    content[array][1] = value
    np.savez(path, **content)
    refuses("do not make up motif counts; it was damaged or altered", MotifCounts.load, path)


@pytest.mark.parametrize("induced", [True, False])
def test_equals_brute_force(induced: bool) -> None:
    for seed in range(150):
        n, edges = small_graph(seed)
        counts = graphmotifs.count(edge_array(edges), n, induced=induced)
        per_edge, per_node, _ = count(n, edges, induced)
        assert counts.pairs.tolist() == sorted([min(e), max(e)] for e in edges)
        np.testing.assert_array_equal(counts.per_edge, per_edge, f"seed {seed}")
        np.testing.assert_array_equal(counts.per_node, per_node, f"seed {seed}")
        assert counts.per_edge.dtype == counts.per_node.dtype == counts.pairs.dtype == np.int64


@pytest.mark.parametrize("induced", [True, False])
def test_pairs_equal_brute_force_in_any_order_of_asking(induced: bool) -> None:
    for seed in range(100):
        n, edges = small_graph(seed, max_nodes=7)
        counts = graphmotifs.count(edge_array(edges), n, induced=induced)
        _, _, pairs = count(n, edges, induced)
        order = np.random.default_rng(seed).permutation(graphmotifs.GRAPHLETS).tolist()
        for name in (*order, *order):
            matrix = counts.adjacency(name, scope="pairs")
            assert matrix.dtype == np.int64
            np.testing.assert_array_equal(matrix.toarray(), pairs[name], err_msg=f"{name}, seed {seed}")


@pytest.fixture(scope="module")
def larger():
    """Big enough to be shared out: 120,000 edges with hubs and many triangles."""
    edges = powerlaw_cluster(6000, 20, 0.6, seed=3)
    widest = int(np.diff(orient(simple_graph(edges)).out_ptr).max())
    assert edges.shape[1] >= passes.SMALL
    assert edges.shape[1] * widest >= passes._LITTLE
    return edges


def test_threads_do_not_matter_and_progress_ends_at_one(larger):
    seen: list[float] = []
    first = graphmotifs.count(larger, threads=1, progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) > 50  # three phases in some dozens of chunks
    assert seen[-1] == pytest.approx(1)
    for threads in (2, 3, 1024, None):
        other = graphmotifs.count(larger, threads=threads)
        np.testing.assert_array_equal(first.per_edge, other.per_edge)
    edge = first.adjacency("edge")
    triangles = (edge @ edge * edge).sum(axis=1) // 2
    assert first.per_node[:, 3].tolist() == triangles.tolist()


def test_wide_counters(monkeypatch):
    """Where 32 bits might not hold a count, 64 are used, with the same result."""
    edges = powerlaw_cluster(60, 8, 0.8, seed=1)
    narrow = graphmotifs.count(edges)
    monkeypatch.setattr(passes, "_WORD", 1000)
    wide = graphmotifs.count(edges)
    assert narrow.enumerated.c.dtype == np.uint32
    assert wide.enumerated.c.dtype == wide.enumerated.k.dtype == np.uint64
    np.testing.assert_array_equal(narrow.per_edge, wide.per_edge)


@pytest.mark.parametrize(
    "threads", [0, -1, 1.5, True, 10**5, 1025, float("inf"), float("nan"), "2", [2], 2**70, np.ones(2)]
)
def test_bad_threads(threads):
    with pytest.raises(ValueError, match="threads must be a positive integer up to 1024, got "):
        graphmotifs.count([[0], [1]], threads=threads)
