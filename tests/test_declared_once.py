"""A setting is declared once: a new field of a recipe's settings is everywhere without another edit."""

import runpy
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
import typer
import yaml
from typer.testing import CliRunner

from mcn.cli import _options
from mcn.cli._options import configured, settings_given, with_settings
from mcn.train import RECIPES, Recipe, load_preset, load_run, train
from mcn.train.estimator import NodeClassifier
from mcn.train.settings import at_least, probability, setting
from mcn.viz.page_data import train_command
from tests.configs import ViewsConfig
from tests.conftest import refuses
from tests.train.graphs import small_graph

QUICK: dict[str, Any] = {"walk_length": 2, "max_neighbours": 4, "hidden": 4, "max_epochs": 2}


@dataclass(frozen=True, kw_only=True)
class NewConfig(ViewsConfig):
    """The settings of views and two more, one of them with an option of its own."""

    recipe: ClassVar[str] = "new"

    new_thing: float = setting(0.25, "A new thing.", probability, option="new-thing")
    other_thing: int = setting(3, "Another thing.", at_least(1))


@pytest.fixture(autouse=True)
def new_recipe(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    recipe = Recipe("new", "views with two more settings", NewConfig, RECIPES["views"].home)
    monkeypatch.setitem(RECIPES, "new", recipe)
    return recipe


def verb() -> tuple[typer.Typer, list[NewConfig]]:
    """A command with the options of the settings, and what it was asked for."""
    app, asked = typer.Typer(), []

    def run(
        dataset: str | None = None, recipe: _options.Recipe = None, seed: _options.Seed = 0, **options: Any
    ) -> None:
        asked.append(configured(recipe, dataset, None, settings_given(options)).replace(seed=seed))

    app.command()(with_settings(run))
    return app, asked


def invoke(app: typer.Typer, words: list[str]) -> Any:
    return CliRunner().invoke(app, words, env={"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"})


def test_the_command_line_has_it() -> None:
    app, asked = verb()
    shown = invoke(app, ["--help"])
    assert shown.exit_code == 0
    (line,) = [line for line in shown.output.splitlines() if "--new-thing" in line]
    assert "A new thing. (recipes new)" in line
    assert "--other-thing" not in shown.output
    assert "--set" in shown.output
    done = invoke(app, ["--recipe", "new", "--new-thing", "0.5", "--set", "other_thing=7", "--hidden", "9"])
    assert done.exit_code == 0, done.output
    assert asked == [NewConfig(new_thing=0.5, other_thing=7, hidden=9)]
    wrong = invoke(app, ["--recipe", "views", "--new-thing", "0.5"])
    assert isinstance(wrong.exception, ValueError)
    assert "new_thing is a setting of the recipe new; the recipe views has none" in str(wrong.exception)


def test_an_estimator_has_it(new_recipe: Recipe) -> None:
    class NewClassifier(NodeClassifier, recipe="new"):
        """Views with two more settings."""

    assert NewClassifier().get_params()["new_thing"] == 0.25
    assert "new_thing: A new thing. Default: 0.25." in (NewClassifier.__doc__ or "")
    data = small_graph()
    clf = NewClassifier(**QUICK, new_thing=0.5, other_thing=4, random_state=2).fit(data)
    assert clf.config_ == NewConfig(**QUICK, new_thing=0.5, other_thing=4, seed=2)
    assert clf.predict(data).shape == (90,)
    refuses("other_thing must be an integer of at least 1, got 0", NewClassifier(other_thing=0).fit, data)
    refuses("new_thing must be a probability, got 2", NewConfig, new_thing=2)


def test_the_page_of_settings_and_a_preset_have_it(repository: Path, tmp_path: Path) -> None:
    pages = runpy.run_path(str(repository / "docs" / "site_pages.py"))
    table = pages["Places"]().run(["<!-- settings new -->"])
    rows = {cells[0]: cells[1:] for line in table for cells in [line.split(" | ")]}
    assert rows["| `new_thing`"] == ["`0.25`", "`--new-thing`", "A new thing. |"]
    assert rows["| `other_thing`"] == ["`3`", "`--set`", "Another thing. |"]
    file = tmp_path / "mine.yaml"
    file.write_text("recipe: new\nsettings: {new_thing: 0.125}\n")
    assert load_preset(file).config == NewConfig(new_thing=0.125)


def test_a_run_stores_it_and_says_how_to_repeat_it(tmp_path: Path) -> None:
    data, config = small_graph(), NewConfig(**QUICK, new_thing=0.75, other_thing=7, seed=5)
    run = train(data, config, tmp_path / "run", source={"dataset": "karate", "graph": None, "nodes": None})
    stored = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert stored["recipe"] == "new"
    assert (stored["config"]["new_thing"], stored["config"]["other_thing"]) == (0.75, 7)
    assert load_run(tmp_path / "run").config == config
    words = shlex.split(train_command(run))
    assert words[:2] == ["mcn", "train"]
    assert words[words.index("--new-thing") + 1] == "0.75"
    assert words[words.index("other_thing=7") - 1] == "--set"
    app, asked = verb()
    done = invoke(app, words[2:])
    assert done.exit_code == 0, done.output
    assert asked == [config]
