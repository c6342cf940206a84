"""How to get a run again: the command that trains the same network."""

from __future__ import annotations

import shlex

from mcn.train.presets import dataset_config, default_recipe
from mcn.train.run import Run
from mcn.train.settings import Setting, Settings, declared


def command(run: Run) -> str:
    """Return the command, with every setting that differs from what it would use by itself."""
    words, dataset = ["mcn", "train"], run.source.get("dataset")
    for name in ("dataset", "graph", "nodes"):
        if run.source.get(name) is not None:
            words += [f"--{name}", str(run.source[name])]
    recipe = run.config.recipe
    if recipe != default_recipe(dataset):
        words += ["--recipe", recipe]
    words += ["--motifs", ",".join(run.config.motifs)]
    known, usual = declared(type(run.config)), dataset_config(recipe, dataset)
    usual = usual.replace(motifs=run.config.motifs, seed=run.config.seed)
    changes: dict[str, object] = {}
    # One at a time: a rule of attention, once named, brings other settings along.
    while differing := [name for name in known if _differs(run.config, usual.replace(**changes), name)]:
        changes[differing[0]] = getattr(run.config, differing[0])
    for name, value in changes.items():
        words += _option(known[name], value)
    return shlex.join([*words, "--seed", str(run.config.seed)])


def _differs(config: Settings, other: Settings, name: str) -> bool:
    return bool(getattr(config, name) != getattr(other, name))


def _option(one: Setting, value: object) -> list[str]:
    """Return the words that set a setting on the command line."""
    if one.option is None:
        return ["--set", f"{one.name}={one.show(value)}"]
    if one.kind is bool:
        yes, no = one.option.split("/")
        return [f"--{yes if value else no}"]
    return [f"--{one.option}", one.show(value)]
