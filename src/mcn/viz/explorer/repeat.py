"""How to get a run again: the command, and what the command line does not say."""

from __future__ import annotations

import shlex
from typing import Any

from mcn.train import Run, ViewsConfig, best_recipe, recipe_config, recipe_of

_OPTIONS = {
    "steps": "--steps",
    "psi": "--psi",
    "attention": "--attention",
    "hidden": "--hidden",
    "heads": "--heads",
    "num_layers": "--layers",
    "dropout": "--dropout",
    "lr": "--lr",
    "weight_decay": "--weight-decay",
    "max_epochs": "--max-epochs",
    "patience": "--patience",
    "stopping": "--stopping",
    "seed": "--seed",
}


def command(run: Run) -> str:
    """The command that trains the same network, with the options written out.

    Motif views have many settings of which few are options: of those only what departs from the recipe.
    """
    words = ["mcn", "train"]
    for name in ("dataset", "graph", "nodes"):
        if run.source.get(name) is not None:
            words += [f"--{name}", str(run.source[name])]
    if recipe_of(run.config) == "views" or best_recipe(run.source.get("dataset")) == "views":
        words += ["--recipe", recipe_of(run.config)]
    words += ["--motifs", ",".join(run.config.motifs)]
    usual = _usual(run)
    for name, option in _OPTIONS.items():
        value = getattr(run.config, name, None)
        few = isinstance(run.config, ViewsConfig) and name != "seed"
        if value is not None and not (few and value == usual[name]):
            words += [option, str(value)]
    words += ["--normalize" if run.config.normalize else "--raw"]
    return shlex.join(words)


def beyond_the_command(run: Run) -> dict[str, Any]:
    """Settings that no option of the command line sets and that are not what the command would use."""
    shown, usual = {*_OPTIONS, "motifs", "normalize"}, _usual(run)
    own = run.config.to_dict().items()
    return {name: value for name, value in own if name not in shown and usual[name] != value}


def _usual(run: Run) -> dict[str, Any]:
    """What the command uses where it is not told otherwise."""
    rule = {} if isinstance(run.config, ViewsConfig) else {"attention": run.config.attention}
    return recipe_config(recipe_of(run.config), run.source.get("dataset"), **rule).to_dict()
