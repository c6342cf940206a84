"""The view that layers rely on: one protocol for the whole stack and for its blocks."""

from __future__ import annotations

import numpy as np
import pytest

from mcn.matrices import MotifStack, Rows, StackBlock, StackView
from tests.matrices.dense import random_adjacency, triangles


@pytest.fixture
def views() -> list[StackView]:
    A = random_adjacency(25, 0.2, seed=8)
    stack = MotifStack.from_adjacencies({"edge": A, "triangle": triangles(A)}, steps=2)
    return [stack, *stack.blocks([3, 7], 2)]


def test_stack_and_blocks_are_views(views):
    assert [type(v) for v in views] == [MotifStack, StackBlock, StackBlock]
    for view in views:
        assert isinstance(view, StackView)
        assert isinstance(view.base, Rows)
        assert (view.num_motifs, view.steps) == (2, 2)
        assert view.src.dtype == np.int64
        assert view.src.shape == (view.num_src,)
        assert view.node_counts.shape == (view.num_dst, 15)
        assert view.node_counts.dtype == np.float32
        assert np.array_equal(view.targets, view.src[: view.num_dst])


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_a_row_holds_its_own_node_at_its_own_position(views, dtype):
    for view in views:
        rows = view.select(np.arange(view.num_dst, dtype=dtype) % 4)
        assert rows.indptr.shape == (view.num_dst + 1,)
        for r in range(view.num_dst):
            assert r in rows.indices[rows.indptr[r] : rows.indptr[r + 1]]
