from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from mcn.baselines._layers import FixedProduct, InputLinear, reaching
from tests.baselines.graphs import block_task


def test_sparse_and_dense_inputs_are_one_layer() -> None:
    layers = [InputLinear(block_task(sparse).x, 4, dropout=0.5).eval() for sparse in (True, False)]
    layers[1].weight.data = layers[0].weight.data.clone()
    outputs = [layer() for layer in layers]
    torch.testing.assert_close(*outputs)
    for out in outputs:
        (out**2).sum().backward()
    torch.testing.assert_close(*[layer.weight.grad for layer in layers])


def test_dropout_in_training_only() -> None:
    layer = InputLinear(block_task().x, 4, dropout=0.5)
    assert not torch.equal(layer(), layer())
    layer.eval()
    assert torch.equal(layer(), layer())


def test_the_product_and_its_gradient() -> None:
    rng = np.random.default_rng(0)
    matrix = sp.random_array((4, 6), density=0.5, rng=rng)
    z = torch.from_numpy(rng.random((6, 2)).astype(np.float32)).requires_grad_()
    dense = torch.from_numpy(matrix.toarray().astype(np.float32))
    torch.testing.assert_close(FixedProduct(matrix)(z), dense @ z)
    (own,) = torch.autograd.grad((FixedProduct(matrix)(z) ** 2).sum(), z)
    (expected,) = torch.autograd.grad(((dense @ z) ** 2).sum(), z)
    torch.testing.assert_close(own, expected)


def test_rows_of_products_over_what_they_reach() -> None:
    rng = np.random.default_rng(1)
    products = [FixedProduct(sp.random_array((9, 9), density=0.15, rng=rng)) for _ in range(2)]
    rows, z = np.array([4, 1]), torch.randn(9, 3)
    parts, columns = reaching(products, rows)
    assert columns is not None
    dense = [product.matrix.toarray() for product in products]
    assert columns.tolist() == np.flatnonzero(sum(m[rows] != 0 for m in dense).any(0)).tolist()
    for part, whole in zip(parts, products, strict=True):
        torch.testing.assert_close(part(z[torch.from_numpy(columns)]), whole(z)[rows])
    assert reaching(products, None) == (products, None)


def test_some_rows_of_the_features() -> None:
    for sparse in (True, False):
        layer = InputLinear(block_task(sparse).x, 4).eval()
        nodes = np.array([5, 2, 5])
        torch.testing.assert_close(layer(layer.rows(nodes)), layer()[nodes])
        assert torch.equal(layer(layer.rows(None)), layer())
