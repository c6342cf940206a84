"""NumPy archives that are damaged, lie about their size, or point outside themselves."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import mcn

PATH = [[0, 1], [1, 2], [2, 3]]


@pytest.fixture
def matrix() -> sparse.csr_array:
    dense = np.zeros((4, 4))
    for u, v in PATH:
        dense[u, v] = dense[v, u] = 1
    return sparse.csr_array(dense)


def _pairs(path: Path) -> list[list[int]]:
    return [[u, v] for u, v in mcn.load_graph(path).edge_index.T.tolist() if u < v]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_every_form_of_a_sparse_matrix(kind: Any, form: str, matrix: Any, tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "a.npz", kind(matrix).asformat(form))
    data = mcn.load_graph(tmp_path / "a.npz")
    assert _pairs(tmp_path / "a.npz") == PATH
    assert data.num_nodes == 4
    assert not any("weights" in line or "zeros" in line for line in data.report)


def test_blocks_and_diagonals_that_are_not_symmetric(tmp_path: Path) -> None:
    blocks = sparse.bsr_array(np.kron([[0, 1], [0, 0]], np.array([[1, 2], [0, 1]])), blocksize=(2, 2))
    sparse.save_npz(tmp_path / "a.npz", blocks)
    assert _pairs(tmp_path / "a.npz") == [[0, 2], [0, 3], [1, 3]]
    assert (
        "values (weights) accepted, not used: the graph is unweighted"
        in mcn.load_graph(tmp_path / "a.npz").report
    )
    assert "1 stored zeros are no edges" in mcn.load_graph(tmp_path / "a.npz").report
    diagonals = sparse.dia_array((np.ones((3, 4)), [2, -3, 9]), shape=(4, 4))
    sparse.save_npz(tmp_path / "a.npz", diagonals)
    assert _pairs(tmp_path / "a.npz") == [[0, 2], [0, 3], [1, 3]]


OUTSIDE: dict[str, tuple[dict[str, Any], str]] = {
    "row pointers past the end": (
        {"indptr": [0, 1, 3, 5, 600]},
        "row pointers from 0 to 600; expected 0 to 6",
    ),
    "row pointers far outside": ({"indptr": [0, 10**9, 3, 5, 6]}, "row 1 runs from entry 1000000000 to 3"),
    "row pointers that start late": ({"indptr": [1, 1, 3, 5, 6]}, "row pointers from 1 to 6"),
    "negative row pointers": ({"indptr": [0, -5, 3, 5, 6]}, "row 0 runs from entry 0 to -5"),
    "too few row pointers": ({"indptr": [0, 6]}, "2 row pointers for a matrix of shape"),
    "a column outside": ({"indices": [1, 0, 2, 1, 3, 4]}, r"entry 5 \(in row 3\) is in column 4"),
    "a column far outside": ({"indices": [1, 0, 2, 1, 3, 2**40]}, "is in column 1099511627776"),
    "a negative column": ({"indices": [-1, 0, 2, 1, 3, 2]}, r"entry 0 \(in row 0\) is in column -1"),
    "columns that are no integers": ({"indices": [1.0, 0, 2, 1, 3, 2]}, "'indices' holds float64"),
    "too few values": ({"data": [1.0, 1]}, "2 values for 6 columns"),
    "values that are text": ({"data": ["a"] * 6}, "'data' holds <U1"),
    "values in a matrix": ({"data": [[1.0]] * 6}, "'data' has shape"),
    "a shape that is not square": ({"shape": [4, 5]}, r"a matrix of shape \[4, 5\]; expected a square"),
    "a negative shape": ({"shape": [-4, -4]}, r"a matrix of shape \[-4, -4\]"),
    "a huge shape": ({"shape": [2**31 - 1] * 2}, "2,147,483,647 nodes take more than"),
    "another format": ({"format": "lil"}, "its format is 'lil'; expected one of csr"),
    "a format that is a number": ({"format": 3}, "its format is an array of int64"),
    "a part missing": ({"indptr": None}, "there is no 'indptr' in it"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_sparse_matrix_that_points_outside(name: str, matrix: Any, tmp_path: Path) -> None:
    """SciPy's `load_npz` does not look: the process then reads and writes elsewhere."""
    changes, message = OUTSIDE[name]
    sparse.save_npz(tmp_path / "a.npz", matrix)
    with np.load(tmp_path / "a.npz") as archive:
        content = dict(archive) | changes
    np.savez(tmp_path / "a.npz", **{key: value for key, value in content.items() if value is not None})
    with pytest.raises(ValueError, match=rf"a\.npz: .*{message}"):
        mcn.load_graph(tmp_path / "a.npz")


def _header(shape: str, dtype: str = "<i8", room: int = 118) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (room - len(text) - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "header",
    [
        _header("(10000000000000, 2)"),
        _header("(-1, 2)"),
        _header("(3, 2)"),
        _header("(1, 2)", "<U0"),
        _header("(1, 2)", "|O"),
        _header("(1, 2"),
        _header("(" * 900, room=4096),
        _header("(1e3, 2)"),
        b"\x93NUMPY\x09\x00" + _header("(1, 2)")[8:],
        b"PUMPY",
        b"",
    ],
)
def test_headers_that_lie(header: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("edge.npy", header + bytes(16))
    for load in (mcn.load_graph, mcn.MotifCounts.load):
        with pytest.raises(ValueError, match=r"a\.npz: not a "):
            load(tmp_path / "a.npz")


def test_damage_anywhere_is_a_value_error_or_harmless(tmp_path: Path) -> None:
    """zlib.error, NotImplementedError, AttributeError and others used to come out."""
    whole = io.BytesIO()
    np.savez_compressed(whole, edge=np.array(PATH))
    path = tmp_path / "a.npz"
    for place in range(len(whole.getvalue())):
        for value in (0x00, 0xFF, 0x63):
            changed = bytearray(whole.getvalue())
            changed[place] = value
            path.write_bytes(changed)
            said = ""
            try:
                assert _pairs(path) == PATH
            except ValueError as error:
                said = str(error)
            assert not said or said.startswith(str(path))


def test_unsigned_ids_past_63_bits(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", edge=np.array([[0, 2**64 - 1]], np.uint64))
    with pytest.raises(ValueError, match=r"a\.npz: 18446744073709551616 nodes; at most 2\*\*31"):
        mcn.load_graph(tmp_path / "a.npz")


def test_one_edge_between_far_ids(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", edge=np.array([[0, 2**31 - 2]]))
    with pytest.raises(ValueError, match=r"a\.npz: 2,147,483,647 nodes take more than"):
        mcn.load_graph(tmp_path / "a.npz")
