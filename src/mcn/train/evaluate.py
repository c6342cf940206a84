"""Predictions of a trained network, and the one place where test labels are read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.matrices import MotifStack
from mcn.nn import MCN


@dataclass(frozen=True)
class Predictions:
    """What a network says of every node, and which motif and step each layer chose for it.

    probabilities: float32 [N, classes]. motif: int64 [N, L], 0-based. step: int64 [N, L], 1-based.
    """

    probabilities: NDArray[np.float32]
    motif: NDArray[np.int64]
    step: NDArray[np.int64]

    @property
    def labels(self) -> NDArray[np.int64]:
        """The most probable class of every node."""
        return np.asarray(self.probabilities.argmax(1), np.int64)


@torch.no_grad()
def predict(model: MCN, x: torch.Tensor, stack: MotifStack) -> Predictions:
    """Predict all nodes, with the most probable choices and no randomness."""
    training = model.training
    model.eval()
    logits, choices = model(x, stack, return_choices=True)
    model.train(training)
    return Predictions(
        logits.softmax(1).cpu().numpy(),
        np.stack([c.motif.cpu().numpy() for c in choices], axis=1),
        np.stack([c.step.cpu().numpy() for c in choices], axis=1),
    )


def accuracy_on_test(data: Data, labels: NDArray[np.int64]) -> float | None:
    """Share of the test nodes whose class was predicted; None without test nodes.

    The only function that reads the labels of test nodes: call it once, after training.
    """
    mask = data.test_mask.numpy()
    if not mask.any():
        return None
    return float((labels[mask] == data.y.numpy()[mask]).mean())
