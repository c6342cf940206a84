from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

import mcn
from studies.figure4 import class_component, described, kept, pattern
from studies.figure4.pattern import core_numbers, node_measures, over_runs, rank_correlations
from tests.conftest import REPOSITORY

nx = pytest.importorskip("networkx")


@pytest.mark.parametrize("seed", range(6))
def test_measures_beside_networkx(seed: int) -> None:
    graph = nx.gnm_random_graph(40, 80, seed=seed)
    graph = nx.convert_node_labels_to_integers(graph.subgraph(max(nx.connected_components(graph), key=len)))
    adjacency = sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=np.int64))
    cores = nx.core_number(graph)
    assert core_numbers(adjacency).tolist() == [cores[node] for node in graph]
    found = node_measures(adjacency)
    assert found["degree"].tolist() == [graph.degree[node] for node in graph]
    np.testing.assert_allclose(found["clustering"], [nx.clustering(graph, node) for node in graph])
    inside = [node for node in graph if cores[node] == max(cores.values())]
    steps = nx.multi_source_dijkstra_path_length(graph, inside)
    assert found["distance"].tolist() == [steps[node] for node in graph]


def test_correlations_by_hand() -> None:
    place = {"distance": np.array([0.0, 1.0, 2.0, 3.0]), "degree": np.ones(4)}
    found = rank_correlations(np.array([2, 2, 1, 1]), ("edge", "4-path", "triangle"), place)
    # Ranks 1 to 4 against 1.5, 1.5, 3.5, 3.5: covariance 4, variances 5 and 4.
    assert found["4-path"]["distance"] == pytest.approx(4 / np.sqrt(20))
    assert found["triangle"]["distance"] == pytest.approx(-4 / np.sqrt(20))
    assert found["edge"] == {"distance": None, "degree": None}
    assert found["4-path"]["degree"] is None


def test_over_runs() -> None:
    assert over_runs([0.5, None, -0.1]) == {"mean": 0.2, "error": 0.3, "runs": 2, "positive": 1, "of": 3}
    assert over_runs([None]) == {"mean": None, "error": None, "runs": 0, "positive": 0, "of": 1}
    assert over_runs([0.25])["error"] is None


def test_the_study_on_a_small_graph() -> None:
    data = mcn.load_dataset("strong-ties")
    found = pattern(data, 1, "edges", label=2, max_epochs=2)
    assert found["nodes"] == len(class_component(data, 2))
    (run,) = found["runs"]
    assert sum(run["share"].values()) == pytest.approx(1)
    assert described(found).count("\n") == 4


@pytest.mark.parametrize("scope", ["edges", "pairs"])
def test_what_is_kept_is_what_the_page_says(scope: str) -> None:
    page = (REPOSITORY / "studies" / "figure4" / "README.md").read_text(encoding="utf-8")
    found = kept(scope)
    first = Counter(max(run["share"], key=run["share"].get) for run in found["runs"])
    assert f"4-path in {first['4-path']} runs, the edge in {first['edge']} and the triangle" in page
    degree = found["correlation"]["4-path"]["degree"]
    assert f"{degree['mean']:+.2f} ± {degree['error']:.2f}".replace("-", "−") in page
