"""Matrices from outside: every structure is looked at before a kernel trusts it."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from mcn.data import feature_tensor
from mcn.data.sparse import checked_csr
from mcn.matrices import PSI_NAMES, MotifStack, PageRankRows, apply_psi, pagerank_rows, walk_weights
from mcn.matrices.state import check_scale
from tests.conftest import refuses
from tests.matrices.dense import dense_psi
from tests.odd_tensors import csr_tensor

GOOD = np.array([[0.0, 1, 2], [1, 0, 0], [2, 0, 0]])
FAR = 2**32 + 1


def broken(form: str, part: str, value: int) -> Any:
    """A SciPy matrix with one id changed after SciPy last looked."""
    matrix: Any = sparse.csr_array(GOOD).asformat(form)
    if form == "coo":
        matrix.coords = tuple(each.astype(np.int64) for each in matrix.coords)
        matrix.coords[0 if part == "row" else 1][0] = value
    else:
        ids = getattr(matrix, part).astype(np.int64)
        ids[1] = value
        setattr(matrix, part, ids)
    return matrix


BROKEN = [
    *((form, "indices", value) for form in ("csr", "csc", "bsr") for value in (3, -1, 10**6, FAR, 2**62)),
    *((form, "indptr", value) for form in ("csr", "csc", "bsr") for value in (9, -1, 10**6, 2**62)),
    *(("coo", part, value) for part in ("row", "col") for value in (3, -1, 10**6, FAR)),
]


@pytest.mark.parametrize(("form", "part", "value"), BROKEN)
def test_ids_out_of_range(form: str, part: str, value: int) -> None:
    for take in (
        lambda matrix: checked_csr(matrix, "A"),
        lambda matrix: apply_psi(matrix, "transition"),
        lambda matrix: MotifStack.from_adjacencies({"edge": matrix}),
        lambda matrix: pagerank_rows([matrix], walk_weights(2, None), 3),
        feature_tensor,
    ):
        message = r"expected|row pointers|entry|exceeds matrix dimension|negative axis"
        refuses(message, take, broken(form, part, value))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_every_format_gives_the_same(form: str) -> None:
    assert np.array_equal(checked_csr(sparse.csr_array(GOOD).asformat(form), "A").toarray(), GOOD)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, np.uint64, np.bool_])
def test_every_real_kind_is_taken(kind: Any) -> None:
    for good in ((GOOD > 0).astype(kind), csr_tensor([1, 2, 0, 0])):
        found, expected = apply_psi(good, "laplacian").toarray(), apply_psi(GOOD > 0, "laplacian").toarray()
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "matrix",
    [
        *(csr_tensor([1, column, 0, 0]) for column in (3, FAR, -1)),
        *(csr_tensor([1, 2, 0, 0], starts) for starts in ([0, 2, 10**6, 4], [0, 3, 2, 4])),
        *(csr_tensor([1, 2, 0, 0], kind=kind) for kind in (torch.complex64, torch.bfloat16)),
        *(torch.from_numpy(GOOD).to(kind) for kind in (torch.complex64, torch.bfloat16)),
        torch.from_numpy(GOOD).to_sparse_coo(),
        *(GOOD.astype(kind) for kind in (complex, str, object)),
        sparse.csr_array(GOOD.astype(complex)),
        *(np.where(GOOD > 0, value, 0) for value in (np.nan, np.inf, -1)),
        *(np.ones(shape) for shape in ((2, 3), (2, 2, 2))),
        *([[0, 1], [1]], [1, 2, 3], None, 3, "edge"),
    ],
)
def test_what_is_no_matrix_of_weights(matrix: Any) -> None:
    expected = r"expected|must be|got no array|holds"
    refuses(expected, apply_psi, matrix, "unweighted")
    refuses(expected, MotifStack.from_adjacencies, {"edge": matrix})


@pytest.mark.parametrize("psi", PSI_NAMES)
@pytest.mark.parametrize("size", [1e-310, 1e-300, 1e-160, 1.0, 1e150, 1e307, 4e307, 9e307, 1.7e308])
def test_entries_of_any_size_give_the_right_row_or_a_reason(psi: str, size: float) -> None:
    ones = np.ones((3, 3)) - np.eye(3)
    matrix = ones * size
    if size > 4e307 and psi != "unweighted":  # twice the sum of a row is beyond float64
        refuses(r"weights of motif 'A' at step 1 reach up to .* more than", apply_psi, matrix, psi)
        return
    found = apply_psi(matrix, psi).toarray()
    expected = dense_psi(ones, psi) * (size if psi in ("row-max", "laplacian") else 1.0)
    assert np.allclose(found, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("threads", [0, -1, 10**5, 2.5, "2", float("inf"), True])
def test_threads_within_reason(threads: Any) -> None:
    message = "threads must be a positive integer up to 1024"
    refuses(message, MotifStack.from_adjacencies, {"edge": GOOD}, threads=threads)
    refuses(message, pagerank_rows, [GOOD], walk_weights(2, None), 3, threads=threads)


INDICES, WEIGHTS = np.zeros((2, 3, 2), np.int32), np.ones((2, 3, 2), np.float32)


@pytest.mark.parametrize(
    ("indices", "weights"),
    [
        *((odd, WEIGHTS) for odd in (INDICES + 3, INDICES - 1, INDICES.astype(np.int64), INDICES[..., 0])),
        *((INDICES, odd) for odd in (np.ones((2, 3, 3), np.float32), np.ones((2, 3, 2)))),
        *((INDICES, odd * WEIGHTS) for odd in (np.float32(np.nan), np.float32(-1))),
        ([[[0]]], [[[1.0]]]),
    ],
)
def test_rows_made_by_hand(indices: Any, weights: Any) -> None:
    refuses(r"indices|weights", PageRankRows, indices, weights)


@pytest.mark.parametrize("views", [[0, 1, 2], [0, -1, 0], [0, 1], [0.0, 1.0, 1.0]])
def test_views_out_of_range(views: Any) -> None:
    refuses("views", PageRankRows(INDICES, WEIGHTS).select, np.array(views))


def test_walks_too_unlikely_for_a_number() -> None:
    """Each product of two weights is 0: every node would be listed once per edge, and beyond the end."""
    n = 40
    matrix = np.full((n, n), 1e-300)
    found = pagerank_rows([matrix], walk_weights(4, None), 3, tolerance=0.0)
    assert found.indices[0, :, 0].tolist() == list(range(n))
    assert np.allclose(found.weights[0, :, 0], 1.0)


@pytest.mark.parametrize(
    ("matrices", "weights", "message"),
    [
        ([], walk_weights(2, None), "at least one matrix"),
        ([GOOD, np.eye(4)], walk_weights(2, None), "all of one size"),
        ([GOOD], [walk_weights(2, None)] * 2, "as many weights"),
        ([GOOD], np.array([]), "weights must be"),
        ([GOOD], np.array([np.nan]), "weights must be"),
        ([GOOD], np.array([1j]), "weights must be"),
        ([GOOD * 8e307], walk_weights(2, None), "beyond what float64 holds"),
    ],
)
def test_walks_that_cannot_be(matrices: Any, weights: Any, message: str) -> None:
    refuses(message, pagerank_rows, matrices, weights, 3)


@pytest.mark.parametrize(
    "scale", [np.zeros((2, 3)), np.full((2, 15), np.nan), [[1]], "x", None, np.full((2, 15), -1.0)]
)
def test_scales_of_counts(scale: Any) -> None:
    refuses("count_scale", check_scale, scale)


def test_long_walks_are_taken_or_refused_with_the_number() -> None:
    refuses("at most 1000", MotifStack.from_adjacencies, {"edge": GOOD}, steps=10**9)
    # Than float32 holds.
    refuses("more than", MotifStack.from_adjacencies, {"self": np.eye(3)}, edge=GOOD * 1e300, psi="row-max")
    stack = MotifStack.from_adjacencies({"edge": GOOD}, steps=900, psi="unweighted")
    assert np.isfinite(stack.matrix("edge", 900).toarray()).all()
    wheel = np.ones((40, 40)) - np.eye(40)
    long = MotifStack.from_adjacencies({"edge": wheel}, steps=500, psi="unweighted")
    assert (long.matrix("edge", 500).toarray() == 1).all()
    with pytest.raises(ValueError, match=r"at step 194 reach up to .*, more than the 8.99e\+307 allowed"):
        MotifStack.from_adjacencies({"edge": wheel}, steps=500, psi="transition")
