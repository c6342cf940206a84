from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mcn.viz.choice_pattern import core_numbers, node_measures, over_runs, rank_correlations

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
