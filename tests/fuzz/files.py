"""The readers of files as targets: every format of graphs, the data sets, saved counts, and packed graphs."""

import gzip
import io
import json
import pickle
import random
import shutil
import tempfile
import warnings
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import networkx
import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet
from scipy import io as scipy_io
from scipy import sparse

import mcn
from mcn.data import edge_text
from mcn.data.datasets import planetoid, tu
from mcn.data.datasets.planetoid import read_pickle
from mcn.data.datasets.tu import DD_SUMS, DD_WHOLE_FILES
from mcn.store import pack_graph, read_graph
from tests.fuzz import mutate
from tests.fuzz.mutate import MARK
from tests.fuzz.stored import JSON
from tests.fuzz.target import Target, reading, register, written

PLANETOID_PARTS = ("allx", "ally", "graph", "test.index", "tx", "ty", "x", "y")
EDGES = np.array([[0, 1], [1, 2], [2, 3], [0, 2], [3, 3], [1, 0]])
MATRIX = sparse.csr_array(
    (np.array([1.0, 1, 2, 0, 1]), (np.array([0, 1, 2, 3, 0]), np.array([1, 2, 3, 3, 2]))), shape=(5, 5)
)


def _graph() -> networkx.Graph:
    graph = networkx.Graph()
    for node in range(5):
        graph.add_node(node, team="ab"[node % 2], size=node / 2, ok=True)
    for u, v in EDGES.tolist():
        graph.add_edge(u, v, weight=1.0 + u)
    return graph


def choice(content: bytes, *options: Any) -> Any:
    """One of the options, decided by the content."""
    return options[zlib.crc32(content) % len(options)]


def sound(data: Any, features: bool = True) -> None:
    """What must hold of every graph that was accepted; without `features` it may have none."""
    n = data.num_nodes
    assert len(data.node_ids) == n, "ids and nodes differ in number"
    assert len(set(data.node_ids.tolist())) == n, "two nodes have one id"
    if features or data.x is not None:
        assert data.x.shape[0] == n, "features and nodes differ in number"
    if data.edge_index.numel():
        assert int(data.edge_index.min()) >= 0, "an edge to a negative node"
        assert int(data.edge_index.max()) < n, "an edge to a node that is not there"
    assert all(isinstance(line, str) for line in data.report)


def load(path: Path) -> None:
    """Read a file as a graph."""
    sound(mcn.load_graph(path))


def _text(content: bytes, folder: Path) -> None:
    delimiter = choice(content[1:], None, None, None, None, ",", " ", "\t", "|")
    header = choice(content[2:], None, None, None, True, False)
    ends = choice(content[3:], {}, {}, {"source": "2", "target": "3"}, {"source": "to", "target": "from"})
    with written(folder, f"input{choice(content, '.csv', '.tsv', '.txt', '.edges')}", content) as path:
        sound(mcn.load_graph(path, delimiter=delimiter, header=header, **ends))


def _table(content: bytes, folder: Path) -> None:
    edges = folder / "edges.csv"
    edges.write_text(choice(content, "1,2\n2,3\n", "a,b\nb,c\n", "1,2\n"))
    options = choice(
        content[1:],
        *({}, {}, {}, {"label": "label"}, {"features": ["f"]}, {"features": "wl"}, {"id": "f"}),
        *({"drop": ["f"]}, {"features": ["joined"]}, {"unknown_ids": "skip"}, {"unknown_ids": "add"}),
        {"directed": True},
    )
    with written(folder, "input.csv", content) as nodes:
        data = mcn.load_graph(edges, nodes, **options)
        sound(data)
        if data.y is not None:
            assert int(data.y.max()) < len(data.classes)


def _attributes(path: Path) -> None:
    options = choice(path.read_bytes(), {}, {"label": "team"}, {"label": "team", "features": ["size"]})
    sound(mcn.load_graph(path, **options))


def _gz(content: bytes, folder: Path) -> None:
    suffix = choice(content, ".csv", ".mtx", ".npz", ".graphml", ".gexf", ".gml")
    reading(f"input{suffix}{choice(content[1:], '.gz', '.GZ')}", load)(content, folder)


def _counts(path: Path) -> None:
    counts = mcn.MotifCounts.load(path)
    assert (counts.per_edge >= 0).all(), "a negative count per edge"
    assert len(counts.totals()) == 13
    try:
        per_node = counts.per_node
    except ValueError as error:  # which knows of no file
        raise ValueError(f"{path}: {error}") from None
    assert per_node.shape == (counts.num_nodes, 15)
    assert (per_node >= 0).all(), "a negative count per node"
    counts.adjacency("4-path")


def _pickle(content: bytes, folder: Path) -> None:
    read_pickle(content, "input.pickle")


