"""What a layer sees of a motif stack: rows of Â for target nodes over source nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """The rows of Â (eq:att_matrix) of the target nodes, one CSR of C-contiguous arrays.

    `indices` are positions among the source nodes, ascending within a row; every row holds the node itself.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]

    def sums(self) -> NDArray[np.float64]:
        """D_ii = Σ_j Â_ij, the sum of every row."""
        count = len(self.indptr) - 1
        row = np.repeat(np.arange(count), np.diff(self.indptr))
        return np.bincount(row, self.values, minlength=count).astype(np.float64)


class StackView(ABC):
    """The part that a whole `MotifStack` and a `StackBlock` of it have in common.

    Attributes:
        motifs: names of the T motifs.
        steps: K, the greatest step size.
        psi: name of Ψ.
        src: global ids of the source nodes, [num_src]; the first `num_dst` are the targets, in order.
        node_counts: C of eq:state for the targets, [num_dst, 15].
        base: the target rows of Ψ(A), A the plain adjacency, for the state of eq:state.
    """

    motifs: tuple[str, ...]
    steps: int
    psi: str
    num_dst: int
    src: NDArray[np.int64]
    node_counts: NDArray[np.float32]
    base: Rows

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
        """The rows of Â (eq:att_matrix) when target i chose motif t and step k.

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
        choice = np.ascontiguousarray(choice)
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
