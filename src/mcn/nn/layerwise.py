"""Exact inference, one layer after the other and a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
_ROUND = 64  # nodes of an earlier layer come in multiples of this


class Inferred(NamedTuple):
    """What a network says of some nodes.

    logits: [n, C]. choices: int64 [layers, N], ``t·K + (k-1)``; -1 for nodes that no node asked for hears.
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

    Every layer is computed for all nodes that the next one may need (`_reached`) before that one, a chunk of
    rows of Â at a time. Memory holds H W of one layer and of the next, (heads × hidden) numbers for each of
    these nodes, and the rows of one chunk.

    `features` gives the rows of X for node ids; `rows` are the nodes to classify, None for all; `choice` pins
    the choice of all nodes in all layers. A larger `chunk` takes more memory and less time.
    """
    count = graph.num_nodes
    wanted = np.arange(count) if rows is None else rows
    choices = np.full((model.num_layers, count), -1, np.int64)
    convs: list[Any] = list(model.convs)
    sources = _sources(convs, graph, wanted, choice, chunk)
    inputs = (_transform(convs[0], features(nodes)) for nodes in _chunks(sources[0], chunk))
    z = _filled(len(sources[0]), inputs)
    for layer, conv in enumerate(convs):
        last = layer + 1 == len(convs)
        targets = wanted if last else sources[layer + 1]
        parts = _layer(
            conv, _Heard.of(z, sources[layer], count), graph, targets, choice, choices[layer], chunk
        )
        if last:
            return Inferred(torch.cat(list(parts)) + model.offset, choices)
        after = convs[layer + 1]
        z = _filled(len(targets), (_transform(after, torch.nn.functional.elu(out)) for out in parts))
    raise AssertionError("a network has at least one layer")


def can_infer(model: MCN) -> bool:
    """Whether `infer` knows all that a network does: norms, residuals, self weights and sums it does not."""
    first: Any = model.convs[0]
    plain = first.self_weight is None and not first.sum_motifs
    return model.norm == "none" and not model.residual and plain


class _Heard(NamedTuple):
    """H W of the nodes that a layer hears, and the place of each node among them; None if these are all."""

    z: torch.Tensor
    place: NDArray[np.int32] | None

    @classmethod
    def of(cls, z: torch.Tensor, nodes: NDArray[np.int64], count: int) -> _Heard:
        if len(nodes) == count:
            return cls(z, None)
        place = np.full(count, -1, np.int32)
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        return cls(z, place)

    def rows(self, rows: Rows) -> Rows:
        """Return rows with places for node ids."""
        return rows if self.place is None else Rows(rows.indptr, self.place[rows.indices], rows.values)

    def places(self, nodes: NDArray[np.int64]) -> torch.Tensor:
        places = nodes if self.place is None else self.place[nodes].astype(np.int64)
        return torch.from_numpy(places).to(self.z.device)


def _sources(
    convs: list[Any], graph: GraphRows, wanted: NDArray[np.int64], choice: int | None, chunk: int
) -> list[NDArray[np.int64]]:
    """Return the nodes that each layer hears, the input layer first."""
    sources = [wanted]
    for conv in reversed(convs):
        targets, chooses = sources[0], choice is None and conv.selector is not None
        # Without self-attention a choice also changes the degrees that others see.
        if len(targets) == graph.num_nodes or (chooses and not conv.self_attention):
            sources.insert(0, np.arange(graph.num_nodes))
        else:
            options = range(graph.options) if chooses else [choice or 0]
            sources.insert(0, _reached(graph, targets, options, chooses, chunk))
    return sources[:-1]


def _reached(
    graph: GraphRows, nodes: NDArray[np.int64], options: Iterable[int], base: bool, chunk: int
) -> NDArray[np.int64]:
    """Return the nodes in the rows of `nodes`, in ascending order; all if these are half of the graph.

    Where only some are asked for, as in validation, this is what makes it cheap. Their number is filled up to
    a multiple of `_ROUND`, so that the last of them go through the same instructions as the others.
    """
    seen = np.zeros(graph.num_nodes, bool)
    seen[nodes] = True
    for part in _chunks(nodes, chunk):
        for option in options:
            seen[graph.exact(part, np.full(len(part), option, np.int64)).indices] = True
        if base and graph.base_option is None:  # else they are among the options'
            seen[graph.exact_base(part).indices] = True
        if 2 * seen.sum() > len(seen):
            return np.arange(len(seen))
    seen[np.flatnonzero(~seen)[: -int(seen.sum()) % _ROUND]] = True
    return np.flatnonzero(seen)


def _chunks(nodes: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, max(1, len(nodes)), size):
        yield nodes[start : start + size]


def _filled(count: int, parts: Iterator[torch.Tensor]) -> torch.Tensor:
    """Put parts, which come in order, into one tensor."""
    whole: torch.Tensor | None = None
    at = 0
    for part in parts:
        if whole is None:
            whole = part.new_empty(count, part.shape[1])
        whole[at : at + len(part)] = part
        at += len(part)
    assert whole is not None
    return whole


def _transform(conv: Any, x: Any) -> torch.Tensor:
    if isinstance(x, torch.Tensor):
        x = x.to(conv.weight.device)
    return ops.transform(x, conv.weight, 0.0, 0)


def _layer(
    conv: Any,
    heard: _Heard,
    graph: GraphRows,
    targets: NDArray[np.int64],
    pin: int | None,
    choices: NDArray[np.int64],
    chunk: int,
) -> Iterator[torch.Tensor]:
    """Yield what a layer computes for its targets, a chunk at a time; note their choices."""
    z = heard.z
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
                choices[nodes] = _choose(conv, heard, graph, nodes)
        degrees = graph.degrees(everyone, choices)
    heads = z.view(len(z), conv.heads, -1)
    logits = ops.head_logits(heads, conv.att_src, conv.att_dst, len(z)) if conv.self_attention else None
    for nodes in _chunks(targets, chunk):
        if chooses and conv.self_attention:
            choices[nodes] = _choose(conv, heard, graph, nodes)
        weights = graph.exact(nodes, choices[nodes])
        if logits is None:
            assert degrees is not None
            weights = heard.rows(weights.normalised(degrees, degrees[nodes]))
            out = ops.propagate(z, weights).view(len(nodes), conv.heads, -1)
        else:
            s_src, s_dst = logits
            how = Attention(conv.prior, conv.negative_slope)
            out = ops.attend(heads, s_dst[heard.places(nodes)], s_src, heard.rows(weights), how)
        out = out.flatten(1) if conv.concat or conv.heads == 1 else out.mean(1)
        yield out if conv.bias is None else ops.add_bias(out, conv.bias)


def _choose(conv: Any, heard: _Heard, graph: GraphRows, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most probable choices of some nodes."""
    z = heard.z
    counts = torch.from_numpy(graph.counts(nodes)).to(z.device, z.dtype)
    state = torch.cat([ops.propagate(z, heard.rows(graph.exact_base(nodes))), counts], 1)
    motif, step = greedy(*conv.selector(state))
    choice: NDArray[np.int64] = (motif * graph.steps + step).cpu().numpy()
    return choice
