from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from mcn.data import feature_csr, feature_tensor
from mcn.data.sparse import check_csr, checked_csr
from tests.odd_tensors import csr_tensor


@settings(deadline=None)
@given(
    hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.sampled_from([0, 1, -2.5]))
)
def test_values_survive_in_both_layouts(array: np.ndarray) -> None:
    matrix = sparse.csr_array(array)
    tensor = feature_tensor(matrix)
    assert tensor.layout == torch.sparse_csr
    assert tensor.dtype == torch.float32
    assert torch.equal(tensor.to_dense(), torch.from_numpy(array))
    assert torch.equal(feature_tensor(matrix, dense=True), torch.from_numpy(array))
    np.testing.assert_array_equal(feature_csr(tensor).toarray(), array)
    np.testing.assert_array_equal(feature_csr(torch.from_numpy(array)).toarray(), array)


def test_columns_are_sorted_and_repeats_summed() -> None:
    matrix = sparse.csr_array((np.ones(3), [2, 0, 2], [0, 3]), shape=(1, 3))
    tensor = feature_tensor(matrix)
    assert tensor.col_indices().tolist() == [0, 2]
    assert tensor.values().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32, np.uint64, ">i4", np.int8])
def test_a_sound_structure_passes(kind: Any) -> None:
    indptr, indices, shape = [0, 2, 2, 3], [4, 0, 1], (3, 5)
    check_csr(np.array(indptr, kind), np.array(indices, kind), shape)
    check_csr(np.zeros(7, kind)[::2], np.array([], kind), (3, 0))
    check_csr(torch.tensor(indptr), torch.tensor(indices), torch.Size(shape), values=torch.ones(3))


@pytest.mark.parametrize(
    "indptr, indices, shape, message",
    [
        ([], [], (0, 5), "0 row pointers for a matrix of shape [0, 5]"),
        ([0, 0], [], (1, -5), "2 row pointers for a matrix of shape [1, -5]"),
        ([0.0, 2, 2, 3], [4, 0, 1], (3, 5), "indptr has shape [4], dtype float64; expected integers"),
        ([0, 2, 2, 3], [[4], [0], [1]], (3, 5), "indices has shape [3, 1], dtype int64; expected integers"),
    ],
)
def test_what_is_no_structure(indptr: Any, indices: Any, shape: Any, message: str) -> None:
    """Structures that point outside: `test_a_sparse_matrix_that_points_outside` in `test_edge_files.py`."""
    with pytest.raises(ValueError, match=re.escape(f"words: {message}")):
        check_csr(np.array(indptr), np.array(indices), shape, "words")


def test_small_integers_do_not_wrap() -> None:
    with pytest.raises(ValueError, match=r"is in column -1"):
        check_csr(np.array([0, 1], np.int8), np.array([-1], np.int8), (1, 300))


def test_a_tensor_that_points_outside_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^x: entry 1 \(in row 0\) is in column 9"):
        feature_csr(csr_tensor([1, 9, 0, 0]))


@pytest.mark.parametrize("values", [[1.0], [1.0] * 4, []])
def test_lists_of_columns_and_values_of_different_lengths(values: list[float]) -> None:
    """SciPy writes the values of such a matrix past the end of its array."""
    matrix = sparse.lil_array((3, 3))
    matrix.rows[0], matrix.data[0] = [0, 2], values
    with pytest.raises(ValueError, match=r"^x: its rows are not lists of as many columns as values"):
        checked_csr(matrix, "x")
    matrix.data[0] = [1.0, 2.0]
    assert checked_csr(matrix, "x").toarray().tolist() == [[1, 0, 2], [0, 0, 0], [0, 0, 0]]
    matrix.rows[1], matrix.data[1] = [7], [1.0]
    with pytest.raises(ValueError, match=r"^x: entry 2 \(in row 1\) is in column 7"):
        checked_csr(matrix, "x")


@pytest.mark.parametrize("kind", [np.uint64, np.uint32, np.int64])
def test_unsigned_structures_are_read(kind: type[np.integer[Any]]) -> None:
    """SciPy warns of them, and warnings are errors here."""
    matrix = sparse.csr_array(np.eye(3))
    matrix.indptr, matrix.indices = matrix.indptr.astype(kind), matrix.indices.astype(kind)
    assert checked_csr(matrix, "x").toarray().tolist() == np.eye(3).tolist()


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_a_tensor_whose_row_pointers_are_sparse_themselves() -> None:
    starts = torch.tensor([[0, 1]]).to_sparse_csr()
    try:
        tensor = torch.sparse_csr_tensor(
            starts, torch.tensor([0]), torch.ones(1), size=(1, 3), check_invariants=False
        )
    except RuntimeError:
        pytest.skip("this torch does not make one")
    with pytest.raises(ValueError, match=r"^x: row pointers or columns are no plain tensors"):
        feature_csr(tensor)


def test_diagonals_at_no_integers() -> None:
    matrix = sparse.dia_array((3, 3))
    matrix.offsets, matrix.data = np.array([np.nan]), np.ones((1, 3))
    with pytest.raises(ValueError, match=r"^x: offsets has shape \[1\], dtype float64; expected integers"):
        checked_csr(matrix, "x")
    matrix.offsets = np.array([0, 1])
    with pytest.raises(ValueError, match=r"^x: number of diagonals \(1\) does not match"):
        checked_csr(matrix, "x")
