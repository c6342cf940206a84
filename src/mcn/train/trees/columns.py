"""The table that trees are grown on: what a node has itself, and what its neighbours have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from graphmotifs._jit import kernel
from mcn.data.sparse import feature_csr
from mcn.matrices import MotifStack
from mcn.motifs import NODE_ORBITS
from mcn.train.problem import graph_facts
from mcn.train.trees.config import TreesConfig

Table = NDArray[np.float32]
WIDE = 200
"""Given columns beyond which words are reduced to components, and of numbers only means are taken."""
_WORDS = 3  # by which a component is named
COUNTS = ("degree", *(f"count of {orbit}" for orbit in NODE_ORBITS[1:]))


DIRECTIONS = ("in", "out")


def directions_of(stack: MotifStack) -> list[str]:
    """Return the ways of arcs that are motifs of a stack: trees know the degree by each of them."""
    return [way for way in DIRECTIONS if way in stack.motifs]


def own_names(names: Sequence[str], projection: torch.Tensor) -> Sequence[str]:
    """Return the names of a node's own columns: the given ones, or of components their weightiest words.

    A word that lowers a component while the first one raises it, or the other way round, has a minus sign.
    """
    if not projection.numel():
        return names
    found = []
    for weights in projection.T:
        first = weights.abs().argsort(descending=True, stable=True)[:_WORDS].tolist()
        signs = ["" if weights[place] * weights[first[0]] >= 0 else "\N{MINUS SIGN}" for place in first]
        words = (f"{sign}{names[place]}" for sign, place in zip(signs, first, strict=True))
        found.append(f"words: {', '.join(words)}")
    return found


def table_columns(
    config: TreesConfig, own: Sequence[str], has_components: bool, motifs: Sequence[str]
) -> list[tuple[str, str | None]]:
    """Return the name of every column, and the motif whose neighbours it tells of, if not of the node.

    own: the names of what a node has itself, beside its counts.
    """
    arcs = [f"{way}-degree" for way in DIRECTIONS if way in motifs]
    counts = [*(COUNTS[:1] if counts_degrees_alone(motifs) else COUNTS), *arcs]
    mixed = own if config.features == "given" else [*own, *counts]

    def over(motif: str, what: str, where: str) -> list[tuple[str, str | None]]:
        return [(f"{what} of {name} over {where}", motif) for name in mixed]

    columns: list[tuple[str, str | None]] = [(name, None) for name in (*own, *counts)]
    for motif in motifs:
        columns += over(motif, "mean", f"{motif}{'-' if motif in DIRECTIONS else ' '}neighbours")
    if "edge" in motifs:
        for step in range(2, config.walk_length + 1):
            columns += over("edge", "mean", f"{step} steps")
        for what in ("deviation", "maximum") if not has_components and len(own) <= WIDE else ():
            columns += over("edge", what, "edge neighbours")
    return columns


def counts_degrees_alone(motifs: Sequence[str]) -> bool:
    """Whether the degree is the only count that is asked for."""
    return set(motifs) <= {"edge", *DIRECTIONS}


@dataclass(eq=False)
class TreesInputs:
    """What trees are grown on.

    x: the given columns [N, G] as they came; no columns where motif counts are all there is. names: theirs.
    components: to how many words are reduced; 0 for columns that are taken as they are. counts: the motif
    counts, float32 [N, 15], or with the edge as the only motif the degree; and the in- and out-degree. stack:
    the neighbours of each motif. weights: of edges, see `input_weights`.
    """

    config: TreesConfig
    x: torch.Tensor
    names: Sequence[str]
    components: int
    counts: Table
    stack: MotifStack
    weights: Any
    _made: tuple[torch.Tensor, Table] | None = field(default=None, repr=False)

    def columns(self, projection: torch.Tensor | None = None) -> list[tuple[str, str | None]]:
        """Return the columns of the table as `table_columns` does; a `projection` names its components."""
        own = [""] * self.components if self.components else self.names
        if projection is not None:
            own = own_names(self.names, projection)
        return table_columns(self.config, own, bool(self.components), self.stack.motifs)

    @property
    def _is_narrow(self) -> bool:
        return not self.components and len(self.names) <= WIDE

    @property
    def in_channels(self) -> int:
        """Number of columns of the table."""
        return len(self.columns())

    def state(self) -> dict[str, Any]:
        """Return what decides the columns of another graph's table."""
        held = {"given": len(self.names), "components": self.components}
        return held if self.weights is None else {**held, "weighted": True}

    def facts(self) -> dict[str, Any]:
        """Return the sizes and check sums of the graph."""
        edges = self.stack.base
        return graph_facts(self.x, edges.indptr, edges.indices, self.weights)

    @cached_property
    def projection(self) -> torch.Tensor:
        """What reduces the words of the graph that is trained on, [G, components]: a truncated SVD.

        One thread and a fixed seed: the number of cores does not change its bits.
        """
        from sklearn.decomposition import TruncatedSVD

        if not self.components:
            return torch.empty(0, 0)
        with threadpool_limits(1):
            fitted = TruncatedSVD(self.components, random_state=0).fit(feature_csr(self.x).astype(np.float32))
        return torch.from_numpy(np.ascontiguousarray(fitted.components_.T, np.float32))

    def table(self, projection: torch.Tensor) -> Table:
        """Return the columns of all nodes, [N, in_channels]; NaN where a node has no such neighbour.

        projection: that of the graph that was trained on. The last table is kept.
        """
        if self._made is not None and torch.equal(self._made[0], projection):
            return self._made[1]
        if not self.components:
            own = (self.x if self.x.layout == torch.strided else self.x.to_dense()).float().numpy()
        elif projection.shape == (self.x.shape[1], self.components):
            own = feature_csr(self.x).astype(np.float32) @ projection.numpy()
        else:
            wanted = [self.x.shape[1], self.components]
            raise ValueError(f"the projection has shape {list(projection.shape)}; expected {wanted}")
        mixed = own if self.config.features == "given" else np.hstack([own, self.counts])
        parts: list[Table] = [own, self.counts]
        further: list[Table] = []
        for number, motif in enumerate(self.stack.motifs):
            rows = self.stack.adjacency(number)
            if self.weights is None:
                rows = rows._replace(values=np.ones(len(rows.indices)))
            mean, *moments = around(*rows, mixed)
            parts.append(mean)
            if motif == "edge":
                for _ in range(2, self.config.walk_length + 1):
                    mean = around(*rows, mean)[0]
                    further.append(mean)
                further += moments if self._is_narrow else []
        table = np.ascontiguousarray(np.hstack([*parts, *further]), np.float32)
        self._made = projection.clone(), table
        return table


@kernel
def around(indptr: Any, indices: Any, weights: Any, x: Any) -> Any:
    """Return mean, standard deviation and maximum over the neighbours of every node, float32 [3, N, columns].

    Missing values (NaN) do not count; without any value it is NaN. The mean and the sum of squares around it
    are updated value by value, so that nothing cancels.
    """
    results = np.full((3, len(indptr) - 1, x.shape[1]), np.float32(np.nan))
    for node in range(len(indptr) - 1):
        for column in range(x.shape[1]):
            known, mean, squares, largest = 0.0, 0.0, 0.0, -np.inf
            for entry in range(indptr[node], indptr[node + 1]):
                value = np.float64(x[indices[entry], column])
                if value == value:
                    known += weights[entry]
                    off = value - mean
                    mean += off * weights[entry] / known
                    squares += off * (value - mean) * weights[entry]
                    largest = max(largest, value)
            if known > 0:
                results[0, node, column] = mean
                results[1, node, column] = np.sqrt(squares / known)
                results[2, node, column] = largest
    return results
