from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import pytest
import torch
from torch_geometric.datasets import Planetoid

from mcn.data import DatasetNotFound, feature_csr
from mcn.data.datasets.planetoid import SUMS as PLANETOID_SUMS
from mcn.data.datasets.planetoid import folders as planetoid_folders
from mcn.data.datasets.planetoid import load as load_planetoid

from .serving import serve, unreachable

SETS = ["cora", "citeseer", "pubmed"]


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def _copy(shared: Path, name: str, folder: Path) -> Path:
    """The raw files themselves, writable."""
    folder.mkdir(parents=True)
    for file in PLANETOID_SUMS[name]:
        shutil.copyfile(shared / planetoid_folders(name)[0] / file, folder / file)
    return folder


@pytest.mark.parametrize("name", SETS)
def test_equal_to_pyg(name: str, shared: Path, cache: Path, tmp_path: Path) -> None:
    proper = planetoid_folders(name)[1].split("/")[0]
    _copy(shared, name, tmp_path / proper / "raw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Planetoid(str(tmp_path), proper)[0]
    ours = load_planetoid(name, shared)
    assert ours.x.layout == torch.sparse_csr
    assert ours.x.dtype == torch.float32
    rows, columns = theirs.x.nonzero(as_tuple=True)
    csr = feature_csr(ours.x).tocoo()
    assert csr.shape == tuple(theirs.x.shape)
    kept = csr.data != 0
    assert torch.equal(torch.from_numpy(csr.row[kept]).long(), rows)
    assert torch.equal(torch.from_numpy(csr.col[kept]).long(), columns)
    assert torch.equal(torch.from_numpy(csr.data[kept]), theirs.x[rows, columns])
    assert torch.equal(ours.y, theirs.y)
    for mask in ("train_mask", "val_mask", "test_mask"):
        assert torch.equal(ours[mask], theirs[mask])
    # PyG sorts by the second row.
    order = theirs.edge_index[0].argsort(stable=True)
    assert torch.equal(ours.edge_index, theirs.edge_index[:, order])


@pytest.mark.parametrize("name, edges", [("cora", 5278), ("citeseer", 4552), ("pubmed", 44324)])
def test_edge_counts(name: str, edges: int, shared: Path, cache: Path) -> None:
    data = load_planetoid(name, shared)
    assert data.edge_index.shape == (2, 2 * edges)


def test_citeseer_has_15_nodes_without_features_or_a_place_and_48_isolated(shared: Path, cache: Path) -> None:
    data = load_planetoid("citeseer", shared, dense=True)
    assert data.num_nodes == 3327
    isolated = torch.bincount(data.edge_index[0], minlength=3327) == 0
    assert int(isolated.sum()) == 48
    absent = torch.arange(3327) >= 2312
    absent &= ~data.test_mask
    assert int(absent.sum()) == 15
    assert data.x[absent].count_nonzero() == 0
    assert data.y[absent].count_nonzero() == 0


def test_nothing_is_written_beside_the_source(shared: Path, cache: Path, tmp_path: Path) -> None:
    folder = _copy(shared, "cora", tmp_path / "Planetoid" / "Cora" / "raw")
    before = sorted(tmp_path.rglob("*"))
    load_planetoid("cora", tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    assert len(list(folder.iterdir())) == 8


@pytest.mark.parametrize("damage", ["truncated", "tampered"])
def test_a_damaged_file_is_refused(damage: str, shared: Path, cache: Path, tmp_path: Path) -> None:
    folder = _copy(shared, "cora", tmp_path / "Planetoid" / "Cora" / "raw")
    content = (folder / "ind.cora.graph").read_bytes()
    changed = content[:-100] if damage == "truncated" else content.replace(b"K\x01", b"K\x02", 1)
    assert changed != content
    (folder / "ind.cora.graph").write_bytes(changed)
    with pytest.raises(ValueError, match=r"ind\.cora\.graph: SHA-256 is .* expected 58f13302"):
        load_planetoid("cora", tmp_path)


def test_download_into_the_cache(shared: Path, cache: Path) -> None:
    folder = planetoid_folders("cora")[0]
    with serve(shared / folder) as home:
        data = load_planetoid("cora", home=home)
    assert sorted(file.name for file in (cache / folder).iterdir()) == sorted(PLANETOID_SUMS["cora"])
    again = load_planetoid("cora", home=unreachable())
    assert torch.equal(again.edge_index, data.edge_index)


def test_a_tampered_download_is_refused_and_leaves_nothing(shared: Path, cache: Path, tmp_path: Path) -> None:
    served = _copy(shared, "cora", tmp_path / "served")
    (served / "ind.cora.y").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with serve(served) as home, pytest.raises(ValueError, match=r"ind\.cora\.y: SHA-256 is"):
        load_planetoid("cora", home=home)
    assert not cache.exists()


def test_a_home_without_the_file_is_not_found(cache: Path, tmp_path: Path) -> None:
    with serve(tmp_path) as home, pytest.raises(DatasetNotFound, match="404"):
        load_planetoid("cora", home=home)


def test_no_network_is_one_clear_error(cache: Path) -> None:
    with pytest.raises(
        DatasetNotFound, match=r"cora: the files ind\.cora\.allx.*could not be read.*Put them into"
    ):
        load_planetoid("cora", home=unreachable())
    assert not cache.exists()


def test_download_can_be_forbidden(cache: Path) -> None:
    with pytest.raises(DatasetNotFound, match="downloading was not asked for"):
        load_planetoid("cora", download=False)
