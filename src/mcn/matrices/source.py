"""What a layer takes its rows from: a whole motif stack, or the part of it around some target nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.data.arrays import as_array
from mcn.matrices.rows import Rows, gather_rows, rename_columns


class RowSource(ABC):
    """Gives the rows of Â that target nodes choose, over source nodes.

    A whole `MotifStack` is one (all nodes are targets and sources), and so is a `StackBlock` of it.

    Attributes:
        motifs: names of the T motifs.
        steps: K, the greatest step size.
        psi: name of Ψ.
        src: global ids of the source nodes, [num_src]; the first `num_dst` are the targets, in order.
        node_counts: C of eq:state for the targets, [num_dst, number of node orbits].
        base: the target rows of Ψ(A), A the plain adjacency, for the state of eq:state.
        by_node: whether what a layer drops out is decided by the ids of nodes instead of their positions, so
            that it does not depend on which other nodes are computed along with them.
        pins: the choice of all nodes in each layer of a network, where it is known (`MotifStack.fixed`).
    """

    motifs: tuple[str, ...]
    steps: int
    psi: str
    num_dst: int
    src: NDArray[np.int64]
    node_counts: NDArray[np.float32]
    base: Rows
    by_node: bool = False
    pins: tuple[int, ...] | None = None

    @property
    def num_motifs(self) -> int:
        """T, the number of motifs."""
        return len(self.motifs)

    @property
    def num_src(self) -> int:
        """Number of source nodes."""
        return self.src.size

    @property
    def targets(self) -> NDArray[np.int64]:
        """Global ids of the target nodes, [num_dst]."""
        return self.src[: self.num_dst]

    @abstractmethod
    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the rows of Â (eq:att_matrix) when target i chooses motif t and step k.

        Args:
            choice: [num_dst], ``choice[i] = t * K + (k - 1)``; None if there is nothing to choose (T·K = 1).
        """

    def _check_choice(self, choice: Any) -> NDArray[np.int64]:
        options = self.num_motifs * self.steps
        if choice is None:
            if options > 1:
                raise ValueError(
                    f"choice is None but there are {self.num_motifs} motifs × {self.steps} steps to choose "
                    f"from; pass one number in 0 … {options - 1} per target."
                )
            return np.zeros(self.num_dst, np.int64)
        choice = np.ascontiguousarray(as_array(choice, "choice", f"[{self.num_dst}]"))
        if choice.shape != (self.num_dst,) or choice.dtype.kind not in "iu":
            raise ValueError(
                f"choice has shape {choice.shape} and type {choice.dtype}; "
                f"expected {self.num_dst} integers, one per target."
            )
        if choice.size and (choice.min() < 0 or choice.max() >= options):
            i = int(np.flatnonzero((choice < 0) | (choice >= options))[0])
            raise ValueError(
                f"choice[{i}] = {choice[i]} is outside 0 … {options - 1} "
                f"({self.num_motifs} motifs × {self.steps} steps; choice = t * {self.steps} + (k - 1))."
            )
        return np.asarray(choice, np.int64)


class StackBlock(RowSource):
    """The part of a stack that holds the rows of some target nodes, for training on a few nodes at a time.

    Its sources are the targets, then every other node that any row of a target can reach. Its values are
    those of the whole graph, not those of a subgraph. `MotifStack.block` makes it.
    """

    def __init__(
        self,
        stack: RowSource,
        src: NDArray[np.int64],
        num_dst: int,
        global_rows: Callable[[NDArray[np.int64], NDArray[np.int64]], Rows],
    ) -> None:
        self.motifs, self.steps, self.psi = stack.motifs, stack.steps, stack.psi
        self.src, self.num_dst = src, num_dst
        self.node_counts = stack.node_counts[self.targets]
        self._global_rows = global_rows
        self._position = np.full(stack.num_src, -1, np.int32)
        self._position[src] = np.arange(src.size, dtype=np.int32)
        self.base = rename_columns(gather_rows(stack.base, self.targets, None), self._position, num_dst)

    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the rows of Â of the targets; see `RowSource.select`."""
        rows = self._global_rows(self.targets, self._check_choice(choice))
        return rename_columns(rows, self._position, self.num_dst)

    def __repr__(self) -> str:
        return (
            f"StackBlock({self.num_dst} targets, {self.num_src} sources, motifs={self.motifs}, "
            f"steps={self.steps}, psi={self.psi!r})"
        )
