"""Files of columns and folders of arrays as targets: Parquet, Feather, packed graphs, and packing itself."""

from __future__ import annotations

import io
import json
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet
from scipy import sparse

import mcn
from mcn.data import edge_text
from mcn.store import pack_graph, read_graph
from tests.fuzz import mutate
from tests.fuzz.files import choice, load, sound, text_seeds
from tests.fuzz.mutate import MARK
from tests.fuzz.stored import JSON
from tests.fuzz.target import Target, register


def _tables() -> list[Any]:
    plain = {"source": [0, 1, 2, 0, 3], "target": [1, 2, 3, 2, 1], "weight": [0.5, 1, 2, 3, 1.5]}
    named = {"a": ["ann", "bob", "ann"], "b": ["bob", "eve", "eve"], "ok": [True, None, False]}
    packed = pa.table(named)
    return [pa.table(plain), packed.set_column(0, "a", packed["a"].dictionary_encode())]


def _parquet_seeds() -> list[bytes]:
    made = []
    for table in _tables():
        for packing in ("none", "snappy"):
            out = io.BytesIO()
            parquet.write_table(table, out, compression=packing)
            made.append(out.getvalue())
    return made


def _feather_seeds() -> list[bytes]:
    made = []
    for table in _tables():
        for packing in ("uncompressed", "lz4"):
            out = io.BytesIO()
            feather.write_feather(table, out, compression=packing)
            made.append(out.getvalue())
    return made


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
    path, out = folder / f"input{choice(content, '.csv', '.tsv', '.txt', '.edges')}", folder / "out"
    path.write_bytes(content)
    try:
        packed = pack_graph(path, out=out).to_data()
        plain = mcn.load_graph(path)
        assert packed.node_ids.tolist() == plain.node_ids.tolist(), "other ids than load_graph has"
        assert packed.edge_index.equal(plain.edge_index), "other edges than load_graph has"
    finally:
        path.unlink()
        shutil.rmtree(out, ignore_errors=True)


def _arrow_text(content: bytes, folder: Path) -> None:
    """Text through pyarrow, as a large file would be: the weights that the careful reader finds, or none."""
    path = folder / "input.csv"
    path.write_bytes(content)
    before, edge_text._LARGE = edge_text._LARGE, 0
    try:
        fast = mcn.load_graph(path, weights="weight")
        edge_text._LARGE = 10**9
        assert fast.edge_weight.equal(mcn.load_graph(path, weights="weight").edge_weight), "other weights"
    finally:
        edge_text._LARGE = before
        path.unlink()


def _weighted_seeds() -> list[bytes]:
    return [
        b"source,target,weight\n0,1,0.5\n1,2,1\n2,3,2e3\n0,2,7\n",
        b"source target weight\n10 20 0.5\n20 30 1\n30 10 2\n",
        b"source;target;weight;more\nann;bob;1;x\nbob;eve;.5;y\n",
    ]


_text = mutate.anything(mutate.TEXT)
for _target in (
    Target("parquet", _parquet_seeds, _any, load(".parquet"), "input.parquet"),
    Target("feather", _feather_seeds, _any, load(".feather"), "input.feather"),
    Target("store", _store_seeds, _change_store, _store, "input"),
    Target("pack", text_seeds, _text, _pack, "input"),
    Target("arrow-text", _weighted_seeds, _text, _arrow_text, "input.csv"),
):
    register(_target)
