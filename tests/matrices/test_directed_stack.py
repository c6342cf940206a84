"""Stacks of directed motifs: by hand, against dense formulas, and what reversing and pairing arcs does."""

import numpy as np
import pytest

from mcn.matrices import PSI_NAMES, MotifStack, apply_psi, stack_size
from mcn.motifs import DirectedCounts, count_motifs
from mcn.nn.graph_rows import StackRows
from tests.conftest import refuses
from tests.matrices.dense import dense_power, dense_psi, rows_to_dense

# 0→1→2, the short cut 0→2, and 2⇄3: node 2 is the target of a feed-forward loop.
ARCS = [[0, 1, 0, 2, 3], [1, 2, 2, 3, 2]]
ONES = [[1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
OUT = {
    **dict.fromkeys(("unweighted", "row-max"), ONES),
    "transition": [[1 / 3, 1 / 3, 1 / 3, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]],
    "laplacian": [[2, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]],
}
# The sums of A + M: 3, 2, 2, 2 of the rows and 1, 2, 4, 2 of the columns.
ROOTS = np.sqrt(np.outer([3, 2, 2, 2], [1, 2, 4, 2]))
NAMES = ["edge", "out", "in", "triangle", "self", "M5", "cycle:in", "chain:both", "semi-clique-center-source"]


def random_counts(n: int, density: float, seed: int, both: bool = False) -> DirectedCounts:
    joined = np.random.default_rng(seed).random((n, n)) < density
    joined = joined | joined.T if both else joined
    np.fill_diagonal(joined, False)
    return count_motifs(np.array(np.nonzero(joined)), n, directed=True)


def dense_adjacency(counts: DirectedCounts, name: str) -> np.ndarray:
    motif, _, direction = {"out": "arc", "in": "arc:in"}.get(name, name).partition(":")
    if name == "self":
        return np.zeros((counts.num_nodes,) * 2)
    if name in ("edge", "triangle"):
        return counts.undirected.adjacency(name).toarray().astype(float)
    out = counts.adjacency(motif).toarray().astype(float)
    return {"in": out.T, "both": out + out.T}.get(direction, out)


@pytest.mark.parametrize("psi", PSI_NAMES)
def test_rows_by_hand(psi):
    expected = np.array(ONES) / ROOTS if psi == "symmetric" else np.array(OUT[psi])
    stack = MotifStack.from_counts(count_motifs(ARCS, directed=True), ["out", "in", "M5"], psi=psi)
    np.testing.assert_allclose(stack.matrix("out").toarray(), expected, rtol=1e-15)
    loop = stack.matrix("M5").toarray()  # nodes 2 and 3 begin no arc of the loop
    np.testing.assert_array_equal(loop[2:], np.eye(4)[2:])
    np.testing.assert_array_equal(loop[1] > 0, [False, True, True, False])
    np.testing.assert_array_equal(stack.matrix("in").toarray()[0], [1, 0, 0, 0])  # nobody points to 0
    np.testing.assert_allclose(apply_psi(stack.adjacency(0).matrix(4), psi).toarray(), expected, rtol=1e-15)


@pytest.mark.parametrize("psi", PSI_NAMES)
@pytest.mark.parametrize("seed", range(12))
def test_rows_equal_the_dense_formulas(psi, seed):
    counts = random_counts(2 + seed, 0.1 + 0.06 * seed, seed)
    n = counts.num_nodes
    stacks = [MotifStack.from_counts(counts, NAMES, 3, psi, materialize=kept) for kept in (True, False)]
    for number in range(stacks[0].num_options):
        name, k = NAMES[number // 3], number % 3 + 1
        expected = dense_psi(dense_power(dense_adjacency(counts, name), k), psi)
        np.testing.assert_allclose(stacks[0].matrix(name, k).toarray(), expected, rtol=1e-12)
        for stack in stacks:
            np.testing.assert_allclose(rows_to_dense(stack.select([number] * n), n), expected, rtol=3e-7)
    size = stack_size(counts, NAMES, 3)
    np.testing.assert_array_equal(size.entries, stacks[0].size().entries)
    assert (stack_size(counts, NAMES, 3, exact=False).entries >= size.entries).all()


def test_reversing_swaps_in_and_out_and_pairs_of_arcs_are_edges():
    counts = random_counts(20, 0.15, 1)
    turned = count_motifs(counts.arcs.T[::-1], 20, directed=True)
    for psi in PSI_NAMES:
        one = MotifStack.from_counts(counts, ["in", "M5:in"], 2, psi)
        other = MotifStack.from_counts(turned, ["out", "M5"], 2, psi)
        both = random_counts(20, 0.1, 2, both=True)
        arcs = MotifStack.from_counts(both, ["out", "in", "clique"], 3, psi)
        edges = MotifStack.from_counts(both.undirected, ["edge", "triangle"], 3, psi)
        for place in range(2):
            rows = [stack.matrix(stack.motifs[place], 2).toarray() for stack in (one, other)]
            np.testing.assert_array_equal(*rows)
        for name, edge in {"out": "edge", "in": "edge", "clique": "triangle"}.items():
            rows = [s.select([s.motifs.index(m) * 3 + 2] * 20) for s, m in ((arcs, name), (edges, edge))]
            assert all(np.array_equal(a, b) for a, b in zip(*rows, strict=True))


def test_what_is_refused():
    counts = count_motifs(ARCS, directed=True)
    refuses("motif 'in' needs direction: .*data.directed", MotifStack.from_counts, counts.undirected, ["in"])
    refuses("direction of 'M5:up' must be one of out, in", MotifStack.from_counts, counts, ["M5:up"])
    refuses("unknown motif 'circle'; did you mean", MotifStack.from_counts, counts, ["circle"])
    refuses("unknown directed motif 'edge'", MotifStack.from_counts, counts, ["edge:in"])
    weights = counts.undirected.adjacency("edge")
    refuses(
        r"direction \(motifs in\) does not go with weights",
        MotifStack.from_counts,
        counts,
        ["in"],
        weights=weights,
    )
    rows = StackRows(MotifStack.from_counts(counts, ["in"], steps=2))
    refuses("mini-batches of directed motifs have one step", rows.draw, np.arange(4), np.zeros(4, int), 2, 0)
