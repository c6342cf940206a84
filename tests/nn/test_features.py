"""Sparse features: holding them, and products of them and of rows with dense matrices."""

import copy
import gc
from typing import Any

import numpy as np
import pytest
import torch

from mcn.nn import features, plain
from mcn.nn import sparse_linear as sparse
from mcn.nn._rng import hash32, threshold
from mcn.nn.features import DenseRows, SparseFeatures, input_features, is_sparse, mostly_zero, sparse_features
from mcn.nn.sparse_linear import propagate
from tests.conftest import refuses
from tests.nn.graphs import assert_same_bits, dense_features, grads, random_features, random_rows


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
    refuses("requires_grad", sparse_features, _csr().requires_grad_())
    refuses("int64", sparse_features, torch.ones(2, 2, dtype=torch.int64).to_sparse_coo())


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


def _mostly_zero(n: int = 30) -> torch.Tensor:
    x = torch.zeros(n, 10)
    x[:, 0] = torch.arange(n) + 1.0
    return x


def test_what_is_mostly_zero_is_turned_once() -> None:
    x = torch.zeros(5, 10)
    x[:, :2] = 1.0
    assert mostly_zero(x)
    x[0, 2] = -1.0
    assert not mostly_zero(x)
    assert mostly_zero(torch.zeros(2, 2))
    assert not mostly_zero(torch.zeros(0, 3))
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


def test_other_features_stay_as_they_are_and_rows_of_a_dense_matrix_are_taken() -> None:
    dense, learned, whole = torch.randn(4, 3), _mostly_zero().requires_grad_(), _mostly_zero().long()
    with torch.inference_mode():
        inference = _mostly_zero()
    for x in (dense, learned, whole, inference):
        assert input_features(x) is x
    x, rows = torch.randn(6, 4), np.array([5, 0, 5])
    taken = DenseRows(x, rows)
    assert taken.shape == (3, 4)
    assert torch.equal(taken.tensor(), x[rows])


@pytest.mark.parametrize("p", [0.0, 0.6])
@pytest.mark.parametrize(
    "matrix", [random_features(40, 30, 1), random_rows(18, 30, 0)], ids=["features", "rows"]
)
def test_equals_the_plain_path(matrix: Any, p: float) -> None:
    dense = torch.randn(30, 10, requires_grad=True)
    results = [path.propagate(dense, matrix, p, 17) for path in (sparse, plain)]
    assert torch.allclose(*results, atol=1e-5)
    assert torch.allclose(*(grads(out, dense)[0] for out in results), atol=1e-5)


@pytest.mark.parametrize("matrix", [random_features(9, 8, 3, np.float64), random_rows(7, 8, 1)])
def test_gradcheck(matrix: Any) -> None:
    dense = torch.randn(8, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: propagate(z, matrix, 0.4, 6), (dense,))


def test_bits_do_not_depend_on_threads() -> None:
    x, rows = random_features(4000, 300, 5), random_rows(600, 700, 4)
    w, z = torch.randn(300, 32, requires_grad=True), torch.randn(700, 64, requires_grad=True)

    def run() -> list[torch.Tensor]:
        product, total = propagate(w, x, 0.6, 5), propagate(z, rows, 0.5, 1)
        return [product, *grads(product, w), total, *grads(total, z)]

    assert_same_bits(run)


@pytest.mark.parametrize("p", [0.0, 0.6])
def test_sums_are_made_entry_by_entry_in_the_order_of_the_rows(p: float) -> None:
    x = random_features(7, 900, 6)  # about 180 entries a row: more than are settled together
    w = torch.randn(900, 5, requires_grad=True)
    out, key, scale = propagate(w, x, p, 17), np.uint64(17), np.float32(1.0 / (1.0 - p))
    g = np.random.default_rng(3).normal(size=(7, 5)).astype(np.float32)
    total, turned, dense = np.zeros((7, 5), np.float32), np.zeros((900, 5), np.float32), w.detach().numpy()
    for i in range(7):
        for e in range(x.indptr[i], x.indptr[i + 1]):
            if p == 0 or hash32(e, key) >= threshold(p):
                total[i] += x.values[e] * scale * dense[x.indices[e]]
                turned[x.indices[e]] += x.values[e] * scale * g[i]
    out.backward(torch.from_numpy(g))  # type: ignore[no-untyped-call]
    np.testing.assert_array_equal(out.detach().numpy(), total)
    np.testing.assert_array_equal(w.grad.numpy(), turned)
