"""The recipe `mcn`: every node chooses, layer by layer, a motif and a step (the paper's network)."""

from __future__ import annotations

from mcn.train.mcn.config import MCNConfig
from mcn.train.recipe import Recipe

RECIPE = Recipe(
    "mcn",
    "every node chooses its motif and step; the choices must earn their place on validation nodes",
    MCNConfig,
    "mcn.train.mcn.work",
)
