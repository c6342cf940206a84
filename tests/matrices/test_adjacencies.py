"""What goes into a stack: the order, the layout, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import mcn
from mcn.matrices import MotifStack, stack_size
from tests.matrices.dense import edge_index, random_adjacency, triangles

A = random_adjacency(20, 0.3, seed=3)


def plain(stack: MotifStack, motif: str) -> np.ndarray:
    """A_t of a stack whose Ψ adds the greatest entry of each row to the diagonal."""
    dense = stack.matrix(motif).toarray()
    np.fill_diagonal(dense, 0)
    return dense


def test_counts_and_matrices_give_the_same_stack_in_the_order_asked_for():
    counts = mcn.count_motifs(edge_index(A), 20)
    own = {"triangle": sp.csr_matrix(triangles(A)), "edge": A}
    for stack in (
        MotifStack.from_counts(counts, ["triangle", "edge"], psi="row-max"),
        MotifStack.from_adjacencies(own, psi="row-max"),
    ):
        assert stack.motifs == ("triangle", "edge")
        assert np.array_equal(plain(stack, "triangle"), triangles(A))
        assert np.array_equal(plain(stack, "edge"), A)


def test_add_edges_reweights_every_motif_but_the_edge():
    counts = mcn.count_motifs(edge_index(A), 20)
    stack = MotifStack.from_counts(counts, ["edge", "triangle"], psi="row-max", add_edges=True)
    assert np.array_equal(plain(stack, "edge"), A)
    assert np.array_equal(plain(stack, "triangle"), A + triangles(A))


def test_scope_pairs_reaches_beyond_the_edges():
    path = np.array([[0, 1], [1, 2]])
    stack = MotifStack.from_counts(mcn.count_motifs(path, 3), ["2-star"], psi="row-max", scope="pairs")
    assert plain(stack, "2-star").tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("matrices", "motifs", "text"),
    [
        (
            {"edge": A, "triangle": A},
            ["triangel"],
            "motif 'triangel' is not among 'edge', 'triangle'; did you mean 'triangle'",
        ),
        ({"edge": A}, [], "motifs is empty"),
        ({}, None, "motifs is empty"),
        (
            {"edge": A},
            "edge",
            r"motifs='edge' is one string; expected a sequence of names such as \('edge',\)",
        ),
        ({"edge": A}, ["edge", "edge"], "names 'edge' more than once"),
        ({"edge": A, "b": np.zeros((3, 3))}, None, "adjacency 'b' has 3 nodes but the first has 20"),
        ({"edge": np.ones((2, 3))}, None, r"adjacency 'edge' has shape \(2, 3\)"),
        ({"edge": [[0, 5], [3, 0]]}, None, r"not symmetric: entry \(0, 1\) is 5.0 but \(1, 0\) is 3.0"),
        ({"edge": [[0, 1e-12], [0, 1]]}, None, r"not symmetric: entry \(0, 1\) is 1e-12 but \(1, 0\) is 0.0"),
    ],
)
def test_what_is_refused(matrices, motifs, text):
    with pytest.raises(ValueError, match=text):
        stack_size(matrices, motifs)


HEAVY = np.array([[0, 1e15], [1e15, 0]])


@pytest.mark.parametrize("psi", ["row-max", "laplacian"])
def test_what_float32_cannot_hold(psi):
    MotifStack.from_adjacencies({"edge": HEAVY}, steps=2, psi=psi)
    with pytest.raises(
        ValueError, match=rf"psi='{psi}': weights of motif 'edge' at step 3 reach up to 1e\+45"
    ):
        MotifStack.from_adjacencies({"edge": HEAVY}, steps=3, psi=psi)


@pytest.mark.parametrize("psi", ["unweighted", "transition", "symmetric"])
def test_relative_weights_are_fine(psi):
    stack = MotifStack.from_adjacencies({"edge": HEAVY}, steps=4, psi=psi)
    assert np.isfinite(stack.select(np.array([3, 3])).values).all()


def test_what_float64_cannot_hold():
    with pytest.raises(ValueError, match="step 21 reach up to inf"):
        MotifStack.from_adjacencies({"edge": HEAVY}, steps=30, psi="transition", materialize=False)
