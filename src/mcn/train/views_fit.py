"""Training with motif views: draw views of some nodes, classify the labelled, make the others agree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import PageRankRows
from mcn.nn import MotifViews, exact_features, mix_features, ops
from mcn.nn._rng import derive
from mcn.nn.features import SparseFeatures
from mcn.train.evaluate import Predictions
from mcn.train.fit import BaseTrainer, below
from mcn.train.losses import agreement_loss
from mcn.train.views_config import ViewsConfig
from mcn.train.views_problem import ViewsProblem

_ROWS = 1024  # nodes whose mixed features are held at a time when all are predicted


@dataclass
class ViewsTrainer(BaseTrainer):
    """Training of an `mcn.nn.MotifViews`; an epoch is `config.every` steps.

    A step draws labelled and unlabelled nodes (all nodes if `config.whole`) and `config.passes` views of
    each (a motif at random, some of the neighbours lost). Its loss is the cross-entropy of the labelled ones
    plus, with a weight that rises over `config.ramp` steps, how far the views of each unlabelled node are
    from their sharpened mean (`mcn.train.losses.agreement_loss`). Validated and kept is the running mean of
    the weights.
    """

    model: MotifViews
    problem: ViewsProblem
    config: ViewsConfig
    mean: dict[str, torch.Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        p = self.problem
        self.mean = _copy(self.model)
        self._others = np.setdiff1d(np.arange(p.rows.num_nodes), p.train)
        self._val_features = None if self.config.smooth else exact_features(p.rows, p.x, p.val)

    def _make_optimizer(self) -> torch.optim.Optimizer:
        c = self.config
        return torch.optim.Adam(self.model.parameters(), lr=c.lr, weight_decay=c.weight_decay, fused=True)

    def _learn(self) -> tuple[float, float]:
        steps = [self._step(self.epoch * self.config.every + i) for i in range(self.config.every)]
        loss, right = np.mean(steps, axis=0)
        return float(loss), float(right)

    def _step(self, number: int) -> tuple[float, float]:
        c = self.config
        labelled, known, unknown = self._whole(number) if c.whole else self._batch(number)
        target = self.problem.labels[torch.from_numpy(labelled)]
        loss = torch.nn.functional.cross_entropy(known.flatten(0, 1), target.repeat(c.passes))
        value = float(loss.detach())
        self._check(value)
        weight = c.consistency * min(1.0, number / max(1, c.ramp))
        if weight > 0 and unknown.shape[1]:
            loss = loss + weight * agreement_loss(list(unknown), c.temperature, c.sure)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if c.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), c.clip)
        self.optimizer.step()
        self._remember()
        return value, float((known[0].detach().argmax(1) == target).float().mean())

    def _batch(self, number: int) -> tuple[NDArray[np.int64], torch.Tensor, torch.Tensor]:
        """Some labelled nodes, the logits [passes, B, C] of their views, and those of some other nodes."""
        p, c = self.problem, self.config
        draw, key = np.random.default_rng([c.seed, number]), derive(c.seed, number)
        labelled, others = _some(draw, p.train, c.batch), _some(draw, self._others, c.unlabelled)
        nodes = np.tile(np.concatenate([labelled, others]), c.passes)
        views = draw.integers(0, p.rows.num_views, len(nodes))
        mixed = mix_features(
            p.rows, p.x, nodes, views, lost=c.lost, dropout=self.model.mixes_dropout, key=derive(key, 0)
        )
        logits = self.model(mixed, derive(key, 1)).view(c.passes, -1, p.num_classes)
        return labelled, logits[:, : len(labelled)], logits[:, len(labelled) :]

    def _whole(self, number: int) -> tuple[NDArray[np.int64], torch.Tensor, torch.Tensor]:
        """The same of all nodes; who is lost is lost to everyone, and the others are heard the louder."""
        p, c = self.problem, self.config
        draw, key = np.random.default_rng([c.seed, number]), derive(c.seed, number)
        passes = []
        for i in range(c.passes):
            views = draw.integers(0, p.rows.num_views, p.rows.num_nodes)
            heard = draw.random((p.rows.num_nodes, 1), np.float32) >= c.lost
            keep = torch.from_numpy(heard.astype(np.float32) / np.float32(1.0 - c.lost))
            passes.append(self.model.whole(p.x, p.rows.select(views), keep, derive(key, i)))
        logits = torch.stack(passes)
        return p.train, logits[:, p.train], logits[:, self._others]

    def _remember(self) -> None:
        """Move the running mean of the weights towards what they are now."""
        for name, value in self.model.state_dict().items():
            if self.config.average and value.is_floating_point():
                self.mean[name].lerp_(value, 1.0 - self.config.average)
            else:
                self.mean[name].copy_(value)

    @torch.no_grad()
    def _validate(self) -> tuple[float, float]:
        with using(self.model, self.mean):
            return self.final_scores()

    @torch.no_grad()
    def final_scores(self) -> tuple[float, float]:
        """Loss and accuracy on the validation nodes of the weights the model has now."""
        if self._val_features is not None:
            return self._judge(self.model(self._val_features))
        p = self.problem
        return self._judge(exact_logits(self.model, p.x, p.rows)[p.val])

    def _snapshot(self) -> dict[str, torch.Tensor]:
        return {name: value.clone() for name, value in self.mean.items()}

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run, the running mean of the weights among them."""
        return super().tensors() | {f"mean.{name}": value for name, value in self.mean.items()}

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        super().load(tensors, state)
        self.mean = {name: value.clone() for name, value in below("mean.", tensors).items()}


