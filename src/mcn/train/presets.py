"""Presets: named settings for a data set, one YAML file each, and files of the same form by path.

They are the only place with settings per data set. A file holds `description`, `dataset`, `recipe`,
`settings` and `default`. The settings are fields of the recipe's configuration that differ from its defaults.
Without `recipe` it is mcn. `default: true` makes its recipe the one
that the data set is trained with unless told otherwise. A bare mapping of settings is a preset as well.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphmotifs._messages import told
from mcn._yaml import find, names
from mcn.data.fields import check_fields
from mcn.train.recipes import RECIPES, all_settings, find_recipe
from mcn.train.settings import Settings

_FIELDS = ("description", "dataset", "recipe", "settings", "default")
_PACKAGE, _FOLDER = "mcn.train", "presets"
_USUAL = next(iter(RECIPES))
_ELSEWHERE = "auto"


@dataclass(frozen=True)
class Preset:
    """Settings with a name; `config` is the recipe's defaults with `settings` changed."""

    name: str
    description: str
    dataset: str | None
    config: Settings
    settings: dict[str, Any]
    default: bool = False

    @property
    def recipe(self) -> str:
        """The name of its recipe."""
        return self.config.recipe


def presets() -> list[str]:
    """Return the names of the presets that come with the package."""
    return names(_PACKAGE, _FOLDER)


def load_preset(name_or_path: str | os.PathLike[str]) -> Preset:
    """Return a preset by its name, or from a YAML file.

    Raises:
        ValueError: there is no such preset (says which was probably meant), or the file is not one.
    """
    return _parse(*find("preset", _PACKAGE, _FOLDER, name_or_path))


@cache
def preset_of(recipe: str, dataset: str | None) -> Preset | None:
    """Return the package's preset of a recipe for a data set (None: a graph of one's own), if there is one.

    It is named after the data set, with the recipe behind it unless that is mcn.
    """
    name = f"{dataset}" if recipe == _USUAL else f"{dataset}-{recipe}"
    return load_preset(name) if dataset is not None and name in presets() else None


def default_recipe(dataset: str | None) -> str:
    """Return the name of the recipe to use unless told otherwise.

    It is that of the data set's default preset, else of its first preset; without one, as for a graph of
    one's own, the recipe that tries several.
    """
    found = [recipe for recipe in RECIPES if preset_of(recipe, dataset) is not None]
    named = [recipe for recipe in found if (own := preset_of(recipe, dataset)) and own.default]
    return (named or found or [_ELSEWHERE])[0]


def dataset_config(recipe: str, dataset: str | None, **changes: Any) -> Settings:
    """Return the configuration of a recipe for a data set: its preset if there is one, with changes."""
    config, own = find_recipe(recipe).config, preset_of(recipe, dataset)
    return (config() if own is None else own.config).replace(**changes)


def _parse(name: str, where: str, values: Any) -> Preset:
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise ValueError(f"preset {where}: expected a mapping of names to values")
    if "settings" not in values:
        values = {k: v for k, v in values.items() if k in _FIELDS} | {
            "settings": {k: v for k, v in values.items() if k not in _FIELDS}
        }
    unknown = [key for key in values if key not in _FIELDS]
    if unknown:
        raise ValueError(f"preset {where}: unknown entry {told(unknown[0])}; expected {', '.join(_FIELDS)}")
    settings, dataset, default = values["settings"] or {}, values.get("dataset"), values.get("default", False)
    try:
        check_fields(
            values, {"settings": ({str: object}, None), "dataset": (str, None), "default": (bool, None)}
        )
        config = _config(values.get("recipe"), settings)
    except (ValueError, TypeError) as error:
        raise ValueError(f"preset {where}: {error}") from None
    return Preset(name, str(values.get("description") or ""), dataset, config, settings, default)


def _config(recipe_name: Any, settings: dict[str, Any]) -> Settings:
    """Build the configuration of a recipe (None: not told, which is mcn)."""
    if recipe_name is not None:
        return find_recipe(recipe_name).config.from_dict(settings)
    everywhere = [pair for pairs in all_settings().values() for pair in pairs]
    for name in settings:
        having = [recipe.name for recipe, one in everywhere if name == one.name]
        if having and _USUAL not in having:
            raise ValueError(f"{name!r} is a setting of the recipe {having[0]}; add `recipe: {having[0]}`")
    return RECIPES[_USUAL].config.from_dict(settings)
