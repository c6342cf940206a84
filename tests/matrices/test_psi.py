"""Ψ on matrices: by hand, against the dense formula, what is refused; and edge weights in it."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from random_graphs import erdos_renyi

from mcn.matrices import PSI_NAMES, MotifStack, apply_psi, view_rows
from mcn.motifs import MotifCounts, count_motifs
from tests.conftest import refuses
from tests.matrices.dense import dense_psi, rows_to_dense

# Node 0 shares 2 instances with 1 and 1 with 2; node 3 is in none.
A = np.array([[0, 2, 1, 0], [2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])


ROOT = 1 / np.sqrt(np.array([5, 4, 2]))  # of D = 3 + 2, 2 + 2, 1 + 1


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("unweighted", [[1, 1, 1], [1, 1, 0], [1, 0, 1]]),
        ("row-max", [[2, 2, 1], [2, 2, 0], [1, 0, 1]]),
        ("transition", [[0.4, 0.4, 0.2], [0.5, 0.5, 0], [0.5, 0, 0.5]]),
        ("laplacian", [[3, 2, 1], [2, 2, 0], [1, 0, 1]]),
        ("symmetric", np.array([[2, 2, 1], [2, 2, 0], [1, 0, 1]]) * np.outer(ROOT, ROOT)),
    ],
)
def test_by_hand(name, rows):
    expected = np.eye(4)  # node 3 becomes a self-loop
    expected[:3, :3] = rows
    np.testing.assert_allclose(apply_psi(A, name).toarray(), expected, rtol=1e-15)


square = hnp.array_shapes(min_dims=1, max_dims=1, max_side=8).map(lambda s: (s[0], s[0]))
weights = st.one_of(st.just(0.0), st.floats(1e-3, 1e6))


@pytest.mark.parametrize("name", PSI_NAMES)
@settings(max_examples=40, deadline=None)
@given(P=hnp.arrays(np.float64, square, elements=weights))
def test_equals_the_dense_formula_on_any_matrix(name, P):
    result = apply_psi(sp.csr_array(P), name)
    assert result.dtype == np.float64
    assert result.has_canonical_format
    np.testing.assert_allclose(result.toarray(), dense_psi(P, name), rtol=1e-12)
    if name == "transition":
        np.testing.assert_allclose(result.sum(axis=1), 1, rtol=1e-12)
    if name == "symmetric":
        balanced = apply_psi(P + P.T, name).toarray()
        assert np.array_equal(balanced, balanced.T)


def test_input_forms_no_change_to_the_input_and_a_diagonal_that_is_taken_literally():
    P = np.array([[4, 1], [1, 0]])
    assert apply_psi(P, "row-max").toarray().tolist() == [[8, 1], [1, 1]]
    assert apply_psi(P, "laplacian").toarray().tolist() == [[9, 1], [1, 1]]
    assert apply_psi(P, "unweighted").toarray().tolist() == [[1, 1], [1, 1]]
    stored_zero = sp.csr_array((np.array([2, 0, 2]), ([0, 0, 1], [1, 2, 0])), shape=(3, 3))
    before = stored_zero.copy()
    result = apply_psi(stored_zero, "unweighted")
    assert result.toarray().tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert result.nnz == 5
    assert stored_zero.nnz == before.nnz == 3
    doubled = sp.coo_array((np.array([1, 1, 2]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert apply_psi(doubled, "row-max").toarray().tolist() == [[2, 2], [2, 2]]
    assert apply_psi(sp.csr_matrix((0, 0)), "symmetric").shape == (0, 0)


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (np.ones((2, 3)), r"A has shape \(2, 3\); expected a square matrix"),
        (np.ones(3), r"A has shape \[3\]"),
        (np.array([[0, -1.0], [0, 0]]), r"A has the value -1.0 at \(0, 1\)"),
        (np.array([[0, 0], [np.nan, 0]]), r"A has the value nan at \(1, 0\)"),
    ],
)
def test_bad_matrices_are_named(bad, text):
    refuses(text, apply_psi, bad, "row-max")


MOTIFS = ("edge", "triangle", "4-cycle", "self")


def graph(seed: int, nodes: int = 14) -> tuple[MotifCounts, NDArray[np.float64]]:
    """The counts of a random graph with an isolated node, and random weights of its edges."""
    counts = count_motifs(erdos_renyi(nodes - 1, 3 * nodes, seed=seed), nodes)
    rng = np.random.default_rng(seed)
    w = rng.choice([0.25, 1.0, 3.0, 7.5], size=(nodes, nodes))
    w = np.triu(w, 1) + np.triu(w, 1).T
    return counts, w * (counts.adjacency("edge").toarray() > 0)


@pytest.mark.parametrize("psi", PSI_NAMES)
@pytest.mark.parametrize("add_edges", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_entries_are_multiplied_before_powers_and_psi(psi: str, add_edges: bool, seed: int) -> None:
    counts, w = graph(seed)
    steps = 1 if psi == "unweighted" else 3
    options: dict[str, Any] = {"add_edges": add_edges, "weights": w}
    stack = MotifStack.from_counts(counts, MOTIFS, steps, psi, **options)
    lazy = MotifStack.from_counts(counts, MOTIFS, steps, psi, materialize=False, **options)
    assert stack.weighted
    assert stack.psi == psi
    edge = counts.adjacency("edge").toarray().astype(float)
    for motif in MOTIFS:
        a = np.zeros_like(edge) if motif == "self" else counts.adjacency(motif).toarray().astype(float)
        a = a + edge if add_edges and motif not in ("edge", "self") else a
        weighted = ((a > 0) if psi == "unweighted" else a) * w
        for step in range(1, steps + 1):
            power = np.linalg.matrix_power(weighted, step)
            expected = dense_psi(power, "row-max" if psi == "unweighted" else psi)
            np.testing.assert_allclose(stack.matrix(motif, step).toarray(), expected, rtol=1e-12, atol=1e-12)
            choice = np.full(counts.num_nodes, MOTIFS.index(motif) * steps + step - 1)
            for one, other in zip(stack.select(choice), lazy.select(choice), strict=True):
                np.testing.assert_array_equal(one, other)
    base = rows_to_dense(stack.base, counts.num_nodes)
    np.testing.assert_allclose(base, dense_psi(w, "row-max" if psi == "unweighted" else psi), rtol=1e-6)


@pytest.mark.parametrize("psi", PSI_NAMES)
def test_weights_of_one_change_no_bit(psi: str) -> None:
    counts, w = graph(5)
    steps = 1 if psi == "unweighted" else 2
    plain = MotifStack.from_counts(counts, MOTIFS, steps, psi)
    ones = MotifStack.from_counts(counts, MOTIFS, steps, psi, weights=(w > 0).astype(float))
    assert not plain.weighted
    for choice in range(len(MOTIFS) * steps):
        chosen = np.full(counts.num_nodes, choice)
        for one, other in zip(plain.select(chosen), ones.select(chosen), strict=True):
            np.testing.assert_array_equal(one, other)
    for one, other in zip(plain.base, ones.base, strict=True):
        np.testing.assert_array_equal(one, other)


def test_views_walk_along_the_weights() -> None:
    counts, w = graph(1)
    options: dict[str, Any] = {"order": 2, "alpha": None, "top": counts.num_nodes, "tolerance": 0.0}
    rows = view_rows(counts, ("edge", "triangle"), edge_weights=w, **options)
    edge, triangle = (counts.adjacency(name).toarray() for name in ("edge", "triangle"))
    for place, a in enumerate((edge, edge + triangle)):
        walk = a * w + np.eye(len(w))
        walk = walk / walk.sum(1, keepdims=True)
        expected = (np.eye(len(w)) + walk + walk @ walk) / 3
        np.testing.assert_allclose(rows.matrix(place).toarray(), expected, rtol=1e-5, atol=1e-7)
    plain, ones = (view_rows(counts, ("edge",), edge_weights=e, **options) for e in (None, w > 0))
    np.testing.assert_array_equal(plain.indices, ones.indices)
    np.testing.assert_array_equal(plain.weights, ones.weights)


def test_what_is_refused() -> None:
    counts, w = graph(0)
    u, v = counts.pairs[0]
    lacking, negative, odd = w.copy(), w.copy(), w.copy()
    lacking[u, v] = lacking[v, u] = 0
    negative[u, v] = negative[v, u] = -1
    odd[u, v] += 1
    number = len(counts.pairs)
    for weights, options, message in (
        (w, {"scope": "pairs"}, 'scope="pairs" joins nodes without an edge'),
        (w, {"steps": 2}, "psi='unweighted' with steps=2 has no place for edge weights; use one step"),
        (lacking, {}, f"edge weights: {number - 1} edges have one, the graph has {number}"),
        (negative, {}, f"edge weights has the value -1.0 at \\({u}, {v}\\)"),
        (odd, {}, "edge weights is not symmetric"),
        (np.where(w > 0, np.nan, 0), {}, "edge weights has the value nan"),
    ):
        refuses(message, MotifStack.from_counts, counts, weights=weights, **options)
    with pytest.raises(ValueError, match="joins nodes without an edge"):
        view_rows(counts, ("triangle",), order=1, alpha=None, top=3, scope="pairs", edge_weights=w)
