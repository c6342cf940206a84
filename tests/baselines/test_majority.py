from __future__ import annotations

import numpy as np

from mcn.baselines.majority import majority
from tests.baselines.graphs import path_task


def test_by_hand() -> None:
    """Of the four known labels 0, 0, 1, 0."""
    scores = majority(path_task(), 0)
    np.testing.assert_array_equal(scores, np.tile(np.float32([0.75, 0.25]), (5, 1)))
