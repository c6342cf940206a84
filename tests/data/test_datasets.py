"""The registry of data sets, and where raw files are looked for and stored."""

from pathlib import Path

import networkx
import pytest
import torch

import mcn
from mcn.data import DatasetNotFound, list_datasets, load_dataset
from mcn.data.datasets import locate, places
from tests.conftest import refuses

from .serving import load_from, serve, unreachable

NAMES = [
    "strong-ties", "karate", "cora", "citeseer", "pubmed", "dd6", "dd7", "texas", "wisconsin",
    "chameleon-filtered", "actor", "minesweeper", "amazon-photo", "airports-usa",
]  # fmt: skip


def test_listing_facts_are_those_of_the_loaded_sets(shared: Path, cache: Path) -> None:
    listed = list_datasets(shared)
    assert [info.name for info in listed] == NAMES
    here = {info.name: info.where for info in listed}
    assert (here["karate"], here["cora"]) == ("built in", str(shared / "Planetoid" / "Cora" / "raw"))
    assert {info.found for info in list_datasets()} == {None}
    message = r"unknown data set 'coar'; did you mean 'cora'\? there are: strong-ties, karate"
    refuses(message, mcn.load_dataset, "coar")
    for info in listed:
        data = mcn.load_dataset(info.name, shared)
        assert data.name == info.name
        assert (data.num_nodes, data.num_edges // 2) == (info.nodes, info.edges)
        assert len(data.y.unique()) == info.classes
        for mask in (data.train_mask, data.val_mask, data.test_mask):
            assert (mask.dtype, mask.shape, bool(mask.any())) == (torch.bool, (info.nodes,), True)


@pytest.mark.parametrize("name", ["karate", "strong-ties"])
def test_dense_and_sparse_features_are_the_same(name: str) -> None:
    sparse_x, dense_x = mcn.load_dataset(name).x, mcn.load_dataset(name, dense=True).x
    assert sparse_x.layout == torch.sparse_csr
    assert torch.equal(sparse_x.to_dense(), dense_x)


def test_karate_is_that_of_networkx_with_a_column_per_node_and_a_split() -> None:
    data = load_dataset("karate", dense=True, seed=5)
    theirs = networkx.karate_club_graph()
    edges = {(int(u), int(v)) for u, v in data.edge_index.T if u < v}
    assert edges == {tuple(sorted(e)) for e in theirs.edges}
    clubs = [theirs.nodes[node]["club"] for node in range(34)]
    assert [data.classes[label] for label in data.y] == clubs
    assert torch.equal(data.x, torch.eye(34))
    assert torch.bincount(data.y[data.train_mask]).tolist() == [2, 2]
    assert [int(data.val_mask.sum()), int(data.test_mask.sum())] == [15, 15]
    assert torch.equal(load_dataset("karate", seed=5).train_mask, data.train_mask)


def written(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"1")


def test_places_are_root_then_environment_then_cache_and_the_first_complete_folder_is_taken(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert places() == [cache]
    assert locate(["a"], ["x", "y"], tmp_path) is None
    written(tmp_path / "a", "x")
    assert locate(["a"], ["x", "y"], tmp_path) is None
    written(cache / "a", "x", "y")
    assert locate(["a"], ["x", "y"], tmp_path) == cache / "a"
    written(tmp_path / "a", "y")
    assert locate(["a"], ["x", "y"], tmp_path) == tmp_path / "a"
    monkeypatch.setenv("MCN_DATA", "/somewhere")
    assert places("/given") == [Path("/given"), Path("/somewhere"), cache]
    monkeypatch.delenv("MCN_DATA")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/ann")
    assert places() == [Path("/home/ann/.cache/mcn")]


@pytest.mark.parametrize("name, file", [("cora", "ind.cora.allx"), ("dd6", "DD67_A.txt")])
def test_no_network_no_download_and_a_home_without_the_file(
    name: str, file: str, cache: Path, tmp_path: Path
) -> None:
    order = r"the folder given as root, \$MCN_DATA, the cache\.$"
    where = rf"\. Put them into one of these folders; they are looked for in this order: {order}"
    not_read = f"{name}: the files {file}.*could not be read.*{where}"
    refuses(not_read, load_from, unreachable(), name, error=DatasetNotFound)
    looked = f"in none of /given/.*{cache}.*downloading was not asked for{where}"
    refuses(looked, load_dataset, name, "/given", error=DatasetNotFound, download=False)
    with serve(tmp_path) as home:
        refuses("404", load_from, f"{home}/nothing.zip", name, error=DatasetNotFound)
    assert not cache.exists()
