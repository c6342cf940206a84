"""A graph on disk: what is written is what is read, and a file that is not the one written is noticed."""

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import mcn
from graphmotifs.graph import simple_graph
from mcn import GraphStore
from mcn.data.edge_list import describe_graph
from mcn.data.fields import with_checksum
from tests.conftest import python, refuses

EDGES = np.array([[0, 0, 1, 2, 2, 3, 1, 0], [1, 2, 2, 3, 3, 2, 1, 1]])


def small(path: Path, **given) -> GraphStore:
    return GraphStore.write(path / "graph", [EDGES[:, :3], EDGES[:, 3:]], **given)


def test_rows_are_those_of_the_simple_graph(tmp_path: Path) -> None:
    store = small(tmp_path, num_nodes=6)
    assert (store.num_nodes, store.num_edges) == (6, 4)
    assert store.indptr.tolist() == [0, 2, 4, 7, 8, 8, 8]
    assert store.indices.tolist() == [1, 2, 0, 2, 0, 1, 3, 2]
    assert isinstance(store.indices, np.memmap)
    assert not store.indices.flags.writeable
    graph = simple_graph(EDGES, 6)
    assert store.about["report"] == [describe_graph(graph)]
    assert "1 self-loops dropped; 2 repeated" in describe_graph(graph)
    assert store.x is store.y is store.train_mask is None
    assert store.counts["edge"].tolist() == [1] * 8


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30), max_size=4),
    st.sampled_from([0, 64]),
)
def test_any_pieces_give_the_same_graph_as_memory_does(tmp_path_factory, pieces, memory) -> None:
    path = tmp_path_factory.mktemp("store") / "graph"
    arrays = [np.array(piece, np.int64).reshape(-1, 2).T for piece in pieces]
    store = GraphStore.write(path, arrays, 10, memory=memory)
    graph = simple_graph(np.concatenate([np.empty((2, 0), np.int64), *arrays], axis=1), 10)
    rows = np.repeat(np.arange(10), np.diff(store.indptr))
    assert np.array_equal(np.stack([rows, store.indices]), graph.edge_index)
    assert store.about["report"] == [describe_graph(graph)]
    store.verify()


@pytest.mark.parametrize("ids", [[3, 5, 7, 5], ["a", "b", "a", "c"]])
def test_two_nodes_of_one_id(ids: list, tmp_path: Path) -> None:
    store = small(tmp_path, ids=ids)
    refuses(r"graph: two nodes have one id", store.to_data)


def test_many_runs_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcn.store.write.LEAST_KEYS", 600)  # runs of 300 edges
    edges = np.random.default_rng(0).integers(0, 60, (2, 3000))
    store = GraphStore.write(tmp_path / "graph", np.array_split(edges, 7, axis=1), memory=0)
    graph = simple_graph(edges)
    assert store.indices.tolist() == graph.edge_index[1].tolist()
    assert store.about["report"] == [describe_graph(graph)]
    files = {file.name for file in store.path.iterdir()}
    assert files == {"indices.npy", "indptr.npy", "manifest.json"}


def test_features_dense_and_sparse_labels_split_and_ids(tmp_path: Path) -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    masks = {f"{part}_mask": np.arange(4) == at for at, part in enumerate(("train", "val", "test"))}
    ids, labels = ["a", "bé", "", "d\0"], {"y": [0, 1, -1, 1], "classes": ["no", "yes"]}
    store = small(tmp_path, x=[x[:3], x[3:]], ids=ids, **labels, **masks)
    assert np.array_equal(store.x, x)
    assert list(store.ids) == ids
    data = store.to_data()
    assert torch.equal(data.x, torch.from_numpy(x))
    assert data.y.tolist() == [0, 1, -1, 1]
    assert data.classes == ["no", "yes"]
    assert data.node_ids.tolist() == ids
    assert data.val_mask.tolist() == [False, True, False, False]
    assert data.edge_index.tolist() == simple_graph(EDGES).edge_index.tolist()
    x = sparse.csr_array(np.array([[0, 1], [0, 0], [2, 0], [0, 3]], np.float32))
    store = small(tmp_path / "sparse", x=x, ids=np.array([10, 20, 30, 40]))
    assert store.x is None
    assert store.x_values.tolist() == [1, 2, 3]
    assert store.num_features == 2
    data = store.to_data()
    assert torch.equal(data.x.to_dense(), torch.from_numpy(x.toarray()))
    assert data.node_ids.tolist() == [10, 20, 30, 40]


