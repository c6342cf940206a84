from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mcn.data import simple_graph
from mcn.data.checks import given_weights, weight_matrix


def weighted(edges: list[tuple[int, int]], weights: Any, name: str = "edge_weight", nodes: int = 4) -> Data:
    data = Data(edge_index=torch.tensor(edges).T.reshape(2, -1), num_nodes=nodes)
    data[name] = weights if isinstance(weights, torch.Tensor) else torch.tensor(weights)
    return data


@pytest.mark.parametrize(
    ("edges", "weights", "expected"),
    [
        ([(0, 1), (1, 2)], [2.0, 3.0], {(0, 1): 2, (1, 2): 3}),
        ([(0, 1), (1, 0), (1, 2), (2, 1)], [2.0, 2.0, 3.0, 3.0], {(0, 1): 2, (1, 2): 3}),  # both directions
        ([(0, 1), (1, 0), (1, 2)], [2.0, 2.0, 3.0], {(0, 1): 4, (1, 2): 3}),  # one edge given twice
        ([(0, 1), (1, 0), (1, 2), (2, 1)], [2.0, 1.0, 3.0, 3.0], {(0, 1): 3, (1, 2): 6}),
        ([(2, 3), (2, 3), (0, 0)], [0.5, 0.25, 9.0], {(2, 3): 0.75}),  # a self-loop is no edge
        ([(0, 1)], [3], {(0, 1): 3}),
    ],
)
def test_the_matrix_by_hand(edges: list[Any], weights: list[float], expected: dict[Any, float]) -> None:
    found = weight_matrix(weighted(edges, weights)).toarray()
    by_hand = np.zeros((4, 4))
    for (u, v), w in expected.items():
        by_hand[u, v] = by_hand[v, u] = w
    np.testing.assert_array_equal(found, by_hand)


def test_the_pattern_is_that_of_the_simple_graph() -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 30, (2, 200))
    data = Data(edge_index=torch.from_numpy(ends), num_nodes=30)
    data.edge_weight = torch.from_numpy(rng.random(200)) + 0.1
    found = weight_matrix(data)
    np.testing.assert_array_equal(np.stack(found.nonzero()), simple_graph(ends, 30).edge_index)
    np.testing.assert_array_equal(found.toarray(), found.toarray().T)


def test_where_weights_are_found() -> None:
    edges = [(0, 1), (1, 2)]
    assert given_weights(Data(edge_index=torch.tensor(edges).T)) is None
    assert weight_matrix(Data(edge_index=torch.tensor(edges).T, num_nodes=3)) is None
    assert given_weights(weighted(edges, [[1.0], [2.0]], "edge_attr")) is None  # features of edges
    name, values = given_weights(weighted(edges, [1.0, 2.0], "edge_attr")) or ("", None)
    assert (name, values.tolist()) == ("edge_attr", [1.0, 2.0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"data\.edge_weight has shape \[1\]; expected \[2\], one number per edge"),
        ([[1.0], [2.0]], r"data\.edge_weight has shape \[2, 1\]; expected \[2\]"),
        ([1.0, 0.0], r"data\.edge_weight, edge 1: '0.0' in weight column 'edge_weight'; expected a positive"),
        ([-2.0, 1.0], r"edge 0: '-2.0' .* expected a positive finite number"),
        ([1.0, float("nan")], r"edge 1: 'nan' .* expected a positive finite number"),
        ([float("inf"), 1.0], r"edge 0: 'inf' .* expected a positive finite number"),
    ],
)
def test_what_is_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        weight_matrix(weighted([(0, 1), (1, 2)], weights))
