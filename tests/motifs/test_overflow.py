"""Counts that come near the end of 64 bits, or pass it: exact, or refused with the reason."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import mcn
from mcn.motifs import derive
from tests.motifs.brute_force import count
from tests.motifs.families import SMALL, Family, Orbits, barbell, bipartite, book, complete, star, windmill


def _row(names: tuple[str, ...], orbits: Orbits) -> list[int]:
    assert orbits.keys() <= set(names)
    return [orbits.get(name, 0) for name in names]


def _row_of(counts: mcn.MotifCounts, edge: tuple[int, int]) -> int:
    return int(np.flatnonzero((counts.pairs == edge).all(axis=1))[0])


def _check_edges(counts: mcn.MotifCounts, family: Family) -> None:
    per_edge = counts.per_edge
    for edge, orbits in family.per_edge.items():
        assert per_edge[_row_of(counts, edge)].tolist() == _row(mcn.EDGE_ORBITS, orbits)


def _check_nodes(counts: mcn.MotifCounts, family: Family) -> None:
    per_node = counts.per_node
    for node, orbits in family.per_node.items():
        assert per_node[node].tolist() == _row(mcn.NODE_ORBITS, orbits)


def _check_totals(counts: mcn.MotifCounts, family: Family) -> None:
    found = {line.graphlet: line.instances for line in counts.totals()}
    assert found == dict.fromkeys(mcn.GRAPHLETS, 0) | family.totals


@pytest.mark.parametrize("name", SMALL)
def test_the_formulas_equal_brute_force(name: str) -> None:
    family = SMALL[name]()
    edges = family.edges.T.tolist()
    per_edge, per_node, _ = count(int(family.edges.max()) + 1, edges, induced=True)
    counts = mcn.count_motifs(family.edges)
    for edge, orbits in family.per_edge.items():
        assert per_edge[_row_of(counts, edge)].tolist() == _row(mcn.EDGE_ORBITS, orbits)
    for node, orbits in family.per_node.items():
        assert per_node[node].tolist() == _row(mcn.NODE_ORBITS, orbits)
    for place, graphlet in enumerate(mcn.GRAPHLETS):
        orbits = [i for i, o in enumerate(mcn.EDGE_ORBITS) if mcn.motifs.graphlet_of(o).name == graphlet]
        size = [1, 2, 3, 3, 3, 4, 4, 5, 6][place]
        assert per_edge[:, orbits].sum() == size * family.totals.get(graphlet, 0)


@pytest.mark.parametrize(
    "family",
    [
        *(pytest.param(make, id=name) for name, make in SMALL.items()),
        pytest.param(lambda: complete(400), id="complete 400"),
        pytest.param(lambda: bipartite(500, 500), id="bipartite 500 500"),
        pytest.param(lambda: windmill(60, 40), id="windmill 60 40"),
        pytest.param(lambda: book(1_000_000), id="book 1,000,000"),
        pytest.param(lambda: barbell(200), id="barbell 200"),
    ],
)
def test_counts_equal_the_formulas(family: object) -> None:
    made: Family = family()  # type: ignore[operator]
    counts = mcn.count_motifs(made.edges)
    _check_edges(counts, made)
    _check_nodes(counts, made)
    _check_totals(counts, made)


@pytest.mark.slow
@pytest.mark.parametrize(
    "family",
    [
        pytest.param(lambda: star(2_200_000), id="star 2,200,000"),
        pytest.param(lambda: windmill(3, 1_000_000), id="windmill 3 1,000,000"),
        pytest.param(lambda: bipartite(2, 1_000_000), id="bipartite 2 1,000,000"),
        pytest.param(lambda: star(3_810_779), id="the last star that fits"),
        pytest.param(lambda: star(2_097_153), id="star 2,097,153"),
        pytest.param(lambda: star(3_000_000), id="star 3,000,000"),
        pytest.param(lambda: complete(1000), id="complete 1000"),
        pytest.param(lambda: bipartite(1000, 1000), id="bipartite 1000 1000"),
        pytest.param(lambda: bipartite(2, 3_000_000), id="bipartite 2 3,000,000"),
        pytest.param(lambda: windmill(3, 1_905_389), id="the last windmill of triangles that fits"),
        pytest.param(lambda: book(3_000_000), id="book 3,000,000"),
        pytest.param(lambda: barbell(800), id="barbell 800"),
    ],
)
def test_large_counts_equal_the_formulas(family: object) -> None:
    made: Family = family()  # type: ignore[operator]
    counts = mcn.count_motifs(made.edges)
    _check_edges(counts, made)
    _check_nodes(counts, made)
    _check_totals(counts, made)


def test_a_star_past_64_bits_is_refused_per_node_and_right_elsewhere() -> None:
    family = star(4_000_000)
    counts = mcn.count_motifs(family.edges)
    assert comb(4_000_000, 3) > 2**63
    with pytest.raises(
        ValueError,
        match=r"^the count of '3-star-center' at node 0, which has 4,000,000 neighbours, does not fit into "
        r"64 bits; per_edge, column, adjacency and totals are exact: use those, or leave this node out$",
    ):
        _ = counts.per_node
    assert set(counts.column("3-star").tolist()) == {comb(3_999_999, 2)}
    (line,) = [line for line in counts.totals() if line.orbit == "3-star"]
    assert line.instances == comb(4_000_000, 3)
    assert line.per_edge == 3 * comb(4_000_000, 3) > 2**64


@pytest.mark.slow
def test_where_only_all_subgraphs_exceed_64_bits() -> None:
    """Just past the border a triangle takes one triple away: the induced count still fits."""
    n = 3_810_780
    assert comb(n, 3) >= 2**63 > comb(n - 1, 3)
    ends = np.stack([np.zeros(n, np.int64), np.arange(1, n + 1)])
    # A path through many leaves joins enough of the triples.
    joined = np.stack([np.arange(1, n), np.arange(2, n + 1)])
    edges = np.concatenate([ends, joined], axis=1)
    row = mcn.count_motifs(edges).per_node[0]
    triples = comb(n, 3) - (n - 1) * (n - 2) + (n - 2)  # less those with an edge, those with two once
    assert row[7] == triples < 2**63
    with pytest.raises(ValueError, match=r"'3-star-center' at node 0, which has 3,810,780 neighbours"):
        _ = mcn.count_motifs(edges, induced=False).per_node


@pytest.mark.slow
def test_all_subgraphs_of_a_large_star() -> None:
    counts = mcn.count_motifs(star(2_200_000).edges, induced=False)
    assert counts.per_node[0, 7] == comb(2_200_000, 3)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 6, 2_097_154, 3_810_779, 4_801_279, 4_801_280])
def test_triples_are_exact_up_to_64_unsigned_bits(degree: int) -> None:
    assert int(derive._triples(degree)) == comb(degree, 3)


def test_the_border_of_triples() -> None:
    assert comb(derive.MOST_TRIPLES, 3) < 2**64 <= comb(derive.MOST_TRIPLES + 1, 3)
