"""The recipe `auto`: model selection.

Candidates of several kinds, the network `mcn` among them, are trained one after the other. Held-out nodes
decide whether one of them predicts, a blend of them, or for every node a candidate of its own.
"""

from __future__ import annotations

from mcn.train.recipe import Recipe
from mcn.train.select.config import AutoConfig

RECIPE = Recipe(
    "auto",
    "several candidates, MCN among them; held-out nodes decide which of them predict",
    AutoConfig,
    "mcn.train.select.work",
)
