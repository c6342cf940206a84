"""GRAND (Feng et al. 2020): the same graph with half of the nodes silent, several times, has to agree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.baselines._fit import seeded
from mcn.baselines._grand_input import ProjectFirst, PropagateFirst
from mcn.baselines._grand_mixed import MixFirst
from mcn.baselines._random_propagation import Propagation, keep
from mcn.baselines.registry import register
from mcn.baselines.task import Task
from mcn.data import feature_csr, feature_tensor
from mcn.nn._rng import derive, torch_key
from mcn.train.stopping import stopping_rule

DROP_NODE, HIDDEN, DECAY = 0.5, 32, 5e-4
"""Share δ of the nodes that are silent in a view, hidden width, L2 on all parameters."""
SMALL = 5000
"""Most nodes of a graph for which the N x N matrix of the propagation is held (100 MB)."""


@dataclass(frozen=True)
class Setting:
    """What the reference sets differently for each data set.

    order: K, the highest power of Â. samples: S, views per step. weight: λ of the consistency.
    temperature: T of the sharpening. batch_norm: before both layers.
    """

    order: int
    samples: int
    weight: float
    temperature: float
    input_dropout: float
    hidden_dropout: float
    lr: float = 0.01
    patience: int = 200
    batch_norm: bool = False
    max_epochs: int = 5000


ELSEWHERE = Setting(8, 4, 1.0, 0.5, 0.5, 0.5, max_epochs=1000)
"""On graphs without published settings: with few validation nodes the stopping rule can wait without end."""


def consistency_loss(probabilities: torch.Tensor, temperature: float) -> torch.Tensor:
    """How far predictions [S, N, C] are from their sharpened mean: ``Σ_c (p_s - q)²``, mean over S and N.

    q is the mean over S to the power 1/T, made to sum to one again; no gradient flows through it.
    """
    power = probabilities.detach().mean(0).pow(1.0 / temperature)
    target = power / power.sum(1, keepdim=True)
    return (probabilities - target).square().sum(2).mean()


class _Network(torch.nn.Module):
    def __init__(self, task: Task, setting: Setting) -> None:
        super().__init__()
        self._setting, columns = setting, int(task.x.shape[1])
        self.weights = torch.nn.ParameterList([_normal(columns, HIDDEN), _normal(HIDDEN, task.num_classes)])
        self.biases = torch.nn.ParameterList([_normal(HIDDEN), _normal(task.num_classes)])
        norms = [torch.nn.BatchNorm1d(width) for width in (columns, HIDDEN)]
        self.norms = torch.nn.ModuleList(norms if setting.batch_norm else [])
        propagation = Propagation(task, setting.order)
        self._input: ProjectFirst | PropagateFirst | MixFirst
        if not (setting.input_dropout or setting.batch_norm):
            self._input = ProjectFirst(task, propagation)
        elif setting.batch_norm or task.num_nodes > SMALL:
            norm = norms[0] if setting.batch_norm else None
            self._input = PropagateFirst(task, propagation, setting.samples, setting.input_dropout, norm)
        else:
            self._input = MixFirst(task, propagation, setting.samples, setting.input_dropout)
        self._nodes = task.num_nodes

    def views(self, key: int) -> torch.Tensor:
        """Logits [S, N, C] of all nodes in S random views."""
        silent = keep((self._setting.samples, self._nodes), DROP_NODE, derive(key, 0))
        hidden = torch.relu(self._input.views(self.weights[0], silent, derive(key, 1)) + self.biases[0])
        if self.norms:
            hidden = torch.stack([self.norms[1](view) for view in hidden])
        if self._setting.hidden_dropout:
            mask = keep(tuple(hidden.shape), self._setting.hidden_dropout, derive(key, 2))
            hidden = hidden * torch.from_numpy(mask)
        out: torch.Tensor = hidden @ self.weights[1] + self.biases[1]
        return out

    @torch.no_grad()
    def exact(self, rows: slice | torch.Tensor) -> torch.Tensor:
        """Logits of some nodes with nothing random; in evaluation mode."""
        hidden = torch.relu(self._input.exact(self.weights[0], rows) + self.biases[0])
        if self.norms:
            hidden = self.norms[1](hidden)
        out: torch.Tensor = hidden @ self.weights[1] + self.biases[1]
        return out


def _normal(*shape: int) -> torch.nn.Parameter:
    """As the authors' program begins: mean -σ, deviation σ, ``σ = 1 / sqrt(width of the layer)``."""
    sigma = shape[-1] ** -0.5
    return torch.nn.Parameter(torch.empty(shape).normal_(-sigma, sigma))


def _fit(network: _Network, task: Task, setting: Setting) -> None:
    """Train; the network then has the weights of the epoch with the lowest validation loss.

    It ends after `patience` epochs in which neither validation score was at its best: GAT's rule says when
    to stop, the rule of the loss what to keep.
    """
    train, val = torch.from_numpy(task.train), torch.from_numpy(task.val)
    train_labels, val_labels = task.labels[train].repeat(setting.samples), task.labels[val]
    optimizer = torch.optim.Adam(network.parameters(), lr=setting.lr, weight_decay=DECAY, fused=True)
    stops, keeps = (stopping_rule(name, setting.patience) for name in ("gat", "loss"))
    best: dict[str, torch.Tensor] = {}
    for _ in range(setting.max_epochs):
        network.train()
        optimizer.zero_grad(set_to_none=True)
        logits = network.views(torch_key())
        loss = torch.nn.functional.cross_entropy(logits[:, train].flatten(0, 1), train_labels)
        loss = loss + setting.weight * consistency_loss(logits.softmax(2), setting.temperature)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        network.eval()
        seen = network.exact(val)
        accuracy = float((seen.argmax(1) == val_labels).float().mean())
        scores = accuracy, float(torch.nn.functional.cross_entropy(seen, val_labels))
        if keeps.update(*scores).keep or not best:
            best = {name: value.clone() for name, value in network.state_dict().items()}
        if stops.update(*scores).stop:
            break
    network.load_state_dict(best)


@register("grand")
def grand(task: Task, seed: int) -> NDArray[np.float32]:
    """A perceptron on randomly propagated features whose S predictions for every node are made to agree."""
    published = task.published("grand")
    setting = Setting(**published) if published else ELSEWHERE
    # The authors' program drops rows without making up for it, and halves X in prediction instead. That is
    # our views of features half as large.
    task = replace(task, x=feature_tensor(feature_csr(task.x) * np.float32(1 - DROP_NODE)))
    with seeded(seed):
        network = _Network(task, setting)
        _fit(network, task, setting)
        scores: NDArray[np.float32] = network.exact(slice(None)).softmax(1).numpy()
    return scores
