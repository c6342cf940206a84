"""Receptive fields: the part of the stack that each layer must compute for a given set of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.data.arrays import as_array
from mcn.matrices import MotifStack, Rows, RowSource
from mcn.nn.sparse_linear import symmetric_normalised

_KEPT = 4


class PinnedBlock(RowSource):
    """A block in which every target makes the same known choice.

    Its sources are the nodes that the chosen rows reach. An ordinary block must hold every node that any
    motif and step could reach, so that it grows with T and K; a pinned one does not.
    """

    degrees: NDArray[np.float64] | None = None
    """Row sums of Â for all sources, once somebody has asked for them."""

    def __init__(self, stack: MotifStack, targets: NDArray[np.int64], choice: int) -> None:
        block = stack.block(targets)
        self.motifs, self.steps, self.psi = stack.motifs, stack.steps, stack.psi
        self.choice = choice
        options = stack.num_motifs * stack.steps
        rows = block.select(np.full(len(targets), choice, np.int64) if options > 1 else None)
        reached = np.zeros(block.num_src, bool)
        reached[rows.indices] = True
        reached[: len(targets)] = True
        place = (np.cumsum(reached) - 1).astype(np.int32)
        # No `base`: its rows may reach further than the chosen ones, and pinned choices need no state.
        self.num_dst, self.src, self.node_counts = len(targets), block.src[reached], block.node_counts
        self._rows = Rows(rows.indptr, place[rows.indices], rows.values)

    @cached_property
    def normalised(self) -> Rows:
        """The rows of D^-1/2 Â D^-1/2 (eq:gcn), the same in every pass; needs `degrees`."""
        assert self.degrees is not None
        return symmetric_normalised(self._rows, self.degrees)

    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """Return the pinned rows; refuse any other choice."""
        if choice is not None and (choice != self.choice).any():
            raise ValueError(
                f"choice: this block is pinned to {self.choice}, got {np.unique(choice).tolist()}"
            )
        return self._rows


def pinned_blocks(stack: MotifStack, rows: NDArray[np.int64], choices: Sequence[int]) -> list[RowSource]:
    """Make the blocks, input layer first, of a network whose layer l uses ``choices[l]`` for every node."""
    blocks: list[RowSource] = []
    for choice in reversed(choices):
        blocks.insert(0, PinnedBlock(stack, rows, choice))
        rows = blocks[0].src
    return blocks


class BlockCache:
    """Remembers the last few receptive fields of a model, so that an epoch does not rebuild them."""

    def __init__(self) -> None:
        self._entries: list[tuple[MotifStack, NDArray[np.int64], tuple[int | None, ...], Any]] = []

    def blocks(
        self, stack: MotifStack, rows: NDArray[np.int64], fixed: tuple[int | None, ...]
    ) -> Sequence[RowSource]:
        """Return the blocks for the nodes `rows`.

        Args:
            stack: the whole graph.
            rows: node ids.
            fixed: per layer the choice of all nodes where it is known, else None.
        """
        for known_stack, known_rows, known_fixed, blocks in self._entries:
            if known_stack is stack and known_fixed == fixed and np.array_equal(known_rows, rows):
                return blocks  # type: ignore[no-any-return]
        pins = [c for c in fixed if c is not None]
        found = (
            pinned_blocks(stack, rows, pins) if len(pins) == len(fixed) else stack.blocks(rows, len(fixed))
        )
        self._entries = [(stack, rows.copy(), fixed, found), *self._entries[: _KEPT - 1]]
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> BlockCache:
        return BlockCache()

    def __getstate__(self) -> dict[str, Any]:
        return {"_entries": []}


def node_ids(rows: Any) -> NDArray[np.int64]:
    """Read node ids from an array or tensor of ids, or from a boolean mask (in ascending order)."""
    ids = as_array(rows, "rows", "[n]")
    if ids.dtype == bool:
        ids = np.flatnonzero(ids)
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or len(ids) == 0:
        raise ValueError(
            "rows: expected a non-empty array [n] of node ids, or a boolean mask with at least one "
            f"node set; got shape {ids.shape} of {ids.dtype}"
        )
    return np.ascontiguousarray(ids, np.int64)
