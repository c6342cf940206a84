"""Random graphs of any size, drawn piece by piece: for benchmarks and tests of what does not fit into memory.

Pieces hold what was drawn, repeats and self-loops included; `mcn.GraphStore.write` drops those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn.data.generators import check_rmat, rmat_pairs

PIECE = 2**21
"""Edges, or rows of features, of a piece."""


def rmat_stream(
    scale: int, edges: int, seed: int = 0, a: float = 0.57, b: float = 0.19, c: float = 0.19
) -> Iterator[NDArray[np.int32]]:
    """Draw `edges` pairs of R-MAT with 2^scale nodes (see `mcn.data.rmat`), as pieces [2, E]."""
    check_rmat(scale, a, b, c)
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(2**scale, dtype=np.int32))
    for start in range(0, edges, PIECE):
        yield label[rmat_pairs(rng, scale, min(PIECE, edges - start), a, b, c)]


@dataclass(frozen=True)
class PlantedGraph:
    """A degree-corrected block model with planted classes and closed triangles, drawn piece by piece.

    Every class is cut into groups. A share `closed` of the edges comes as triangles of a node and two others
    of its group; another edge goes to a node of the same class with probability `inside`, else to any. Nodes
    are picked so that the degree of the x-th fraction of a class goes as x^(-1/2), which gives degrees with
    a tail of exponent 3. The features of a node are its class's centre, of length `signal`, plus standard
    normal noise. Labels of nodes are shuffled; the seed decides everything.

    Args:
        num_nodes: N.
        num_edges: edges that are drawn; repeats and self-loops make the graph's own number smaller.
        num_classes: planted classes, of equal size.
        closed: share of the edges that are drawn as triangles.
        inside: share of the others that stay in the class.
        group: nodes of a group.
        num_features: columns of the features.
        signal: distance of a class's centre from zero.
        labelled: share of the nodes in each of training and validation; the others are for testing.
        seed: of all draws.
    """

    num_nodes: int
    num_edges: int
    num_classes: int = 10
    closed: float = 0.2
    inside: float = 0.5
    group: int = 16
    num_features: int = 32
    signal: float = 1.0
    labelled: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.num_classes < 1 or self.group < 3 or self.num_nodes < self.num_classes * self.group:
            raise ValueError(
                f"{self.num_nodes} nodes are too few for {self.num_classes} classes with groups of "
                f"{self.group}; a group needs 3 nodes"
            )
        for name in ("closed", "inside", "labelled"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be between 0 and 1, got {getattr(self, name)}")

    @cached_property
    def _label(self) -> NDArray[np.int32]:
        """The node that each place (class by class, hubs first) is called."""
        return self._rng(0).permutation(np.arange(self.num_nodes, dtype=np.int32))

    @cached_property
    def y(self) -> NDArray[np.int64]:
        """The class of every node."""
        y = np.empty(self.num_nodes, np.int64)
        y[self._label] = np.arange(self.num_nodes) % self.num_classes
        return y

    def edges(self) -> Iterator[NDArray[np.int32]]:
        """Draw the edges: pieces [2, E]."""
        rng = self._rng(1)
        left = self.num_edges
        while left > 0:
            draw = min(PIECE, left)
            shape = (self.num_nodes, self.num_classes, self.group, self.closed, self.inside)
            yield self._label[_planted(rng, draw, *shape)]
            left -= draw

    def x(self) -> Iterator[NDArray[np.float32]]:
        """Draw the features: pieces of rows."""
        rng = self._rng(2)
        centres = rng.standard_normal((self.num_classes, self.num_features)).astype(np.float32)
        centres *= self.signal / np.linalg.norm(centres, axis=1, keepdims=True)
        for start in range(0, self.num_nodes, PIECE // 16):
            own = self.y[start : start + PIECE // 16]
            noise = rng.standard_normal((len(own), self.num_features), np.float32)
            yield noise + centres[own]

    def masks(self) -> dict[str, NDArray[np.bool_]]:
        """Draw the split."""
        place = self._rng(3).random(self.num_nodes)
        return {
            "train_mask": place < self.labelled,
            "val_mask": (place >= self.labelled) & (place < 2 * self.labelled),
            "test_mask": place >= 2 * self.labelled,
        }

    def _rng(self, part: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, part))


@kernel
def _planted(rng: Any, count: int, n: int, classes: int, group: int, closed: float, inside: float) -> Any:
    """Places [2, count]; place i is number i // classes of class i % classes, hubs first."""
    pairs = np.empty((2, count), np.int32)
    at = 0
    while at < count:
        own = rng.integers(0, classes)
        size = (n - own + classes - 1) // classes
        first = int(size * rng.random() ** 2)
        u = first * classes + own
        if rng.random() < closed / (3 - 2 * closed):  # a triangle is three edges
            base = min(first // group * group, size - group)
            i, j = base + rng.integers(0, group), base + rng.integers(0, group)
            three = (u, i * classes + own, j * classes + own)
            for k in range(3):
                if at < count:
                    pairs[0, at], pairs[1, at] = three[k], three[(k + 1) % 3]
                    at += 1
            continue
        other = own if rng.random() < inside else rng.integers(0, classes)
        size = (n - other + classes - 1) // classes
        pairs[0, at], pairs[1, at] = u, int(size * rng.random() ** 2) * classes + other
        at += 1
    return pairs
