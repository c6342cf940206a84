"""Node ids as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from mcn.nn._ids import node_ids


@pytest.mark.parametrize(
    "rows",
    [[1, 3], np.array([1, 3], np.int32), torch.tensor([1, 3]), np.array([0, 1, 0, 1], bool),
     torch.tensor([False, True, False, True])],
)  # fmt: skip
def test_forms(rows: Any) -> None:
    ids = node_ids(rows)
    assert ids.dtype == np.int64
    assert ids.tolist() == [1, 3]


@pytest.mark.parametrize("rows", [[], [0.5], [[1]], np.zeros(4, bool)])
def test_refuses(rows: Any) -> None:
    with pytest.raises(ValueError, match="rows: expected"):
        node_ids(rows)