def _planetoid(content: bytes, folder: Path) -> None:
    files = content.split(MARK)
    names = [f"ind.cora.{part}" for part in PLANETOID_PARTS]
    if len(files) != len(names):
        raise ValueError("ind.cora: parts are missing")
    x, y, *_ = planetoid.parse("cora", dict(zip(names, files, strict=True)))
    assert x.shape[0] == len(y)


def _tu(content: bytes, folder: Path) -> None:
    files = content.split(MARK)
    if len(files) != len(DD_SUMS):
        raise ValueError("DD67: parts are missing")
    whole = dict(zip(DD_WHOLE_FILES, files, strict=True))
    if choice(content, True, False):
        tu._cut(whole, "DD67")
        return
    names = ("DD67_A.txt", "DD67_graph_indicator.txt", "DD67_graph_labels.txt", "DD67_node_labels.txt")
    tu._parse(dict(zip(names, files, strict=True)), 6)


def _tu_zip(content: bytes, folder: Path) -> None:
    tu._unzip(content, "DD.zip")


def _bytes(write: Callable[[Any], object]) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(made)
    return made.getvalue()


def text_seeds() -> list[bytes]:
    """Edge lists in text."""
    return [
        b"0,1\n1,2\n2,3\n0,2\n",
        b"# c\nsource target weight\n10 20 0.5\n20 30 1\n30 10 2\n",
        b'ann,"bob, jr"\nbob,eve\n"eve",ann\n',
        b"1\t2\r\n2\t3\r\n",
        b"007;7\n7;x\n",
        "é,ü\nü,😀\n".encode(),
        b",source,target\n0,1,2\n1,2,3\n",  # pandas with its index
        b'"from" "to" "w"\n"1" "a" "b" 0,5\n"2" "b" "c" 1,5\n',  # R: names of rows
        "\ufeffid;Source;Target;w\r\n1;#a;b;0,5\r\n2;b;#c;1.234,5\r\n".encode(),  # Excel
        b"a b {'weight': 1, 'kind': 'x'}\nb c {'weight': 2, 'kind': 'y'}\n",  # NetworkX
        "1,2\n2,3\n".encode("utf-16"),
    ]


def _table_seeds() -> list[bytes]:
    return [
        b"id,label,split,f\n1,x,train,0.5\n2,y,val,1\n3,x,test,2\n",
        b"id,label,f,note\na,1,0.5,hello\nb,0,1,\nc,,2e3,x\n",
        b"node\tclass\tw1\tw2\n1\tA\t0\t1\n2\tB\t1\t0\n3\t?\t0\t0\n",
        b'id,y\n1,"q, r"\n2,s\n3,s\n4,q\n',
        b";id;label;f;joined\n0;1;x;0,5;2020-01-31\n1;2;y;1.234,5;2021-02-28\n2;3;x;7;\n",
    ]


def _mtx_seeds() -> list[bytes]:
    pattern = b"%%MatrixMarket matrix coordinate pattern symmetric\n% c\n4 4 3\n2 1\n3 1\n4 3\n"
    skew = b"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 1 -2.5e0\n"
    return [
        _bytes(lambda out: scipy_io.mmwrite(out, MATRIX)),
        _bytes(lambda out: scipy_io.mmwrite(out, MATRIX.toarray())),
        _bytes(lambda out: scipy_io.mmwrite(out, MATRIX.astype(complex))),
        _bytes(lambda out: scipy_io.mmwrite(out, MATRIX.astype(int))),
        pattern,
        skew,
        b"%%MatrixMarket matrix array integer symmetric\n2 2\n0\n1\n0\n",
    ]


def _npz_seeds() -> list[bytes]:
    return [
        _bytes(lambda out: np.savez(out, edge=EDGES, n=np.array(6))),
        _bytes(lambda out: np.savez_compressed(out, edge_index=EDGES.T.astype(np.int32))),
        *(
            _bytes(lambda out, form=form: sparse.save_npz(out, MATRIX.asformat(form)))
            for form in ("csr", "csc", "coo", "dia")
        ),
        _bytes(lambda out: sparse.save_npz(out, sparse.bsr_array(np.ones((4, 4)), blocksize=(2, 2)))),
    ]


def _counts_seeds() -> list[bytes]:
    made = []
    graphs = [([[0, 0, 1, 2, 3, 0], [1, 2, 2, 3, 4, 4]], True), ([[0], [1]], False), ([[], []], True)]
    for edges, induced in graphs:
        counts = mcn.count_motifs(edges, induced=induced)
        arrays = {name: getattr(counts.enumerated, name) for name in ("t", "s1", "s2", "k", "c")}
        for name in ("indptr", "indices", "num_nodes", "self_loops", "duplicates", "one_way"):
            arrays[name] = np.array(getattr(counts.graph, name))
        arrays |= {"format": np.array("mcn-motif-counts-1"), "induced": np.array(int(induced))}
        made.append(_bytes(lambda out, arrays=arrays: np.savez(out, **arrays)))
    return made


