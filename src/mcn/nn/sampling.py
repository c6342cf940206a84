"""Mini-batches: neighbours drawn from the rows that nodes chose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset

from mcn.matrices import Rows, RowSource
from mcn.nn import _draw_kernels as kernels
from mcn.nn._rng import derive
from mcn.nn.graph_rows import GraphRows
from mcn.nn.model import MCN
from mcn.nn.selector import Choices

_DRAW, _EXPLORE = 0, 1  # what the keys below a layer's key are for


class SampledBlock(RowSource):
    """The part of a graph that one layer computes for a batch: its targets, and the neighbours they drew.

    `choice` is that of every target; `base`, drawn rows of Ψ(A), is there if a selector asks for the state,
    `degrees`, the row sums of the whole Â of all sources, for layers without self-attention.
    """

    dropout_by_node = True

    def __init__(
        self,
        graph: GraphRows,
        src: NDArray[np.int64],
        choice: NDArray[np.int64],
        rows: Rows,
        base: Rows | None,
        degrees: NDArray[np.float64] | None,
    ) -> None:
        self.motifs, self.steps = graph.motifs, graph.steps
        self.src, self.num_dst, self.choice = src, len(choice), choice
        self.degrees, self._rows = degrees, rows
        if base is not None:
            self.base, self.node_counts = base, graph.counts(self.targets)

    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the drawn rows; refuse any other choice than the one they were drawn for."""
        if choice is not None and not np.array_equal(choice, self.choice):
            raise ValueError("choice: these rows were drawn for other choices; pass block.choice")
        return self._rows


class MotifSampler:
    """Draws the neighbours of a batch, layer by layer, each node from the row of Ψ(A_t^k) that it chose.

    A node's neighbours in a layer are drawn from its own row alone, at most ``neighbours[l]`` of them: for
    k = 1 without replacement and in proportion to their weights, for k > 1 as the ends of weighted walks. The
    node itself is always kept. Weights are divided by the chance of being drawn, so that the mean of the
    drawn rows is the row.

    Args:
        graph: the rows of all nodes.
        neighbours: how many to draw in each layer, from the last layer to the first as in PyG; -1 for all.
        choices: int tensor [layers, N], the choice of every node in every layer, from the first layer to the
            last; None for the first motif and one step.
        epsilon: the share of nodes that take any choice instead.
        with_base: also draw from Ψ(A), which selectors need for their state.
        with_degrees: also give the row sums of Â, which layers without self-attention need.
    """

    def __init__(
        self,
        graph: GraphRows,
        neighbours: Sequence[int],
        *,
        choices: torch.Tensor | None = None,
        epsilon: float = 0.0,
        with_base: bool = False,
        with_degrees: bool = False,
    ) -> None:
        for number in neighbours:
            if number != -1 and number < 1:
                raise ValueError(f"neighbours must be at least 1, or -1 for all, got {number}")
        self.graph, self.neighbours, self.choices = graph, tuple(neighbours), choices
        self.epsilon, self.with_base, self.with_degrees = epsilon, with_base, with_degrees
        self._position = np.full(graph.num_nodes, -1, np.int32)

    def chosen(self, layer: int, nodes: NDArray[np.int64], key: int) -> NDArray[np.int64]:
        """Return the choices of `nodes` in a layer: as the table says, or any with probability ε."""
        if self.choices is None:
            choice = np.zeros(len(nodes), np.int64)
        else:
            choice = self.choices[layer].numpy()[nodes].astype(np.int64)
        if self.epsilon > 0:
            kernels.explore(
                nodes, self.graph.options, self.epsilon, np.uint64(derive(key, layer, _EXPLORE)), choice
            )
        return choice

    def blocks(self, nodes: NDArray[np.int64], key: int) -> list[SampledBlock]:
        """Draw the blocks for a batch of nodes, input layer first; `key` decides everything random.

        What a node draws depends on the key, the layer and the node alone.
        """
        blocks: list[SampledBlock] = []
        src = np.ascontiguousarray(nodes, np.int64)
        self._position[src] = np.arange(len(src), dtype=np.int32)
        try:
            for layer in range(len(self.neighbours) - 1, -1, -1):
                block = self._block(layer, src, key)
                blocks.insert(0, block)
                src = block.src
        finally:
            self._position[src] = -1
        return blocks

    def _block(self, layer: int, targets: NDArray[np.int64], key: int) -> SampledBlock:
        fan = self.neighbours[len(self.neighbours) - 1 - layer]
        draw = derive(key, layer, _DRAW)
        choice = self.chosen(layer, targets, key)
        exact = fan < 0
        drawn = [self.graph.exact(targets, choice) if exact else self.graph.draw(targets, choice, fan, draw)]
        if self.with_base and not (choice == self.graph.base_option).all():
            base = self.graph.exact_base(targets) if exact else self.graph.draw_base(targets, fan, draw)
            drawn.append(base)
        src = np.empty(len(targets) + sum(len(rows.indices) for rows in drawn), np.int64)
        src[: len(targets)] = targets
        known, local = len(targets), []
        for rows in drawn:
            places = np.empty(len(rows.indices), np.int32)
            known = kernels.local_rows(rows, self._position, src, known, places)
            local.append(Rows(rows.indptr, places, rows.values.astype(np.float32)))
        src = src[:known].copy()
        degrees = None
        if self.with_degrees:
            degrees = self.graph.degrees(src, self.chosen(layer, src, key))
        return SampledBlock(self.graph, src, choice, local[0], local[-1] if self.with_base else None, degrees)


