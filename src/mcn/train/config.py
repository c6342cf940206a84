"""Every setting of a run, with its check and a sentence on what it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from mcn.train._checks import flag, not_negative, positive, probability, whole
from mcn.train._settings import STOPPING, Checks, Settings, one_of

ATTENTION: dict[str, dict[str, Any]] = {
    "paper": {"epsilon": 0.1, "advantage": "none", "gate": False, "consistency": 0.0},
    "gated": {"epsilon": 0.3, "advantage": "mean", "gate": True, "consistency": 0.0},
}
"""The rules by which motif attention is trained: what each one sets unless told otherwise."""
ADVANTAGES = ("none", "mean", "learned")
FEATURES = ("given", "motifs")
PRIORS = ("none", "validation")


_OPTIONAL = ("policy_lr", "policy_decay")
_CHECKS: Checks = (
    (
        partial(whole, least=1),
        ("steps", "hidden", "heads", "output_heads", "num_layers", "max_epochs", "patience"),
    ),
    (partial(whole, least=0), ("ramp", "seed")),
    (partial(probability, one=False), ("dropout",)),
    (probability, ("epsilon",)),
    (positive, ("lr", "temperature", "policy_lr")),
    (not_negative, ("weight_decay", "policy_weight", "policy_decay", "consistency", "init_bias")),
    (
        flag,
        ("add_edges", "materialize", "self_attention", "motif_attention", "gate", "policy_grad", "normalize"),
    ),
)


@dataclass(frozen=True)
class Config(Settings):
    """Settings of a network and its training. Defaults: GAT's architecture and protocol.

    The graph's side:
        motifs, steps, psi, scope, add_edges: what the motif stack holds (see `mcn.MotifStack`).
        materialize: store the powers; False computes rows of them when chosen, where they do not fit.
    The network's side:
        hidden, heads, output_heads, num_layers, dropout: GAT's architecture.
        self_attention, motif_attention, prior: see `mcn.MCNConv`. Both off and one motif: a GCN.
    How motif attention is trained:
        attention: "paper" is eq:att_loss to the letter; "gated" subtracts the running mean from the rewards
            and follows the selectors only while validation nodes prefer that to not choosing at all.
            A rule decides the next four settings; give one of them to depart from the rule.
        epsilon: share of random actions in training.
        advantage: what is subtracted from the reward: "none", its running "mean", or a "learned" value.
        gate: whether validation nodes decide between the learned choices and none.
        consistency: weight of the agreement of two passes on all nodes; 0 makes one pass.
        ramp, temperature: epochs until `consistency` has its full weight; sharpness of the common target.
        policy_weight: weight of the attention loss.
        policy_grad: let the attention loss reach the layers' W as well.
        policy_lr, policy_decay: the selector's own learning rate and L2; None for the network's.
        init_bias: start with a bias towards the first motif and one step.
    The protocol's side:
        lr, weight_decay: Adam with L2 on every parameter.
        max_epochs, patience, stopping: when to stop, and which epoch's weights to keep.
        features: "given" are the graph's own; "motifs" puts each node's 15 motif counts in their place (log,
            standardised), where features say little and structure is all there is.
        normalize: make each row of the given features sum to one.
        priors: "validation" multiplies the predicted probabilities by how frequent the classes are among the
            validation nodes, and divides by how frequent they are among the training nodes.
        seed: decides everything random.
    """

    motifs: tuple[str, ...] = ("edge", "triangle")
    steps: int = 1
    psi: str = "unweighted"
    scope: str = "edges"
    add_edges: bool = False
    materialize: bool = True
    hidden: int = 8
    heads: int = 8
    output_heads: int = 1
    num_layers: int = 2
    dropout: float = 0.6
    self_attention: bool = True
    motif_attention: bool = True
    prior: str = "softmax"
    attention: str = "gated"
    epsilon: float | None = None
    advantage: str | None = None
    gate: bool | None = None
    consistency: float | None = None
    ramp: int = 100
    temperature: float = 0.5
    policy_weight: float = 1.0
    policy_grad: bool = False
    policy_lr: float | None = None
    policy_decay: float | None = None
    init_bias: float = 0.0
    lr: float = 0.005
    weight_decay: float = 0.0005
    max_epochs: int = 5_000
    patience: int = 100
    stopping: str = "gat"
    features: str = "given"
    normalize: bool = True
    priors: str = "none"
    seed: int = 0

    def __post_init__(self) -> None:
        self._check_motifs("motif")
        one_of("attention", self.attention, tuple(ATTENTION))
        for name, value in ATTENTION[self.attention].items():
            if getattr(self, name) is None:
                self._take(name, value)
        self._check_each(_CHECKS, _OPTIONAL)
        one_of("advantage", str(self.advantage), ADVANTAGES)
        one_of("stopping", self.stopping, STOPPING)
        one_of("features", self.features, FEATURES)
        one_of("priors", self.priors, PRIORS)

    @property
    def chooses(self) -> bool:
        """Whether there is anything to choose."""
        return self.motif_attention and len(self.motifs) * self.steps > 1

    def but(self, **changes: Any) -> Config:
        """The same settings with some changed; another rule of attention brings its own settings along."""
        if changes.get("attention", self.attention) != self.attention:
            changes = dict.fromkeys(ATTENTION[self.attention]) | changes
        return super().but(**changes)
