"""The command that trains a run again."""

from __future__ import annotations

import shlex

from mcn._names import data_words
from mcn.train.presets import dataset_config, default_recipe
from mcn.train.run import Run
from mcn.train.settings import Setting, Settings, declared


def train_command(run: Run) -> str:
    """Return the `mcn train …` of a run, with every setting that differs from what it would use by itself."""
    words, dataset = ["mcn", "train"], run.source.get("dataset")
    for name in ("dataset", "graph", "nodes"):
        if run.source.get(name) is not None:
            words += [f"--{name}", str(run.source[name])]
    words += data_words({k: v for k, v in run.source.items() if k not in ("dataset", "graph", "nodes")})
    recipe = run.config.recipe
    if recipe != default_recipe(dataset):
        words += ["--recipe", recipe]
    if run.config.motifs is not None:
        words += ["--motifs", ",".join(run.config.motifs)]
    usual = dataset_config(recipe, dataset).replace(motifs=run.config.motifs, seed=run.config.seed)
    settings = declared(type(run.config))
    for name, value in _changes(usual, run.config).items():
        words += _option(settings[name], value)
    return shlex.join([*words, "--seed", str(run.config.seed)])


def _changes(usual: Settings, config: Settings) -> dict[str, object]:
    """Return the changes that make `config` of `usual`, none of which can be left out."""
    changes: dict[str, object] = {}
    while (so_far := usual.replace(**changes)) != config:  # a rule of attention brings other settings along
        wanted = {name: getattr(config, name) for name in declared(type(config))}
        changes |= {name: value for name, value in wanted.items() if value != getattr(so_far, name)}
    for name in reversed(list(changes)):
        fewer = {other: value for other, value in changes.items() if other != name}
        changes = fewer if _gives(usual, fewer, config) else changes
    return changes


def _gives(usual: Settings, changes: dict[str, object], config: Settings) -> bool:
    try:
        return usual.replace(**changes) == config
    except ValueError:  # some settings only go together
        return False


def _option(setting: Setting, value: object) -> list[str]:
    """Return the words that set a setting on the command line."""
    if setting.option is None:
        return ["--set", f"{setting.name}={setting.show(value)}"]
    if setting.kind is bool:
        yes, no = setting.option.split("/")
        return [f"--{yes if value else no}"]
    return [f"--{setting.option}", setting.show(value)]
