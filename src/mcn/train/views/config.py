"""The settings of training with motif views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mcn.train.settings import (
    Settings,
    at_least,
    below_one,
    flag,
    not_negative,
    setting,
    share,
)

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class ViewsConfig(Settings):
    """Settings of `mcn.nn.MotifViews` and its training. The defaults are the best of those tried on Cora."""

    recipe: ClassVar[str] = "views"

    motifs: tuple[str, ...] = ("edge", "triangle", "4-cycle")
    hidden: int = 64
    dropout: float = 0.7
    lr: float = 0.01
    weight_decay: float = 0.001
    consistency: float = 1.5
    consistency_ramp: int = 500
    temperature: float = 0.1
    max_epochs: int = 250
    stopping: str = "loss"
    walk_length: int = setting(
        8, "The longest walk along which features are mixed.", at_least(0, 1000), group="graph"
    )
    stop_probability: float | None = setting(
        None,
        "The chance that a walk stops after each step; walks of all lengths count alike if not given.",
        share,
        group="graph",
    )
    max_neighbours: int = setting(
        64, "Neighbours kept per node and view, the heaviest ones.", at_least(1), group="graph"
    )
    tolerance: float = setting(
        1e-4, "Walks less likely than this are not followed.", not_negative, group="graph"
    )
    symmetric: bool = setting(True, "Hear nodes of high degree less.", flag, group="graph")
    drop_neighbours: float = setting(
        0.5, "Share of its neighbours that a node does not hear in a view.", below_one, group="graph"
    )
    input_dropout: float = setting(0.5, "Dropout of the mixed features.", below_one, group="network")
    batch_norm: bool = setting(False, "Batch normalisation before each layer.", flag, group="network")
    row_norm: bool = setting(False, "Scale mixed features to length 1.", flag, group="network")
    smooth_predictions: bool = setting(
        False,
        "Average the predictions of a node's neighbourhood, in validation and after training.",
        flag,
        group="network",
    )
    full_batch: bool = setting(
        False,
        "Look at all nodes in every step, and drop a neighbour for everyone who hears it; the first layer "
        "then comes before the mixing.",
        flag,
    )
    labelled_batch: int = setting(50, "Training nodes per step.", at_least(1))
    unlabelled_batch: int = setting(100, "Other nodes per step.", at_least(1))
    passes: int = setting(2, "Views drawn of each node in a step.", at_least(1))
    min_confidence: float = setting(
        0.0,
        "Nodes have to agree only if their likeliest class has more than this many times the chance level "
        "1/C; 0 for all nodes.",
        not_negative,
    )
    clip_gradient: float = setting(
        0.0, "Longest gradient; longer ones are shortened, 0 for no limit.", not_negative
    )
    ema_decay: float = setting(
        0.99,
        "Memory of the running mean of the weights, which is what is validated and kept; 0 keeps the weights "
        "themselves.",
        below_one,
    )
    steps_per_epoch: int = setting(
        10, "Steps per epoch; an epoch ends with a look at the validation nodes.", at_least(1)
    )

    def _agree(self) -> None:
        if self.full_batch and (self.batch_norm or self.row_norm):
            raise ValueError(
                "full_batch mixes after the first layer; it needs batch_norm and row_norm to be false"
            )

    @property
    def protocol(self) -> str:
        """Say how training stops, which weights are kept, and how many steps an epoch has."""
        return f"{super().protocol} × {self.steps_per_epoch} steps"


CONFIGS = {
    ViewsConfig: "a perceptron on features mixed along motif random walks, its views made to agree",
}
"""The recipes of this folder: their settings, and a sentence on each."""
