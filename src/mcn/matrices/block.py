"""A part of a motif stack: the rows of some target nodes over the nodes they can reach."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mcn.matrices.gather import gather_rows, rename_columns
from mcn.matrices.rows import Rows, StackView


class StackBlock(StackView):
    """The stack restricted to target nodes, for training on a few nodes at a time.

    Its sources are the targets first, then every other node that any row of a target can reach. Values are
    those of the whole graph: a block is a cut-out, never a stack of the subgraph. Made by `MotifStack.block`.
    """

    def __init__(
        self,
        stack: StackView,
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
        """The targets' rows of Â; see `StackView.select`."""
        rows = self._global_rows(self.targets, self._check_choice(choice))
        return rename_columns(rows, self._position, self.num_dst)

    def __repr__(self) -> str:
        return (
            f"StackBlock({self.num_dst} targets, {self.num_src} sources, motifs={self.motifs}, "
            f"steps={self.steps}, psi={self.psi!r})"
        )
