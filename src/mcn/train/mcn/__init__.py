"""The recipes `mcn` and `paper`: every node chooses, layer by layer, a motif and a step.

Both train the paper's network. `paper` does it by the paper's rule (eq:att_loss) and with the paper's
settings, `mcn` by a rule of its own unless told otherwise.
"""

from __future__ import annotations

from mcn.train.mcn.config import MCNConfig, PaperConfig
from mcn.train.recipe import Recipe

RECIPE = Recipe(
    "mcn",
    "every node chooses its motif and step; the choices must earn their place on validation nodes",
    MCNConfig,
    "mcn.train.mcn.work",
)
PAPER = Recipe(
    "paper",
    "every node chooses its motif and step, trained by the paper's rule with the paper's settings",
    PaperConfig,
    "mcn.train.mcn.work",
)
