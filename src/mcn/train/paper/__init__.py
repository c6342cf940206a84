"""The recipe `paper`: nodes that choose, trained by the paper's rule with the paper's settings.

The network, its trainer and its explanation are those of the recipe `mcn`. What is fixed is the rule of
attention (eq:att_loss) and what the paper keeps out of the prediction: motif counts are no input features,
class priors are not corrected, two passes need not agree. The presets that end in -paper hold the paper's
best setting of each data set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mcn.train.mcn.config import ATTENTION, MCNConfig
from mcn.train.recipe import Recipe

_FIXED: dict[str, Any] = {"features": "given", "class_priors": "none", "attention": "paper"}
_FIXED |= ATTENTION["paper"]


@dataclass(frozen=True, kw_only=True)
class PaperConfig(MCNConfig):
    """Settings of a network trained as the paper says; those that the paper fixes cannot be changed."""

    recipe: ClassVar[str] = "paper"

    attention: str = "paper"

    def _agree(self) -> None:
        super()._agree()
        for name, value in _FIXED.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} is {value} in the recipe paper, got {getattr(self, name)}; the recipe mcn can "
                    "change it"
                )


RECIPE = Recipe(
    "paper",
    "every node chooses its motif and step, trained by the paper's rule with the paper's settings",
    PaperConfig,
    "mcn.train.mcn.work",
)
