"""Cora, Citeseer and Pubmed as PyG reads them, their downloads, and pickles that must not run."""

import io
import os
import pickle
import struct
import subprocess
import warnings
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from torch_geometric.datasets import Planetoid

from mcn.data import load_dataset
from mcn.data.datasets import planetoid
from mcn.data.datasets.planetoid import read_pickle
from tests.conftest import refuses
from tests.payloads import Call

from .serving import copied, load_from, serve


@pytest.mark.parametrize("name, edges", [("cora", 5278), ("citeseer", 4552), ("pubmed", 44324)])
def test_equal_to_pyg(name: str, edges: int, shared: Path, cache: Path, tmp_path: Path) -> None:
    proper = planetoid.raw_files(name).folders[1].split("/")[0]
    copied(shared, name, tmp_path / proper / "raw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Planetoid(str(tmp_path), proper)[0]
    ours = load_dataset(name, shared)
    assert ours.x.layout == torch.sparse_csr
    assert ours.x.dtype == torch.float32
    assert torch.equal(ours.x.to_dense(), theirs.x)
    assert torch.equal(ours.y, theirs.y)
    for mask in ("train_mask", "val_mask", "test_mask"):
        assert torch.equal(ours[mask], theirs[mask])
    assert ours.edge_index.shape == (2, 2 * edges)
    # PyG sorts by the second row.
    order = theirs.edge_index[0].argsort(stable=True)
    assert torch.equal(ours.edge_index, theirs.edge_index[:, order])


def test_citeseer_has_15_nodes_without_features_or_a_place_and_48_isolated(shared: Path, cache: Path) -> None:
    data = load_dataset("citeseer", shared, dense=True)
    assert data.num_nodes == 3327
    isolated = torch.bincount(data.edge_index[0], minlength=3327) == 0
    assert int(isolated.sum()) == 48
    absent = (torch.arange(3327) >= 2312) & ~data.test_mask
    assert int(absent.sum()) == 15
    assert data.x[absent].count_nonzero() == 0
    assert data.y[absent].count_nonzero() == 0


@pytest.mark.parametrize("damage", ["truncated", "tampered"])
def test_nothing_is_written_beside_the_source_and_a_damaged_file_is_refused(
    damage: str, shared: Path, cache: Path, tmp_path: Path
) -> None:
    folder = copied(shared, "cora", tmp_path / "Planetoid" / "Cora" / "raw")
    before = sorted(tmp_path.rglob("*"))
    load_dataset("cora", tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    content = (folder / "ind.cora.graph").read_bytes()
    changed = content[:-100] if damage == "truncated" else content.replace(b"K\x01", b"K\x02", 1)
    assert changed != content
    (folder / "ind.cora.graph").write_bytes(changed)
    refuses(r"ind\.cora\.graph: SHA-256 is .* expected 58f13302.*; remove it", load_dataset, "cora", tmp_path)


def test_a_tampered_download_is_refused_and_leaves_nothing(shared: Path, cache: Path, tmp_path: Path) -> None:
    served = copied(shared, "cora", tmp_path / "served")
    (served / "ind.cora.y").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with serve(served) as home, pytest.raises(ValueError, match=r"ind\.cora\.y: SHA-256 is"):
        load_from(home, "cora")
    assert not cache.exists()


@given(hnp.arrays(st.sampled_from(["<i4", ">i4", "<i8", "<f4", "<f8", "|u1"]), hnp.array_shapes(max_dims=2)))
def test_arrays_round_trip(array: Any) -> None:
    for ordered in (array, np.asfortranarray(array)):
        read = read_pickle(pickle.dumps(ordered, protocol=2), "a")
        assert read.dtype == array.dtype
        np.testing.assert_array_equal(read, array)


@pytest.mark.filterwarnings("ignore")
def test_sparse_matrices_dicts_and_lists_round_trip_and_columns_out_of_range_are_refused() -> None:
    matrix = sparse.csr_matrix(np.array([[0, 1.5, 0], [2, 0, 1]], np.float32))
    content = pickle.dumps(matrix, protocol=2)
    np.testing.assert_array_equal(read_pickle(content, "m").toarray(), matrix.toarray())
    graph = defaultdict(list, {0: [1, 2], 1: [0]})
    assert read_pickle(pickle.dumps(graph, protocol=2), "g") == {0: [1, 2], 1: [0]}
    indices = matrix.indices.tobytes().decode("latin1").encode("utf-8")
    assert content.count(indices) >= 1
    tampered = content.replace(indices, struct.pack("<3i", 1, 0, 99).decode("latin1").encode("utf-8"))
    refuses(r"^f: ", read_pickle, tampered, "f")


def _malicious(marker: Path) -> dict[str, Any]:
    command = f"touch {marker}"
    inner = pickle.dumps(Call(os.system, command))
    objects = np.array([Call(os.system, command)], dtype=object)
    return {
        "os.system": Call(os.system, command),
        "eval": Call(eval, f"open({str(marker)!r}, 'w')"),
        "exec": Call(exec, f"open({str(marker)!r}, 'w')"),
        "subprocess": Call(subprocess.Popen, ["touch", str(marker)]),
        "getattr": Call(getattr, os, "system"),
        "import": Call(__import__, "os"),
        "open": Call(open, str(marker), "w"),
        "pickle in a pickle": Call(pickle.loads, inner),
        "numpy load": Call(np.load, io.BytesIO, None, True),
        "numpy writes a file": Call(np.savetxt, str(marker), [1]),
        "numpy memmap": Call(np.memmap, str(marker), "u1", "w+", 0, 10),
        "numpy fromfile": Call(np.fromfile, "/etc/hostname"),
        "inside a list": [1, [2, Call(os.system, command)]],
        "inside a dict": {1: Call(os.system, command)},
        "inside an array of objects": objects,
        "as the factory of a defaultdict": defaultdict(os.system),
        "OrderedDict": OrderedDict(a=1),
    }


@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize("kind", list(_malicious(Path("x"))))
def test_malicious_pickles_are_refused_and_do_nothing(kind: str, protocol: int, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    payload = _malicious(marker)[kind]
    try:
        content = pickle.dumps(payload, protocol=protocol)
    except TypeError:  # modules cannot be pickled; write the call by hand
        content = b"cbuiltins\ngetattr\n(cos\nsystem\nS'__call__'\ntR."
    refuses(r"ind\.cora\.x: (refused|not a readable)", read_pickle, content, "ind.cora.x")
    assert not marker.exists()


def test_the_refused_name_is_shown_and_the_plain_unpickler_would_have_run_it(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    pickle.loads(pickle.dumps(_malicious(marker)["os.system"]))
    assert marker.exists()
    content = pickle.dumps(Call(os.system, "true"))
    refuses(r"f: refused, the pickle asks for (posix|nt)\.system", read_pickle, content, "f")


@pytest.mark.parametrize(
    "content",
    [
        # A pickle that sets attributes of the class that stands for an admitted name, in two ways.
        b"cnumpy\ndtype\n(dS'__setstate__'\nI1\nsb.",
        b"cnumpy\ndtype\n(N(dS'args'\nI1\nstb.",
        b"ccollections\ndefaultdict\n(N(dS'get'\nI1\nstb.",
        # Call an admitted name on the wrong things, and names reached through dots.
        b"cnumpy.core.multiarray\n_reconstruct\n(I1\ntR.",
        b"\x80\x04\x8c\x05numpy\x8c\x0edtype.__init__\x93.",
        b"\x80\x04\x8c\x08builtins\x8c\x0elist.__class__\x93.",
        # A list that holds itself; an extension code; a persistent id; nothing; no pickle.
        b"(lp0\ng0\na.",
        b"\x80\x02\x82\x01.",
        b"Psomething\n.",
        b"",
        b"hello",
        # An array in another encoding, and of an unknown type.
        pickle.dumps(np.arange(3), protocol=2).replace(b"latin1", b"latin2"),
        pickle.dumps(np.arange(3), protocol=2).replace(b"i8", b"q9"),
    ],
)
def test_malformed_pickles_are_refused(content: bytes) -> None:
    refuses(r"^f: ", read_pickle, content, "f")
    np.testing.assert_array_equal(read_pickle(pickle.dumps(np.arange(3), protocol=2), "g"), [0, 1, 2])


@given(st.data())
def test_truncation_is_an_error_that_names_the_file(data: st.DataObject) -> None:
    whole = pickle.dumps(np.arange(20.0), protocol=2)
    cut = data.draw(st.integers(0, len(whole) - 1))
    message = r"^ind\.cora\.y: not a readable pickle, damaged or truncated"
    refuses(message, read_pickle, whole[:cut], "ind.cora.y")
