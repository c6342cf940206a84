"""The stack against the dense formula; choosing rows; stored against computed."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import mcn
from mcn.matrices import PSI_NAMES, MotifStack, StackTooLarge, apply_psi, stack_size
from mcn.matrices.state import standardise_counts
from tests.conftest import refuses
from tests.matrices.dense import (
    adjacencies,
    dense_power,
    dense_psi,
    edge_index,
    random_adjacency,
    rows_to_dense,
    triangles,
)

A = random_adjacency(30, 0.2, seed=2)
A[7] = A[:, 7] = 0  # an isolated node
OWN = {"edge": A, "triangle": triangles(A)}


@pytest.mark.parametrize("psi", PSI_NAMES)
@settings(max_examples=15, deadline=None)
@given(A=adjacencies(max_nodes=12))
def test_matrices_equal_the_dense_formula(psi, A):
    own = {"edge": A, "triangle": triangles(A)}
    stack = MotifStack.from_adjacencies(own, steps=4, psi=psi)
    for name, matrix in own.items():
        for k in range(1, 5):
            result = stack.matrix(name, k)
            assert result.dtype == np.float64
            np.testing.assert_allclose(result.toarray(), dense_psi(dense_power(matrix, k), psi), rtol=1e-12)


def test_powers_of_long_rows_equal_the_dense_power():
    """Rows of a few columns among many and of most of them: columns are put in order in two ways."""
    graph = random_adjacency(700, 0.004, seed=1)
    stack = MotifStack.from_adjacencies({"edge": graph}, steps=5, psi="laplacian", materialize=False)
    lengths = set()
    for step in range(1, 6):
        matrix = stack.matrix("edge", step)
        expected = dense_psi(dense_power(graph, step), "laplacian")
        np.testing.assert_allclose(matrix.toarray(), expected, rtol=1e-12)
        lengths |= set(np.diff(matrix.indptr).tolist())
    assert min(lengths) * 8 < 700 / 64 < max(lengths) * 8


@pytest.mark.parametrize("scope", ["edges", "pairs"])
def test_scope_and_added_edges_reach_the_matrices(scope):
    """For every motif of the catalogue."""
    counts = mcn.count_motifs(edge_index(A), 30)
    orbits = mcn.EDGE_ORBITS if scope == "edges" else ()  # which have no counts of pairs
    names = [name for name in dict.fromkeys((*orbits, *mcn.GRAPHLETS)) if name != "edge"]
    plain = MotifStack.from_counts(counts, names, 2, "transition", scope=scope)
    added = MotifStack.from_counts(counts, names, 2, "transition", scope=scope, add_edges=True)
    for name in names:
        dense = counts.adjacency(name, scope=scope).toarray()
        for stack, weights in ((plain, dense), (added, A + dense)):
            for k in (1, 2):
                expected = dense_psi(dense_power(weights, k), "transition")
                np.testing.assert_allclose(stack.matrix(name, k).toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("materialize", [True, False])
@pytest.mark.parametrize("psi", PSI_NAMES)
@settings(max_examples=15, deadline=None)
@given(A=adjacencies(max_nodes=12), data=st.data())
def test_select_stacks_rows_of_the_matrices(psi, materialize, A, data):
    n = len(A)
    own = {"edge": A, "triangle": triangles(A)}
    stack = MotifStack.from_adjacencies(own, steps=3, psi=psi, materialize=materialize)
    choice = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    rows = stack.select(choice)
    matrices = [stack.matrix(m, k) for m in stack.motifs for k in (1, 2, 3)]
    expected = sp.vstack([matrices[c][[i]] for i, c in enumerate(choice)], format="csr")
    assert np.array_equal(rows.indptr, expected.indptr)
    assert np.array_equal(rows.indices, expected.indices)
    assert np.array_equal(rows.values, expected.data.astype(np.float32))
    assert (rows_to_dense(rows, n).diagonal() > 0).all()


@pytest.mark.parametrize("psi", PSI_NAMES)
def test_computed_rows_are_bit_equal_to_stored_ones(psi):
    rng = np.random.default_rng(0)
    weights = rng.random((30, 30))  # sums that round, so that the order of summation would show
    own = {"edge": A, "own": triangles(A) * (weights + weights.T)}
    stored = MotifStack.from_adjacencies(own, steps=4, psi=psi)
    lazy = MotifStack.from_adjacencies(own, steps=4, psi=psi, materialize=False)
    assert stored.materialized
    assert not lazy.materialized
    for _ in range(5):
        choice = rng.integers(0, 8, 30)
        for a, b in zip(stored.select(choice), lazy.select(choice), strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("materialize", [True, False])
def test_same_bits_for_every_number_of_threads(materialize):
    big = random_adjacency(1500, 0.012, seed=6)  # enough work for the threads to be used
    own = {"edge": big, "triangle": triangles(big)}
    choice = np.random.default_rng(1).integers(0, 6, 1500)
    options = {"steps": 3, "psi": "symmetric", "materialize": materialize}
    results = []
    for threads in (1, 2, 5):
        s = MotifStack.from_adjacencies(own, **options, threads=threads)
        results.append((*s.select(choice), s.size().entries))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("materialize", [True, False])
def test_nothing_to_choose(materialize):
    s = MotifStack.from_adjacencies({"triangle": triangles(A)}, edge=A, materialize=materialize)
    expected = apply_psi(triangles(A), "unweighted").toarray()
    assert np.array_equal(rows_to_dense(s.select(None), 30), expected)
    assert np.array_equal(rows_to_dense(s.select(np.zeros(30, int)), 30), expected)


def test_what_a_stack_says_of_itself_and_that_its_base_follows_no_scope_or_added_edges():
    counts = mcn.count_motifs(edge_index(A), 30)
    s = MotifStack.from_counts(counts, ["triangle", "4-path"], 2, "row-max")
    assert (s.motifs, s.num_motifs, s.steps, s.psi) == (("triangle", "4-path"), 2, 2, "row-max")
    assert s.num_dst == s.num_src == s.num_nodes == 30
    assert np.array_equal(s.src, np.arange(30))
    assert np.array_equal(s.targets, np.arange(30))
    assert s.node_counts.shape == (30, 15)
    np.testing.assert_allclose(s.node_counts.std(axis=0), counts.per_node.std(axis=0) > 0, atol=1e-5)
    base = rows_to_dense(s.base, 30)
    assert np.array_equal(base, dense_psi(A.astype(float), "row-max").astype(np.float32))
    assert f"{s.size().total_entries:,} entries" in repr(s)
    lazy = MotifStack.from_counts(counts, steps=4, materialize=False)
    assert "rows are computed when chosen" in repr(lazy)
    assert "at most" in repr(lazy)
    s = MotifStack.from_counts(counts, ["2-star"], psi="transition", scope="pairs", add_edges=True)
    np.testing.assert_allclose(rows_to_dense(s.base, 30), dense_psi(A.astype(float), "transition"), rtol=1e-6)


@pytest.mark.parametrize("materialize", [True, False])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_edges(n, materialize):
    counts = mcn.count_motifs(np.zeros((2, 0), np.int64), n)
    s = MotifStack.from_counts(counts, steps=3, psi="symmetric", materialize=materialize)
    assert np.array_equal(rows_to_dense(s.select(np.full(n, 5)), n), np.eye(n))
    assert s.matrix("triangle", 3).shape == (n, n)
    assert s.size().total_entries == 6 * n


def test_four_steps_where_the_powers_would_not_fit():
    n, limit = 20_000, 2**26
    edges = np.random.default_rng(0).integers(0, n, (2, 60_000))
    counts = mcn.count_motifs(edges, n)
    with pytest.raises(StackTooLarge, match="motif 'edge' at step 4"):
        MotifStack.from_counts(counts, ["edge"], 4, "transition", memory_limit=limit)
    s = MotifStack.from_counts(counts, ["edge"], 4, "transition", memory_limit=limit, materialize=False)
    rows = np.array([5, 17, 19_999])
    block = s.block(rows)
    dense = rows_to_dense(block.select(np.full(3, 3)), block.num_src)
    adjacency = counts.adjacency("edge").astype(np.float64)
    power = (adjacency[rows] @ adjacency @ adjacency @ adjacency).toarray()
    power[np.arange(3), rows] += power.max(axis=1)
    power /= power.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(dense, power[:, block.src], rtol=1e-6)
    assert power[:, block.src].sum() == pytest.approx(3)


HEAVY = np.array([[0, 1e15], [1e15, 0]])
made = MotifStack.from_adjacencies


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda s: s.select(None), r"choice is None, but there is something to choose \(2 motifs × 2 steps"),
        (lambda s: s.select(np.zeros(29, int)), r"choice has shape \(29,\)"),
        (lambda s: s.select(np.zeros(30)), "type float64; expected an int, or 30 integers"),
        (lambda s: s.select(np.full(30, 4)), r"choice\[0\] = 4 is outside 0 … 3"),
        (lambda s: s.select(np.full(30, -1)), r"choice\[0\] = -1 is outside"),
        (
            lambda s: s.matrix("edges", 1),
            "motif 'edges' is not among 'edge', 'triangle'; did you mean 'edge'",
        ),
        (lambda s: s.matrix("edge", 3), "step=3; this stack has the steps 1 … 2"),
        (
            lambda _: made(OWN, psi="laplace"),
            r"psi must be one of .*, got 'laplace'; did you mean 'laplacian'",
        ),
        (lambda _: made({"triangle": A}), "edge is missing and there is no 'edge'"),
        (lambda _: made({"b": A}, edge=HEAVY), "edge has 2 nodes but the adjacencies have 30"),
        (lambda _: made({}), "motifs is empty"),
        (lambda _: made({"edge": A, "b": HEAVY}), "adjacency 'b' has 2 nodes but the first has 30"),
        (lambda _: made({"edge": np.ones((2, 3))}), r"adjacency 'edge' has shape \(2, 3\)"),
        (
            lambda _: made({"edge": [[0, 5], [3, 0]]}),
            r"not symmetric: entry \(0, 1\) is 5.0 but \(1, 0\) is 3.0",
        ),
        (
            lambda _: made({"edge": [[0, 1e-12], [0, 1]]}),
            r"not symmetric: entry \(0, 1\) is 1e-12 but \(1, 0\) is 0.0",
        ),
        *(
            (lambda _, make=make, motifs=motifs: make(mcn.count_motifs(edge_index(A), 30), motifs), text)
            for make in (MotifStack.from_counts, stack_size)
            for motifs, text in (
                (["triangel"], "unknown motif 'triangel'; did you mean 'triangle'"),
                ([], "motifs is empty"),
                ("edge", r"motifs='edge' is one string; expected a sequence of names such as \('edge',\)"),
                (["edge", "edge"], "names 'edge' more than once"),
            )
        ),
    ],
)
def test_what_is_refused(use, text):
    refuses(text, use, made(OWN, steps=2))


@pytest.mark.parametrize("psi", ["row-max", "laplacian"])
def test_what_float32_cannot_hold(psi):
    made({"edge": HEAVY}, steps=2, psi=psi)
    message = rf"psi='{psi}': weights of motif 'edge' at step 3 reach up to 1e\+45"
    refuses(message, made, {"edge": HEAVY}, steps=3, psi=psi)


@pytest.mark.parametrize("psi", ["unweighted", "transition", "symmetric"])
def test_relative_weights_are_fine(psi):
    stack = MotifStack.from_adjacencies({"edge": HEAVY}, steps=4, psi=psi)
    assert np.isfinite(stack.select(np.array([3, 3])).values).all()
    if psi == "transition":  # until float64 cannot hold them
        with pytest.raises(ValueError, match="step 21 reach up to inf"):
            MotifStack.from_adjacencies({"edge": HEAVY}, steps=30, psi=psi, materialize=False)


def test_columns_are_standardised_logs_and_bad_counts_are_named():
    counts = np.zeros((3, 15), np.int64)
    counts[:, 0] = [0, 1, 3]  # log1p: 0, log 2, 2 log 2; mean log 2, deviation log 2 · √(2/3)
    counts[:, 1] = 7
    C = standardise_counts(counts, 3)
    assert C.dtype == np.float32
    np.testing.assert_allclose(C[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)], atol=1e-6)
    assert not C[:, 1:].any()
    assert standardise_counts(None, 4).shape == (4, 15)
    assert not standardise_counts(None, 4).any()
    assert standardise_counts(np.zeros((0, 15)), 0).shape == (0, 15)
    refuses(r"node_counts has shape \(4, 3\); expected \(4, 15\)", standardise_counts, np.zeros((4, 3)), 4)
    counts = np.zeros((4, 15))
    counts[2, 5] = -1
    refuses(r"node_counts\[2, 5\] = -1.0", standardise_counts, counts, 4)
