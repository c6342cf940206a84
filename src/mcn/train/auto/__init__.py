"""The recipe `auto`: a few cheap candidates under one budget of time, the best on held-out nodes kept."""

from __future__ import annotations

from mcn.train.auto.config import AutoConfig
from mcn.train.recipe import Recipe

RECIPE = Recipe(
    "auto",
    "a few candidates within a budget of minutes; the best on validation nodes is kept",
    AutoConfig,
    "mcn.train.probes.work",
)
