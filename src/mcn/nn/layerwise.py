"""Exact inference for all nodes, one layer after the other and a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import Rows
from mcn.nn import ops
from mcn.nn.attend import Attention
from mcn.nn.graph_rows import GraphRows
from mcn.nn.model import MCN
from mcn.nn.selector import greedy

_ROWS = 16384  # nodes whose rows are in memory at a time


class Inferred(NamedTuple):
    """What a network says of some nodes.

    logits: [n, C]. choices: int64 [layers, N], ``t·K + (k-1)``; in the last layer -1 for nodes that were not
    asked for.
    """

    logits: torch.Tensor
    choices: NDArray[np.int64]


@torch.no_grad()
def infer(
    model: MCN,
    features: Callable[[NDArray[np.int64]], Any],
    graph: GraphRows,
    rows: NDArray[np.int64] | None = None,
    *,
    choice: int | None = None,
    chunk: int = _ROWS,
) -> Inferred:
    """Compute what ``model(x, stack, rows)`` computes in evaluation.

    On the CPU the bits are the same if `chunk` is a multiple of 64 and torch has one thread: torch's ELU
    rounds the last few numbers of a tensor differently.

    Every layer is computed for all nodes before the next one, a chunk of rows of Â at a time. Memory holds
    H W of one layer and of the next, N × (heads × hidden) numbers, and the rows of one chunk.

    Args:
        model: the network; its mode does not matter.
        features: gives the rows of X for node ids.
        graph: gives the rows of Â.
        rows: ids of the nodes to classify; None for all.
        choice: pin the choice of all nodes in all layers.
        chunk: number of rows at a time; more takes more memory and less time.
    """
    count = graph.num_nodes
    wanted = np.arange(count) if rows is None else rows
    choices = np.full((model.num_layers, count), -1, np.int64)
    convs: list[Any] = list(model.convs)
    z = _filled(
        count, ((nodes, _transform(convs[0], features(nodes))) for nodes in _chunks(np.arange(count), chunk))
    )
    for layer, conv in enumerate(convs):
        last = layer + 1 == len(convs)
        parts = _layer(conv, z, graph, wanted if last else np.arange(count), choice, choices[layer], chunk)
        if last:
            logits = torch.cat([out for _, out in parts])
            return Inferred(logits + model.offset, choices)
        after = convs[layer + 1]
        z = _filled(count, ((nodes, _transform(after, torch.nn.functional.elu(out))) for nodes, out in parts))
    raise AssertionError("a network has at least one layer")


def _chunks(nodes: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, max(1, len(nodes)), size):
        yield nodes[start : start + size]


def _filled(count: int, parts: Iterator[tuple[NDArray[np.int64], torch.Tensor]]) -> torch.Tensor:
    """Put the parts of all nodes, which come in order, into one tensor."""
    whole: torch.Tensor | None = None
    for nodes, part in parts:
        if whole is None:
            whole = part.new_empty(count, part.shape[1])
        if len(nodes):
            whole[int(nodes[0]) : int(nodes[-1]) + 1] = part
    assert whole is not None
    return whole


def _transform(conv: Any, x: Any) -> torch.Tensor:
    if isinstance(x, torch.Tensor):
        x = x.to(conv.weight.device)
    return ops.transform(x, conv.weight, 0.0, 0)


def _layer(
    conv: Any,
    z: torch.Tensor,
    graph: GraphRows,
    targets: NDArray[np.int64],
    pin: int | None,
    choices: NDArray[np.int64],
    chunk: int,
) -> Iterator[tuple[NDArray[np.int64], torch.Tensor]]:
    """Yield what a layer computes for its targets, a chunk at a time; note their choices."""
    chooses = pin is None and conv.selector is not None
    if not chooses:
        choices[targets] = pin or 0
    degrees = None
    if not conv.self_attention:
        # The row sums of all sources count, hence all their choices: chosen before anything is summed.
        everyone = np.arange(graph.num_nodes)
        choices[everyone] = pin or 0
        if chooses:
            for nodes in _chunks(everyone, chunk):
                choices[nodes] = _choose(conv, z, graph, nodes)
        degrees = np.empty(graph.num_nodes)
        for option in np.unique(choices):
            own = choices == option
            degrees[own] = graph.row_sums(int(option))[own]
    heads = z.view(len(z), conv.heads, -1)
    logits = ops.head_logits(heads, conv.att_src, conv.att_dst, len(z)) if conv.self_attention else None
    for nodes in _chunks(targets, chunk):
        if chooses and conv.self_attention:
            choices[nodes] = _choose(conv, z, graph, nodes)
        weights = graph.exact(nodes, choices[nodes])
        if logits is None:
            assert degrees is not None
            weights = _normalised(weights, nodes, 1.0 / np.sqrt(degrees))
            out = ops.propagate(z, weights).view(len(nodes), conv.heads, -1)
        else:
            s_src, s_dst = logits
            how = Attention(conv.prior, conv.negative_slope)
            out = ops.attend(heads, s_dst[torch.from_numpy(nodes).to(z.device)], s_src, weights, how)
        out = out.flatten(1) if conv.concat or conv.heads == 1 else out.mean(1)
        yield nodes, out if conv.bias is None else ops.add_bias(out, conv.bias)


def _normalised(rows: Rows, nodes: NDArray[np.int64], root: NDArray[np.float64]) -> Rows:
    """Scale rows over all nodes to D^-1/2 Â D^-1/2 (eq:gcn), as `symmetric_normalised` does for a block."""
    target = np.repeat(root[nodes], np.diff(rows.indptr))
    values = rows.values * target * root[rows.indices]
    return Rows(rows.indptr, rows.indices, values.astype(rows.values.dtype))


def _choose(conv: Any, z: torch.Tensor, graph: GraphRows, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most probable choices of some nodes."""
    counts = torch.from_numpy(graph.counts(nodes)).to(z.device, z.dtype)
    state = torch.cat([ops.propagate(z, graph.exact_base(nodes)), counts], 1)
    motif, step = greedy(*conv.selector(state))
    found: NDArray[np.int64] = (motif * graph.steps + step).cpu().numpy()
    return found