class Batch(NamedTuple):
    """Some nodes to train on, and what the network computes for them.

    number: of the batch in the run. nodes: their ids. draws: the blocks of each sampler, input layer first.
    xs: the features of the first block's sources, for each sampler.
    """

    number: int
    nodes: NDArray[np.int64]
    draws: list[list[SampledBlock]]
    xs: list[Any]


def sampled_pass(
    model: MCN, x: Any, blocks: Sequence[SampledBlock], key: int
) -> tuple[torch.Tensor, list[Choices]]:
    """Compute the scores of a batch, and the `Choices` of every layer whose blocks have base rows.

    `x` are the features of the first block's sources; `key` decides the dropouts (in training).
    """
    h, choices = x, []
    for layer, (conv, block) in enumerate(zip(model.convs, blocks, strict=True)):
        report = hasattr(block, "base")
        h = conv(
            torch.nn.functional.elu(h) if layer else h,
            block,
            choice=block.choice,
            degrees=block.degrees,
            key=derive(key, layer),
            return_choices=report,
        )
        if report:
            h, chosen = h
            choices.append(chosen)
    return h, choices


class Batches(Dataset[Batch]):
    """The batches of a run by number: the seed and the number alone decide one, whichever process makes it.

    Each of the `samplers` draws for every batch, with the same random numbers; `features` gives the rows of X
    for node ids.
    """

    def __init__(
        self,
        samplers: Sequence[MotifSampler],
        features: Any,
        nodes: NDArray[np.int64],
        shuffled: Shuffled,
        seed: int,
    ) -> None:
        self.samplers, self.features, self.nodes = list(samplers), features, nodes
        self.shuffled, self.seed = shuffled, seed

    def __getitem__(self, number: int) -> Batch:
        nodes, key = self.nodes[self.shuffled[number]], derive(self.seed, number)
        draws = [sampler.blocks(nodes, key) for sampler in self.samplers]
        return Batch(number, nodes, draws, [self.features(blocks[0].src) for blocks in draws])

    def of_epoch(self, epoch: int, workers: int = 0) -> Iterable[Batch]:
        """Make the batches of an epoch in order, ahead of their use if there are worker processes."""
        count = len(self.shuffled)
        numbers = range(epoch * count, (epoch + 1) * count)
        return DataLoader(self, batch_size=None, sampler=numbers, num_workers=workers, collate_fn=_as_it_is)


def _as_it_is(batch: Any) -> Any:
    return batch  # torch would make tensors of its arrays


class Shuffled:
    """The batches of a run as positions, in an order that the seed and the epoch decide, cut up.

    Of every batch each of `world` processes takes its share, the `rank`-th part; the parts together are the
    batch that a single process would take. The length is that of an epoch.
    """

    def __init__(self, count: int, batch_size: int, seed: int, rank: int = 0, world: int = 1) -> None:
        self._count, self._size, self._seed = count, batch_size * world, seed
        self._rank, self._world = rank, world
        self._order: tuple[int, NDArray[np.int64]] = (-1, np.empty(0, np.int64))  # of an epoch

    def __len__(self) -> int:
        return -(-self._count // self._size)

    def __getitem__(self, number: int) -> NDArray[np.int64]:
        epoch, place = divmod(number, len(self))
        if self._order[0] != epoch:
            self._order = (epoch, np.random.default_rng([self._seed, epoch]).permutation(self._count))
        whole = self._order[1][place * self._size : (place + 1) * self._size]
        return np.array_split(whole, self._world)[self._rank]

    def size(self, number: int) -> int:
        """Return how many nodes a batch has in all processes together."""
        return min(self._size, self._count - number % len(self) * self._size)
