"""Directed motifs: against networkx, brute force over all triples, Benson's matrix formulas, and theory."""

from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import refuses
from random_graphs import powerlaw_cluster

import graphmotifs
from graphmotifs import directed_graphlet_of
from graphmotifs.triads import DIRECTED_CATALOGUE, arc_orbit_columns

nx = pytest.importorskip("networkx")

# Named by hand, independently of the catalogue. A role is told by a node's arcs: out alone, in alone, both.
TRIADS = {
    "021D": ("out-star", {(2, 0, 0): "center", (0, 1, 0): "end"}),
    "021U": ("in-star", {(0, 2, 0): "center", (1, 0, 0): "end"}),
    "021C": ("chain", {(1, 0, 0): "start", (1, 1, 0): "middle", (0, 1, 0): "end"}),
    "111D": ("mutual-in", {(1, 0, 0): "source", (0, 1, 1): "center", (0, 0, 1): "tip"}),
    "111U": ("mutual-out", {(0, 1, 0): "target", (1, 0, 1): "center", (0, 0, 1): "tip"}),
    "201": ("mutual-star", {(0, 0, 1): "end", (0, 0, 2): "center"}),
    "030T": ("feed-forward-loop", {(2, 0, 0): "source", (1, 1, 0): "middle", (0, 2, 0): "target"}),
    "030C": ("cycle", {(1, 1, 0): ""}),
    "120D": ("regulated-mutual", {(2, 0, 0): "source", (0, 1, 1): "pair"}),
    "120U": ("regulating-mutual", {(0, 2, 0): "target", (1, 0, 1): "pair"}),
    "120C": ("mutual-cycle", {(1, 1, 0): "middle", (1, 0, 1): "start", (0, 1, 1): "end"}),
    "210": ("semi-clique", {(1, 0, 1): "source", (0, 0, 2): "center", (0, 1, 1): "target"}),
    "300": ("clique", {(0, 0, 2): ""}),
}
# Of M1 … M13.
CODES = ["030C", "120C", "210", "300", "030T", "120D", "120U", "021D", "021C", "021U", "111U", "111D", "201"]
WITH_ONE_ARC_ORBIT = {"out-star", "in-star", "cycle", "clique"}


def digraph(n: int, density: float, seed: int) -> nx.DiGraph:
    """A random digraph without self-loops; a third of its arcs have their reverse at any density."""
    rng = np.random.default_rng(seed)
    joined = rng.random((n, n)) < density
    joined |= joined.T & (rng.random((n, n)) < 1 / 3)
    np.fill_diagonal(joined, False)
    return nx.from_numpy_array(joined.astype(int), create_using=nx.DiGraph)


def with_directions(edges: np.ndarray) -> np.ndarray:
    """Arcs for undirected edges: in either direction, some in both."""
    draw = np.random.default_rng(0).random(edges.shape[1])
    return np.concatenate([np.where(draw < 0.5, edges, edges[::-1]), edges[:, draw > 0.7]], axis=1)


def edges_of(graph: nx.DiGraph) -> np.ndarray:
    return np.array(list(graph.edges), np.int64).reshape(-1, 2).T


def test_the_catalogue_is_all_connected_triads_with_their_orbits() -> None:
    assert (
        len(graphmotifs.DIRECTED_GRAPHLETS),
        len(graphmotifs.ARC_ORBITS),
        len(graphmotifs.DIRECTED_NODE_ORBITS),
    ) == (15, 32, 33)
    for code, (name, roles) in TRIADS.items():
        g = directed_graphlet_of(code)
        assert g is directed_graphlet_of(name) is directed_graphlet_of(f"M{CODES.index(code) + 1}")
        assert (g.name, set(g.roles)) == (name, set(roles.values()))
        assert nx.is_isomorphic(nx.DiGraph(g.arcs), nx.triad_graph(code))
    for g in DIRECTED_CATALOGUE:
        graph = nx.DiGraph(g.arcs)
        symmetries = list(nx.isomorphism.DiGraphMatcher(graph, graph).isomorphisms_iter())
        nodes = {frozenset(s[u] for s in symmetries) for u in graph}
        arcs = {frozenset((s[u], s[v]) for s in symmetries) for u, v in graph.edges}
        assert {frozenset(u for u in graph if g.node_orbits[u] == name) for name in g.node_orbits} == nodes
        named = list(zip(g.arc_orbits, g.arcs, strict=True))
        assert len(set(g.arc_orbits)) == len(arcs)
        assert all(len({orbit for orbit, arc in named if arc in together}) == 1 for together in arcs)