def make_views_network(in_channels: int, num_classes: int, config: ViewsConfig) -> MotifViews:
    """The network that a configuration asks for; its weights are decided by `config.seed` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return MotifViews(
            in_channels,
            config.hidden,
            num_classes,
            config.num_layers,
            input_dropout=config.input_dropout,
            dropout=config.dropout,
            batch_norm=config.batch_norm,
            row_norm=config.row_norm,
            smooth=config.smooth,
        )


def views_trainer(problem: ViewsProblem, config: ViewsConfig) -> ViewsTrainer:
    """A fresh training run."""
    return ViewsTrainer(make_views_network(problem.x.shape[1], problem.num_classes, config), problem, config)


@torch.no_grad()
def predict_views(model: MotifViews, x: SparseFeatures, rows: PageRankRows) -> Predictions:
    """Predict all nodes by exact features: the mean over the views, nothing lost."""
    training = model.training
    model.eval()
    logits = exact_logits(model, x, rows)
    model.train(training)
    none: NDArray[np.int64] = np.empty((rows.num_nodes, 0), np.int64)
    return Predictions(logits.softmax(1).numpy(), none, none)


def exact_logits(model: MotifViews, x: SparseFeatures, rows: PageRankRows) -> torch.Tensor:
    """What the network says of all nodes, nothing dropped; with `model.smooth` averaged over neighbours."""
    if model.linear_first:
        logits = model.whole(x, rows.mean)
    else:
        parts = np.array_split(np.arange(rows.num_nodes), max(1, -(-rows.num_nodes // _ROWS)))
        logits = torch.cat([model(exact_features(rows, x, part)) for part in parts])
    if not model.smooth:
        return logits
    return ops.propagate(logits.softmax(1), rows.mean).clamp_min(1e-12).log()


@contextmanager
def using(model: torch.nn.Module, tensors: dict[str, torch.Tensor]) -> Iterator[None]:
    """The model with other tensors in the place of its own."""
    own = _copy(model)
    model.load_state_dict(tensors)
    try:
        yield
    finally:
        model.load_state_dict(own)


def _some(draw: np.random.Generator, nodes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """`count` different nodes at random; all of them if there are no more."""
    return draw.choice(nodes, count, replace=False) if count < len(nodes) else nodes


def _copy(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
