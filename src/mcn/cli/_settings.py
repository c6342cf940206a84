"""The options of the verbs that train, made from the declarations of the settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn.cli._options import add_options

if TYPE_CHECKING:
    from mcn.train.presets import Preset as NamedSettings
    from mcn.train.settings import Settings

Preset = Annotated[
    str | None,
    typer.Option("--preset", help="Settings by name (cora, cora-paper, cora-views …), or a .yaml file."),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        help="How to train: mcn (nodes choose motifs), paper (the same by the paper's rule and settings), "
        "views (motif views) or auto (the best of several). If not given, the data set's default; auto for "
        "a graph of your own.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The first seed.", min=0)]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting (docs/settings.md); repeatable."),
]


def with_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Give a verb an option for every setting that declares one, and ``--set`` for all others.

    The verb takes what was given as ``**options`` and turns it into settings with `settings_given`.
    """
    from mcn.train.recipes import all_settings

    made: dict[str, tuple[Any, Any]] = {}
    for name, having in all_settings().items():
        one = having[0][1]
        if one.option is not None:
            kind: Any = str if one.kind is tuple else one.kind
            flags = "/".join(f"--{flag}" for flag in one.option.split("/"))
            made[name] = (
                Annotated[kind | None, typer.Option(flags, help=one.sentence + _only(having))],
                None,
            )
    # The settings stand before the options of the verb itself that have to do with its results.
    return add_options(function, made | {"sets": (Sets, None)}, before=("seed", "seeds"))


def _only(having: list[tuple[Any, Any]]) -> str:
    """Say which recipes have a setting, where not all do."""
    from mcn.train.recipes import RECIPES

    named = [recipe.name for recipe, _ in having]
    return "" if len(named) == len(RECIPES) else f" (recipes {' and '.join(named)})"


def settings_given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user's options ask for.

    Raises:
        ValueError: ``--set`` names no setting, or a value is not one of its kind.
    """
    from mcn._names import did_you_mean
    from mcn.train.recipes import all_settings

    everywhere = all_settings()
    texts = {name: value for name, value in options.items() if value is not None and name != "sets"}
    for word in options.get("sets") or []:
        name, equals, value = word.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise ValueError(f"--set {word}: expected NAME=VALUE")
        if name not in everywhere:
            raise ValueError(f"--set {word}: unknown setting {name!r}{did_you_mean(name, everywhere)}")
        if name == "seed":
            raise ValueError(f"--set {word}: use --seed and --seeds")
        if name in texts:
            raise ValueError(f"--set {word}: {name} is given twice")
        texts[name] = value
    return {
        name: everywhere[name][0][1].parse(value) if isinstance(value, str) else value
        for name, value in texts.items()
    }


def read_preset(name: str, recipe: str | None) -> NamedSettings:
    """Return the preset of --preset, which --recipe must not contradict."""
    from mcn.train.presets import load_preset, preset_of
    from mcn.train.recipes import find_recipe

    found = load_preset(name)
    if recipe is not None and recipe != found.recipe:
        find_recipe(recipe, "--recipe")
        other = preset_of(recipe, found.dataset)
        hint = "" if other is None else f", or use --preset {other.name}"
        raise ValueError(
            f"--preset {name} has the recipe {found.recipe}, --recipe asks for {recipe}; leave out one of "
            f"them{hint}"
        )
    return found


def configured(
    recipe: str | None, dataset: str | None, preset: NamedSettings | None, given: dict[str, Any]
) -> Settings:
    """Return the configuration that the user's options ask for; options never change the recipe.

    Args:
        recipe: of --recipe; without it, that of the preset, else the data set's default.
        dataset: by name, or None for a graph of one's own.
        preset: of --preset, if one was named.
        given: see `settings_given`.

    Raises:
        ValueError: there is no such recipe, or it lacks a setting; says which recipe has it.
    """
    from mcn.train.presets import dataset_config, default_recipe
    from mcn.train.recipes import check_settings, find_recipe

    name = recipe or (default_recipe(dataset) if preset is None else preset.recipe)
    found = find_recipe(name, "--recipe")
    check_settings(found, given)
    return dataset_config(name, dataset, **given) if preset is None else preset.config.replace(**given)