def by_brute_force(graph: nx.DiGraph) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], set[str]]:
    """per_arc, per_node, the pairs in each triad, and the isomorphism classes met."""
    n, arcs = len(graph), sorted(graph.edges)
    per_arc, per_node = np.zeros((len(arcs), 32), np.int64), np.zeros((n, 33), np.int64)
    pairs = {name: np.zeros((n, n), np.int64) for name, _ in TRIADS.values()}
    met = set()
    for row, (u, v) in enumerate(arcs):
        per_arc[row, :2] = 1, graph.has_edge(v, u)
        per_node[u, 0] += 1
        per_node[v, 1] += 1
        per_node[u, 2] += graph.has_edge(v, u)
    for three in combinations(range(n), 3):
        small = graph.subgraph(three)
        code = nx.triad_type(small)
        met.add(code)
        if code not in TRIADS:
            continue
        name, roles = TRIADS[code]
        role = {}
        for u in three:
            out, into = set(small.successors(u)), set(small.predecessors(u))
            role[u] = roles[len(out - into), len(into - out), len(out & into)]
            per_node[u, graphmotifs.DIRECTED_NODE_ORBITS.index(f"{name}-{role[u]}".rstrip("-"))] += 1
        for u, v in small.edges:
            ends = [] if name in WITH_ONE_ARC_ORBIT else dict.fromkeys([role[u], role[v]])
            per_arc[arcs.index((u, v)), graphmotifs.ARC_ORBITS.index("-".join([name, *ends]))] += 1
        for u, v in permutations(three, 2):
            pairs[name][u, v] += 1
    return per_arc, per_node, pairs, met


def test_equals_brute_force_over_all_triples() -> None:
    met = set()
    for seed in range(60):
        graph = digraph(seed % 13, (seed % 10 + 0.5) / 10, seed)
        counts = graphmotifs.count(edges_of(graph), len(graph), directed=True)
        per_arc, per_node, pairs, classes = by_brute_force(graph)
        met |= classes
        assert counts.arcs.tolist() == sorted(map(list, graph.edges))
        np.testing.assert_array_equal(counts.per_arc, per_arc)
        np.testing.assert_array_equal(counts.per_node, per_node)
        for name, expected in pairs.items():
            np.testing.assert_array_equal(counts.adjacency(name, scope="pairs").toarray(), expected)
    assert len(met) == 16


