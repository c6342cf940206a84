"""Rows and what is done to them; the whole stack and its blocks as sources of rows."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.matrices import PSI_NAMES, MotifStack, Rows, RowSource, StackBlock
from tests.conftest import refuses
from tests.matrices.dense import adjacencies, dense_power, random_adjacency, rows_to_dense, triangles


def make(A: np.ndarray, psi: str = "transition", steps: int = 2, **options) -> MotifStack:
    counts = np.random.default_rng(0).integers(0, 9, (len(A), 15))
    own = {"triangle": triangles(A), "edge": A}
    return MotifStack.from_adjacencies(own, steps=steps, psi=psi, node_counts=counts, **options)


@pytest.mark.parametrize("materialize", [True, False])
@pytest.mark.parametrize("psi", PSI_NAMES)
@settings(max_examples=15, deadline=None)
@given(A=adjacencies(min_nodes=2), data=st.data())
def test_a_block_is_the_stack_restricted(psi, materialize, A, data):
    n = len(A)
    stack = make(A, psi, materialize=materialize)
    targets = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True)))
    block = stack.block(targets)
    assert (block.motifs, block.num_motifs, block.steps) == (stack.motifs, 2, 2)
    assert block.num_dst == targets.size
    assert np.array_equal(block.targets, targets)
    choice = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    whole = rows_to_dense(stack.select(choice), n)[targets]
    part = rows_to_dense(block.select(choice[targets]), block.num_src)
    assert np.array_equal(part, whole[:, block.src])
    assert np.count_nonzero(part) == np.count_nonzero(whole)  # nothing outside the sources
    base = rows_to_dense(stack.base, n)[targets]
    assert np.array_equal(rows_to_dense(block.base, block.num_src), base[:, block.src])
    assert np.count_nonzero(block.base.values) == np.count_nonzero(base)
    assert np.array_equal(block.node_counts, stack.node_counts[targets])


@settings(max_examples=30, deadline=None)
@given(A=adjacencies(min_nodes=2), steps=st.integers(1, 3), data=st.data())
def test_sources_are_exactly_what_some_row_can_reach(A, steps, data):
    n = len(A)
    targets = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True)))
    block = make(A, steps=steps, materialize=False).block(targets)
    reached = np.zeros(n, bool)
    for matrix in (A, triangles(A)):
        for k in range(1, steps + 1):
            reached |= (dense_power(matrix, k)[targets] > 0).any(axis=0)
    reached[targets] = False
    assert block.src.tolist() == [*targets.tolist(), *np.flatnonzero(reached).tolist()]


def test_the_base_row_counts_for_the_sources():
    A = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)  # a path: no triangle, so its rows reach nothing
    stack = MotifStack.from_adjacencies({"triangle": np.zeros((4, 4))}, edge=A)
    assert stack.block([1]).src.tolist() == [1, 0, 2]


@pytest.mark.parametrize("materialize", [True, False])
def test_blocks_chain_from_input_to_output(materialize):
    stack = make(random_adjacency(60, 0.03, seed=1), materialize=materialize)
    rows = np.array([40, 3, 12])
    blocks = stack.blocks(rows, 3)
    assert len(blocks) == 3
    assert np.array_equal(blocks[-1].targets, rows)
    for below, above in pairwise(blocks):
        assert np.array_equal(above.src, below.targets)

    # Two layers of choices, block by block, give the rows of the product of the whole matrices.
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    x = rng.random((60, 2))
    dense = [rows_to_dense(stack.select(c), 60).astype(float) for c in (first, second)]
    h = x[blocks[1].src]
    for block, choice in zip(blocks[1:], (first, second), strict=True):
        h = rows_to_dense(block.select(choice[block.targets]), block.num_src) @ h
    np.testing.assert_allclose(h, (dense[1] @ dense[0] @ x)[rows], rtol=1e-6)


def test_a_block_is_selected_from_twice_alike_and_may_be_of_everything_or_of_nothing():
    stack = make(random_adjacency(30, 0.2, seed=1))
    block = stack.block([9, 4, 20])
    first = [a.copy() for a in block.select(np.array([0, 1, 3]))]
    for a, b in zip(first, block.select(np.array([0, 1, 3])), strict=True):
        assert np.array_equal(a, b)
    everything = stack.block(np.arange(30))
    assert everything.num_src == everything.num_dst == 30
    nothing = stack.block(np.zeros(0, np.int64))
    assert (nothing.num_dst, nothing.num_src) == (0, 0)
    assert nothing.select(np.zeros(0, np.int64)).indptr.tolist() == [0]
    refuses("depth=0; expected an integer of at least 1", stack.blocks, [0], 0)
    refuses("expected an int, or 2 integers, one per target", stack.block([4, 5]).select, np.zeros(30, int))


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([1, 5, 1], "rows names node 1 more than once"),
        ([0, 30], r"rows\[1\] = 30 is outside 0 … 29"),
        ([-1], r"rows\[0\] = -1"),
        ([0.5], "type float64"),
        ([[1, 2]], r"shape \(1, 2\)"),
    ],
)
def test_bad_targets(rows, text):
    refuses(text, make(random_adjacency(30, 0.2, seed=1)).block, rows)


def test_a_pinned_block_holds_just_what_its_rows_reach():
    stack = make(random_adjacency(60, 0.1, seed=2), "row-max")
    targets = np.array([4, 50, 59])
    for choice in range(4):
        block = stack.pinned_block(targets, choice)
        full = rows_to_dense(stack.select(np.full(60, choice)), 60)
        assert block.src[:3].tolist() == targets.tolist()
        assert set(block.src) == set(np.flatnonzero(full[targets].any(0))) | set(targets)
        assert np.array_equal(rows_to_dense(block.select(), block.num_src), full[targets][:, block.src])
        degrees = full.astype(float).sum(1)
        np.testing.assert_allclose(block.degrees, degrees[block.src], rtol=1e-6)
        scaled = (full / np.sqrt(np.outer(degrees, degrees)))[targets][:, block.src]
        np.testing.assert_allclose(rows_to_dense(block.normalised, block.num_src), scaled, rtol=1e-6)
    refuses("pinned to 3, got", block.select, np.zeros(3, np.int64))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_stack_and_blocks_are_row_sources(dtype):
    stack = make(random_adjacency(25, 0.2, seed=8))
    sources = [stack, *stack.blocks([3, 7], 2)]
    assert [type(source) for source in sources] == [MotifStack, StackBlock, StackBlock]
    for source in sources:
        assert isinstance(source, RowSource)
        assert isinstance(source.base, Rows)
        assert (source.src.dtype, source.src.shape) == (np.int64, (source.num_src,))
        assert (source.node_counts.dtype, source.node_counts.shape) == (np.float32, (source.num_dst, 15))
        assert np.array_equal(source.targets, source.src[: source.num_dst])
        rows = source.select(np.arange(source.num_dst, dtype=dtype) % 4)
        for r in range(source.num_dst):  # a row holds its own node
            assert r in rows.indices[rows.indptr[r] : rows.indptr[r + 1]]


def as_rows(matrix: sp.csr_array) -> Rows:
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return Rows(indptr, indices, matrix.data.astype(np.float32))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("times", [1, 12])
def test_gathered_rows_are_the_rows(threads, times):
    rng = np.random.default_rng(0)
    matrix = sp.random_array((1000, 500), density=0.4, format="csr", rng=rng, dtype=np.float32)
    matrix.sort_indices()
    numbers = rng.integers(0, 1000, 1000 * times)  # 12 times: over 2 million entries, so threads are used
    rows, expected = as_rows(matrix).take(numbers, threads), matrix[numbers]
    assert np.array_equal(rows.indptr, expected.indptr)
    assert np.array_equal(rows.indices, expected.indices)
    assert np.array_equal(rows.values, expected.data)


def test_sums_and_normalised_rows_by_hand():
    rows = Rows(np.array([0, 2, 2, 3]), np.array([0, 1, 2], np.int32), np.array([0.5, 2, 4], np.float32))
    assert rows.sums().tolist() == [2.5, 0, 4]
    assert rows.sums().dtype == np.float64
    rows = Rows(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([6, 2, 5], np.float32))
    scaled = rows.normalised(np.array([1.0, 25, 16]), np.array([9.0, 25]))
    np.testing.assert_allclose(scaled.values, [6 / 3, 2 / (3 * 4), 5 / 25])
    refuses(r"positive, got 0\.0 at source 1", rows.normalised, np.array([1.0, 0, 16]), np.array([9.0, 25]))


@given(st.integers(0, 8), st.integers(1, 8), st.integers(0, 1000))
def test_entries_land_in_their_column_in_row_order(rows: int, columns: int, seed: int) -> None:
    dense = np.random.default_rng(seed).random((rows, columns)) < 0.4
    r, c = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(dense.sum(1))]).astype(np.int64)
    turned = Rows(indptr, c.astype(np.int32), np.ones(len(c))).transpose(columns)
    assert turned.indptr.tolist() == np.concatenate([[0], np.cumsum(dense.sum(0))]).tolist()
    for column in range(columns):
        part = slice(turned.indptr[column], turned.indptr[column + 1])
        assert turned.indices[part].tolist() == np.flatnonzero(dense[:, column]).tolist()
        assert (c[turned.values[part]] == column).all()
        assert r[turned.values[part]].tolist() == turned.indices[part].tolist()
