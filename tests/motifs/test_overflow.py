"""Counts that come near the end of 64 bits, or pass it: exact, or refused with the reason."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import mcn
from mcn.motifs import derive
from tests.motifs.families import FAMILIES

BEYOND = {
    "star": (8,),
    "complete": (8,),
    "bipartite": (3, 6),
    "windmill": (8, 2),
    "book": (7,),
    "barbell": (8,),
}
"""Sizes beyond those that fix the polynomials, and still within reach of brute force."""


@pytest.mark.parametrize("name", FAMILIES)
def test_the_polynomials_equal_brute_force(name: str) -> None:
    assert FAMILIES[name].expected(*BEYOND[name]) == FAMILIES[name].by_brute_force(*BEYOND[name]).tolist()


def case(name: str, *sizes: int, slow: bool = False) -> object:
    marks = [pytest.mark.slow] if slow else []
    return pytest.param(name, sizes, id=f"{name} {sizes}", marks=marks)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        *(case(name, *sizes) for name, sizes in BEYOND.items()),
        case("complete", 400),
        case("bipartite", 500, 500),
        case("windmill", 60, 40),
        case("book", 1_000_000),
        case("barbell", 200),
        case("star", 2_097_153, slow=True),
        case("star", 2_200_000, slow=True),
        case("star", 3_000_000, slow=True),
        case("star", 3_810_779, slow=True),  # the last one that fits
        case("complete", 1000, slow=True),
        case("bipartite", 1000, 1000, slow=True),
        case("bipartite", 2, 1_000_000, slow=True),
        case("bipartite", 2, 3_000_000, slow=True),
        case("windmill", 3, 1_000_000, slow=True),
        case("windmill", 3, 1_905_389, slow=True),  # the last one of triangles that fits
        case("book", 3_000_000, slow=True),
        case("barbell", 800, slow=True),
    ],
)
def test_counts_equal_the_polynomials(name: str, sizes: tuple[int, ...]) -> None:
    family = FAMILIES[name]
    edges, nodes = family.kinds(*sizes)
    counts = mcn.count_motifs(family.edges(*sizes))
    per_edge, pairs, lines = counts.per_edge, counts.pairs, counts.totals()
    rows = [per_edge[np.flatnonzero((pairs == edge).all(axis=1))[0]].tolist() for edge in edges]
    rows += [counts.per_node[node].tolist() for node in nodes]
    rows += [[line.per_edge for line in lines]]
    assert [number for row in rows for number in row] == family.expected(*sizes)
    for line in lines:
        orbits = [other.per_edge for other in lines if other.graphlet == line.graphlet]
        assert line.instances * len(mcn.motifs.graphlet_of(line.graphlet).edges) == sum(orbits)


def test_a_star_past_64_bits_is_refused_per_node_and_right_elsewhere() -> None:
    counts = mcn.count_motifs(FAMILIES["star"].edges(4_000_000))
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
    counts = mcn.count_motifs(FAMILIES["star"].edges(2_200_000), induced=False)
    assert counts.per_node[0, 7] == comb(2_200_000, 3)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 6, 2_097_154, 3_810_779, 4_801_279, 4_801_280])
def test_triples_are_exact_up_to_64_unsigned_bits(degree: int) -> None:
    assert int(derive._triples(degree)) == comb(degree, 3)


def test_the_border_of_triples() -> None:
    assert comb(derive.MOST_TRIPLES, 3) < 2**64 <= comb(derive.MOST_TRIPLES + 1, 3)
