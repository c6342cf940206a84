"""The settings of a network whose nodes choose, and its special cases as changes to them (tab:gen)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mcn._composition import check_composition
from mcn.train.settings import (
    BATCH_SIZE,
    BatchedSettings,
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
    from mcn.motifs import MotifCounts

ATTENTION: dict[str, dict[str, Any]] = {
    "paper": {"epsilon": 0.1, "advantage": "none", "gate": False, "consistency": 0.0},
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
        "Matrix function by name: unweighted, row-max, transition, laplacian or symmetric.",
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
    )
    sum_motifs: bool = setting(
        False,
        "Sum over all motifs and steps, with weights of their own for each, in place of choosing one of them "
        "(needs self_attention false).",
        flag,
        group="network",
    )
    norm: str = setting(
        "none",
        "What hidden layers normalise of what they give on: none, layer (the units of a node) or batch (the "
        "nodes of a unit).",
        choice_of("none", "layer", "batch"),
        group="network",
    )
    residual: bool = setting(
        False,
        "Add the input of a hidden layer to what it gives on, where both are equally wide.",
        flag,
        group="network",
    )
    psi_prior: str = setting(
        "softmax",
        "How Ψ enters self-attention: softmax (its logarithm is added to the logits) or product (it "
        "multiplies the coefficients).",
        choice_of("softmax", "product"),
        group="network",
    )
    attention: str = setting(
        "gated",
        "Rule by which motif attention is trained: gated (rewards less their running mean; choices are "
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
    )

    def _agree(self) -> None:
        if len(self.neighbours) not in (1, self.num_layers):
            raise ValueError(
                f"neighbours has {len(self.neighbours)} numbers, but there are {self.num_layers} layers; "
                "give one number, or one per layer"
            )
        check_composition(
            {
                "sums over motifs": self.sum_motifs and "sum_motifs true",
                "self-attention": self.self_attention and "self_attention true",
                "mini-batches": self.batch_size is not None and f"batch_size {self.batch_size}",
                "self weights": self.self_weights and "self_weights true",
                "norms": self.norm != "none" and f"norm {self.norm}",
                "residuals": self.residual and "residual true",
                "Ψ as a factor": self.psi_prior != "softmax" and f"psi_prior {self.psi_prior}",
                "consistency": self.consistency and f"consistency {self.consistency}",
            }
        )

    def _resolve(self) -> None:
        for name, value in ATTENTION.get(str(self.attention), {}).items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    @property
    def chooses(self) -> bool:
        """Whether there is anything to choose."""
        return self.motif_attention and not self.sum_motifs and len(self.motifs) * self.steps > 1

    def full_batch_bytes(self, counts: MotifCounts) -> int | None:
        """Estimate the memory that training on the whole graph takes beside the graph itself.

        The matrices Ψ(A_t^k) and what they are made of; per layer and head two numbers for every entry of the
        chosen rows, and six for every node and hidden unit (values, gradients and their copies).
        """
        from mcn.matrices import stack_size
        from mcn.motifs.neighbourhoods import directed_neighbourhood

        if self.batch_size is not None:
            return None
        # The edges of a directed motif are some of all edges.
        names = ["edge" if directed_neighbourhood(name) else name for name in self.motifs]
        size = stack_size(counts, tuple(dict.fromkeys(names)), self.steps, scope=self.scope, exact=False)
        places = [size.motifs.index(name) for name in names]
        stored = int(size.bytes[places].sum()) if self.materialize else 0
        one_step = int(size.entries[places, 0].sum())
        matrices = stored + 12 * one_step + 8 * (2 * len(counts.pairs) + counts.num_nodes)
        chosen = int(size.entries.max(initial=0))
        heads = self.heads * (self.num_layers - 1) + self.output_heads
        width = self.heads * self.hidden * self.num_layers
        passes = 2 if self.consistency or self.gate else 1
        return matrices + passes * 4 * (2 * heads * chosen + 6 * width * counts.num_nodes)

    def for_disk(self, given: Collection[str]) -> MCNConfig:
        """Return these settings with a batch size: a graph on disk is trained on in mini-batches."""
        return self if self.batch_size is not None else self.replace(batch_size=BATCH_SIZE)

    def replace(self, **changes: Any) -> Self:
        """Return the same settings with some changed; another rule of attention brings its own along."""
        if changes.get("attention", self.attention) != self.attention:
            changes = dict.fromkeys(ATTENTION[self.attention]) | changes
        return super().replace(**changes)


PAPER_SETTINGS: dict[str, Any] = {
    "features": "given",
    "class_priors": "none",
    "attention": "paper",
    **ATTENTION["paper"],
}
"""What the recipe paper fixes: the rule of attention, and that motif counts are no input features, that class
priors are not corrected and that two passes need not agree."""


@dataclass(frozen=True, kw_only=True)
class PaperConfig(MCNConfig):
    """Settings of a network trained as the paper says; those that the paper fixes cannot be changed.

    The presets that end in -paper hold the paper's best setting of each data set.
    """

    recipe: ClassVar[str] = "paper"

    attention: str = "paper"

    def _agree(self) -> None:
        super()._agree()
        for name, value in PAPER_SETTINGS.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} is {value} in the recipe paper, got {getattr(self, name)}; the recipe mcn can "
                    "change it"
                )


_ONE_MOTIF: dict[str, Any] = {
    "steps": 1,
    "psi": "unweighted",
    "scope": "edges",
    "add_edges": False,
    "motif_attention": False,
}
_ALONE = {"attention": "gated", "gate": False, "init_bias": 0.0}
_PLAIN = {**_ALONE, "consistency": 0.0}
_GCN = {"self_attention": False, "heads": 1, "output_heads": 1, "dropout": 0.5, "lr": 0.01}

CHANGES: dict[str, dict[str, Any]] = {
    "gat": {"motifs": ("edge",), "self_attention": True, **_ONE_MOTIF, **_PLAIN},
    "gcn": {"motifs": ("edge",), "hidden": 16, **_GCN, **_ONE_MOTIF, **_PLAIN},
    "mlp": {"motifs": ("self",), "hidden": 64, **_GCN, **_ONE_MOTIF, **_PLAIN},
    "gat-consistency": {"motifs": ("edge",), "self_attention": True, **_ONE_MOTIF, **_ALONE},
    "gcn-consistency": {"motifs": ("edge",), "hidden": 16, **_GCN, **_ONE_MOTIF, **_ALONE},
}
"""Each keeps the protocol of the data set's preset. GAT also keeps its architecture; GCN has the width,
dropout and learning rate of its reference; an MLP is a network whose nodes have no neighbours. Those with
consistency keep the data set's setting of it, so that what is left between them and MCN is the choice."""
PAPER_CHANGES: dict[str, dict[str, Any]] = {
    "gat-paper": {"motifs": ("edge",), "self_attention": True, **_ONE_MOTIF},
    "gcn-paper": {"motifs": ("edge",), "self_attention": False, "heads": 1, "output_heads": 1, **_ONE_MOTIF},
}
"""The same networks with the paper's settings: width, dropout, learning rate and L2 are those of its MCN."""
TITLES = {
    "gat": "graph attention network (Veličković et al. 2018): the edge motif, one step, self-attention",
    "gcn": "graph convolutional network (Kipf and Welling 2017): the edge motif, one step, no attention",
    "mlp": "two layers on the node's own features",
    "gat-consistency": "GAT with two passes that have to agree, where MCN's preset for the data set has that",
    "gcn-consistency": "GCN with two passes that have to agree, where MCN's preset for the data set has that",
}


CONFIGS = {
    MCNConfig: "every node chooses its motif and step; the choices must earn their place on validation nodes",
    PaperConfig: "every node chooses its motif and step, by the paper's rule and with the paper's settings",
}
"""The recipes of this folder: their settings, and a sentence on each."""
