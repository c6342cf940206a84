"""The recipe `views`: a perceptron on features mixed along motif random walks."""

from __future__ import annotations

from mcn.train.recipe import Recipe
from mcn.train.views.config import ViewsConfig

RECIPE = Recipe(
    "views",
    "a perceptron on features mixed along motif random walks, its views made to agree",
    ViewsConfig,
    "mcn.train.views.work",
)
