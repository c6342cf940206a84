"""Holding sparse features."""

from __future__ import annotations

import copy
import gc
from typing import Any

import numpy as np
import pytest
import torch

from mcn.nn import features
from mcn.nn.features import DenseRows, SparseFeatures, input_features, is_sparse, mostly_zero, sparse_features
from tests.nn.graphs import dense_features, random_features


def _csr(n: int = 6) -> torch.Tensor:
    x = random_features(n, 5, 0)
    parts = (torch.from_numpy(x.indptr), torch.from_numpy(x.indices).long(), torch.from_numpy(x.values))
    return torch.sparse_csr_tensor(*parts, x.shape, check_invariants=True)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_one_holder_per_tensor_while_it_lives() -> None:
    x = _csr()
    holder = sparse_features(x)
    assert sparse_features(x) is holder
    assert sparse_features(holder) is holder
    assert torch.equal(dense_features(holder), x.to_dense())
    assert torch.equal(dense_features(sparse_features(x.to_dense().to_sparse_coo())), x.to_dense())
    number = len(features._known)
    del x
    gc.collect()
    assert len(features._known) < number
    assert is_sparse(holder)
    assert not is_sparse(torch.zeros(2, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_take_cuts_rows_and_remembers(dtype: Any) -> None:
    x = random_features(20, 9, 1, dtype)
    rows = np.array([5, 0, 19, 3])
    cut = x.take(rows)
    assert cut.values.dtype == dtype
    assert torch.equal(dense_features(cut), dense_features(x)[rows])
    assert x.take(rows.copy()) is cut
    for first in range(10):
        x.take(np.array([first]))
    assert x.take(rows) is not cut
    assert copy.deepcopy(x) is x


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="requires_grad"):
        sparse_features(_csr().requires_grad_())
    with pytest.raises(ValueError, match="int64"):
        sparse_features(torch.ones(2, 2, dtype=torch.int64).to_sparse_coo())


def _mostly_zero(n: int = 30) -> torch.Tensor:
    x = torch.zeros(n, 10)
    x[:, 0] = torch.arange(n) + 1.0
    return x


def test_what_is_mostly_zero() -> None:
    x = torch.zeros(5, 10)
    x[:, :2] = 1.0
    assert mostly_zero(x)
    x[0, 2] = -1.0
    assert not mostly_zero(x)
    assert mostly_zero(torch.zeros(2, 2))
    assert not mostly_zero(torch.zeros(0, 3))


def test_mostly_zero_features_are_turned_once() -> None:
    x = _mostly_zero()
    x[3, 4] = -0.0
    holder = input_features(x)
    assert isinstance(holder, SparseFeatures)
    assert len(holder.values) == 30  # no stored zero
    assert torch.equal(dense_features(holder), x)
    assert input_features(x) is holder
    assert input_features(holder) is holder
    x[0, 0] = 7.0
    changed = input_features(x)
    assert changed is not holder
    assert isinstance(changed, SparseFeatures)
    assert torch.equal(dense_features(changed), x)
    x += 1.0
    assert input_features(x) is x
    number = len(features._known)
    del x
    gc.collect()
    assert len(features._known) < number


def test_other_features_stay_as_they_are() -> None:
    dense, learned, whole = torch.randn(4, 3), _mostly_zero().requires_grad_(), _mostly_zero().long()
    with torch.inference_mode():
        inference = _mostly_zero()
    for x in (dense, learned, whole, inference):
        assert input_features(x) is x


def test_rows_of_a_dense_matrix() -> None:
    x, rows = torch.randn(6, 4), np.array([5, 0, 5])
    taken = DenseRows(x, rows)
    assert taken.shape == (3, 4)
    assert torch.equal(taken.tensor(), x[rows])
