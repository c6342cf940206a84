"""One training loop for the networks that are written here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines.task import Task
from mcn.train.loop import one_torch_thread
from mcn.train.stopping import stopping_rule

LR, DECAY, DROPOUT, HIDDEN = 0.01, 5e-4, 0.5, 16
"""GCN's reference: Adam, L2 on the first layer alone, dropout before each layer, hidden width."""

MAX_EPOCHS, PATIENCE = 400, 100


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch's random numbers decided by `seed`, and its sums made in one order; both restored after."""
    with torch.random.fork_rng(devices=[]), one_torch_thread():
        torch.manual_seed(seed)
        yield


def gcn_optimizer(
    network: torch.nn.Module, first: torch.nn.Module, decay: float = DECAY
) -> torch.optim.Optimizer:
    """Adam as in GCN's reference: L2 on the parameters of the `first` layer only."""
    inside = {id(p) for p in first.parameters()}
    rest = [p for p in network.parameters() if id(p) not in inside]
    groups: list[dict[str, Any]] = [
        {"params": list(first.parameters()), "weight_decay": decay},
        {"params": rest},
    ]
    return torch.optim.Adam(groups, lr=LR, fused=True)


class Scoring(Protocol):
    """A network that says how the logits of some nodes are computed: no more than these need."""

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes, of all for None, with today's weights."""
        ...


class WholeGraph(torch.nn.Module):
    """A network that computes all nodes, whichever are asked for: they hear of most of the others anyway."""

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes, of all for None, with today's weights."""
        rows = slice(None) if nodes is None else torch.from_numpy(nodes)
        return lambda: self()[rows]


def fit_scores(
    network: Any,
    task: Task,
    optimizer: torch.optim.Optimizer,
    *,
    penalty: Callable[[], torch.Tensor] | None = None,
    max_epochs: int = MAX_EPOCHS,
    patience: int = PATIENCE,
    stopping: str = "gat",
) -> NDArray[np.float32]:
    """Train on the training nodes; class probabilities of all nodes at the epoch that validation chose.

    Args:
        network: a module that is a `Scoring`. A step computes what the training nodes need, validation what
            the validation nodes need; all nodes are computed once, at the end.
        penalty: a further loss, evaluated after the network in every step.
        stopping: the name of one of the rules of `mcn.train`.
    """
    train_labels, val_labels = (task.labels[torch.from_numpy(nodes)] for nodes in (task.train, task.val))
    train_logits, val_logits, all_logits = (network.at(nodes) for nodes in (task.train, task.val, None))
    rule = stopping_rule(stopping, patience)
    best: dict[str, torch.Tensor] = {}
    for _ in range(max_epochs):
        network.train()
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(train_logits(), train_labels)
        if penalty is not None:
            loss = loss + penalty()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        network.eval()
        with torch.no_grad():
            logits = val_logits()
        accuracy = float((logits.argmax(1) == val_labels).float().mean())
        verdict = rule.update(accuracy, float(torch.nn.functional.cross_entropy(logits, val_labels)))
        if verdict.keep or not best:
            best = {name: value.clone() for name, value in network.state_dict().items()}
        if verdict.stop:
            break
    network.load_state_dict(best)
    with torch.no_grad():
        scores: NDArray[np.float32] = all_logits().softmax(1).numpy()
    return scores
