"""The settings of boosted trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mcn.train.settings import Settings, at_least, not_negative, setting, share


@dataclass(frozen=True, kw_only=True)
class TreesConfig(Settings):
    """Settings of boosted trees. The defaults had the least validation loss, or nearly so, on six graphs."""

    recipe: ClassVar[str] = "trees"

    lr: float = 0.05
    max_epochs: int = 100
    patience: int = 5
    stopping: str = "loss"
    walk_length: int = setting(
        2, "The longest walk along which features are mixed.", at_least(1, 100), group="graph"
    )
    components: int = setting(
        64, "Components that more than 200 columns of words are reduced to.", at_least(1, 200), group="graph"
    )
    max_leaves: int = setting(31, "Leaves of a tree at most.", at_least(2, 10_000), group="network")
    smallest_leaf: int = setting(
        5,
        "Training nodes in a leaf at least; no more than a tenth of them all.",
        at_least(1),
        group="network",
    )
    leaf_l2: float = setting(10.0, "L2 regularisation of the leaves.", not_negative, group="network")
    column_share: float = setting(
        0.2, "Share of the columns, drawn at random, that a split chooses among.", share, group="network"
    )

    def _agree(self) -> None:
        # What is given to every candidate of a selection may reach trees, which have no layers and no GPU.
        object.__setattr__(self, "num_layers", 1)
        object.__setattr__(self, "device", "cpu")


CONFIGS = {
    TreesConfig: "boosted trees on the columns of a node and of its motif neighbours, and on motif counts",
}
"""The recipes of this folder: their settings, and a sentence on each."""
