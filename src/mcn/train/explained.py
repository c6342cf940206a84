"""What a recipe says of its network: what each node listens to, and what else it could have listened to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcn.matrices import Rows
from mcn.train.predictions import Predictions


@dataclass(frozen=True)
class Option:
    """A neighbourhood that every node could listen to.

    motif, step: which one. rows: its matrix. coefficients: one array per shown layer (the first and the last,
    or the only one): what the layer would multiply each entry of `rows` by, mean over heads.
    alternative: [N, C], the prediction for a node that alone listens to this one in the last layer; of a
        candidate, its own prediction.
    """

    motif: str
    step: int
    rows: Rows
    coefficients: list[NDArray[np.float32]]
    alternative: NDArray[np.float32]


@dataclass(frozen=True)
class Explained:
    """A network's predictions and what they rest on.

    kind: "choices" where nodes choose among the options of one network, "candidates" where every option is a
        network of its own, "views" where all options are averaged.
    predictions: of all nodes, with their choices.
    steps: K. self_attention: whether coefficients are learned.
    motif_probs [L, N, T], step_probs [L, N, K]: the selectors f and f' (eq:state); None in a layer without.
    options: in the order t·K + (k-1), made one at a time, because together they may be large.
    """

    kind: str
    predictions: Predictions
    steps: int
    self_attention: bool
    motif_probs: list[NDArray[np.float32] | None]
    step_probs: list[NDArray[np.float32] | None]
    options: Iterator[Option]
