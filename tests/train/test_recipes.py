from __future__ import annotations

import pytest
from mcn.train.auto.config import AutoConfig

from mcn.train import MCNConfig, PaperConfig, ViewsConfig
from mcn.train.recipes import RECIPES, all_settings, check_settings, find_recipe, recipe_of, work_of


def test_the_recipes() -> None:
    configs = {"mcn": MCNConfig, "paper": PaperConfig, "views": ViewsConfig, "auto": AutoConfig}
    assert {name: recipe.config for name, recipe in RECIPES.items()} == configs
    assert next(iter(RECIPES)) == "mcn"  # the default
    for name, recipe in RECIPES.items():
        assert recipe.name == recipe.config.recipe == name
        assert recipe_of(recipe.config()) is recipe
        if name != "mcn":
            assert work_of(recipe.config()) is recipe.work
    assert work_of(MCNConfig(attention="gated")) is RECIPES["mcn"].work
    assert work_of(MCNConfig()) is RECIPES["auto"].work  # probes, without a budget
    assert work_of(MCNConfig(motif_attention=False)) is RECIPES["mcn"].work
    for recipe in RECIPES.values():
        for function in ("inputs", "network", "trainer", "predict", "explain"):
            assert callable(getattr(recipe.work, function))


def test_an_unknown_recipe() -> None:
    assert find_recipe("views") is RECIPES["views"]
    with pytest.raises(
        ValueError, match=r"^recipe must be one of mcn, paper, views, auto, got 'view'; did you mean"
    ):
        find_recipe("view")
    with pytest.raises(ValueError, match=r"^--recipe must be one of mcn, paper, views, auto, got 'zzz'"):
        find_recipe("zzz", "--recipe")


def test_settings_of_all_recipes() -> None:
    everywhere = all_settings()
    assert [recipe.name for recipe, _ in everywhere["lr"]] == ["mcn", "paper", "views", "auto"]
    assert [recipe.name for recipe, _ in everywhere["steps"]] == ["mcn", "paper"]
    check_settings(RECIPES["views"], {"walk_length": 3})
    with pytest.raises(
        ValueError, match=r"^steps is a setting of the recipes mcn and paper; the recipe views"
    ):
        check_settings(RECIPES["views"], {"steps": 2})
    with pytest.raises(
        ValueError, match=r"^walk_length is a setting of the recipe views; the recipe mcn has"
    ):
        check_settings(RECIPES["mcn"], {"walk_length": 2})
    with pytest.raises(ValueError, match=r"unknown setting 'stepps'; did you mean 'steps'\?"):
        check_settings(RECIPES["mcn"], {"stepps": 2})


def test_an_option_means_the_same_in_every_recipe() -> None:
    """The command line has one option for it, made from the first recipe that declares it."""
    for name, having in all_settings().items():
        assert len({(one.option, one.kind, one.sentence) for _, one in having}) == 1, name
