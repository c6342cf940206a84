"""Random graphs with given degrees, and what motifs are compared with them."""

from collections import Counter
from itertools import chain, combinations, islice, permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from test_directed import digraph, edges_of

import graphmotifs
from graphmotifs import simple_graph
from graphmotifs.significance import _score, rewired

nx = pytest.importorskip("networkx")

NULLS = [(False, "degrees"), (True, "degrees"), (True, "reciprocity")]


def matrix(n: int, edges: np.ndarray, directed: bool) -> np.ndarray:
    counts = np.zeros((n, n), np.int64)
    np.add.at(counts, tuple(edges), 1)
    return counts if directed else counts + counts.T


@pytest.mark.parametrize(
    ("directed", "keep", "edges"),
    [
        (False, "degrees", [(0, 1), (1, 2), (2, 3), (3, 4), (0, 2)]),
        (True, "degrees", [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
        (True, "reciprocity", [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (4, 1)]),
    ],
)
def test_all_graphs_with_these_degrees_come_equally_often(directed: bool, keep: str, edges: Any) -> None:
    n = 1 + max(map(max, edges))
    start = matrix(n, np.array(edges).T, directed)
    every = list(permutations(range(n), 2)) if directed else list(combinations(range(n), 2))

    def kept(a: np.ndarray) -> list[int]:
        sums = [a.sum(axis=0), a.sum(axis=1), (a * a.T).sum(axis=0) if keep == "reciprocity" else a.sum()]
        return np.hstack(sums).tolist()

    parts = combinations(every, len(edges))
    possible = {part for part in parts if kept(matrix(n, np.array(part).T, directed)) == kept(start)}
    assert len(possible) > 3
    graph, times = simple_graph(np.array(edges).T, n), Counter()
    for drawn in islice(rewired(graph, directed, keep, 0), 3000):
        ends = drawn if directed else np.sort(drawn, axis=0)
        times[tuple(sorted(map(tuple, ends.T.tolist())))] += 1
    assert set(times) == possible
    assert chisquare(list(times.values())).pvalue > 1e-3


@pytest.mark.parametrize(("directed", "keep"), NULLS)
def test_score_are_those_of_the_census_of_the_same_graphs(directed: bool, keep: str) -> None:
    n, edges = 30, edges_of(digraph(30, 0.12, 3))
    seen: list[float] = []
    given = {"directed": directed, "keep": keep, "samples": 12, "seed": 5}
    found = graphmotifs.motif_significance(edges, n, progress=seen.append, **given)
    graph = simple_graph(edges, n)
    name, code = ("feed-forward-loop", "030T") if directed else ("triangle", "300")
    drawn = []
    for ends in islice(rewired(graph, directed, keep, 5), 12):
        both = ends if directed else np.concatenate([ends, ends[::-1]], axis=1)
        drawn.append(nx.triadic_census(nx.DiGraph(both.T.tolist()))[code])
    line = found[name]
    assert (line.mean, line.deviation) == pytest.approx((np.mean(drawn), np.std(drawn, ddof=1)))
    assert line.z == pytest.approx((line.instances - line.mean) / line.deviation)
    assert line.error == pytest.approx(np.sqrt(1 / 12 + line.z**2 / 22))
    assert seen == pytest.approx(np.arange(1, 13) / 12)
    assert found == graphmotifs.motif_significance(edges, n, threads=2, **given)
    assert found != graphmotifs.motif_significance(edges, n, **(given | {"seed": 6}))
    assert np.linalg.norm([line.profile for line in found.lines]) == pytest.approx(1 if directed else 2**0.5)


def test_what_cannot_be_kept_and_where_nothing_varies() -> None:
    with pytest.raises(ValueError, match=r"^keep must be one of degrees, got 'reciprocity'"):
        graphmotifs.motif_significance([[0], [1]], keep="reciprocity")
    star = graphmotifs.motif_significance([[0] * 5, [1, 2, 3, 4, 5]], samples=4)
    assert {(line.z, line.deviation, line.profile) for line in star.lines} == {(0.0, 0.0, 0.0)}
    drawn = np.array([[5.0, 2, 7, 0], [5, 2, 9, 0]])
    _, _, z, _, profile = _score(np.array([5.0, 3, 8, 0]), drawn, np.array([3, 3, 4, 4]))
    assert z.tolist() == [0, np.inf, 0, 0]
    assert profile.tolist() == [0, 1, 0, 0]


def test_planted_feed_forward_loops_come_first() -> None:
    triples = np.random.default_rng(0).permutation(200)[:180].reshape(60, 3).T
    others = edges_of(nx.gnp_random_graph(200, 0.01, seed=1, directed=True))
    edges = np.concatenate([triples[:2], triples[1:], triples[::2], others], axis=1)
    for keep in ("degrees", "reciprocity"):
        found = graphmotifs.motif_significance(edges, 200, directed=True, keep=keep, samples=50)
        assert max(found.lines, key=lambda line: line.z).motif == "feed-forward-loop"
        assert found["feed-forward-loop"].z > 5


@pytest.mark.slow
def test_random_graphs_are_not_significant() -> None:
    """|z| < 3 in 95 % of the entries at least, for G(n, p) and for graphs that were themselves rewired."""
    for directed, keep in NULLS:
        scores = []
        for seed in range(50):
            skewed = np.array(nx.barabasi_albert_graph(60, 3, seed=seed).edges).T
            chained = next(rewired(simple_graph(skewed), directed, keep, seed))
            for edges in (edges_of(nx.gnp_random_graph(40, 0.1, seed, directed=True)), chained):
                found = graphmotifs.motif_significance(edges, directed=directed, keep=keep, seed=seed)
                scores.append([line.z for line in found.lines])
        share = (np.abs(list(chain.from_iterable(scores))) < 3).mean()
        assert share >= 0.95, (directed, keep, share)
