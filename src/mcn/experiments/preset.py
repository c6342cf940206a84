"""Presets: named settings for a data set, one YAML file each, and files of the same form by path.

A file holds `description`, `dataset`, `recipe` and `settings`. The settings are fields of the recipe's
configuration (`mcn.train.ViewsConfig` for views, else `mcn.train.Config`) that differ from its defaults.
Without `recipe` it is mcn, or paper where the settings have `attention: paper`. A bare mapping of settings is
a preset as well.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from mcn.experiments._named import find, names
from mcn.train import Config, recipe_of
from mcn.train._settings import one_of
from mcn.train.recipes import RECIPES, AnyConfig, config_from, settings_of

_FIELDS = ("description", "dataset", "recipe", "settings")


@dataclass(frozen=True)
class Preset:
    """Settings with a name; `config` is the defaults with `settings` changed, whatever the data set."""

    name: str
    description: str
    dataset: str | None
    config: AnyConfig
    settings: dict[str, Any]

    @property
    def recipe(self) -> str:
        """How it trains: mcn, paper or views."""
        return recipe_of(self.config)

    @property
    def network(self) -> Config:
        """The configuration, where it is that of a network whose nodes choose.

        Raises:
            ValueError: the preset is of the recipe views.
        """
        if not isinstance(self.config, Config):
            raise ValueError(f"preset {self.name}: expected the recipe mcn or paper, got {self.recipe}")
        return self.config


def presets() -> list[str]:
    """The names of the presets that come with the package."""
    return names("presets")


def load_preset(name_or_path: str | os.PathLike[str]) -> Preset:
    """A preset by its name, or from a YAML file.

    Raises:
        ValueError: there is no such preset (says which was probably meant), or the file is not one.
    """
    return _parse(*find("preset", "presets", name_or_path))


def _parse(name: str, where: str, values: Any) -> Preset:
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise ValueError(f"preset {where}: expected a mapping of names to values")
    if "settings" not in values:
        values = {k: v for k, v in values.items() if k in _FIELDS} | {
            "settings": {k: v for k, v in values.items() if k not in _FIELDS}
        }
    unknown = [key for key in values if key not in _FIELDS]
    if unknown:
        raise ValueError(f"preset {where}: unknown entry {unknown[0]!r}; expected {', '.join(_FIELDS)}")
    settings, dataset = values["settings"] or {}, values.get("dataset")
    if not isinstance(settings, dict):
        raise ValueError(f"preset {where}: settings must be a mapping, got {type(settings).__name__}")
    if dataset is not None and not isinstance(dataset, str):
        raise ValueError(f"preset {where}: dataset must be a name, got {dataset!r}")
    try:
        config = _config(values.get("recipe"), settings)
    except (ValueError, TypeError) as error:
        raise ValueError(f"preset {where}: {error}") from None
    return Preset(name, str(values.get("description") or ""), dataset, config, settings)


def _config(recipe: Any, settings: dict[str, Any]) -> AnyConfig:
    """The configuration of a recipe (None: not told), which its settings must not contradict."""
    if recipe is None:
        strange = [name for name in settings if name not in settings_of("mcn")]
        if strange and strange[0] in settings_of("views"):
            raise ValueError(f"{strange[0]!r} is a setting of the recipe views; add `recipe: views`")
        return Config.from_dict(settings)
    one_of("recipe", recipe, tuple(RECIPES))
    config = config_from(({"attention": "paper"} if recipe == "paper" else {}) | settings, recipe)
    if recipe_of(config) != recipe:
        raise ValueError(
            f"attention: {settings['attention']} is not of the recipe {recipe}; leave out one of them"
        )
    return config
