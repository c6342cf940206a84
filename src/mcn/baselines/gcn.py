"""Graph convolutional network (Kipf and Welling 2017): the edge motif, one step, no attention."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines._special import special_case
from mcn.baselines.registry import register
from mcn.baselines.task import Task
from mcn.train import configure, dataset_config


@register("gcn")
def gcn(task: Task, seed: int) -> NDArray[np.float32]:
    """GCN with its reference's width 16, dropout 0.5, learning rate 0.01 and L2 0.0005 on every data set."""
    return special_case(task, configure("gcn", dataset_config(None, seed=seed)))
