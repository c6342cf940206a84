"""Receptive fields with known choices."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

from mcn.nn._blocks import BlockCache, PinnedBlock, node_ids, pinned_blocks
from tests.nn.graphs import dense_rows, random_stack


def test_pinned_block_holds_just_what_its_rows_reach() -> None:
    stack = random_stack(n=60, motifs=3, steps=2, psi="row-max")
    targets = np.array([4, 50, 59])
    for choice in range(6):
        block = PinnedBlock(stack, targets, choice)
        full = dense_rows(stack.select(np.full(60, choice)), 60)[targets]
        assert block.src[:3].tolist() == targets.tolist()
        assert set(block.src) == set(np.flatnonzero(full.any(0))) | set(targets)
        assert np.array_equal(dense_rows(block.select(), block.num_src), full[:, block.src])
    with pytest.raises(ValueError, match="pinned to 5, got"):
        block.select(np.zeros(3, np.int64))


def test_layers_join() -> None:
    stack = random_stack(n=60, motifs=2)
    blocks = pinned_blocks(stack, np.array([1, 2]), [1, 0])
    assert blocks[1].src.tolist() == blocks[0].src[: blocks[0].num_dst].tolist()
    assert blocks[0].num_motifs == 2


def test_cache_remembers_the_last_few() -> None:
    stack, cache = random_stack(motifs=2), BlockCache()
    first = cache.blocks(stack, np.array([1, 2]), (None, None))
    assert cache.blocks(stack, np.array([1, 2]), (None, None)) is first
    assert cache.blocks(stack, np.array([1, 2]), (0, 0)) is not first
    assert cache.blocks(random_stack(motifs=2), np.array([1, 2]), (None, None)) is not first
    for node in range(5):
        cache.blocks(stack, np.array([node]), (None, None))
    assert cache.blocks(stack, np.array([1, 2]), (None, None)) is not first
    assert not copy.deepcopy(cache)._entries
    assert not pickle.loads(pickle.dumps(cache))._entries


@pytest.mark.parametrize(
    "rows",
    [[1, 3], np.array([1, 3], np.int32), torch.tensor([1, 3]), np.array([0, 1, 0, 1], bool),
     torch.tensor([False, True, False, True])],
)  # fmt: skip
def test_forms_of_node_ids(rows: Any) -> None:
    ids = node_ids(rows)
    assert ids.dtype == np.int64
    assert ids.tolist() == [1, 3]


@pytest.mark.parametrize("rows", [[], [0.5], [[1]], np.zeros(4, bool)])
def test_what_node_ids_are_refused(rows: Any) -> None:
    with pytest.raises(ValueError, match="rows: expected"):
        node_ids(rows)
