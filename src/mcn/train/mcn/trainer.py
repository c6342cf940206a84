"""Training a network whose nodes choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from mcn.nn import MCN
from mcn.train.loop import Scores, Trainer, below
from mcn.train.mcn.config import MCNConfig
from mcn.train.mcn.objective import Objective
from mcn.train.processes import host, torch_device

_MEMORY = 0.9  # of the gate: about ten epochs


@dataclass
class MCNTrainer(Trainer):
    """Training of an `mcn.MCN`: one epoch is one step over all training nodes (eq:loss)."""

    model: MCN
    config: MCNConfig
    lead: float = 0.0

    def __post_init__(self) -> None:
        self.model.to(torch_device(self.config.device))
        self.objective = Objective(self.model, self.problem, self.config)
        super().__post_init__()

    def _make_optimizer(self) -> torch.optim.Optimizer:
        """Adam with L2; the selectors (and the value head) may have a learning rate and L2 of their own."""
        c, named = self.config, list(self.model.named_parameters())
        selector = [p for name, p in named if ".selector." in name] + list(self.objective.parameters())
        groups: list[dict[str, Any]] = [{"params": [p for name, p in named if ".selector." not in name]}]
        if selector:
            lr = c.lr if c.policy_lr is None else c.policy_lr
            decay = c.weight_decay if c.policy_decay is None else c.policy_decay
            groups.append({"params": selector, "lr": lr, "weight_decay": decay})
        fused = self.device.type in ("cpu", "cuda")
        return torch.optim.Adam(groups, lr=c.lr, weight_decay=c.weight_decay, fused=fused)

    def _learn(self) -> tuple[float, float]:
        self.optimizer.zero_grad(set_to_none=True)
        loss, logged = self.objective.step(self.model, self.epoch, self.plain)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        total, train_accuracy = host(logged)
        train_loss = total / len(self.problem.train)
        self._check(train_loss)
        return train_loss, train_accuracy

    @property
    def plain(self) -> bool:
        """Whether the gate is closed: every node listens to the first motif with one step, save for ε."""
        return bool(self.config.gate) and self.config.chooses and self.lead <= 0

    @torch.no_grad()
    def _validate(self) -> Scores:
        """Score the network on the validation nodes.

        With `config.gate` the network is tried with the learned choices and without any; the running mean
        of the difference decides which of the two is trained, validated and kept from here on.
        """
        learned = self._scores(None)
        if not (self.config.gate and self.config.chooses):
            return learned
        logits = self._val_logits
        without = self._scores(0)
        self.lead = _MEMORY * self.lead + (1 - _MEMORY) * (learned.score - without.score)
        if self.plain:
            return without
        self._val_logits = logits  # of the choices that were judged, for those who hold nodes out
        return learned

    def _scores(self, choice: int | None) -> Scores:
        return self._judge(
            self.model(self.objective.x, self.problem.inputs.stack, self.problem.val, choice=choice)
        )

    def final_scores(self) -> Scores:
        """Score the weights that the model has now on the validation nodes."""
        return self._scores(None)

    def _snapshot(self) -> dict[str, torch.Tensor]:
        weights = super()._snapshot()
        if self.plain:
            prefer_first(weights)
        return weights

    def tensors(self) -> dict[str, torch.Tensor]:
        """All tensors of the run, the value head's among them."""
        own = {f"objective.{name}": value for name, value in self.objective.tensors().items()}
        return super().tensors() | own

    def state(self) -> dict[str, Any]:
        """All plain values of the run."""
        return super().state() | {
            "lead": self.lead,
            "rng": self.model.rng.state_dict(),
            "objective": self.objective.state_dict(),
        }

    def load(self, tensors: dict[str, torch.Tensor], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` gave."""
        super().load(tensors, state)
        self.objective.load(below("objective.", tensors), state["objective"])
        self.model.rng.load_state_dict(state["rng"])
        self.lead = float(state["lead"])


def prefer_first(weights: dict[str, torch.Tensor]) -> None:
    """Make selectors, in place, that choose the first motif and one step for every node."""
    for name, value in weights.items():
        if ".selector." in name:
            value.zero_()
            if name.endswith("bias"):
                value[0] = 1.0
