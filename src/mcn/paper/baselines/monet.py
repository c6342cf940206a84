"""MoNet (Monti et al. 2017): mixtures of Gaussians over pairs of degrees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from mcn.experiments.engine.methods import register
from mcn.nn._parallel import run
from mcn.paper.baselines.networks import DROPOUT, HIDDEN, InputLinear, Network, dropout, train_scores
from mcn.train import Problem

KERNELS = 3


def pseudo_coordinates(problem: Problem) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Edges with self-loops [2, E], and for each ``(deg_i^-1/2, deg_j^-1/2)``, self-loops counted."""
    nodes = problem.inputs.num_nodes
    loops = np.tile(np.arange(nodes), (2, 1))
    edges = np.concatenate([problem.inputs.edge_index, loops], axis=1)
    root = 1 / np.sqrt(np.bincount(edges[0], minlength=nodes))
    return edges, root[edges].T.astype(np.float32)


class Neighbourhoods:
    """For every node its neighbours and itself, and for each of them which pair of degrees they are.

    `pairs` [P, 2] are the different coordinates: on Pubmed 3,000 for 108,000 edges, and the Gaussians need be
    computed for these only.
    """

    def __init__(self, problem: Problem) -> None:
        edges, coordinates = pseudo_coordinates(problem)
        self.pairs, kind = np.unique(coordinates, axis=0, return_inverse=True)
        size = (problem.inputs.num_nodes, problem.inputs.num_nodes)
        # Row i hears of column j. Kinds are counted from 1: a stored 0 could be lost.
        self._kinds = sp.csr_array((kind.reshape(-1) + 1, (edges[1], edges[0])), shape=size)

    def reaching(self, rows: NDArray[np.int64] | None) -> tuple[_Pattern, NDArray[np.int64] | None]:
        """The rows of these nodes over the nodes that they reach, and those; all of both for None."""
        part, columns = self._kinds, None
        if rows is not None:
            part = self._kinds[rows]
            columns = np.unique(part.indices).astype(np.int64)
            part = part[:, columns]
        return (part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data - 1), columns


_Pattern = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@kernel
def _forward(indptr: Any, indices: Any, kinds: Any, weight: Any, z: Any, out: Any) -> None:
    width = out.shape[1]
    for i in range(out.shape[0]):
        share = np.float32(1.0 / (indptr[i + 1] - indptr[i]))
        for e in range(indptr[i], indptr[i + 1]):
            for k in range(weight.shape[1]):
                v = weight[kinds[e], k] * share
                for c in range(width):
                    out[i, c] += v * z[indices[e], k * width + c]


@kernel
def _backward(
    indptr: Any, indices: Any, kinds: Any, weight: Any, z: Any, grad: Any, grad_weight: Any, grad_z: Any
) -> None:
    width = grad.shape[1]
    for i in range(grad.shape[0]):
        share = np.float32(1.0 / (indptr[i + 1] - indptr[i]))
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for k in range(weight.shape[1]):
                v, total = weight[kinds[e], k] * share, np.float32(0.0)
                for c in range(width):
                    grad_z[j, k * width + c] += v * grad[i, c]
                for c in range(width):
                    total += z[j, k * width + c] * grad[i, c]
                grad_weight[kinds[e], k] += total * share


class _Mixture(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: torch.Tensor, weight: torch.Tensor, pattern: _Pattern) -> torch.Tensor:
        arrays: tuple[Any, ...] = (*pattern, *(t.detach().contiguous().numpy() for t in (weight, z)))
        out = np.zeros((len(pattern[0]) - 1, z.shape[1] // weight.shape[1]), np.float32)
        _forward(*(*arrays, out))
        ctx.arrays = arrays
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        *_, weight, z = ctx.arrays
        grad_weight, grad_z = np.zeros_like(weight), np.zeros_like(z)
        _backward(*(*ctx.arrays, grads[0].contiguous().numpy(), grad_weight, grad_z))
        return torch.from_numpy(grad_z), torch.from_numpy(grad_weight), None


class Gaussians(torch.nn.Module):
    """``mean_j Σ_k w_k(u_ij) z_jk`` with Gaussians w_k of learnt centre and width: PyG's `GMMConv` after g.

    z is [M, K·C], one block of columns per Gaussian.
    """

    def __init__(self, pairs: NDArray[np.float32], channels: int) -> None:
        super().__init__()
        self._pairs = torch.from_numpy(pairs)
        self.mu = torch.nn.Parameter(torch.rand(KERNELS, 2))
        self.sigma = torch.nn.Parameter(torch.ones(KERNELS, 2))
        self.bias = torch.nn.Parameter(torch.zeros(channels))

    def forward(self, z: torch.Tensor, pattern: _Pattern) -> torch.Tensor:
        """The rows of a pattern."""
        gap = (self._pairs[:, None] - self.mu).square() / (1e-15 + self.sigma.square())
        mixed: torch.Tensor = run(_Mixture, z, torch.exp(-0.5 * gap.sum(2)), pattern)
        return mixed + self.bias


class MonetNetwork(Network):
    """Two layers of `Gaussians`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self._graph = Neighbourhoods(problem)
        self.first = InputLinear(problem.inputs.x, HIDDEN * KERNELS, DROPOUT)
        self.mix = Gaussians(self._graph.pairs, HIDDEN)
        self.second = torch.nn.Parameter(torch.empty(HIDDEN, problem.num_classes * KERNELS))
        torch.nn.init.xavier_uniform_(self.second)
        self.last = Gaussians(self._graph.pairs, problem.num_classes)

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes."""
        outer, near = self._graph.reaching(nodes)
        inner, far = self._graph.reaching(near)
        x = self.first.rows(far)

        def logits() -> torch.Tensor:
            hidden = dropout(torch.relu(self.mix(self.first(x), inner)), DROPOUT, self.training)
            out: torch.Tensor = self.last(hidden @ self.second, outer)
            return out

        return logits


@register("monet")
def monet(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Two layers of 3 Gaussians over the degrees of both ends; width 16."""
    return train_scores(lambda: MonetNetwork(problem), problem, seed)