def _pickle_seeds() -> list[bytes]:
    matrix = sparse.csr_matrix(np.array([[0, 1.0], [2, 0]]))
    values = (matrix, np.arange(4.0).reshape(2, 2), defaultdict(list, {0: [1, 2], 1: [0]}), [1, 2.5, "x"])
    return [pickle.dumps(value, protocol=2) for value in values]


def _planetoid_seeds() -> list[bytes]:
    eye = sparse.csr_matrix(np.eye(4, 3, dtype=np.float32))
    one_hot = np.eye(4, 2, dtype=np.int32)
    graph = defaultdict(list, {0: [1], 1: [0, 2], 2: [1], 3: [5], 4: [0], 5: [3]})
    parts = {"allx": eye, "ally": one_hot, "graph": graph}
    parts |= {"tx": eye[:2], "ty": one_hot[:2], "x": eye[:2], "y": one_hot[:2]}
    packed = {name: pickle.dumps(value, protocol=2) for name, value in parts.items()}
    packed["test.index"] = b"5\n4\n"
    return [MARK.join(packed[name] for name in PLANETOID_PARTS)]


def _tu_seeds() -> list[bytes]:
    five_nodes = [b"1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n", b"1\n1\n1\n2\n2\n", b"1\n2\n", b"3\n1\n2\n3\n1\n"]
    three_nodes = [b"1, 2\n2, 1\n", b"6\n6\n7\n", b"1\n1\n1\n1\n1\n1\n2\n", b"3\n1\n2\n"]
    return [MARK.join(five_nodes), MARK.join(three_nodes)]


def _tu_zip_seeds() -> list[bytes]:
    def write(out: Any) -> None:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in DD_WHOLE_FILES:
                archive.writestr(zipfile.ZipInfo(f"DD/{name}"), b"1\n2\n")  # without the time of day

    return [_bytes(write)]


