from __future__ import annotations

import networkx
import torch

from mcn.data.datasets.karate import load_karate


def test_equal_to_networkx() -> None:
    data = load_karate()
    theirs = networkx.karate_club_graph()
    assert {(int(u), int(v)) for u, v in data.edge_index.T if u < v} == {
        tuple(sorted(e)) for e in theirs.edges
    }
    clubs = [theirs.nodes[node]["club"] for node in range(34)]
    assert [data.classes[label] for label in data.y] == clubs


def test_features_and_split() -> None:
    data = load_karate(dense=True, seed=5)
    assert torch.equal(data.x, torch.eye(34))
    assert torch.bincount(data.y[data.train_mask]).tolist() == [2, 2]
    assert [int(data.val_mask.sum()), int(data.test_mask.sum())] == [15, 15]
    assert torch.equal(load_karate(seed=5).train_mask, data.train_mask)
