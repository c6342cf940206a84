from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.sparse import feature_tensor
from mcn.train.features import check_features, features
from mcn.train.presets import dataset_config
from mcn.train.problem import Known, Memory, fingerprint
from tests.train.graphs import same_tensors, small_graph, trained

VALUES = [[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 1.0, 2.0]]
UNIT = [[0.1**0.5, 0.9**0.5, 0.0], [0.0, 0.0, 0.0], [-((1 / 6) ** 0.5), (1 / 6) ** 0.5, (4 / 6) ** 0.5]]
NORMAL = [[0.25, 0.75, 0.0], [0.0, 0.0, 0.0], [-0.25, 0.25, 0.5]]


@pytest.mark.parametrize("scaling", ["rows", "unit", "raw"])
def test_dense_and_sparse_alike(scaling: str) -> None:
    dense = features(torch.tensor(VALUES, dtype=torch.float64), scaling)
    sparse_one = features(feature_tensor(sparse.csr_array(VALUES)), scaling)
    assert dense.dtype == sparse_one.dtype == torch.float32
    assert dense.layout == torch.strided
    assert sparse_one.layout == torch.sparse_csr
    expected = {"rows": NORMAL, "unit": UNIT, "raw": VALUES}[scaling]
    np.testing.assert_allclose(dense, expected, rtol=1e-6)
    np.testing.assert_allclose(sparse_one.to_dense(), expected, rtol=1e-6)


def test_signs_that_cancel_do_not_blow_up() -> None:
    x = torch.tensor([[1.0, -1.0], [1.0, -0.9999999]])
    assert features(x, "rows").abs().max() <= 0.5001
    assert features(feature_tensor(sparse.csr_array(x.numpy())), "rows").values().abs().max() <= 0.5001


def test_integers_become_floats() -> None:
    assert features(torch.tensor([[1, 3], [0, 2]]), "rows").tolist() == [[0.25, 0.75], [0.0, 1.0]]


def _words(kind: str, seed: int = 0) -> torch.Tensor:
    """Mostly-zero features: ones, word counts, or real numbers of both signs; one row is empty."""
    draw = torch.Generator().manual_seed(seed)
    values = {
        "ones": torch.ones(300, 80),
        "counts": torch.randint(1, 40, (300, 80), generator=draw).float(),
        "real": torch.randn(300, 80, generator=draw),
    }[kind]
    x = torch.where(torch.rand(300, 80, generator=draw) < 0.1, values, 0.0)
    x[7] = 0.0
    x[8, 3] = -0.0
    return x


@pytest.mark.parametrize("kind", ["ones", "counts", "real"])
@pytest.mark.parametrize("scaling", ["rows", "unit", "raw"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mostly_zero_features_become_those_of_csr(kind: str, scaling: str, dtype: torch.dtype) -> None:
    x = _words(kind).to(dtype)
    turned = features(x, scaling)
    parts = sparse.csr_array(x.numpy())
    given = features(
        torch.sparse_csr_tensor(
            torch.from_numpy(parts.indptr), torch.from_numpy(parts.indices), torch.from_numpy(parts.data),
            x.shape, check_invariants=True,
        ),
        scaling,
    )  # fmt: skip
    assert turned.layout == torch.sparse_csr
    assert turned.dtype == torch.float32
    assert torch.equal(turned.crow_indices(), given.crow_indices())
    assert torch.equal(turned.col_indices(), given.col_indices())
    assert torch.equal(turned.values(), given.values())
    assert (turned.values() != 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_mostly_zero_features_of_any_type(dtype: torch.dtype) -> None:
    x = _words("ones").to(dtype)
    assert torch.equal(features(x, "raw").to_dense(), x.float())


def _fingerprint(x: torch.Tensor) -> str:
    labels, ids = torch.zeros(len(x), dtype=torch.int64), np.arange(3)
    return fingerprint(x, np.array([0, 1]), np.array([0]), Known(labels, ids, ids + 3, 2))


@pytest.mark.parametrize(("kind", "scaling"), [("ones", "rows"), ("counts", "rows"), ("real", "raw")])
def test_the_fingerprint_does_not_depend_on_the_form(kind: str, scaling: str) -> None:
    x = _words(kind)
    as_dense = x / x.abs().sum(1, keepdim=True).clamp_min(1e-12) if scaling == "rows" else x
    assert _fingerprint(features(x, scaling)) == _fingerprint(as_dense)
    assert _fingerprint(features(feature_tensor(sparse.csr_array(x.numpy())), scaling)) == _fingerprint(
        as_dense
    )


@pytest.mark.parametrize("recipe", ["mcn", "views"])
def test_a_run_on_dense_words_is_a_run_on_csr(recipe: str) -> None:
    config = dataset_config(recipe, "cora").replace(max_epochs=3)
    data = small_graph()
    first = trained(data, config)
    data.x = data.x.to_dense()
    second = trained(data, config)
    assert first.problem.fingerprint() == second.problem.fingerprint()
    assert same_tensors(first.model.state_dict(), second.model.state_dict())


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