def _xml_seeds(kind: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        write = getattr(networkx, f"write_{kind}")
        directed = networkx.MultiDiGraph([("a", "b"), ("b", "a"), ("a", "b")])
        return [_bytes(lambda out: write(_graph(), out)), _bytes(lambda out: write(directed, out))]

    return seeds


def _gz_seeds() -> list[bytes]:
    inside = [text_seeds()[0], _mtx_seeds()[0], _npz_seeds()[0], _xml_seeds("graphml")()[0]]
    return [gzip.compress(content, 1, mtime=0) for content in inside]


text, xml = mutate.anything(mutate.TEXT), mutate.anything(mutate.XML)
mtx, gml = mutate.anything(mutate.MTX), mutate.anything(mutate.GML)
register(Target("edge-text", text_seeds, text, _text, "input"))
register(Target("node-table", _table_seeds, text, _table, "input"))
register(Target("mtx", _mtx_seeds, mtx, reading("input.mtx", load), "input.mtx"))
register(Target("npz", _npz_seeds, mutate.archive, reading("input.npz", load), "input.npz"))
for kind, change in (("graphml", xml), ("gexf", xml), ("gml", gml)):
    register(Target(kind, _xml_seeds(kind), change, reading(f"input.{kind}", _attributes), f"input.{kind}"))
register(Target("gz", _gz_seeds, mutate.packed(text), _gz, "input"))
register(Target("motif-counts", _counts_seeds, mutate.archive, reading("input.npz", _counts), "input.npz"))
register(Target("pickle", _pickle_seeds, mutate.anything(mutate.PICKLE), _pickle, "input.pickle"))
register(Target("planetoid", _planetoid_seeds, mutate.parts(mutate.anything()), _planetoid, "ind.cora"))
register(Target("tu", _tu_seeds, mutate.parts(mutate.anything()), _tu, "DD67"))
register(Target("tu-zip", _tu_zip_seeds, mutate.archive, _tu_zip, "DD.zip"))


def _tables() -> list[Any]:
    plain = {"source": [0, 1, 2, 0, 3], "target": [1, 2, 3, 2, 1], "weight": [0.5, 1, 2, 3, 1.5]}
    named = {"a": ["ann", "bob", "ann"], "b": ["bob", "eve", "eve"], "ok": [True, None, False]}
    packed = pa.table(named)
    return [pa.table(plain), packed.set_column(0, "a", packed["a"].dictionary_encode())]


def _seeds(write: Callable[..., object], packings: Sequence[str]) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        made = []
        for table in _tables():
            for packing in packings:
                out = io.BytesIO()
                write(table, out, compression=packing)
                made.append(out.getvalue())
        return made

    return seeds


def _store_seeds() -> list[bytes]:
    """A packed graph as one string: a list of the files' names, then each of them."""
    made = []
    edges = [[[0, 0, 1, 2, 3, 0], [1, 2, 2, 3, 4, 4]]]
    per_node: dict[str, Any] = {"y": [0, 1, 0, 1, 0], "classes": ["p", "q"]}
    for part, name in enumerate(("train_mask", "val_mask", "test_mask")):
        per_node[name] = np.arange(5) % 3 == part
    x = sparse.csr_array(np.eye(5, 3, dtype=np.float32))
    for more in ({"x": x, "ids": ["a", "b", "c", "d", "é"]}, {"x": np.eye(5, 2), "ids": [3, 5, 7, 9, 11]}):
        with tempfile.TemporaryDirectory() as home:
            store = mcn.GraphStore.write(f"{home}/store", edges, **per_node, **more)
            mcn.count_motifs(store, motifs=["triangle"])
            files = {path.name: path.read_bytes() for path in sorted(store.path.iterdir()) if path.is_file()}
        made.append(MARK.join([json.dumps(list(files)).encode(), *files.values()]))
    return made


_json, _any = mutate.anything(JSON), mutate.anything()


def _change_store(rng: random.Random, content: bytes, corpus: Sequence[bytes]) -> bytes:
    """Change one file: JSON by its words, an array by its header or its numbers; or leave one out."""
    names, *files = content.split(MARK)
    listed = json.loads(names)
    which = rng.randrange(len(files))
    kind = rng.random()
    if kind < 0.05:
        del files[which], listed[which]
    elif kind < 0.1:
        files[which] = files[rng.randrange(len(files))]
    elif listed[which].endswith(".json"):
        files[which] = _json(rng, files[which], files)
    else:
        changes = (mutate.npy_header, mutate.npy_numbers, mutate.npy_numbers)
        changed = rng.choice(changes)(rng, files[which]) if kind < 0.85 else _any(rng, files[which], files)
        files[which] = changed
    if not files:
        return content
    return MARK.join([json.dumps(listed).encode(), *(file.replace(MARK, b"") for file in files)])


def _store(content: bytes, folder: Path) -> None:
    """Open it, look at everything, count on disk and in memory: whatever is accepted fits together."""
    names, *files = content.split(MARK)
    own = folder / "input"
    own.mkdir()
    try:
        try:
            listed = json.loads(names)
        except ValueError:
            listed = None
        if not isinstance(listed, list) or len(listed) != len(files):
            raise ValueError("input: not a list of files")
        for name, file in zip(listed, files, strict=True):
            (own / Path(str(name)).name).write_bytes(file)
        sound(read_graph(own), features=False)
        store = mcn.GraphStore.open(own)
        counts = store.counts
        assert all(len(values) == 2 * store.num_edges for values in counts.values())
        assert mcn.count_motifs(store).num_edges == store.num_edges
        assert len(list(store.ids)) == store.num_nodes
        if choice(content, True, False):
            store.verify()
    finally:
        shutil.rmtree(own)


def _pack(content: bytes, folder: Path) -> None:
    """Packing a file gives the graph that reading it gives, or refuses it as reading does."""
    out = folder / "out"
    try:
        with written(folder, f"input{choice(content, '.csv', '.tsv', '.txt', '.edges')}", content) as path:
            packed = pack_graph(path, out=out).to_data()
            plain = mcn.load_graph(path)
        assert packed.node_ids.tolist() == plain.node_ids.tolist(), "other ids than load_graph has"
        assert packed.edge_index.equal(plain.edge_index), "other edges than load_graph has"
    finally:
        shutil.rmtree(out, ignore_errors=True)


def _arrow_text(path: Path) -> None:
    """Text through pyarrow: the weights that the careful way finds, or none."""
    fast = mcn.load_graph(path, weights="weight")
    with mock.patch.object(edge_text.Block, "plain", False):
        assert fast.edge_weight.equal(mcn.load_graph(path, weights="weight").edge_weight), "other weights"


def _weighted_seeds() -> list[bytes]:
    return [
        b"source,target,weight\n0,1,0.5\n1,2,1\n2,3,2e3\n0,2,7\n",
        b"source target weight\n10 20 0.5\n20 30 1\n30 10 2\n",
        b"source;target;weight;more\nann;bob;1;x\nbob;eve;.5;y\n",
    ]


_parquet_seeds = _seeds(parquet.write_table, ("none", "snappy"))
_feather_seeds = _seeds(feather.write_feather, ("uncompressed", "lz4"))
for _target in (
    Target("parquet", _parquet_seeds, _any, reading("input.parquet", load), "input.parquet"),
    Target("feather", _feather_seeds, _any, reading("input.feather", load), "input.feather"),
    Target("store", _store_seeds, _change_store, _store, "input"),
    Target("pack", text_seeds, text, _pack, "input"),
    Target("arrow-text", _weighted_seeds, text, reading("input.csv", _arrow_text), "input.csv"),
):
    register(_target)
