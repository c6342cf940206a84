"""Totals by sampling: unbiased, and the intervals hold the exact numbers as often as they say."""

import numpy as np
import pytest
import random_graphs
from conftest import refuses

import graphmotifs
from graphmotifs import MotifEstimates, estimates, simple_graph
from graphmotifs.catalogue import stage_of_all
from graphmotifs.oriented import orient
from graphmotifs.passes import plan_passes

EDGES = random_graphs.powerlaw_cluster(200, 6, 0.7, seed=5)
SEEDS = 500  # then 95 ± 4 % is four standard errors


def sampled(
    error: float, motifs: list[str] | None = None, *, induced: bool = True, seed: int = 0
) -> MotifEstimates:
    """By sampling, although these edges are counted faster."""
    graph = simple_graph(EDGES)
    rows = np.concatenate([[0], np.cumsum(graph.degrees)]), graph.edge_index[1]
    return estimates.estimate_totals(lambda: rows, motifs, error, induced=induced, seed=seed)


def exact(induced: bool) -> dict[str, int]:
    return {line.graphlet: line.instances for line in graphmotifs.count(EDGES, induced=induced).totals()}


@pytest.mark.parametrize("induced", [True, False])
def test_unbiased_and_covered(monkeypatch: pytest.MonkeyPatch, induced: bool) -> None:
    monkeypatch.setattr(estimates, "_PILOT", 2000)
    found = [sampled(0.2, induced=induced, seed=seed) for seed in range(SEEDS)]
    for name, true in exact(induced).items():
        lines = [each[name] for each in found]
        values = np.array([line.instances for line in lines])
        error = values.std(ddof=1) / np.sqrt(SEEDS)
        assert abs(values.mean() - true) <= 4 * error + 1e-9 * true, name
        covered = np.mean([line.low - 1e-6 * true <= true <= line.high + 1e-6 * true for line in lines])
        known = values.std() <= 1e-9 * true  # from the degrees: such an interval is a point
        assert covered == 1 if known else 0.91 <= covered <= 0.99, (name, covered)


def test_what_no_draw_has_met_is_within_the_interval() -> None:
    """The hubs of four stars make a square, on which four 3-paths of a million are."""
    hubs, leaves = np.arange(4) * 500, np.arange(2000)
    edges = np.hstack([[hubs, np.roll(hubs, 1)], [leaves // 500 * 500, leaves]])
    graph = simple_graph(edges)
    rows = np.concatenate([[0], np.cumsum(graph.degrees)]), graph.edge_index[1]
    found = [
        estimates.estimate_totals(lambda: rows, None, 0.5, induced=True, seed=s)["4-cycle"] for s in range(50)
    ]
    assert any(line.instances == 0 for line in found)
    assert all(line.low <= 1 <= line.high for line in found if line.instances == 0)


def test_the_wanted_error_is_reached() -> None:
    found = sampled(0.02, ["triangle", "4-cycle"], seed=1)
    assert [line.graphlet for line in found.totals()] == ["triangle", "4-cycle"]
    for line in found.totals():
        assert (line.high - line.low) / 2 <= 0.023 * line.instances  # the pilot's is a guess of the spread
    assert found.samples[0] > 0
    assert found == sampled(0.02, ["triangle", "4-cycle"], seed=1)
    assert sampled(0.5, ["triangle"]).samples[1] == 0


@pytest.mark.parametrize("motifs", [None, ["triangle"], ["4-clique"]])
def test_the_steps_of_exact_counting_are_those_it_plans(monkeypatch: pytest.MonkeyPatch, motifs) -> None:
    edges = random_graphs.powerlaw_cluster(300, 5, 0.5, seed=2)
    graph, stage = simple_graph(edges), stage_of_all(motifs, True)
    steps = plan_passes(orient(graph, both=stage == 3), stage, 4).steps
    nodes, entries = graph.num_nodes, 2 * graph.num_edges
    bound = estimates.exact_steps(graph.degrees, graph.indptr, graph.indices, stage)
    monkeypatch.setattr(estimates, "_least_steps", lambda edges: 0)
    walked = estimates.exact_steps(graph.degrees, graph.indptr, graph.indices, stage)
    assert walked <= bound
    both = np.concatenate([[0], np.cumsum(graph.degrees)]), graph.edge_index[1]
    assert walked == estimates.exact_steps(graph.degrees, *both, stage)
    triangles = steps[0] - graph.num_edges  # a plan counts every edge once, and every node
    cycles = steps[1] - 2 * nodes if stage == 3 else 0
    assert walked == 10 * entries + triangles * (1 if stage == 1 else 2) + cycles


def test_what_is_counted_faster_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = graphmotifs.count(EDGES, approximate=0.01)
    assert found.exact
    assert {line.graphlet: line.instances for line in found.totals()} == exact(True)
    assert all(line.low == line.instances == line.high for line in found.totals())
    monkeypatch.setattr(estimates, "_PILOT", 50)
    monkeypatch.setattr(estimates, "_STEPS_PER_EDGE", 0)
    hub = np.array([np.zeros(400_000, int), np.arange(1, 400_001)])
    both = np.hstack([hub, hub + np.array([[400_001], [0]])])  # two hubs with the same neighbours
    rough = graphmotifs.count(both, approximate=0.3, motifs=["4-cycle"])
    assert not rough.exact
    assert rough["4-cycle"].high >= 400_000 * 399_999 // 2 >= rough["4-cycle"].low


@pytest.mark.parametrize("edges", [np.empty((2, 0), int), [[0], [1]], [[0, 1], [1, 2]]])
def test_graphs_without_paths_or_wedges(edges) -> None:
    found = {line.graphlet: line for line in graphmotifs.count(edges, 5, approximate=0.1).totals()}
    for line in graphmotifs.count(edges, 5).totals():
        assert found[line.graphlet].instances == line.instances


@pytest.mark.parametrize("error", [0, 1, -1, "much", float("nan")])
def test_an_error_that_is_none(error) -> None:
    refuses("approximate must be between 0 and 1", graphmotifs.count, EDGES, approximate=error)
