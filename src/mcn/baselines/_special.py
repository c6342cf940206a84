"""The methods that are special cases of MCN (tab:gen), trained by this package's own trainer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines.task import Task
from mcn.matrices import MotifStack
from mcn.motifs import count_motifs
from mcn.train import Config, Problem, Trainer, build_model, fit, predict

MAX_EPOCHS = 2000
"""GAT's rule waits while the accuracy equals its best so far: on a small validation part, without end."""


def special_case(task: Task, config: Config) -> NDArray[np.float32]:
    """Class probabilities of the network that `config` describes, after at most `MAX_EPOCHS` epochs."""
    config = config.but(max_epochs=min(config.max_epochs, MAX_EPOCHS))
    counts = count_motifs(task.edge_index, task.num_nodes)
    stack = MotifStack.from_counts(counts, config.motifs, config.steps, config.psi)
    problem = Problem(task.x, stack, task.labels, task.train, task.val, task.num_classes)
    trainer = Trainer(build_model(problem, config), problem, config)
    fit(trainer)
    return predict(trainer.model, problem.x, stack).probabilities
