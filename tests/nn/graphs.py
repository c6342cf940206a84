"""Small graphs, stacks and rows for the tests of the layers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from mcn.matrices import MotifStack, Rows
from mcn.nn.features import SparseFeatures
from tests.matrices.dense import random_adjacency, triangles


def random_stack(
    n: int = 24, seed: int = 0, motifs: int = 2, steps: int = 1, psi: str = "unweighted"
) -> MotifStack:
    """The stack of a random simple graph whose last node is isolated."""
    a = random_adjacency(n, 0.2, seed)
    a[-1] = a[:, -1] = 0
    named = {"edge": a, "triangle": triangles(a), "2-star": a * np.add.outer(a.sum(1), a.sum(1))}
    counts = np.random.default_rng(seed).integers(0, 50, (n, 15))
    own = dict(list(named.items())[:motifs])
    return MotifStack.from_adjacencies(own, edge=a, node_counts=counts, steps=steps, psi=psi)


def random_rows(num_dst: int, num_src: int, seed: int, empty: bool = True) -> Rows:
    """Weighted rows with a self-loop each; with `empty`, row 1 has no entry at all."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((num_dst, num_src)) < 0.3, rng.uniform(0.2, 5.0, (num_dst, num_src)), 0.0)
    dense[np.arange(num_dst), np.arange(num_dst)] = 1.0
    if empty and num_dst > 1:
        dense[1] = 0.0
    m = sp.csr_array(dense)
    m.sort_indices()
    return Rows(m.indptr.astype(np.int64), m.indices.astype(np.int32), m.data.astype(np.float32))


def dense_rows(rows: Rows, num_src: int) -> np.ndarray[Any, Any]:
    return rows.matrix(num_src).toarray()


def dense_features(x: SparseFeatures) -> torch.Tensor:
    return torch.from_numpy(x.rows.matrix(x.shape[1]).toarray())


def random_features(n: int, columns: int, seed: int, dtype: Any = np.float32) -> SparseFeatures:
    m = sp.random_array((n, columns), density=0.2, rng=np.random.default_rng(seed), format="csr")
    m.data += 0.5
    parts = m.indptr.astype(np.int64), m.indices.astype(np.int32), m.data.astype(dtype)
    return SparseFeatures(*parts, columns)


def edge_index(stack: MotifStack) -> torch.Tensor:
    """The graph of the stack's base rows without self-loops, as PyG wants it (source, target)."""
    rows = np.repeat(np.arange(stack.num_dst), np.diff(stack.base.indptr))
    keep = rows != stack.base.indices
    return torch.from_numpy(np.stack([stack.base.indices[keep], rows[keep]]).astype(np.int64))


def grads(out: torch.Tensor, *inputs: torch.Tensor, seed: int = 0) -> list[torch.Tensor]:
    """Gradients of a random projection of `out`."""
    weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(seed)).to(out.dtype)
    return list(torch.autograd.grad((out * weights).sum(), inputs))


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def assert_same_bits(run: Callable[[], list[torch.Tensor]], counts: tuple[int, ...] = (1, 2, 3)) -> None:
    """Check that `run` gives the same tensors on any of these numbers of threads, and leaves the number."""
    results = []
    for count in counts:
        with threads(count):
            results.append(run())
            assert torch.get_num_threads() == count
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))
