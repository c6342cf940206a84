"""Graph attention network (Veličković et al. 2018): the edge motif, one step, self-attention."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines._special import special_case
from mcn.baselines.registry import register
from mcn.baselines.task import Task
from mcn.train import configure, dataset_config


@register("gat")
def gat(task: Task, seed: int) -> NDArray[np.float32]:
    """GAT by its reference's protocol, with the reference's own changes for Citeseer and Pubmed."""
    return special_case(task, configure("gat", dataset_config(task.dataset, seed=seed)))
