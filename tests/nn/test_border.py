"""Features from outside: their structure is looked at before a kernel trusts it."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import mcn
from mcn.matrices import MotifStack, PageRankRows
from mcn.nn import MCN, MCNConv, exact_features, mix_features
from mcn.nn.features import sparse_features
from tests.conftest import refuses
from tests.odd_tensors import csr_tensor
from tests.train.graphs import small_graph

FAR = 2**32 + 1
TRIANGLE = np.ones((3, 3)) - np.eye(3)


csr = partial(csr_tensor, width=4)


def coo(rows: list[int], columns: list[int]) -> torch.Tensor:
    places, ones = torch.tensor([rows, columns]), torch.ones(len(rows))
    return torch.sparse_coo_tensor(places, ones, (3, 4), check_invariants=False)


BAD = {
    "column": csr([1, 4, 0, 0]),
    "column far": csr([1, FAR, 0, 0]),
    "column negative": csr([1, -1, 0, 0]),
    "start": csr([1, 2, 0, 0], [0, 2, 10**6, 4]),
    "start back": csr([1, 2, 0, 0], [0, 3, 2, 4]),
    "complex": csr([1, 2, 0, 0], kind=torch.complex64),
    "bfloat16": csr([1, 2, 0, 0], kind=torch.bfloat16),
    "coo row": coo([0, 3], [1, 1]),
    "coo column": coo([0, 1], [1, FAR]),
    "coo negative": coo([0, 1], [1, -1]),
    "csc": torch.ones(3, 4).to_sparse_csc(),
    "bsr": torch.ones(3, 4).to_sparse_bsr((1, 2)),
}


@pytest.fixture(scope="module")
def stack() -> MotifStack:
    return MotifStack.from_adjacencies({"edge": TRIANGLE})


@pytest.mark.parametrize("name", BAD)
def test_sparse_features(name: str, stack: MotifStack) -> None:
    for take in (lambda x: MCNConv(4, 2)(x, stack), lambda x: MCN(4, 2, 2)(x, stack), sparse_features):
        refuses(r"^x", take, BAD[name])


@pytest.mark.parametrize(
    "x",
    [
        *(torch.ones(3, 4, dtype=kind) for kind in (torch.bfloat16, torch.complex64, torch.int64)),
        np.ones((3, 4), np.float32),
        [[1.0] * 4] * 3,
        torch.ones(3, 5),
        torch.ones(2, 4),
        torch.ones(3, 4, device="meta"),
    ],
)
def test_dense_features(x: Any, stack: MotifStack) -> None:
    for network in (MCNConv(4, 2), MCN(4, 2, 2)):
        refuses(r"^x", network, x, stack)


@pytest.mark.parametrize("name", ["column", "column far", "start", "complex", "coo row", "csc"])
def test_the_estimators(name: str) -> None:
    data = small_graph()
    data.x = BAD[name]
    for estimator in (mcn.MCNClassifier(max_epochs=1), mcn.ViewsClassifier(max_epochs=1)):
        refuses(r"data\.x", estimator.fit, data)


@pytest.mark.parametrize(
    ("nodes", "views"),
    [([3], [0]), ([-1], [0]), ([0], [2]), ([0], [-1]), ([0, 1], [0]), ([0.5], [0]), ([[0]], [[0]])],
)
def test_views_of_nodes_that_are_not_there(nodes: Any, views: Any) -> None:
    rows = PageRankRows(np.zeros((2, 3, 2), np.int32), np.ones((2, 3, 2), np.float32))
    x = csr([1, 2, 0, 0])
    refuses(r"nodes|views", mix_features, rows, x, np.array(nodes), np.array(views))
    assert mix_features(rows, x, np.array([2]), np.array([1])).tolist() == [[0.0, 1.0, 1.0, 0.0]]


def test_features_of_another_graph_and_something_else_than_a_stack() -> None:
    with pytest.raises(ValueError, match="stack is a Tensor; expected a MotifStack"):
        MCNConv(4, 2)(torch.ones(3, 4), torch.tensor([[0, 1], [1, 0]]))
    rows = PageRankRows(np.zeros((2, 5, 2), np.int32), np.ones((2, 5, 2), np.float32))
    with pytest.raises(ValueError, match="x has 3 rows, but the rows are of 5 nodes"):
        exact_features(rows, sparse_features(csr([1, 2, 0, 0])), np.array([0]))


@pytest.mark.parametrize(
    "given",
    [torch.ones(3, dtype=torch.int64, device="meta"), torch.ones(3).bfloat16(), torch.eye(3).to_sparse()],
)
def test_choices_and_rows_that_no_array_can_hold(given: torch.Tensor) -> None:
    stack = MotifStack.from_adjacencies({"edge": TRIANGLE, "two": TRIANGLE})
    for call in (
        lambda: MCNConv(4, 2, 2, stack.steps)(torch.ones(3, 4), stack, choice=given),
        lambda: stack.select(given),
        lambda: stack.block(given),
    ):
        refuses(r"choice|rows", call)
