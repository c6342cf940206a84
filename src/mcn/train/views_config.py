"""The settings of training with motif views."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from mcn.train._checks import flag, not_negative, positive, probability, whole
from mcn.train._settings import STOPPING, Checks, Settings, one_of

_CHECKS: Checks = (
    (
        partial(whole, least=1),
        ("top", "hidden", "num_layers", "batch", "unlabelled", "passes", "every", "max_epochs", "patience"),
    ),
    (partial(whole, least=0), ("order", "ramp", "seed")),
    (partial(probability, one=False), ("lost", "input_dropout", "dropout", "average")),
    (positive, ("lr", "temperature")),
    (not_negative, ("weight_decay", "consistency", "sure", "clip", "tolerance")),
    (flag, ("symmetric", "whole", "smooth", "batch_norm", "row_norm", "normalize")),
)


@dataclass(frozen=True)
class ViewsConfig(Settings):
    """Settings of `mcn.nn.MotifViews` and its training. Defaults: what did best on Cora's validation nodes.

    The views:
        motifs: one view per name, see `mcn.matrices.view_rows`.
        order, alpha: the longest walk, and the chance to stop after each step (None: all lengths alike).
        top, tolerance: entries kept per row, and walks too unlikely to follow.
        symmetric: hear nodes of high degree less, see `mcn.matrices.pagerank_rows`.
        scope: of the motif counts: "edges", or "pairs" for motifs that join nodes without an edge.
        lost: the share of its neighbours that a node does not hear in a view.
        smooth: average the predictions of a node's neighbourhood as well, after training and in validation.
    The network:
        hidden, num_layers, input_dropout, dropout, batch_norm, row_norm: see `mcn.nn.MotifViews`.
    The step:
        whole: look at all nodes instead of `batch` and `unlabelled`; lost ones are lost to everyone. The
            first layer comes before the mixing, so that `input_dropout` falls on features not mixed yet.
        batch, unlabelled: how many training nodes and how many others are looked at.
        passes: views drawn of each.
        consistency: weight of their agreement; it rises over `ramp` steps.
        temperature: sharpness of what they are to agree on.
        sure: nodes whose likeliest class has more than `sure` / C on average have to agree; 0 for all nodes.
    The protocol:
        lr, weight_decay, clip: Adam with L2; gradients longer than `clip` are shortened (0: never).
        average: the weights kept are a running mean with this memory; 0 for the weights themselves.
        every: steps per epoch; an epoch ends with a look at the validation nodes.
        max_epochs, patience, stopping: when to stop, and which epoch's weights to keep.
        normalize: make each row of the features sum to one.
        seed: decides everything random.
    """

    motifs: tuple[str, ...] = ("edge", "triangle", "4-cycle")
    order: int = 8
    alpha: float | None = None
    top: int = 64
    tolerance: float = 1e-4
    symmetric: bool = True
    scope: str = "edges"
    lost: float = 0.5
    smooth: bool = False
    hidden: int = 64
    num_layers: int = 2
    input_dropout: float = 0.5
    dropout: float = 0.7
    batch_norm: bool = False
    row_norm: bool = False
    whole: bool = False
    batch: int = 50
    unlabelled: int = 100
    passes: int = 2
    consistency: float = 1.5
    ramp: int = 500
    temperature: float = 0.1
    sure: float = 0.0
    lr: float = 0.01
    weight_decay: float = 0.001
    clip: float = 0.0
    average: float = 0.99
    every: int = 10
    max_epochs: int = 250
    patience: int = 100
    stopping: str = "loss"
    normalize: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        self._check_motifs("view")
        self._check_each(_CHECKS)
        if self.alpha is not None:
            self._take("alpha", positive("alpha", probability("alpha", self.alpha)))
        one_of("stopping", self.stopping, STOPPING)
        one_of("scope", self.scope, ("edges", "pairs"))
        if self.whole and (self.batch_norm or self.row_norm):
            raise ValueError("whole steps mix after the first layer: they need batch_norm and row_norm off")
