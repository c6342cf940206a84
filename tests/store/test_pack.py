"""Packing files: the store holds the graph that `load_graph` reads, whatever the buffer and the blocks."""

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

import mcn
from mcn.store import pack, pack_graph, write
from tests.conftest import refuses

NOTHING = 0  # bytes of memory: the least number of keys is sorted at a time


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 200 bytes and runs of 60 edges: small files then have many of each."""
    monkeypatch.setattr(pack, "BLOCK_BYTES", 200)
    monkeypatch.setattr(write, "LEAST_KEYS", 120)
    monkeypatch.setattr(pack, "LEAST_MEMORY", 0)


def random_edges(names: list[str], count: int = 400, seed: int = 0) -> list[tuple[str, str]]:
    picked = np.random.default_rng(seed).integers(0, len(names), (count, 2))
    return [(names[a], names[b]) for a, b in picked]


def written(path: Path, edges: list[tuple[str, str]], mark: str = ",", head: str = "") -> Path:
    path.write_text(head + "".join(f"{a}{mark}{b}\n" for a, b in edges))
    return path


def same(store: mcn.GraphStore, data) -> None:
    store.verify()
    packed = store.to_data()
    assert torch.equal(packed.edge_index, data.edge_index)
    assert packed.node_ids.tolist() == data.node_ids.tolist()
    assert torch.equal(packed.x.to_dense(), data.x.to_dense())
    assert packed.x.layout == data.x.layout
    for name in ("y", "train_mask", "val_mask", "test_mask"):
        assert (packed.get(name) is None) == (data.get(name) is None)
        assert data.get(name) is None or torch.equal(packed[name], data[name])
    for name in ("report", "scaling", "classes", "treatment", "feature_names"):
        assert packed.get(name) == data.get(name), name


IDS = {
    "numbers": [str(i) for i in range(50)],
    "gaps": [str(3 * i + 7) for i in range(50)],
    "far apart": [str(10**6 * i) for i in range(50)],
    "beyond 32 bits": [str(10**15 + i) for i in range(50)],
    "names": [f"n{i:03d}é" for i in range(50)],
    "some names": [*[str(i) for i in range(49)], "last one"],
    "quoted": [f'"a,{i}"' for i in range(50)],
}


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("packed", [False, True])
def test_edges_alone(tmp_path: Path, kind: str, packed: bool) -> None:
    path = written(tmp_path / "edges.csv", random_edges(IDS[kind]), head="# a comment\nsource,target\n")
    if packed:
        path = tmp_path / "edges.csv.gz"
        path.write_bytes(gzip.compress((tmp_path / "edges.csv").read_bytes()))
    store = pack_graph(path, out=tmp_path / "graph", memory=NOTHING)
    same(store, mcn.load_graph(path))
    assert not (tmp_path / "graph" / ".packing").exists()


@pytest.mark.parametrize("kind", ["numbers", "beyond 32 bits", "names"])
def test_with_a_table(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(1)
    names = [IDS[kind][i] for i in rng.permutation(50)]
    path = written(tmp_path / "edges.tsv", random_edges(names[:45]), "\t")
    rows = [
        f"{name},{'' if i % 7 == 0 else 'ab'[i % 2]},{rng.normal():.3f},{'xyz'[i % 3]}"
        for i, name in enumerate(names)
    ]
    table = tmp_path / "nodes.csv"
    table.write_text("\n".join(["id,label,size,kind", *rows]) + "\n")
    store = pack_graph(path, table, out=tmp_path / "graph", memory=NOTHING, split="50/25/25", seed=3)
    same(store, mcn.load_graph(path, table, split="50/25/25", seed=3))
    assert store.classes == ["a", "b"]
    clf = mcn.MCNClassifier(max_epochs=2, hidden=4, heads=1)
    data = store.to_data()
    assert np.array_equal(clf.fit(store).predict(store), clf.fit(data).predict(data))
    assert clf.score(store) == clf.score(data)


@pytest.mark.parametrize("suffix", [".mtx", ".npz", ".parquet", ".graphml"])
def test_other_formats(tmp_path: Path, suffix: str) -> None:
    edges = np.array(random_edges(IDS["numbers"]), np.int64)
    path = tmp_path / f"edges{suffix}"
    if suffix == ".npz":
        np.savez(path, edge=edges)
    elif suffix == ".mtx":
        body = "".join(f"{a + 1} {b + 1}\n" for a, b in edges.tolist())
        path.write_text(f"%%MatrixMarket matrix coordinate pattern general\n50 50 {len(edges)}\n{body}")
    elif suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        table = pa.table({"source": edges[:, 0], "target": edges[:, 1]})
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        nx = pytest.importorskip("networkx")
        nx.write_graphml(nx.Graph(edges.tolist()), path)
    same(pack_graph(path, out=tmp_path / "graph", memory=NOTHING), mcn.load_graph(path))


class Stop(KeyboardInterrupt):
    pass


@pytest.mark.parametrize("stop_at", [0.0, 0.4, 0.7])  # while reading, and while merging
def test_an_interrupted_packing_leaves_nothing(tmp_path: Path, stop_at: float) -> None:
    path = written(tmp_path / "edges.csv", random_edges(IDS["names"], 900))

    def progress(share: float) -> None:
        if share > stop_at:
            raise Stop

    for folder in (tmp_path / "graph", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(Stop):
            pack_graph(path, out=folder, memory=NOTHING, progress=progress)
    assert not (tmp_path / "graph").exists()
    assert list((tmp_path / "empty").iterdir()) == []


def test_two_packings_into_one_folder(tmp_path: Path) -> None:
    """The second is refused while the first is under way, and leaves its work alone."""
    path, second = written(tmp_path / "edges.csv", random_edges(IDS["names"])), []

    def begin_another(_: float) -> None:
        if not second:
            second.append("refused")
            with pytest.raises(FileExistsError, match="another process is packing a graph into it"):
                pack_graph(path, out=tmp_path / "graph")

    pack_graph(path, out=tmp_path / "graph", memory=NOTHING, progress=begin_another).verify()
    assert second
    assert {file.name for file in tmp_path.iterdir()} == {"edges.csv", "graph"}


def test_what_a_killed_packing_left_is_replaced(tmp_path: Path) -> None:
    path, out = written(tmp_path / "edges.csv", random_edges(IDS["numbers"])), tmp_path / "graph"
    (out / ".packing").mkdir(parents=True)
    for left in (".packing/run-00007.keys", "ids.npy", ".indices.npy.01234567.part"):
        (out / left).write_bytes(b"beginning")
    same(pack_graph(path, out=out, memory=NOTHING), mcn.load_graph(path))
    arrays = ("indices", "indptr", "x_indices", "x_indptr", "x_values")
    assert {file.name for file in out.iterdir()} == {"manifest.json", *(f"{name}.npy" for name in arrays)}
    refuses("holds a packed graph already", pack_graph, path, out=out, error=FileExistsError)
    mine = tmp_path / "mine"
    (mine / ".packing").mkdir(parents=True)
    (mine / "letter.txt").write_text("of somebody")
    refuses("is not an empty folder; choose another", pack_graph, path, out=mine, error=FileExistsError)
    assert (mine / "letter.txt").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1,2,3", "line 402: 3 fields, expected 2 as in line 1: '1,2,3'"),
        ("1,", "line 402: an empty node id"),
        ("-1,2", "line 402: node id '-1'; expected a non-negative integer or a name"),
        ("1,\xff", "line 402: not UTF-8 text"),
    ],
)
def test_a_bad_line_far_into_the_file_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = written(tmp_path / "edges.csv", [*random_edges(IDS["numbers"]), ("1", "2")])
    path.write_bytes(path.read_bytes() + line.encode("latin1") + b"\n3,4\n")
    refuses(rf"edges.csv, {said}", pack_graph, path, out=tmp_path / "graph", memory=NOTHING)
    refuses(r"edges.csv, line 402", mcn.load_graph, path)


@pytest.mark.parametrize("kind", ["numbers", "names"])
def test_a_node_that_the_table_lacks_is_named(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / "edges.csv", [*random_edges(IDS[kind][:40]), (IDS[kind][0], IDS[kind][45])])
    table = tmp_path / "nodes.csv"
    table.write_text("\n".join(["id", *IDS[kind][:40]]))
    with pytest.raises(ValueError, match=rf"line 401: node id '{IDS[kind][45]}' is not in the node table"):
        pack_graph(path, table, out=tmp_path / "graph", memory=NOTHING)


def test_refusals(tmp_path: Path) -> None:
    path = written(tmp_path / "edges.csv", random_edges(IDS["numbers"]))
    refuses("memory must be at least 0 bytes, got -10", pack_graph, path, out=tmp_path / "graph", memory=-10)
    with pytest.raises(ValueError, match="columns were named, but there is no node table"):
        pack_graph(path, out=tmp_path / "graph", label="y")
    with pytest.raises(FileNotFoundError, match="no such file"):
        pack_graph(tmp_path / "nothing.csv", out=tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
