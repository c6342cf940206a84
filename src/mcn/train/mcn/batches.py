"""Training a network whose nodes choose in mini-batches, and its exact validation in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.nn import MCN, Choices
from mcn.nn._rng import derive
from mcn.nn.feature_rows import FeatureRows
from mcn.nn.graph_rows import GraphRows, StackRows
from mcn.nn.layerwise import infer
from mcn.nn.sampling import Batch, MotifLoader, MotifSampler, SampledBlock, Shuffled, sampled_pass
from mcn.train.loop import Scores
from mcn.train.losses import attention_loss, classification_loss, correctness
from mcn.train.mcn.trainer import MCNTrainer


@dataclass
class BatchTrainer(MCNTrainer):
    """Training of an `mcn.MCN` in mini-batches: an epoch is a step for each batch of training nodes.

    Nodes draw their neighbours from the rows that they choose (`mcn.nn.sampling.MotifSampler`). Their choices
    are those of the exact pass at the end of the epoch before, except for ε; the selectors learn from them as
    in full batches. Validation is exact, layer by layer (`mcn.nn.layerwise.infer`).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        c = self.config
        self.graph: GraphRows = graph_rows(self.problem.inputs)
        self.features: FeatureRows = feature_rows(self.problem.inputs)
        self._class_weights = self.problem.class_weights(c.class_weight)
        self._choosing = c.chooses and c.policy_weight > 0
        self._table: NDArray[np.int16] | None = None
        count = len(self.problem.train)
        self._batches = Shuffled(count, min(int(c.batch_size or count), count), c.seed)

    def _loader(self) -> MotifLoader:
        """The batches of this epoch; each is drawn for the first motif, for the choices, or for both."""
        c = self.config
        fans = c.neighbours * c.num_layers if len(c.neighbours) == 1 else c.neighbours
        summed = not c.self_attention
        samplers = []
        if self.plain or not c.chooses:
            samplers.append(MotifSampler(self.graph, fans, with_degrees=summed))
        if c.chooses and (self._choosing or not self.plain):
            samplers.append(
                MotifSampler(
                    self.graph,
                    fans,
                    choices=torch.from_numpy(self._choices()),
                    epsilon=float(c.epsilon or 0.0),
                    with_base=self._choosing,
                    with_degrees=summed,
                )
            )
        self._batches.epoch = self.epoch
        return MotifLoader(
            samplers,
            self.features,
            self.problem.train,
            self._batches,
            derive(c.seed, 0),
            num_workers=c.loader_workers,
        )

    def _choices(self) -> NDArray[np.int16]:
        """What every node chooses in every layer, by the weights as they are."""
        if self._table is None:
            found = infer(self.model, self.features, self.graph, self.problem.train)
            self._table = found.choices.astype(np.int16)
        return self._table

    def _learn(self) -> tuple[float, float]:
        total = right = 0.0
        for batch in self._loader():
            self.optimizer.zero_grad(set_to_none=True)
            loss, logged, hits = self._step(batch)
            self._check(logged)
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            total, right = total + logged * len(batch.nodes), right + hits
        return total / len(self.problem.train), right / len(self.problem.train)

    def _step(self, batch: Batch) -> tuple[torch.Tensor, float, float]:
        """The loss of a batch, and to log: the classifier's mean loss and the number of right answers."""
        labels = self.problem.labels[torch.from_numpy(batch.nodes)]
        passes = [self._pass(batch, i) for i in range(len(batch.draws))]
        logits = passes[0][0]
        loss = loss_c = classification_loss(logits, labels, self._class_weights)
        if self._choosing:
            loss = loss + self.config.policy_weight * self._policy_loss(*passes[-1], labels)
        right = float((logits.detach().argmax(1) == labels).sum())
        return loss / len(labels), float(loss_c.detach()) / len(labels), right

    def _pass(self, batch: Batch, i: int) -> tuple[torch.Tensor, Sequence[Choices]]:
        blocks: list[SampledBlock] = batch.draws[i]
        key = derive(self.config.seed, 1, batch.number, i)
        return sampled_pass(self.model, batch.xs[i], blocks, key)

    def _policy_loss(
        self, logits: torch.Tensor, choices: Sequence[Choices], labels: torch.Tensor
    ) -> torch.Tensor:
        reward = correctness(logits.detach(), labels)
        gain, extra = self.objective.advantage(reward, choices[-1].state)
        loss = attention_loss(choices, gain)
        return loss if extra is None else loss + extra

    @torch.no_grad()
    def _validate(self) -> Scores:
        self._table = None
        return super()._validate()

    def _scores(self, choice: int | None) -> Scores:
        val, train = self.problem.val, self.problem.train
        if choice is None and self.config.chooses:
            found = infer(self.model, self.features, self.graph, np.concatenate([val, train]))
            self._table = found.choices.astype(np.int16)
        else:
            found = infer(self.model, self.features, self.graph, val, choice=choice)
        return self._judge(found.logits[: len(val)])

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        super().load(tensors, state)
        self._table = None


def graph_rows(inputs: Any) -> GraphRows:
    """Return the rows that batches are drawn from."""
    return StackRows(inputs.stack, edge_is_base=True)


def feature_rows(inputs: Any) -> FeatureRows:
    """Return the features, to be asked for by node."""
    return FeatureRows(inputs.x)


def infer_all(model: MCN, inputs: Any) -> tuple[torch.Tensor, NDArray[np.int64]]:
    """Compute the scores [N, C] and the choices [layers, N] of all nodes in bounded memory."""
    found = infer(model, feature_rows(inputs), graph_rows(inputs))
    return found.logits, found.choices
