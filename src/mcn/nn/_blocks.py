"""Receptive fields: what each layer must compute for a given set of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.matrices import MotifStack, Rows, StackView

_KEPT = 4


class PinnedBlock(StackView):
    """A block whose choices are fixed: its sources are only those that the chosen rows reach.

    An ordinary block must hold every node that any motif and step could reach; with the choice known,
    T and K cost nothing, whatever else the stack offers.
    """

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

    def select(self, choice: NDArray[np.int64] | None = None) -> Rows:
        """The pinned rows; any other choice is refused."""
        if choice is not None and (choice != self.choice).any():
            raise ValueError(
                f"choice: this block is pinned to {self.choice}, got {np.unique(choice).tolist()}"
            )
        return self._rows


def pinned_blocks(stack: MotifStack, rows: NDArray[np.int64], choices: Sequence[int]) -> list[StackView]:
    """Blocks from the input layer to the output layer when layer l uses choices[l] for every node."""
    blocks: list[StackView] = []
    for choice in reversed(choices):
        blocks.insert(0, PinnedBlock(stack, rows, choice))
        rows = blocks[0].src
    return blocks


class BlockCache:
    """The last few receptive fields of a model, so that an epoch does not rebuild them."""

    def __init__(self) -> None:
        self._entries: list[tuple[MotifStack, NDArray[np.int64], tuple[int | None, ...], Any]] = []

    def blocks(
        self, stack: MotifStack, rows: NDArray[np.int64], fixed: tuple[int | None, ...]
    ) -> Sequence[StackView]:
        """Blocks for `rows`; `fixed` holds each layer's choice where it is known for all nodes, else None."""
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
