"""A network whose nodes have no neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines._special import special_case
from mcn.baselines.registry import register
from mcn.baselines.task import Task
from mcn.train import configure, dataset_config


@register("mlp")
def mlp(task: Task, seed: int) -> NDArray[np.float32]:
    """Two layers on the features alone, as `mcn compare` runs it."""
    return special_case(task, configure("mlp", dataset_config(task.dataset, seed=seed)))
