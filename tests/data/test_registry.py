from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import mcn
from mcn.data import list_datasets

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
