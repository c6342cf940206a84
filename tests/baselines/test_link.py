from __future__ import annotations

import numpy as np
import torch

from mcn.baselines import Task
from mcn.baselines.link import link


def test_who_shares_neighbours_shares_the_class() -> None:
    """Hubs 0 and 1 with six leaves each: a leaf's class is that of the other leaves of its hub."""
    leaves = np.arange(2, 14)
    hub = leaves % 2
    edges = np.concatenate([[hub, leaves], [leaves, hub]], axis=1)
    labels = torch.full((14,), -1)
    labels[2:8] = torch.from_numpy(1 - hub[:6])  # unlike their hub's number: nothing is passed along edges
    task = Task(torch.zeros(14, 1), edges, labels, np.arange(2, 6), np.arange(6, 8), 2)
    scores = link(task, 0)
    np.testing.assert_array_equal(scores[leaves].argmax(1), 1 - hub)
    np.testing.assert_array_equal(scores, link(task, 1))
