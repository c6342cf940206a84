from __future__ import annotations

import pytest
import torch

from mcn.baselines.semiemb import embedding_loss


def test_by_hand() -> None:
    hidden = torch.tensor([[0.0, 0.0], [0.6, 0.0], [0.0, 3.0]], requires_grad=True)
    near, far = torch.tensor([[0, 0], [1, 2]]), torch.tensor([[0, 0, 2], [1, 2, 2]])
    loss = embedding_loss(hidden, near, far)
    # near: (0.36 + 9) / 2; far: distances 0.6, 3, 0 are 0.4, 0, 1 short of the margin 1
    assert loss.item() == pytest.approx(4.68 + (0.16 + 0 + 1) / 3, rel=1e-5)
    loss.backward()
    assert torch.isfinite(hidden.grad).all()


def test_without_edges() -> None:
    none = torch.empty(2, 0, dtype=torch.int64)
    assert float(embedding_loss(torch.ones(3, 2), none, none)) == 0