@pytest.mark.parametrize("seeds", [range(start, start + 100) for start in range(0, 500, 100)])
def test_totals_equal_the_census_of_networkx(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, density = int(rng.integers(3, 41)), rng.random() ** 2
        edges = np.stack(np.nonzero(rng.random((n, n)) < density))  # with self-loops
        counts = graphmotifs.count(np.concatenate([edges, edges[:, ::3]], axis=1), n, directed=True)
        graph = nx.DiGraph(edges.T[edges[0] != edges[1]].tolist())
        graph.add_nodes_from(range(n))
        census, found = nx.triadic_census(graph), counts.instances()
        assert {code: found[name] for code, (name, _) in TRIADS.items()} == {c: census[c] for c in TRIADS}
        assert found["arc"] == graph.number_of_edges()
        assert 2 * found["reciprocal-arc"] == sum(graph.has_edge(v, u) for u, v in graph.edges)


@pytest.mark.parametrize("seed", range(40))
def test_sums_reversal_and_columns(seed: int) -> None:
    n, density = seed * 7 % 31, seed % 11 / 10
    graph = digraph(n, density, seed)
    both = (graph, graph.reverse())
    counts, turned = (graphmotifs.count(edges_of(g), n, directed=True) for g in both)
    found, per_arc, per_node = counts.instances(), counts.per_arc, counts.per_node
    lines = {line.orbit: line for line in counts.totals()}
    assert list(lines) == list(graphmotifs.ARC_ORBITS)
    swap = {"021D": "021U", "111D": "111U", "120D": "120U"}
    swap |= {there: here for here, there in swap.items()}
    for g in DIRECTED_CATALOGUE:
        for orbit in set(g.arc_orbits):
            column = per_arc[:, graphmotifs.ARC_ORBITS.index(orbit)]
            assert column.sum() == lines[orbit].per_edge == found[g.name] * g.arc_orbits.count(orbit)
            np.testing.assert_array_equal(counts.column(orbit), column)
        for orbit in set(g.node_orbits):
            times = g.node_orbits.count(orbit)
            assert per_node[:, graphmotifs.DIRECTED_NODE_ORBITS.index(orbit)].sum() == found[g.name] * times
        whole = per_arc[:, arc_orbit_columns(g.name)].sum(axis=1)
        np.testing.assert_array_equal(counts.column(g.name), whole)
        # The reverse of an instance is one of the reversed triad, on the reversed arcs.
        code = g.aliases[0] if g.aliases else g.name
        other = turned.adjacency(swap.get(code, code), direction="in")
        np.testing.assert_array_equal(counts.adjacency(g.name).toarray(), other.toarray())


def test_a_reciprocal_digraph_has_the_undirected_counts() -> None:
    edges = powerlaw_cluster(300, 6, 0.6, seed=1)
    plain = graphmotifs.count(edges)
    both = graphmotifs.count(np.concatenate([edges, edges[::-1]], axis=1), directed=True)
    for name, motif in (("reciprocal-arc", "edge"), ("mutual-star", "2-star"), ("clique", "triangle")):
        for scope in ("edges", "pairs"):
            assert (both.adjacency(name, scope=scope) != plain.adjacency(motif, scope=scope)).nnz == 0
    assert both.instances()["clique"] == plain.instances()["triangle"]


def test_directions_by_hand() -> None:
    # A feed-forward loop 0 → 1 → 2, 0 → 2, whose target points to 3 and back.
    counts = graphmotifs.count([[0, 1, 0, 2, 3, 0, 0], [1, 2, 2, 3, 2, 0, 2]], 5, directed=True)
    assert counts.arcs.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3], [3, 2]]
    assert counts.column("M5").tolist() == [1, 1, 1, 0, 0]
    assert counts.column("mutual-in-source-center").tolist() == [0, 1, 1, 0, 0]
    out = counts.adjacency("feed-forward-loop")
    assert list(zip(*out.nonzero(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert (counts.adjacency("030t", direction="in") != out.T).nnz == 0
    assert (counts.adjacency("m5", direction="both") != out + out.T).nnz == 0
    assert repr(counts) == "DirectedCounts(5 nodes, 5 arcs)"
    assert counts.summary().splitlines()[1].split()[2:4] == ["arc", "orbit"]
    frame, nodes = counts.to_frame(), counts.to_frame("node")
    np.testing.assert_array_equal(frame.to_numpy(), np.hstack([counts.arcs, counts.per_arc]))
    assert list(nodes)[1:] == list(graphmotifs.DIRECTED_NODE_ORBITS)
    assert nodes["feed-forward-loop-source"].tolist() == [1, 0, 0, 0, 0]


def test_threads_do_not_matter_and_progress_ends_at_one() -> None:
    edges = powerlaw_cluster(6000, 20, 0.6, seed=3)
    arcs = with_directions(edges)
    first, seen = graphmotifs.count(arcs, directed=True, threads=1), []
    for threads in (2, 3, None):
        other = graphmotifs.count(arcs, directed=True, threads=threads, progress=seen.append)
        np.testing.assert_array_equal(first.closed, other.closed)
    assert seen[-1] == pytest.approx(1)
    assert first.closed.sum() == graphmotifs.count(edges).column("triangle").sum()


def test_a_large_star_is_exact() -> None:
    """A hub that points to 300,000 others is in more out-stars than 32 bits hold."""
    n = 300_000
    arcs = np.stack([np.zeros(n, np.int64), np.arange(1, n + 1)])
    counts = graphmotifs.count(arcs, directed=True)
    assert counts.instances()["out-star"] == n * (n - 1) // 2 == counts.per_node[0].max()
    assert set(counts.column("out-star").tolist()) == {n - 1}


def test_objects_keep_their_directions() -> None:
    arcs = [("c", "a"), ("a", "b"), ("b", "c"), ("c", "d")]
    found = graphmotifs.count(nx.DiGraph(arcs), directed=True)
    assert found.node_ids.tolist() == ["a", "b", "c", "d"]
    assert found.column("cycle").tolist() == [1, 1, 1, 0]
    assert graphmotifs.count(nx.Graph(arcs), directed=True).instances()["clique"] == 1
    matrix = nx.to_scipy_sparse_array(nx.DiGraph(arcs))
    assert graphmotifs.count(matrix, directed=True).instances()["cycle"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "ray"}, "directed counts with engine='ray': not yet"),
        ({"induced": False}, "directed counts with induced=False: not yet"),
        ({"approximate": 0.1}, "directed counts with approximate=0.1: not yet"),
        ({"motifs": ["triangle"]}, "unknown directed motif 'triangle'"),
        ({"motifs": "cycle"}, "motifs must be several names, got the string 'cycle'"),
    ],
)
def test_arguments_that_do_not_apply_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(f"^{message}", graphmotifs.count, [[0], [1]], directed=True, **options)