def test_a_store_is_sent_by_its_path_and_opened_without_torch(tmp_path: Path) -> None:
    store = small(tmp_path)
    assert len(pickle.dumps(store)) < 300
    assert pickle.loads(pickle.dumps(store)).indices.tolist() == store.indices.tolist()
    code = "import mcn, sys; mcn.GraphStore.open(sys.argv[1], verify=True); assert 'torch' not in sys.modules"
    python("-c", code, store.path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"num_nodes": 3}, r"piece 1: column 0 is \(2, 3\); expected node numbers in 0\.\.2"),
        ({"num_nodes": -1}, "num_nodes must be 0 to"),
        ({"x": np.zeros((3, 2))}, "x has 3 rows for 4 nodes"),
        ({"x": np.zeros(4)}, r"x has shape \[4\]; expected \[N, F\]"),
        ({"x": [np.zeros((2, 3)), np.zeros((2, 2))]}, r"x.npy: rows of shape \[2\]; expected 3 columns"),
        ({"y": [0, 1]}, r"y has shape \[2\], dtype int64; expected int64 of shape \[4\]"),
        ({"y": [0.5, 1, 0, 1]}, r"y has shape \[4\], dtype float64; expected int64"),
        ({"train_mask": [1, 0, 0, 0]}, "train_mask has shape .* expected bool"),
        ({"ids": ["a"]}, "1 ids for 4 nodes"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_no_store(tmp_path: Path, given, said) -> None:
    refuses(said, small, tmp_path, **given)
    assert not (tmp_path / "graph").exists()


def test_a_folder_without_a_manifest_and_one_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    refuses(r"holds no packed graph \(no manifest.json\)", GraphStore.open, tmp_path)
    refuses("no such folder", GraphStore.open, tmp_path / "nowhere", error=FileNotFoundError)
    (tmp_path / "manifest.json").write_bytes(b"\xff{")
    refuses(r"manifest.json: not a manifest", mcn.GraphStore.open, tmp_path)
    small(tmp_path)
    refuses("holds a packed graph already", small, tmp_path, error=FileExistsError)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    refuses("not an empty folder", GraphStore.write, tmp_path / "other", [EDGES], error=FileExistsError)


def altered(store: GraphStore, name: str, place: int, value: int) -> None:
    with (store.path / f"{name}.npy").open("r+b") as file:
        file.seek(128 + place * np.dtype(store.entries[name].dtype).itemsize)
        file.write(np.array(value, store.entries[name].dtype).tobytes())


def test_a_truncated_file_another_header_and_pointers_that_go_back_are_noticed(tmp_path: Path) -> None:
    store = small(tmp_path)
    path = store.path / "indices.npy"
    whole, another = path.read_bytes(), r"indices.npy: the file is truncated or another one"
    path.write_bytes(whole[:-4])
    refuses(another, GraphStore.open, store.path)
    path.write_bytes(whole.replace(b"<i4", b"|O4"))
    refuses(f"{another}.*Python objects", GraphStore.open, store.path)
    path.unlink()
    refuses("indices", GraphStore.open, store.path, error=FileNotFoundError)
    path.write_bytes(whole)
    altered(store, "indptr", 1, 6)
    refuses(r"indptr.npy: row pointers must ascend from 0 to 8", GraphStore.open, store.path)


@pytest.mark.parametrize("value", [-1, 4, 1, 0, 2**31 - 1])
def test_neighbours_that_a_kernel_must_not_follow_are_noticed(tmp_path: Path, value: int) -> None:
    store = small(tmp_path)
    altered(store, "indices", 1, value)  # a neighbour of node 0, after 1
    refuses(r"indices.npy: the neighbours of node 0", GraphStore.open(store.path).check)
    refuses(r"indices.npy: SHA-256 is", GraphStore.open(store.path).to_data)
    refuses(r"indices.npy: SHA-256 is", GraphStore.open, store.path, verify=True)


def test_a_one_way_edge_is_noticed(tmp_path: Path) -> None:
    store = small(tmp_path)
    altered(store, "indices", 1, 3)
    manifest = json.loads((store.path / "manifest.json").read_text())
    numbers = (store.path / "indices.npy").read_bytes()[128:]
    manifest["arrays"]["indices"]["sha256"] = hashlib.sha256(numbers).hexdigest()
    (store.path / "manifest.json").write_text(json.dumps(with_checksum(manifest)))
    refuses("node 0 has neighbour 3, but not that one this", GraphStore.open, store.path, verify=True)


@pytest.mark.parametrize(("place", "value"), [(1, 2), (2, 1)], ids=["too many", "too few"])
def test_one_way_edges_are_not_counted(place: int, value: int, tmp_path: Path) -> None:
    """Of the edges 0-1 and 2-3, node 1 has the neighbour 2 instead of 0, or node 2 has 1 instead of 3."""
    store = GraphStore.write(tmp_path / "two", [[[0, 2], [1, 3]]])
    altered(store, "indices", place, value)
    with pytest.raises(ValueError, match=r"indices\.npy: not every edge stands in the rows of both"):
        mcn.count_motifs(GraphStore.open(store.path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other"}, "not the manifest of a packed graph"),
        ({"version": 9}, "version 9; this mcn reads version 1"),
        ({"num_nodes": 5}, r"indptr is <i8 of shape \[5\]; expected <i8 of shape \[6\]"),
        ({"num_nodes": True}, "num_nodes must be a whole number, got True"),
        ({"num_nodes": 2**31 + 1}, "at most 2,147,483,648"),
        ({"num_edges": -1}, "num_edges is -1"),
        ({"classes": [1]}, "classes must be a list of names"),
        ({"arrays": {"../evil": {"dtype": "<i4", "shape": [8], "sha256": ""}}}, "an array '../evil'"),
        ({"arrays": {"indptr": {"dtype": "|O8"}}}, "not a manifest"),
        ({"arrays": {}}, "the checksum does not fit"),
        ({"about": None}, "about must be named values"),
    ],
)
def test_an_altered_manifest_is_noticed(tmp_path: Path, change, said) -> None:
    store = small(tmp_path)
    path = store.path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    refuses(said, GraphStore.open, store.path)
