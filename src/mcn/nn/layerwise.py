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

Features = Callable[[NDArray[np.int64]], Any]
_ROWS = 16384  # nodes whose rows are in memory at a time
_ROUND = 64  # nodes of an earlier layer come in multiples of this
_NODE = 10  # entries of a row that cost as much as what is done for its node besides
_WORTH = 0.9  # the share of all nodes' work up to which nodes that are heard are told from the others


class Inferred(NamedTuple):
    """What a network says of some nodes.

    logits: [n, C]. choices: int64 [layers, N], ``t·K + (k-1)``; -1 for nodes that no node asked for hears.
    """

    logits: torch.Tensor
    choices: NDArray[np.int64]


class Field(NamedTuple):
    """Nodes to classify, the choice that all nodes are pinned to, and whom each layer hears (`heard_by`)."""

    rows: NDArray[np.int64]
    choice: int | None
    sources: list[NDArray[np.int64]]


def infer(
    model: MCN,
    features: Features,
    graph: GraphRows,
    rows: NDArray[np.int64] | None = None,
    *,
    choice: int | None = None,
    chunk: int = _ROWS,
) -> Inferred:
    """Compute what ``model(x, stack, rows)`` computes in evaluation.

    On the CPU the bits are the same if `chunk` is a multiple of 64 and torch has one thread: torch's ELU
    rounds the last few numbers of a tensor differently.

    Every layer is computed for all nodes that the next one may need (`heard_by`) before that one, a chunk of
    rows of Â at a time. Memory holds H W of one layer and of the next, (heads × hidden) numbers for each of
    these nodes, and the rows of one chunk.

    `features` gives the rows of X for node ids; `rows` are the nodes to classify, None for all; `choice` pins
    the choice of all nodes in all layers. A larger `chunk` takes more memory and less time.
    """
    wanted = np.arange(graph.num_nodes) if rows is None else rows
    return infer_fields(model, features, graph, [heard_by(model, graph, wanted, choice, chunk)], chunk)[0]


@torch.no_grad()
def infer_fields(
    model: MCN, features: Features, graph: GraphRows, fields: list[Field], chunk: int = _ROWS
) -> list[Inferred]:
    """Do the same for fields that are known; what all of them have in common is computed once.

    The first field must hold the others, and be free to choose what they are pinned to. They share H W of
    the inputs and, where nodes attend, what the first layer says of nodes that choose that of themselves.
    """
    first, *others = passes = [_Pass(model, graph, field, chunk) for field in fields]
    heard = [first.inputs(features)] * len(fields)
    if model.num_layers > 1:
        said = first.said(0, heard[0])
        heard = [said, *(each.said_like(first, said, heard[0]) for each in others)]
    return [each.finish(own) for each, own in zip(passes, heard, strict=True)]


def can_infer(model: MCN) -> bool:
    """Whether `infer` knows all that a network does: norms, residuals, self weights and sums it does not."""
    first: Any = model.convs[0]
    plain = first.self_weight is None and not first.sums_motifs
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


