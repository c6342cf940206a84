from __future__ import annotations

import re

import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.sparse import feature_tensor
from mcn.train.features import check_features, features
from mcn.train.problem import Memory

VALUES = [[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 1.0, 2.0]]
NORMAL = [[0.25, 0.75, 0.0], [0.0, 0.0, 0.0], [-0.25, 0.25, 0.5]]


@pytest.mark.parametrize("normalize", [True, False])
def test_dense_and_sparse_alike(normalize: bool) -> None:
    dense = features(torch.tensor(VALUES, dtype=torch.float64), normalize)
    sparse_one = features(feature_tensor(sparse.csr_array(VALUES)), normalize)
    assert dense.dtype == sparse_one.dtype == torch.float32
    assert dense.layout == torch.strided
    assert sparse_one.layout == torch.sparse_csr
    assert dense.tolist() == (NORMAL if normalize else VALUES)
    assert sparse_one.to_dense().tolist() == dense.tolist()


def test_signs_that_cancel_do_not_blow_up() -> None:
    x = torch.tensor([[1.0, -1.0], [1.0, -0.9999999]])
    assert features(x, True).abs().max() <= 0.5001
    assert features(feature_tensor(sparse.csr_array(x.numpy())), True).values().abs().max() <= 0.5001


def test_integers_become_floats() -> None:
    assert features(torch.tensor([[1, 3], [0, 2]]), True).tolist() == [[0.25, 0.75], [0.0, 1.0]]


def graph(x: torch.Tensor | None, names: list[str] | None = None) -> Data:
    data = Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    if names is not None:
        data.feature_names = names
    return data


def test_what_fits_is_accepted() -> None:
    check_features(graph(torch.ones(2, 3)), Memory(3, None, {}))
    check_features(graph(torch.ones(2, 3)), Memory(3, ["a", "b", "c"], {}))
    check_features(graph(torch.ones(2, 3), ["a", "b", "c"]), Memory(3, ["a", "b", "c"], {}))
    check_features(graph(feature_tensor(sparse.csr_array([[0.0, 1.0], [2.0, 0.0]]))), Memory(2, None, {}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (graph(None), "data.x has shape None; expected [2, 3]"),
        (graph(torch.ones(3, 3)), "data.x has shape [3, 3]; expected [2, 3]"),
        (graph(torch.ones(2, 4)), "data.x has 4 features, but the network was trained on 3"),
        (graph(torch.ones(2, 3), ["a", "c", "b"]), "not those the network was trained on: in another order"),
        (graph(torch.ones(2, 3), ["a", "b", "d"]), "missing ['c'], not known ['d']"),
        (graph(torch.ones(2, 2), ["a", "b"]), "missing ['c'], not known []"),
    ],
)
def test_what_does_not_fit(data: Data, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        check_features(data, Memory(3, ["a", "b", "c"], {}))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("dense", [True, False])
def test_values_that_are_not_finite(value: float, dense: bool) -> None:
    x = feature_tensor(sparse.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, value]]), dense=dense)
    with pytest.raises(ValueError, match=rf"data.x holds {value} at node 1, column 2; expected finite"):
        check_features(graph(x), Memory(3, None, {}))