@pytest.mark.parametrize(
    ("motif", "options", "message"),
    [
        ("feedforward", {}, "unknown directed motif 'feedforward'; did you mean 'feed-forward-loop"),
        ("chain", {"direction": "up"}, "direction must be one of out, in, both, got 'up'"),
        ("chain", {"scope": "nodes"}, "scope must be one of edges, pairs, got 'nodes'"),
        ("chain", {"scope": "pairs", "direction": "in"}, "scope='pairs' has no direction"),
        ("chain-start-middle", {"scope": "pairs"}, "scope='pairs' counts whole triads"),
    ],
)
def test_wrong_names_and_scopes_are_refused(motif: str, options: dict[str, str], message: str) -> None:
    counts = graphmotifs.count([[0, 1], [1, 2]], directed=True, motifs=["M9"])
    refuses(f"^{message}", counts.adjacency, motif, **options)


def test_graphs_without_directions_are_refused() -> None:
    given: Any = (2, np.array([0, 1, 1]), np.array([1], np.uint32))
    bare = graphmotifs.SimpleGraph(*given)
    refuses(
        r"^this graph has no directions; give the arcs themselves", graphmotifs.count, bare, directed=True
    )
    for ways in (np.array([0], np.uint8), np.array([4], np.uint8), np.array([1]), np.ones(2, np.uint8)):
        refuses("expected ways of uint8", graphmotifs.SimpleGraph, *given, ways=ways)


@pytest.mark.parametrize("name", ["ca-GrQc", "ca-AstroPh", "facebook_combined"])
def test_totals_equal_igraph(name: str, data_root: Path) -> None:
    igraph = pytest.importorskip("igraph")
    with np.load(data_root / "graphs" / f"{name}.npz") as file:
        edges, n = file["edge"].T.astype(np.int64), int(file["n"])
    counts = graphmotifs.count(with_directions(edges), n, directed=True)
    graph = igraph.Graph(n=n, edges=counts.arcs.tolist(), directed=True)
    found, ours = graph.motifs_randesu(size=3), counts.instances()
    for kind, times in enumerate(found):
        small = nx.DiGraph(igraph.Graph.Isoclass(n=3, cls=kind, directed=True).get_edgelist())
        small.add_nodes_from(range(3))
        if nx.is_weakly_connected(small):
            assert ours[TRIADS[nx.triad_type(small)][0]] == times
