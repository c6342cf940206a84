"""Data sets: the registry, where raw files are looked for, and the built-in graphs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import networkx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from mcn.data import DatasetNotFound, list_datasets, load_dataset, strong_ties
from mcn.data.datasets import load_files, locate, places, store

from .serving import serve, unreachable

NAMES = [
    "strong-ties", "karate", "cora", "citeseer", "pubmed", "dd6", "dd7", "texas", "wisconsin",
    "chameleon-filtered", "actor", "minesweeper", "amazon-photo", "airports-usa",
]  # fmt: skip


def test_listing_facts_are_those_of_the_loaded_sets(shared: Path, cache: Path) -> None:
    listed = list_datasets(shared)
    assert [info.name for info in listed] == NAMES
    for info in listed:
        data = mcn.load_dataset(info.name, shared)
        assert data.name == info.name
        assert (data.num_nodes, data.num_edges // 2) == (info.nodes, info.edges)
        assert len(data.y.unique()) == info.classes
        for mask in (data.train_mask, data.val_mask, data.test_mask):
            assert mask.dtype == torch.bool
            assert mask.shape == (info.nodes,)
            assert bool(mask.any())


def test_listing_says_where_they_are(shared: Path, cache: Path) -> None:
    here = {info.name: info.where for info in list_datasets(shared)}
    assert here["karate"] == "built in"
    assert here["cora"] == str(shared / "Planetoid" / "Cora" / "raw")
    nowhere = {info.name: info.found for info in list_datasets()}
    assert nowhere["pubmed"] is None
    assert nowhere["dd6"] is None


def test_environment_variable_is_looked_in(
    shared: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCN_DATA", str(shared))
    assert mcn.load_dataset("cora", download=False).num_nodes == 2708


@pytest.mark.parametrize("name", ["karate", "strong-ties"])
def test_dense_and_sparse_features_are_the_same(name: str) -> None:
    sparse_x = mcn.load_dataset(name).x
    dense_x = mcn.load_dataset(name, dense=True).x
    assert sparse_x.layout == torch.sparse_csr
    assert torch.equal(sparse_x.to_dense(), dense_x)


def test_unknown_name_suggests_near_ones() -> None:
    with pytest.raises(
        ValueError, match=r"unknown data set 'coar'; did you mean 'cora'\? there are: strong-ties, karate"
    ):
        mcn.load_dataset("coar")


def test_a_listing_does_not_import_torch() -> None:
    program = (
        "import sys, mcn.data; mcn.data.list_datasets(); mcn.data.simple_graph; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_karate_is_that_of_networkx() -> None:
    data = load_dataset("karate")
    theirs = networkx.karate_club_graph()
    assert {(int(u), int(v)) for u, v in data.edge_index.T if u < v} == {
        tuple(sorted(e)) for e in theirs.edges
    }
    clubs = [theirs.nodes[node]["club"] for node in range(34)]
    assert [data.classes[label] for label in data.y] == clubs


def test_features_and_split_of_karate() -> None:
    data = load_dataset("karate", dense=True, seed=5)
    assert torch.equal(data.x, torch.eye(34))
    assert torch.bincount(data.y[data.train_mask]).tolist() == [2, 2]
    assert [int(data.val_mask.sum()), int(data.test_mask.sum())] == [15, 15]
    assert torch.equal(load_dataset("karate", seed=5).train_mask, data.train_mask)


def test_places_are_root_then_environment_then_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert places() == [cache]
    monkeypatch.setenv("MCN_DATA", "/somewhere")
    assert places("/given") == [Path("/given"), Path("/somewhere"), cache]
    monkeypatch.delenv("MCN_DATA")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/ann")
    assert places() == [Path("/home/ann/.cache/mcn")]


def test_locate_takes_the_first_complete_folder(cache: Path, tmp_path: Path) -> None:
    assert locate(["a"], ["x", "y"], tmp_path) is None
    store(tmp_path / "a", {"x": b"1"})
    assert locate(["a"], ["x", "y"], tmp_path) is None
    store(cache / "a", {"x": b"1", "y": b"2"})
    assert locate(["a"], ["x", "y"], tmp_path) == cache / "a"
    store(tmp_path / "a", {"y": b"2"})
    assert locate(["a"], ["x", "y"], tmp_path) == tmp_path / "a"


@pytest.mark.parametrize("name, file", [("cora", "ind.cora.allx"), ("dd6", "DD67_A.txt")])
def test_no_network_and_no_download(name: str, file: str, cache: Path) -> None:
    where = (
        r"\. Put them into one of these folders; they are looked for in this order: "
        r"the folder given as root, \$MCN_DATA, the cache\.$"
    )
    with pytest.raises(DatasetNotFound, match=f"{name}: the files {file}.*could not be read.*{where}"):
        load_files(name, home=unreachable())
    looked = f"in none of /given/.*{cache}.*downloading was not asked for{where}"
    with pytest.raises(DatasetNotFound, match=looked):
        load_dataset(name, "/given", download=False)
    assert not cache.exists()


def test_a_home_without_the_file_is_not_found(cache: Path, tmp_path: Path) -> None:
    with serve(tmp_path) as home, pytest.raises(DatasetNotFound, match="404"):
        load_files("cora", home=home)


@pytest.fixture(scope="module")
def graph() -> tuple[Data, networkx.Graph]:
    data = strong_ties()
    return data, networkx.Graph(data.edge_index.T.tolist())


def _same_class_share(data: Data, edges: list[tuple[int, int]]) -> float:
    y = data.y.tolist()
    return float(np.mean([y[u] == y[v] for u, v in edges]))


def test_sizes_of_strong_ties(graph: tuple[Data, networkx.Graph]) -> None:
    data = graph[0]
    assert data.num_nodes == 2000
    assert data.x.shape == (2000, 300)
    assert torch.bincount(data.y).tolist() == [400] * 5
    assert int(data.strong.sum()) == 1300
    parts = [data.train_mask, data.val_mask, data.test_mask]
    assert [int(part.sum()) for part in parts] == [100, 500, 1000]


def test_strong_nodes_are_exactly_those_in_a_triangle(graph: tuple[Data, networkx.Graph]) -> None:
    data, g = graph
    triangles = networkx.triangles(g)
    in_triangle = torch.tensor([triangles.get(node, 0) > 0 for node in range(2000)])
    assert torch.equal(in_triangle, data.strong)


def test_ties_are_as_documented(graph: tuple[Data, networkx.Graph]) -> None:
    data, g = graph
    strong = data.strong.tolist()
    closed = [(u, v) for u, v in g.edges if set(g[u]) & set(g[v])]
    open_strong = [(u, v) for u, v in g.edges if not set(g[u]) & set(g[v]) and strong[u]]
    open_other = [(u, v) for u, v in g.edges if not strong[u]]
    assert all(strong[u] == strong[v] for u, v in g.edges)
    assert _same_class_share(data, closed) == 1.0
    assert 2 * len(open_strong) / 1300 == pytest.approx(6, abs=0.01)
    # A fifth of random pairs share a class; 70 % of those are redrawn: 0.06 / (0.06 + 0.8) is about 7 %.
    assert _same_class_share(data, open_strong) == pytest.approx(0.07, abs=0.02)
    assert 2 * len(open_other) / 700 == pytest.approx(3, abs=0.01)
    assert _same_class_share(data, open_other) == pytest.approx(0.9, abs=0.03)


def test_words_are_weak_hints(graph: tuple[Data, networkx.Graph]) -> None:
    data = graph[0]
    x = data.x.to_dense()
    assert torch.equal(x.sum(dim=1), torch.full((2000,), 10.0))
    own = (torch.arange(300)[None, :] % 5) == data.y[:, None]
    # One in five of the class's own, and a fifth of the others by chance: 0.2 + 0.8 / 5.
    assert float((x * own).sum() / x.sum()) == pytest.approx(0.36, abs=0.02)


def test_the_seed_decides_everything() -> None:
    one, same, other = (strong_ties(seed, num_nodes=300, val=50, test=100) for seed in (1, 1, 2))
    for name in ("edge_index", "y", "train_mask", "strong"):
        assert torch.equal(one[name], same[name])
    assert torch.equal(one.x.to_dense(), same.x.to_dense())
    assert not torch.equal(one.y, other.y)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"num_classes": 1}, "num_classes must be at least 2, got 1"),
        ({"strong_share": 1.5}, "strong_share must be between 0 and 1, got 1.5"),
        ({"clique_size": (2, 4)}, "clique_size must be"),
        ({"words_per_node": 70}, "words_per_node=70 exceeds the 60 words"),
        ({"num_nodes": 20}, "too few for cliques"),
        ({"num_nodes": 60, "weak_ties": 60.0}, "no room for .* weak ties"),
        ({"num_nodes": 60, "weak_ties": 0.0, "open_ties": 60.0}, "no room for .* open ties"),
    ],
)
def test_wrong_settings_of_strong_ties_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        strong_ties(**settings)  # type: ignore[arg-type]
