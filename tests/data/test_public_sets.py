"""DD-6 and DD-7, sets with ten splits, sets whose split is drawn, and sets that others' readers read."""

import sys
import types
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.datasets import Airports, Amazon, HeterophilousGraphDataset, KarateClub
from torch_geometric.utils import remove_self_loops, to_undirected

import mcn
from mcn.data import DatasetNotFound, check_data, load_dataset
from mcn.data.datasets import heterophilous, tu
from tests.conftest import refuses

from .serving import copied, load_from, raw_files, serve, unreachable


@pytest.mark.parametrize("name", heterophilous.SUMS)
def test_ten_splits(name: str, shared: Path, cache: Path) -> None:
    first, last = (mcn.load_dataset(name, shared, split=split) for split in (0, 9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one class of texas has a single node
        check_data(first)
    assert not torch.equal(first.train_mask, last.train_mask)
    assert first.report[-1] == "split: number 0 of the 10 given ones (0 to 9)"
    for wrong in (10, -1):
        message = f"{name} has 10 given splits, from 0 to 9; got split {wrong}"
        refuses(message, mcn.load_dataset, name, shared, split=wrong)


def test_minesweeper_is_that_of_pyg(shared: Path, cache: Path) -> None:
    root = cache / "pyg" / "HeterophilousGraphDataset"
    copied(shared, "minesweeper", root / "minesweeper" / "raw")
    theirs = HeterophilousGraphDataset(str(root), "Minesweeper")[0]
    by_name = mcn.load_dataset("pyg:HeterophilousGraphDataset/Minesweeper", trust=True, split=3)
    ours = mcn.load_dataset("minesweeper", shared, split=3, dense=True)
    assert torch.equal(ours.x, theirs.x)
    assert torch.equal(ours.y, theirs.y)
    assert torch.equal(ours.edge_index, theirs.edge_index)
    for mask in ("train_mask", "val_mask", "test_mask"):
        assert torch.equal(ours[mask], theirs[mask][:, 3])
        assert torch.equal(ours[mask], by_name[mask])


def test_drawn_sets_are_those_of_pyg(shared: Path, cache: Path, tmp_path: Path) -> None:
    copied(shared, "amazon-photo", tmp_path / "Amazon" / "Photo" / "raw")
    copied(shared, "airports-usa", tmp_path / "Airports" / "usa" / "raw")
    theirs = {
        "amazon-photo": Amazon(str(tmp_path / "Amazon"), "Photo")[0],
        "airports-usa": Airports(str(tmp_path / "Airports"), "USA")[0],
    }
    for name, other in theirs.items():
        ours = mcn.load_dataset(name, shared, dense=True)
        assert torch.equal(ours.x, other.x)
        assert torch.equal(ours.y, other.y)
        assert torch.equal(ours.edge_index, to_undirected(remove_self_loops(other.edge_index)[0]))


def test_drawn_splits_are_stratified_and_seeded(shared: Path, cache: Path) -> None:
    data = mcn.load_dataset("airports-usa", shared, split=2)
    check_data(data)
    assert bool((data.train_mask ^ data.val_mask ^ data.test_mask).all())
    share = torch.bincount(data.y[data.train_mask]) / torch.bincount(data.y)
    assert float((share - 0.6).abs().max()) < 0.01
    again, other = (mcn.load_dataset("airports-usa", shared, split=split).train_mask for split in (2, 0))
    assert torch.equal(again, data.train_mask)
    assert not torch.equal(other, data.train_mask)
    assert data.report[-1] == "split: 60/20/20, stratified by class, drawn with seed 2"
    message = "airports-usa: splits are drawn with the seeds 0, 1, 2, …; got split -1"
    refuses(message, mcn.load_dataset, "airports-usa", shared, split=-1)


@pytest.mark.parametrize("name", ["cora", "texas", "airports-usa"])
def test_downloads_are_kept(name: str, shared: Path, cache: Path) -> None:
    raw = raw_files(name)
    with serve(shared / raw.folders[0]) as home:
        data = load_from(home, name)
    assert {file.name for file in (cache / raw.folders[0]).iterdir()} == set(raw.sums)
    assert torch.equal(load_from(unreachable(), name).edge_index, data.edge_index)


@pytest.mark.parametrize("name", ["pyg:Amazon/Photo", "ogb:ogbn-arxiv"])
def test_readers_that_unpickle_must_be_trusted(name: str, cache: Path) -> None:
    message = f"{name}: its reader unpickles files, which can run code; .*trust=True"
    refuses(message, mcn.load_dataset, name)
    assert not cache.exists()


def test_pyg_reads_raw_files_from_the_data_folder_and_sets_without_files(shared: Path, cache: Path) -> None:
    data = mcn.load_dataset("pyg:KarateClub", trust=True)
    assert data.num_nodes == KarateClub()[0].num_nodes
    check_data(data)
    data = mcn.load_dataset("pyg:Airports/USA", shared, trust=True, split=1)
    ours = mcn.load_dataset("airports-usa", shared, split=1)
    assert data.name == "pyg:Airports/USA"
    assert torch.equal(data.edge_index, ours.edge_index)
    assert torch.equal(data.x.to_dense(), ours.x.to_dense())
    assert torch.equal(data.train_mask, ours.train_mask)
    assert (cache / "pyg" / "Airports" / "usa" / "raw" / "usa-airports.edgelist").is_file()
    cora = mcn.load_dataset("pyg:Planetoid/Cora", shared, trust=True)
    assert torch.equal(cora.train_mask, mcn.load_dataset("cora", shared).train_mask)
    assert cora.report[-1] == "split: as given"
    message = "pyg:Planetoid/Cora has 1 given split, from 0 to 0; got split 1"
    refuses(message, mcn.load_dataset, "pyg:Planetoid/Cora", shared, trust=True, split=1)


def test_wrong_names_of_pyg_and_sets_with_one_split(cache: Path) -> None:
    for name, message, options in (
        ("pyg:Amazn/Photo", "torch_geometric.datasets has no class 'Amazn'; did you mean 'Amazon'", {}),
        ("pyg:Amazon", "torch_geometric.datasets.Amazon needs a name; write pyg:Amazon/NAME", {}),
        ("pyg:Amazon/Foto", "torch_geometric.datasets.Amazon does not know the name 'Foto'", {}),
        ("pyg:KarateClub/x", "torch_geometric.datasets.KarateClub takes no name; write pyg:KarateClub", {}),
        ("cora", "cora has one split, number 0; got split 1", {"split": 1}),
        ("karate", "karate has one split, number 0, which seed draws; got split 1", {"split": 1}),
        ("karate", r"split must be an integer, got 1\.5", {"split": 1.5}),
    ):
        refuses(message, mcn.load_dataset, name, **options or {"trust": True})


def test_pyg_offline_names_class_files_and_folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Amazon, "url", unreachable() + "/")
    message = refuses("Amazon", mcn.load_dataset, "pyg:Amazon/Photo", error=DatasetNotFound, trust=True)
    folder = str(cache / "pyg" / "Amazon")
    assert "\n" not in message
    for part in ("torch_geometric.datasets.Amazon", "amazon_electronics_photo.npz", folder):
        assert part in message


class _Ogb(list[Data]):
    def __init__(self, name: str, root: str) -> None:
        if name == "ogbn-offline":
            raise ConnectionError("no network")
        if name != "ogbn-tiny":
            raise ValueError(f"Invalid dataset name {name}")
        y, edge_index = torch.tensor([[0], [1], [0], [1]]), torch.tensor([[0, 1], [1, 2]])
        super().__init__([Data(y=y, edge_index=edge_index, num_nodes=4)])

    def get_idx_split(self) -> dict[str, torch.Tensor]:
        return {"train": torch.tensor([0, 1]), "valid": torch.tensor([2]), "test": torch.tensor([3])}


def test_ogb_where_it_is_installed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ogb.nodeproppred", None)
    message = "ogb:ogbn-tiny: this needs the package ogb; pip install ogb"
    refuses(message, mcn.load_dataset, "ogb:ogbn-tiny", trust=True)
    stand_in = types.ModuleType("ogb.nodeproppred")
    stand_in.PygNodePropPredDataset = _Ogb  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ogb", types.ModuleType("ogb"))
    monkeypatch.setitem(sys.modules, "ogb.nodeproppred", stand_in)
    data = mcn.load_dataset("ogb:ogbn-tiny", trust=True)
    assert data.test_mask.tolist() == [False, False, False, True]
    assert data.y.tolist() == [0, 1, 0, 1]
    refuses("does not know the name 'ogbn-tiy'", mcn.load_dataset, "ogb:ogbn-tiy", trust=True)
    message = r"no network.*put the folder ogbn_offline into"
    refuses(message, mcn.load_dataset, "ogb:ogbn-offline", error=DatasetNotFound, trust=True)


def _whole_set(shared: Path) -> dict[str, str]:
    """A stand-in for the whole set: graphs 1-5 and 8 are triangles, 6 and 7 the real ones, edges shuffled."""
    raw = shared / tu.DD_FOLDERS[0]
    read = {kind: (raw / f"DD67_{kind}.txt").read_text().split("\n")[:-1] for kind in ("A", "node_labels")}
    edges = np.array([line.split(", ") for line in read["A"]], np.int64)
    triangle = np.array([(1, 2), (2, 1), (2, 3), (3, 2), (1, 3), (3, 1)])
    blocks = [triangle + 3 * graph for graph in range(5)]
    blocks += [edges + 15, triangle + 15 + 5548]
    shuffled = np.random.default_rng(0).permutation(np.concatenate(blocks))
    sizes = [3, 3, 3, 3, 3, 4152, 1396, 3]
    return {
        "DD_A.txt": "".join(f"{u}, {v}\n" for u, v in shuffled),
        "DD_graph_indicator.txt": "".join(f"{graph}\n" * size for graph, size in enumerate(sizes, 1)),
        "DD_graph_labels.txt": "2\n2\n2\n2\n2\n1\n1\n2\n",
        "DD_node_labels.txt": "".join(f"{label}\n" for label in ["7"] * 15 + read["node_labels"] + ["7"] * 3),
    }


def _zip(folder: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(folder / "DD.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"DD/{name}", content)


@pytest.mark.parametrize("name, nodes, smallest", [("dd6", 4152, 24), ("dd7", 1396, 16)])
def test_dd(name: str, nodes: int, smallest: int, shared: Path, cache: Path) -> None:
    """The plain edge lists, and the paper's protocol, but for the share of a class (`test_paper.py`)."""
    data = load_dataset(name, shared, seed=3, dense=True)
    if not (shared / "DD").joinpath(f"{name.upper()}.edges").is_file():
        pytest.skip("the plain edge lists of DD are not among the data sets")
    plain = np.loadtxt(shared / "DD" / f"{name.upper()}.edges", dtype=np.int64)
    both = {(int(u), int(v)) for u, v in plain} | {(int(v), int(u)) for u, v in plain}
    assert {(int(u), int(v)) for u, v in data.edge_index.T} == both
    labels = np.loadtxt(shared / "DD" / f"{name.upper()}.node_labels", dtype=np.int64)
    np.testing.assert_array_equal(data.y.numpy(), labels[:, 1] - 1)
    assert data.num_nodes == nodes
    counts = torch.bincount(data.y)
    assert len(counts) == 20
    assert int(counts.min()) == smallest
    assert torch.bincount(data.y[data.train_mask]).tolist() == [15] * 20
    assert int(data.val_mask.sum()) == int(data.test_mask.sum()) == (nodes - 300) // 2
    assert bool((data.train_mask ^ data.val_mask ^ data.test_mask).all())
    assert torch.equal(data.x.sum(dim=1), torch.full((nodes,), 3.0))  # a colour of each iteration
    assert torch.equal(load_dataset(name, shared, seed=3).train_mask, data.train_mask)
    assert not torch.equal(load_dataset(name, shared, seed=4).train_mask, data.train_mask)


def test_the_whole_set_gives_the_same_graphs_and_its_download_is_cut_to_the_very_files(
    shared: Path, cache: Path, tmp_path: Path
) -> None:
    raw, files = tmp_path / "DD" / "raw", _whole_set(shared)
    raw.mkdir(parents=True)
    for name, content in files.items():
        (raw / name).write_text(content)
    for name in ("dd6", "dd7"):
        ours, theirs = load_dataset(name, tmp_path), load_dataset(name, shared)
        assert torch.equal(ours.edge_index, theirs.edge_index)
        assert torch.equal(ours.y, theirs.y)
    _zip(tmp_path, files)
    with serve(tmp_path) as home:
        data = load_from(f"{home}/DD.zip", "dd7")
    for file in (shared / tu.DD_FOLDERS[0]).iterdir():
        assert (cache / tu.DD_FOLDERS[0] / file.name).read_bytes() == file.read_bytes()
    assert torch.equal(load_from(unreachable(), "dd7").edge_index, data.edge_index)


def test_a_tampered_download_is_refused(shared: Path, cache: Path, tmp_path: Path) -> None:
    files = _whole_set(shared)
    files["DD_A.txt"] += "16, 20\n"
    _zip(tmp_path, files)
    with serve(tmp_path) as home, pytest.raises(ValueError, match=r"graphs 6 and 7.*SHA-256"):
        load_from(f"{home}/DD.zip", "dd6")
    (tmp_path / "DD.zip").write_bytes(b"no archive")
    with serve(tmp_path) as home, pytest.raises(ValueError, match=r"DD\.zip: not the archive"):
        load_from(f"{home}/DD.zip", "dd6")
    assert not cache.exists()
