"""All recipes; a new one is a folder beside these and a name in this list."""

from __future__ import annotations

from mcn._names import did_you_mean, one_of
from mcn.data.limits import told
from mcn.train import mcn, select, views
from mcn.train.recipe import Recipe, Work
from mcn.train.settings import Setting, Settings, declared

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe for recipe in (mcn.RECIPE, mcn.PAPER, views.RECIPE, select.RECIPE)
}
"""Every recipe by its name; the first one is the default."""


def find_recipe(name: str, what: str = "recipe") -> Recipe:
    """Return the recipe of this name; `what` is how an error calls it.

    Raises:
        ValueError: there is none; says which was probably meant.
    """
    one_of(what, name, RECIPES)
    return RECIPES[name]


def work_of(config: Settings) -> Work:
    """Return the functions of the recipe that a configuration belongs to."""
    return RECIPES[config.recipe].work


def all_settings() -> dict[str, list[tuple[Recipe, Setting]]]:
    """Return the settings of all recipes by name, each with the recipes that have it."""
    settings: dict[str, list[tuple[Recipe, Setting]]] = {}
    for recipe in RECIPES.values():
        for name, setting in declared(recipe.config).items():
            settings.setdefault(name, []).append((recipe, setting))
    return settings


def check_settings(recipe: Recipe, given: dict[str, object]) -> None:
    """Refuse a setting that a recipe lacks.

    Raises:
        ValueError: says which recipes have it, or that none does and which was probably meant.
    """
    everywhere = all_settings()
    for name in given:
        if name not in everywhere:
            raise ValueError(f"unknown setting {told(name)}{did_you_mean(name, everywhere)}")
        having = [owner.name for owner, _ in everywhere[name]]
        if recipe.name not in having:
            raise ValueError(
                f"{name} is a setting of the recipe{'s' if len(having) > 1 else ''} {' and '.join(having)}; "
                f"the recipe {recipe.name} has none of that name"
            )
