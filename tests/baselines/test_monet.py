from __future__ import annotations

import numpy as np

from mcn.baselines.monet import pseudo_coordinates
from tests.baselines.graphs import path_task


def test_coordinates_by_hand() -> None:
    """With self-loops the degrees on 0-1-2-3 and 4 are 2, 3, 3, 2, 1."""
    edges, u = pseudo_coordinates(path_task())
    root = 1 / np.sqrt([2, 3, 3, 2, 1])
    expected = {(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), *((i, i) for i in range(5))}
    assert set(map(tuple, edges.T.tolist())) == expected
    np.testing.assert_allclose(u, [[root[i], root[j]] for i, j in edges.T.tolist()], rtol=1e-6)