class _Pass:
    """One way through the layers, to the nodes of a field."""

    def __init__(self, model: MCN, graph: GraphRows, field: Field, chunk: int) -> None:
        self.convs: list[Any] = list(model.convs)
        self.choices = np.full((model.num_layers, graph.num_nodes), -1, np.int64)
        self._offset, self._graph, self._field, self._chunk = model.offset, graph, field, chunk

    def inputs(self, features: Features) -> _Heard:
        """Compute H W of what the first layer hears."""
        nodes = self._field.sources[0]
        parts = (_transform(self.convs[0], features(some)) for some in _chunks(nodes, self._chunk))
        return _Heard.of(_filled(len(nodes), parts), nodes, self._graph.num_nodes)

    def said(self, layer: int, heard: _Heard, targets: NDArray[np.int64] | None = None) -> _Heard:
        """Compute H W of the next layer, for all nodes that it hears or for some."""
        targets = self._field.sources[layer + 1] if targets is None else targets
        above, elu = self.convs[layer + 1], torch.nn.functional.elu
        parts = (_transform(above, elu(out)) for out in self._outputs(layer, heard, targets))
        return _Heard.of(_filled(len(targets), parts), targets, self._graph.num_nodes)

    def said_like(self, other: _Pass, said: _Heard, heard: _Heard) -> _Heard:
        """Compute H W of the second layer, of which a pass with free choices has said a part."""
        if not self.convs[0].self_attention:  # a node's sum then changes with its neighbours' choices
            return self.said(0, heard)
        targets, choice = self._field.sources[1], self._field.choice
        differ = np.flatnonzero(other.choices[0][targets] != choice)
        z = said.z[said.places(targets)]
        z[differ] = self.said(0, heard, _rounded(targets[differ])).z[: len(differ)]
        self.choices[0][targets] = choice
        return _Heard.of(z, targets, self._graph.num_nodes)

    def finish(self, heard: _Heard) -> Inferred:
        """Go on from what the second layer hears, or the only one, to the logits."""
        for layer in range(1, len(self.convs) - 1):
            heard = self.said(layer, heard)
        parts = list(self._outputs(len(self.convs) - 1, heard, self._field.rows))
        return Inferred(torch.cat(parts) + self._offset, self.choices)

    def _outputs(self, layer: int, heard: _Heard, targets: NDArray[np.int64]) -> Iterator[torch.Tensor]:
        """Yield what a layer computes for its targets, a chunk at a time; note their choices."""
        conv, pin, choices = self.convs[layer], self._field.choice, self.choices[layer]
        z, graph, chunk = heard.z, self._graph, self._chunk
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
                (s_src, s_dst), how = logits, Attention(conv.prior, conv.negative_slope)
                out = ops.attend(heads, s_dst[heard.places(nodes)], s_src, heard.rows(weights), how)
            out = out.flatten(1) if conv.concat or conv.heads == 1 else out.mean(1)
            yield out if conv.bias is None else ops.add_bias(out, conv.bias)


def heard_by(
    model: MCN, graph: GraphRows, rows: NDArray[np.int64], choice: int | None = None, chunk: int = _ROWS
) -> Field:
    """Find the nodes that each layer hears, the input layer first, where `rows` are to be classified.

    It depends on the graph and on how a network is built, not on its weights: a field serves all epochs.
    """
    sources = [rows]
    for conv in reversed(list(model.convs)):
        targets, chooses = sources[0], choice is None and conv.selector is not None
        # Without self-attention a choice also changes the degrees that others see.
        if len(targets) == graph.num_nodes or (chooses and not conv.self_attention):
            sources.insert(0, np.arange(graph.num_nodes))
        else:
            options = range(graph.options) if chooses else [choice or 0]
            sources.insert(0, _reached(graph, targets, options, chooses, chunk))
    return Field(rows, choice, sources[:-1])


def _reached(
    graph: GraphRows, nodes: NDArray[np.int64], options: Iterable[int], base: bool, chunk: int
) -> NDArray[np.int64]:
    """Return the nodes in the rows of `nodes`, or all of them if computing these is about as much work.

    Where only some are asked for, as in validation, this is what makes it cheap. Their number is rounded up,
    so that the last of them go through the same instructions as the others.
    """
    seen = np.zeros(graph.num_nodes, bool)
    seen[nodes] = True
    work = np.diff(graph.base.indptr) + _NODE
    most = _WORTH * work.sum()
    for part in _chunks(nodes, chunk):
        for option in options:
            seen[graph.exact(part, np.full(len(part), option, np.int64)).indices] = True
        if base and graph.base_option is None:  # else they are among the options'
            seen[graph.exact_base(part).indices] = True
        if work[seen].sum() > most:
            break
    reached = _rounded(np.flatnonzero(seen))
    return reached if work[seen].sum() <= most and len(reached) < len(seen) else np.arange(len(seen))


def _rounded(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Repeat the last node until their number is a multiple of `_ROUND`."""
    return np.pad(nodes, (0, -len(nodes) % _ROUND), "edge")


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


def _choose(conv: Any, heard: _Heard, graph: GraphRows, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the most probable choices of some nodes."""
    z = heard.z
    counts = torch.from_numpy(graph.counts(nodes)).to(z.device, z.dtype)
    state = torch.cat([ops.propagate(z, heard.rows(graph.exact_base(nodes))), counts], 1)
    motif, step = greedy(*conv.selector(state))
    choice: NDArray[np.int64] = (motif * graph.steps + step).cpu().numpy()
    return choice
