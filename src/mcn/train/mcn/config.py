"""The settings of a network whose nodes choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mcn.train.batched import BatchedSettings
from mcn.train.settings import (
    at_least,
    choice_of,
    flag,
    not_negative,
    positive,
    probability,
    setting,
    text,
)

if TYPE_CHECKING:
    from mcn.train.probes.plan import Plan

ATTENTION: dict[str, dict[str, Any]] = {
    "paper": {"epsilon": 0.1, "advantage": "none", "gate": False, "consistency": 0.0},
    "probed": {"epsilon": 0.0, "advantage": "none", "gate": False, "consistency": 0.0},
    "gated": {"epsilon": 0.3, "advantage": "mean", "gate": True, "consistency": 0.0},
}
"""The rules by which motif attention is trained: what each one sets unless told otherwise."""


@dataclass(frozen=True, kw_only=True)
class MCNConfig(BatchedSettings):
    """Settings of `mcn.MCN` and its training. The defaults are GAT's architecture and protocol.

    `attention` names a rule; the rule decides `epsilon`, `advantage`, `gate` and `consistency` where these
    are None. Both attentions off and one motif make a GCN (tab:gen).
    """

    recipe: ClassVar[str] = "mcn"

    consistency: float | None = None
    steps: int = setting(
        1, "K: the longest walk a node may listen along.", at_least(1, 1000), option="steps", group="graph"
    )
    psi: str = setting(
        "unweighted",
        "Matrix function: unweighted, row-max, transition, laplacian or symmetric (eq:k1 to eq:k5).",
        text,
        option="psi",
        group="graph",
    )
    add_edges: bool = setting(
        False, "Give every motif's neighbourhood the plain neighbours as well.", flag, group="graph"
    )
    materialize: bool = setting(
        True,
        "Store the powers of motif matrices; false computes their rows when chosen, where they do not fit.",
        flag,
        group="graph",
    )
    features: str = setting(
        "given",
        "Input of the first layer: given (the graph's own features) or motifs (15 motif counts per node, "
        "log, standardised).",
        choice_of("given", "motifs"),
        group="graph",
    )
    heads: int = setting(
        8, "Attention heads of the hidden layers.", at_least(1), option="heads", group="network"
    )
    output_heads: int = setting(
        1, "Attention heads of the last layer; their mean is taken.", at_least(1), group="network"
    )
    self_attention: bool = setting(
        True, "Weigh neighbours by attention as GAT does; false sums them as GCN does.", flag, group="network"
    )
    motif_attention: bool = setting(
        True, "Let nodes choose; false uses the first motif and one step for all.", flag, group="network"
    )
    self_weights: bool = setting(
        False,
        "Give a node's own features weights of their own in every layer, beside those of what it hears.",
        flag,
        group="network",
        since="0.2.0",
    )
    norm: bool = setting(
        False, "Normalise what hidden layers give on (layer norm).", flag, group="network", since="0.2.0"
    )
    residual: bool = setting(
        False,
        "Add the input of a hidden layer to what it gives on, where both are equally wide.",
        flag,
        group="network",
        since="0.2.0",
    )
    psi_prior: str = setting(
        "softmax",
        "How Ψ enters self-attention: softmax (its logarithm is added to the logits) or product (it "
        "multiplies the coefficients).",
        choice_of("softmax", "product"),
        group="network",
        former="prior",
    )
    attention: str = setting(
        "probed",
        "Rule by which motif attention is trained: probed (a network per neighbourhood; nodes choose by what "
        "each earns on held-out nodes, where that pays), gated (rewards less their running mean; choices are "
        "followed while validation nodes prefer them to none) or paper (eq:att_loss to the letter).",
        choice_of(*ATTENTION),
        option="attention",
        group="attention",
    )
    epsilon: float | None = setting(
        None,
        "Share of random actions in training; the rule of attention decides if not given.",
        probability,
        group="attention",
    )
    advantage: str | None = setting(
        None,
        "What is subtracted from the reward: none, its running mean, or a learned value; the rule of "
        "attention decides if not given.",
        choice_of("none", "mean", "learned"),
        group="attention",
    )
    gate: bool | None = setting(
        None,
        "Let validation nodes decide between the learned choices and none; the rule of attention decides if "
        "not given.",
        flag,
        group="attention",
    )
    policy_weight: float = setting(1.0, "Weight of the attention loss.", not_negative, group="attention")
    policy_grad: bool = setting(
        False, "Let the attention loss reach the layers' W as well.", flag, group="attention"
    )
    policy_lr: float | None = setting(
        None, "Learning rate of the selectors; that of the network if not given.", positive, group="attention"
    )
    policy_decay: float | None = setting(
        None, "L2 of the selectors; that of the network if not given.", not_negative, group="attention"
    )
    init_bias: float = setting(
        0.0, "Bias towards the first motif and one step to start with.", not_negative, group="attention"
    )
    class_priors: str = setting(
        "none",
        "Correction of the predicted probabilities: none, or validation (multiply by how frequent each class "
        "is among validation nodes, divide by how frequent it is among training nodes).",
        choice_of("none", "validation"),
        former="priors",
    )

    def _agree(self) -> None:
        if len(self.neighbours) not in (1, self.num_layers):
            raise ValueError(
                f"neighbours has {len(self.neighbours)} numbers, but there are {self.num_layers} layers; "
                "give one number, or one per layer"
            )
        if self.batch_size is None:
            return
        for name in ("self_weights", "norm", "residual"):
            if getattr(self, name):
                raise ValueError(f"batch_size needs {name} false: mini-batches do not have it yet")
        if self.psi_prior != "softmax":
            raise ValueError(
                f"batch_size needs psi_prior softmax, got {self.psi_prior}: drawn neighbours are weighed "
                "inside the softmax"
            )
        if self.consistency:
            raise ValueError(
                f"batch_size needs consistency 0, got {self.consistency}: it compares two passes over the "
                "whole graph"
            )

    def _resolve(self) -> None:
        for name, value in ATTENTION.get(str(self.attention), {}).items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    @property
    def chooses(self) -> bool:
        """Whether there is anything to choose."""
        return self.motif_attention and len(self.motifs) * self.steps > 1

    @property
    def home(self) -> str | None:
        """Where the work is done, if not where the recipe says."""
        return "mcn.train.probes.work" if self.attention == "probed" and self.motif_attention else None

    @property
    def protocol(self) -> str:
        """Say by what the weights are kept, and where there are candidates, by what one is chosen."""
        kept = super().protocol
        if self.home is None:
            return kept
        return f"{kept}; candidates compared on validation nodes that did not stop them"

    def plan(self) -> Plan:
        """Return the candidates of the rule `probed`: one neighbourhood for all nodes each."""
        from mcn.train.probes.plan import Plan, probes_of

        shared = self.shared()
        return Plan(probes_of(shared), shared.motifs, shared.steps, repeats=1, minutes=None)

    def shared(self) -> MCNConfig:
        """Return the settings of the stack that the candidates share: the node alone is its first motif."""
        motifs = ("self", *(name for name in self.motifs if name != "self"))
        return self.replace(motifs=motifs)

    def replace(self, **changes: Any) -> Self:
        """Return the same settings with some changed; another rule of attention brings its own along."""
        if changes.get("attention", self.attention) != self.attention:
            changes = dict.fromkeys(ATTENTION[self.attention]) | changes
        return super().replace(**changes)
