"""Counts near the end of 64 bits, or past it: exact, or refused with the reason.

How often an edge or a node of some kind is in a motif is a polynomial in the sizes of its family: it counts
the choices of at most four nodes among groups whose sizes are polynomials. Brute force on the small members
of a family fixes the polynomials; Lagrange's formula, in fractions, gives their values at any other sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from brute_force import count

import graphmotifs
from graphmotifs import orbit_formulas


@dataclass(frozen=True)
class Family:
    edges: Callable[..., np.ndarray]  # [2, M]
    kinds: Callable[..., tuple[list[tuple[int, int]], list[int]]]  # an edge and a node of every kind
    small: tuple[range, ...]  # sizes that fix the polynomials: their degree is below the number of sizes

    def by_brute_force(self, *sizes: int) -> np.ndarray:
        """Counts of an edge of every kind, of a node of every kind, and of all edges together, in one row."""
        edges = self.edges(*sizes)
        per_edge, per_node, _ = count(int(edges.max()) + 1, edges.T.tolist(), induced=True)
        of_pair = {pair: row for row, pair in enumerate(sorted(map(tuple, np.sort(edges.T).tolist())))}
        some_edges, some_nodes = self.kinds(*sizes)
        rows = [per_edge[[of_pair[edge] for edge in some_edges]], per_node[some_nodes], per_edge.sum(axis=0)]
        return np.concatenate([np.ravel(row) for row in rows]).astype(object)

    def expected(self, *sizes: int) -> list[int]:
        """The same at any sizes."""
        total = 0
        for at, row in _small_members(self).items():
            total = total + row * prod(
                Fraction(size - other, here - other)
                for size, here, known in zip(sizes, at, self.small, strict=True)
                for other in known
                if other != here
            )
        assert all(value.denominator == 1 for value in total)
        return [int(value) for value in total]


@cache
def _small_members(family: Family) -> dict[tuple[int, ...], np.ndarray]:
    return {sizes: family.by_brute_force(*sizes) for sizes in product(*family.small)}


def _spokes(n: int, hub: int = 0, first: int = 1) -> np.ndarray:
    return np.stack([np.full(n, hub), np.arange(first, first + n)])


def _windmill(k: int, m: int) -> np.ndarray:
    blades = np.arange(m) * (k - 1)
    inside = [np.stack([blades + i, blades + j]) for i, j in combinations(range(1, k), 2)]
    return np.concatenate([_spokes(m * (k - 1)), *inside], axis=1)


def _barbell(n: int) -> np.ndarray:
    clique = np.stack(np.triu_indices(n, 1))
    return np.concatenate([clique, clique + n, [[0], [n]]], axis=1)


FAMILIES = {
    # Node 0 joined to n leaves.
    "star": Family(_spokes, lambda n: ([(0, n)], [0, n]), (range(1, 6),)),
    # Every pair of n nodes is joined.
    "complete": Family(lambda n: np.stack(np.triu_indices(n, 1)), lambda n: ([(0, 1)], [0]), (range(2, 7),)),
    # Nodes 0..a-1, each joined to each of the nodes a..a+b-1.
    "bipartite": Family(
        lambda a, b: np.stack([np.repeat(np.arange(a), b), np.tile(np.arange(a, a + b), a)]),
        lambda a, b: ([(0, a)], [0, a + b - 1]),
        (range(1, 5), range(1, 5)),
    ),
    # m cliques of k nodes (k ≥ 3) that share node 0.
    "windmill": Family(_windmill, lambda k, m: ([(0, 1), (1, 2)], [0, 1]), (range(3, 8), range(1, 5))),
    # Nodes 0 and 1 joined, and n further nodes joined to both: n triangles on one edge.
    "book": Family(
        lambda n: np.concatenate([[[0], [1]], _spokes(n, 0, 2), _spokes(n, 1, 2)], axis=1),
        lambda n: ([(0, 1), (0, 2)], [0, 2]),
        (range(1, 6),),
    ),
    # Two cliques of n nodes (n ≥ 3), and an edge between node 0 of the one and node n of the other.
    "barbell": Family(_barbell, lambda n: ([(0, n), (0, 1), (1, 2)], [0, 1]), (range(3, 8),)),
}


# Sizes beyond those that fix the polynomials, and still within reach of brute force.
BEYOND = {
    "star": (8,),
    "complete": (8,),
    "bipartite": (3, 6),
    "windmill": (8, 2),
    "book": (7,),
    "barbell": (8,),
}


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
        # The last star is the last one that fits.
        *(case("star", size, slow=True) for size in (2_097_153, 2_200_000, 3_000_000, 3_810_779)),
        case("complete", 1000, slow=True),
        *(case("bipartite", *sizes, slow=True) for sizes in ((1000, 1000), (2, 1_000_000), (2, 3_000_000))),
        case("windmill", 3, 1_000_000, slow=True),
        case("windmill", 3, 1_905_389, slow=True),  # the last one of triangles that fits
        case("book", 3_000_000, slow=True),
        case("barbell", 800, slow=True),
    ],
)
def test_counts_equal_the_polynomials(name: str, sizes: tuple[int, ...]) -> None:
    family = FAMILIES[name]
    edges, nodes = family.kinds(*sizes)
    counts = graphmotifs.count(family.edges(*sizes))
    per_edge, pairs, lines = counts.per_edge, counts.pairs, counts.totals()
    rows = [per_edge[np.flatnonzero((pairs == edge).all(axis=1))[0]].tolist() for edge in edges]
    rows += [counts.per_node[node].tolist() for node in nodes]
    rows += [[line.per_edge for line in lines]]
    assert [number for row in rows for number in row] == family.expected(*sizes)
    for line in lines:
        orbits = [other.per_edge for other in lines if other.graphlet == line.graphlet]
        assert line.instances * len(graphmotifs.graphlet_of(line.graphlet).edges) == sum(orbits)


def test_a_star_past_64_bits_is_refused_per_node_and_right_elsewhere() -> None:
    counts = graphmotifs.count(FAMILIES["star"].edges(4_000_000))
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
    row = graphmotifs.count(edges).per_node[0]
    triples = comb(n, 3) - (n - 1) * (n - 2) + (n - 2)  # less those with an edge, those with two once
    assert row[7] == triples < 2**63
    with pytest.raises(ValueError, match=r"'3-star-center' at node 0, which has 3,810,780 neighbours"):
        _ = graphmotifs.count(edges, induced=False).per_node
    counts = graphmotifs.count(FAMILIES["star"].edges(2_200_000), induced=False)  # a large star that fits
    assert counts.per_node[0, 7] == comb(2_200_000, 3)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 6, 2_097_154, 3_810_779, 4_801_279, 4_801_280])
def test_triples_are_exact_up_to_64_unsigned_bits(degree: int) -> None:
    assert orbit_formulas._triples(np.array([degree])).tolist() == [comb(degree, 3)]
    assert comb(orbit_formulas.MOST_TRIPLES, 3) < 2**64 <= comb(orbit_formulas.MOST_TRIPLES + 1, 3)
