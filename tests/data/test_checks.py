"""What must hold of a `Data` before it is trained on, and of sparse matrices before a kernel trusts them."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from torch_geometric.data import Data

import mcn
from graphmotifs._sparse import check_csr
from mcn.data import check_data, feature_csr, feature_tensor, given_weights, simple_graph, weight_matrix
from mcn.data.checks import usable_data
from mcn.data.sparse import checked_csr
from mcn.data.targets import known_targets, target_kind
from tests.conftest import refuses
from tests.odd_tensors import csr_tensor


@pytest.fixture
def data() -> Data:
    return mcn.load_dataset("karate", dense=True)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_bad_features_name_node_and_column(data: Data, value: float) -> None:
    data.x[7, 3] = value
    refuses(f"holds {value} at node 7, column 3", check_data, data)
    data.x = feature_tensor(sparse.csr_array(data.x.numpy()))
    refuses(f"holds {value} at node 7, column 3", check_data, data)


NODES = torch.arange(34)

WRONG: list[tuple[str, Any, str]] = [
    ("edge_index", lambda data: data.edge_index + 5, r"outside 0\.\.33"),
    ("edge_index", lambda data: None, "no edge_index"),
    ("x", lambda data: torch.ones(33, 4), r"data\.x has shape \[33, 4\]; expected \[34, F\]"),
    ("x", lambda data: None, r"data\.x is missing"),
    ("val_mask", lambda data: ~data.test_mask, r"train_mask and data\.val_mask overlap in 4 nodes, first in"),
    ("val_mask", lambda data: data.val_mask[:-1], r"mask has shape \[33\].*expected bool of shape \[34\]"),
    ("val_mask", lambda data: data.val_mask.float(), "expected bool"),
    ("val_mask", lambda data: None, "val_mask is missing"),
    ("test_mask", lambda data: data.test_mask | (NODES == 33), "test_mask holds node 33, which has no label"),
    ("train_mask", lambda data: data.train_mask & False, "train_mask is empty"),
    ("y", lambda data: torch.zeros_like(data.y), r"one class only \(0\)"),
    ("y", lambda data: data.y + (NODES == 3) * 2**62, r"class 4611686018427387904; .*, below 65,536$"),
    ("y", lambda data: None, "y is missing"),
]


@pytest.mark.parametrize("name, change, message", WRONG)
def test_what_is_wrong_is_named(data: Data, name: str, change: Any, message: str) -> None:
    data.num_nodes = 34
    if "no label" in message:
        data.val_mask[33] = data.train_mask[33] = False
        data.y[33] = -1
    data[name] = change(data)
    refuses(message, check_data, data)


NONE, NUMBERS, PAIRS = torch.nan, NODES.float(), torch.stack([NODES % 2, NODES % 3 % 2], dim=1)
WRONG_TARGETS = [
    (NUMBERS[:-1], r"has shape \[33\], dtype torch.float32; expected numbers of shape \[34\]"),
    (PAIRS[:-1], r"expected yes/no targets of shape \[34, 2\]"),
    (NUMBERS.masked_fill(NODES == 7, NONE), r"mask holds node 7, which has no label \(y = nan\)"),
    (NUMBERS.masked_fill(NODES == 7, -torch.inf), "holds -inf at node 7; expected finite numbers, NaN where"),
    (NUMBERS * 0 + 3.5, r"^data\.y: every target is 3\.5; there is nothing to learn"),
    (PAIRS * 2, "holds 2 at node 1, column 0; expected 0 or 1, NaN where unknown"),
    (PAIRS[:, [0, 1, 1]], r"data\.classes has 2 names for the 3 columns of data\.y"),
    (PAIRS * 0 + 1, "every target is 1, 1; there is nothing to learn"),
]


@pytest.mark.parametrize("y, message", WRONG_TARGETS)
def test_wrong_targets(data: Data, y: torch.Tensor, message: str) -> None:
    data.y, data.num_nodes, data.classes = y, 34, ["a", "b"]
    refuses(message, check_data, data)
    data.y = torch.stack([NODES % 2, NODES * 0], dim=1)
    with pytest.warns(UserWarning, match="target b is the same for all labelled nodes: it cannot be judged"):
        check_data(data)


KINDS: list[tuple[torch.Tensor, str, list[int], Any]] = [
    (torch.tensor([[1], [0], [-1]]), "classes", [1, 1, 0], [1, 0, -1]),
    (torch.tensor([0.5, NONE, 1]).double(), "regression", [1, 0, 1], [0.5, NONE, 1]),
    (torch.tensor([[0.5], [NONE], [1]]).half(), "regression", [1, 0, 1], [0.5, NONE, 1]),
    (torch.tensor([[1, 0], [0, -1]]), "multilabel", [1, 0], [[1, 0], [NONE, NONE]]),
    (torch.tensor([[True, False], [True, True]]), "multilabel", [1, 1], [[1, 0], [1, 1]]),
    (torch.tensor([[1.0, 0], [NONE, 1]]), "multilabel", [1, 0], [[1, 0], [NONE, NONE]]),
]


@pytest.mark.parametrize("y, kind, known, plain", KINDS)
def test_kinds_of_targets(y: torch.Tensor, kind: str, known: list[int], plain: Any) -> None:
    for array in (y, y.numpy()):
        assert (target_kind(array), known_targets(array).tolist()) == (kind, known)
    usable = usable_data(Data(y=y, classes=["a", "b"]))
    assert usable.y.dtype == (torch.int64 if kind == "classes" else torch.float32)
    np.testing.assert_array_equal(usable.y, plain)
    assert usable_data(usable) is usable


def test_unknown_numbers_of_nodes_and_a_class_without_a_training_node(data: Data) -> None:
    np.testing.assert_array_equal(check_data(data).edge_index, data.edge_index)
    unknown = Data(x=torch.tensor(1.0), edge_index=torch.tensor([[0], [1]]))
    refuses(r"^data\.num_nodes is not given and cannot be told", check_data, unknown)
    data.y[33] = 2
    with pytest.warns(UserWarning, match="no training node of class 2"):
        check_data(data)


def _csr(indptr: list[int], indices: list[int]) -> torch.Tensor:
    """A CSR tensor of 34 rows that nobody has looked at."""
    values, size = torch.ones(len(indices)), (34, 7)
    parts = torch.tensor(indptr), torch.tensor(indices), values
    return torch.sparse_csr_tensor(*parts, size=size, check_invariants=False)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: _csr(list(range(35)), [0] * 33 + [7]), r"entry 33 \(in row 33\) is in column 7"),
        (lambda: _csr(list(range(35)), [0] * 33 + [2**32 + 1]), "is in column 4294967297"),
        (lambda: _csr([0, *[40] * 34], [0] * 34), "row pointers from 0 to 40; expected 0 to 34"),
        (lambda: torch.eye(34).to_sparse(), "has the layout torch.sparse_coo; expected dense or CSR"),
        (lambda: torch.eye(34).to(torch.complex64), "holds torch.complex64; expected real numbers"),
        (lambda: torch.eye(34, device="meta"), "is on the device meta, where tensors hold no numbers"),
        (lambda: np.eye(34), "is a ndarray; expected a torch tensor"),
        (lambda: sparse.csr_array(np.eye(34)), "is a csr_array; expected a torch tensor: .*feature_tensor"),
        (lambda: torch.ones(34), r"has shape \[34\]"),
    ],
)
def test_features_that_cannot_be_trusted(data: Data, make: Any, message: str) -> None:
    data.num_nodes = 34
    data.x = make()
    refuses(rf"^data\.x:? .*{message}", check_data, data)


@pytest.mark.parametrize("name", ["train_mask", "val_mask", "test_mask", "y"])
@pytest.mark.parametrize(
    "value",
    [
        [True] * 34,
        np.ones(34, bool),
        torch.ones(34).to_sparse(),
        torch.ones(34, dtype=torch.complex64),
        torch.ones(34, dtype=torch.bool, device="meta"),
    ],
    ids=["list", "array", "sparse", "complex", "meta"],
)
def test_masks_and_labels_that_are_no_dense_tensors(data: Data, name: str, value: Any) -> None:
    data.num_nodes = 34
    setattr(data, name, value)
    refuses(rf"^data\.{name} (is a|has shape) .*; expected", check_data, data)


def weighted(edges: list[tuple[int, int]], weights: Any, name: str = "edge_weight", nodes: int = 4) -> Data:
    data = Data(edge_index=torch.tensor(edges).T.reshape(2, -1), num_nodes=nodes)
    data[name] = weights if isinstance(weights, torch.Tensor) else torch.tensor(weights)
    return data


@pytest.mark.parametrize(
    ("edges", "weights", "expected"),
    [
        ([(0, 1), (1, 2)], [2.0, 3.0], {(0, 1): 2, (1, 2): 3}),
        ([(0, 1), (1, 0), (1, 2), (2, 1)], [2.0, 2.0, 3.0, 3.0], {(0, 1): 2, (1, 2): 3}),  # both directions
        ([(0, 1), (1, 0), (1, 2)], [2.0, 2.0, 3.0], {(0, 1): 4, (1, 2): 3}),  # one edge given twice
        ([(0, 1), (1, 0), (1, 2), (2, 1)], [2.0, 1.0, 3.0, 3.0], {(0, 1): 3, (1, 2): 6}),
        ([(2, 3), (2, 3), (0, 0)], [0.5, 0.25, 9.0], {(2, 3): 0.75}),  # a self-loop is no edge
        ([(0, 1)], [3], {(0, 1): 3}),
    ],
)
def test_the_matrix_by_hand(edges: list[Any], weights: list[float], expected: dict[Any, float]) -> None:
    by_hand = np.zeros((4, 4))
    for (u, v), w in expected.items():
        by_hand[u, v] = by_hand[v, u] = w
    np.testing.assert_array_equal(weight_matrix(weighted(edges, weights)).toarray(), by_hand)


def test_the_pattern_is_that_of_the_simple_graph() -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 30, (2, 200))
    data = Data(edge_index=torch.from_numpy(ends), num_nodes=30)
    data.edge_weight = torch.from_numpy(rng.random(200)) + 0.1
    found = weight_matrix(data)
    np.testing.assert_array_equal(np.stack(found.nonzero()), simple_graph(ends, 30).edge_index)
    np.testing.assert_array_equal(found.toarray(), found.toarray().T)


def test_where_weights_are_found() -> None:
    edges = [(0, 1), (1, 2)]
    assert given_weights(Data(edge_index=torch.tensor(edges).T)) is None
    assert weight_matrix(Data(edge_index=torch.tensor(edges).T, num_nodes=3)) is None
    for attribute in ([[1.0], [2.0]], [1.0, 2.0]):  # features of edges, whatever their shape
        assert given_weights(weighted(edges, attribute, "edge_attr")) is None
    name, values = given_weights(weighted(edges, [1.0, 2.0])) or ("", None)
    assert (name, values.tolist()) == ("edge_weight", [1.0, 2.0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"data\.edge_weight has shape \[1\]; expected \[2\], one number per edge"),
        ([[1.0], [2.0]], r"data\.edge_weight has shape \[2, 1\]; expected \[2\]"),
        ([1.0, 0.0], r"data\.edge_weight, edge 1: '0.0' in weight column 'edge_weight'; expected a positive"),
        ([-2.0, 1.0], r"edge 0: '-2.0' .* expected a positive finite number"),
        ([1.0, float("nan")], r"edge 1: 'nan' .* expected a positive finite number"),
        ([float("inf"), 1.0], r"edge 0: 'inf' .* expected a positive finite number"),
    ],
)
def test_what_is_refused(weights: Any, message: str) -> None:
    refuses(message, weight_matrix, weighted([(0, 1), (1, 2)], weights))


@given(hnp.arrays(np.float32, st.tuples(*[st.integers(1, 6)] * 2), elements=st.sampled_from([0, 1, -2.5])))
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
    tensor = feature_tensor(sparse.csr_array((np.ones(3), [2, 0, 2], [0, 3]), shape=(1, 3)))
    assert (tensor.col_indices().tolist(), tensor.values().tolist()) == ([0, 2], [1.0, 2.0])


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32, np.uint64, ">i4", np.int8])
def test_a_sound_structure_passes(kind: Any) -> None:
    """SciPy warns of unsigned ones, and warnings are errors here."""
    indptr, indices, shape = [0, 2, 2, 3], [4, 0, 1], (3, 5)
    check_csr(np.array(indptr, kind), np.array(indices, kind), shape)
    check_csr(np.zeros(7, kind)[::2], np.array([], kind), (3, 0))
    check_csr(torch.tensor(indptr), torch.tensor(indices), torch.Size(shape), values=torch.ones(3))
    matrix = sparse.csr_array(np.eye(3))
    matrix.indptr, matrix.indices = matrix.indptr.astype(kind), matrix.indices.astype(kind)
    assert checked_csr(matrix, "x").toarray().tolist() == np.eye(3).tolist()


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
    refuses(re.escape(f"words: {message}"), check_csr, np.array(indptr), np.array(indices), shape, "words")


def test_small_integers_do_not_wrap_and_a_tensor_that_points_outside() -> None:
    refuses(r"is in column -1", check_csr, np.array([0, 1], np.int8), np.array([-1], np.int8), (1, 300))
    refuses(r"^x: entry 1 \(in row 0\) is in column 9", feature_csr, csr_tensor([1, 9, 0, 0]))


@pytest.mark.parametrize("values", [[1.0], [1.0] * 4, []])
def test_lists_and_diagonals_of_different_lengths(values: list[float]) -> None:
    """SciPy writes the values of such a matrix past the end of its array."""
    matrix = sparse.lil_array((3, 3))
    matrix.rows[0], matrix.data[0] = [0, 2], values
    refuses(r"^x: its rows are not lists of as many columns as values", checked_csr, matrix, "x")
    matrix.data[0] = [1.0, 2.0]
    assert checked_csr(matrix, "x").toarray().tolist() == [[1, 0, 2], [0, 0, 0], [0, 0, 0]]
    matrix.rows[1], matrix.data[1] = [7], [1.0]
    refuses(r"^x: entry 2 \(in row 1\) is in column 7", checked_csr, matrix, "x")
    matrix = sparse.dia_array((3, 3))
    matrix.offsets, matrix.data = np.array([np.nan]), np.ones((1, 3))
    refuses(r"^x: offsets has shape \[1\], dtype float64; expected integers", checked_csr, matrix, "x")
    matrix.offsets = np.array([0, 1])
    refuses(r"^x: number of diagonals \(1\) does not match", checked_csr, matrix, "x")


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_a_tensor_whose_row_pointers_are_sparse_themselves() -> None:
    starts = torch.tensor([[0, 1]]).to_sparse_csr()
    parts = starts, torch.tensor([0]), torch.ones(1)
    try:
        tensor = torch.sparse_csr_tensor(*parts, size=(1, 3), check_invariants=False)
    except RuntimeError:
        pytest.skip("this torch does not make one")
    refuses(r"^x: row pointers or columns are no plain tensors", feature_csr, tensor)
