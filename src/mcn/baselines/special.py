"""The recipes and the special cases of MCN as methods."""

from __future__ import annotations

from mcn.baselines.registry import TrainedMethod, add
from mcn.train.mcn.special import CHANGES, PAPER_CHANGES, TITLES
from mcn.train.recipes import RECIPES

for _name, _recipe in RECIPES.items():
    # In 0.1.0 the recipe paper ran as mcn with another rule of attention.
    add(TrainedMethod(_name, _recipe.title, (), _name, {}, "mcn" if _name == "paper" else ""))
for _name, _changes in CHANGES.items():
    add(TrainedMethod(_name, TITLES[_name], (), "mcn", _changes))
for _name, _changes in PAPER_CHANGES.items():
    _title = f"{TITLES[_name.removesuffix('-paper')]}; with the paper's settings for MCN"
    add(TrainedMethod(_name, _title, (), "paper", _changes))
