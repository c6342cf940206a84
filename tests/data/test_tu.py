from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from mcn.data import DatasetNotFound, load_dataset
from mcn.data.datasets.tu import DD_FOLDERS
from mcn.data.datasets.tu import load as load_dd

from .serving import serve, unreachable


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def _whole_set(shared: Path) -> dict[str, str]:
    """A stand-in for the whole set: graphs 1-5 and 8 are triangles, 6 and 7 the real ones, edges shuffled."""
    raw = shared / DD_FOLDERS[0]
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
def test_graphs_equal_the_plain_edge_lists(
    name: str, nodes: int, smallest: int, shared: Path, cache: Path
) -> None:
    data = load_dataset(name, shared)
    plain = np.loadtxt(shared / "DD" / f"{name.upper()}.edges", dtype=np.int64)
    both = {(int(u), int(v)) for u, v in plain} | {(int(v), int(u)) for u, v in plain}
    assert {(int(u), int(v)) for u, v in data.edge_index.T} == both
    labels = np.loadtxt(shared / "DD" / f"{name.upper()}.node_labels", dtype=np.int64)
    np.testing.assert_array_equal(data.y.numpy(), labels[:, 1] - 1)
    assert data.num_nodes == nodes
    counts = torch.bincount(data.y)
    assert len(counts) == 20
    assert int(counts.min()) == smallest


def test_the_split_has_15_per_class_and_halves_the_rest(shared: Path, cache: Path) -> None:
    data = load_dd("dd6", shared, seed=3)
    assert torch.bincount(data.y[data.train_mask]).tolist() == [15] * 20
    assert int(data.val_mask.sum()) == int(data.test_mask.sum()) == (4152 - 300) // 2
    assert bool((data.train_mask ^ data.val_mask ^ data.test_mask).all())
    assert torch.equal(load_dd("dd6", shared, seed=3).train_mask, data.train_mask)
    assert not torch.equal(load_dd("dd6", shared, seed=4).train_mask, data.train_mask)


def test_the_most_frequent_class_scores_as_noted(shared: Path, cache: Path) -> None:
    for name, share in (("dd6", 0.108), ("dd7", 0.114)):
        data = load_dd(name, shared)
        y = data.y[~data.train_mask]
        assert float(torch.bincount(y).max() / len(y)) == pytest.approx(share, abs=0.001)


def test_features_are_the_colours_of_three_iterations(shared: Path, cache: Path) -> None:
    data = load_dd("dd6", shared, dense=True)
    assert torch.equal(data.x.sum(dim=1), torch.full((4152,), 3.0))


def test_the_whole_set_gives_the_same_graphs(shared: Path, cache: Path, tmp_path: Path) -> None:
    raw = tmp_path / "DD" / "raw"
    raw.mkdir(parents=True)
    for name, content in _whole_set(shared).items():
        (raw / name).write_text(content)
    for name in ("dd6", "dd7"):
        ours, theirs = load_dd(name, tmp_path), load_dd(name, shared)
        assert torch.equal(ours.edge_index, theirs.edge_index)
        assert torch.equal(ours.y, theirs.y)


def test_download_is_cut_to_the_very_files(shared: Path, cache: Path, tmp_path: Path) -> None:
    _zip(tmp_path, _whole_set(shared))
    with serve(tmp_path) as home:
        data = load_dd("dd7", home=f"{home}/DD.zip")
    for file in (shared / DD_FOLDERS[0]).iterdir():
        assert (cache / DD_FOLDERS[0] / file.name).read_bytes() == file.read_bytes()
    assert torch.equal(load_dd("dd7", home=unreachable()).edge_index, data.edge_index)


def test_a_tampered_download_is_refused(shared: Path, cache: Path, tmp_path: Path) -> None:
    files = _whole_set(shared)
    files["DD_A.txt"] += "16, 20\n"
    _zip(tmp_path, files)
    with serve(tmp_path) as home, pytest.raises(ValueError, match=r"graphs 6 and 7.*SHA-256"):
        load_dd("dd6", home=f"{home}/DD.zip")
    (tmp_path / "DD.zip").write_bytes(b"no archive")
    with serve(tmp_path) as home, pytest.raises(ValueError, match=r"DD\.zip: not the archive"):
        load_dd("dd6", home=f"{home}/DD.zip")
    assert not cache.exists()


def test_no_network_and_no_download(cache: Path) -> None:
    with pytest.raises(DatasetNotFound, match="could not be read"):
        load_dd("dd6", home=unreachable())
    with pytest.raises(DatasetNotFound, match="DD67_A"):
        load_dd("dd6", download=False)
