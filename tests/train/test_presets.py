"""Presets: the settings of a data set, one file each, and files of one's own."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from mcn.data import load_dataset
from mcn.train import RECIPES, load_preset
from mcn.train.mcn.config import ATTENTION
from mcn.train.presets import dataset_config, default_recipe, preset_of, presets
from tests.conftest import refuses
from tests.train.graphs import new_trainer, settings

OURS = ["citeseer", "cora", "dd6", "dd7", "karate", "pubmed", "strong-ties"]
PAPER = ["citeseer-paper", "cora-paper", "dd6-paper", "dd7-paper", "pubmed-paper"]
TIES = ["strong-ties-paper"]
VIEWS = ["citeseer-views", "cora-views", "pubmed-views"]
ALL = sorted(OURS + PAPER + TIES + VIEWS)


@pytest.mark.parametrize("name", ALL)
def test_each_is_named_after_data_set_and_recipe_and_holds_only_what_is_told(name: str) -> None:
    """Our own hold only what differs from the defaults; the paper's also say what they share with GAT."""
    preset = load_preset(name)
    assert name == (preset.dataset if preset.recipe == "mcn" else f"{preset.dataset}-{preset.recipe}")
    assert preset.description.endswith(".")
    assert preset_of(preset.recipe, preset.dataset) == preset
    assert preset.config == dataset_config(preset.recipe, preset.dataset)
    assert type(preset.config) is RECIPES[preset.recipe].config
    usual = RECIPES[preset.recipe].config().to_dict()
    assert set(preset.settings) <= set(usual)
    if name not in PAPER:
        assert all(preset.config.to_dict()[key] != usual[key] for key in preset.settings)


def test_recipes_have_settings_by_data_set_and_one_is_its_default() -> None:
    assert dataset_config("views", "pubmed").to_dict()["labelled_batch"] == 5
    assert dataset_config("views", "pubmed", labelled_batch=7).to_dict()["labelled_batch"] == 7
    assert dataset_config("views", None) == settings("views")
    assert dataset_config("paper", "cora").to_dict()["attention"] == "paper"
    assert dataset_config("mcn", None) == dataset_config("mcn", "karate") == settings("mcn")
    assert preset_of("mcn", "texas") is None
    assert preset_of("mcn", None) is None
    assert presets() == ALL
    for dataset in ("cora", "citeseer", "pubmed"):
        assert default_recipe(dataset) == "views"
    for other in ("dd6", "dd7", "strong-ties", "karate"):
        assert default_recipe(other) == "mcn"
    for unknown in ("texas", None):
        assert default_recipe(unknown) == "auto"
    defaults = [load_preset(name).dataset for name in ALL if load_preset(name).default]
    assert len(defaults) == len(set(defaults))
    assert dataset_config("mcn", "citeseer").stopping == "gat-accuracy"
    assert dataset_config("paper", "citeseer").stopping == "gat-accuracy"
    pubmed: Any = dataset_config("mcn", "pubmed", steps=2)
    assert (pubmed.output_heads, pubmed.lr, pubmed.weight_decay, pubmed.steps) == (8, 0.01, 0.001, 2)
    assert dataset_config("mcn", "pubmed", lr=0.5).lr == 0.5
    ties = dataset_config("mcn", "strong-ties", attention="paper", lr=0.01)  # where no more than that differs
    assert dataset_config("paper", "strong-ties").to_dict() == ties.to_dict()


@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed", "dd6", "dd7", "strong-ties"])
def test_the_paper_s_rule_is_the_paper_s_on_every_data_set(dataset: str) -> None:
    for config in (dataset_config("mcn", dataset, attention="paper"), dataset_config("paper", dataset)):
        assert {name: getattr(config, name) for name in ATTENTION["paper"]} == ATTENTION["paper"]
    assert dataset_config("mcn", dataset, attention="paper", consistency=0.5).consistency == 0.5


# The values of the paper's text (tab:acc, tab:DD and the paragraphs around them).
BEST = {
    "cora-paper": {"lr": 0.005, "dropout": 0.6, "motifs": ("edge", "triangle"), "steps": 1},
    "citeseer-paper": {"lr": 0.05, "dropout": 0.6, "motifs": ("edge",), "steps": 2},
    "pubmed-paper": {"lr": 0.05, "dropout": 0.5, "motifs": ("edge", "triangle"), "steps": 1},
    "dd6-paper": {"motifs": ("edge", "2-star", "triangle", "3-star", "4-cycle", "4-clique"), "steps": 1},
    "dd7-paper": {"motifs": ("edge", "triangle", "4-clique"), "steps": 4},
}


@pytest.mark.parametrize("name", PAPER)
def test_the_paper_s_best_settings(name: str) -> None:
    """Beside all that the paper states they are in tests/baselines, where the method of that name is."""
    assert load_preset(name).recipe == "paper"
    config: Any = load_preset(name).config
    assert (config.attention, config.epsilon, config.advantage, config.gate) == ("paper", 0.1, "none", False)
    assert {key: getattr(config, key) for key in BEST[name]} == BEST[name]
    if name.startswith("dd"):
        assert (config.hidden, config.heads, config.patience) == (32, 1, 50)
    else:
        assert (config.hidden, config.heads, config.patience) == (8, 8, 100)
        l2, heads = (0.001, 8) if name == "pubmed-paper" else (0.0005, 1)
        assert (config.weight_decay, config.output_heads) == (l2, heads)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in VIEWS[::2] else []) for name in ALL]
)
def test_every_preset_runs_an_epoch(name: str, request: pytest.FixtureRequest) -> None:
    preset = load_preset(name)
    root = None if preset.dataset == "strong-ties" else request.getfixturevalue("data_root")
    epoch = new_trainer(load_dataset(preset.dataset, root=root, download=False), preset.config).run_epoch()
    assert 0 <= epoch.val_accuracy <= 1


RECIPE = "recipe must be one of mcn, paper, views, trees, auto"
ENTRIES = "description, dataset, recipe, settings"


def test_files_of_one_s_own_and_unknown_names(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    wanted = settings("mcn", motifs=("edge", "4-clique"), attention="paper", lr=0.05)
    file.write_text("dataset: karate\nsettings: {motifs: [edge, 4-clique], attention: paper, lr: 0.05}\n")
    preset = load_preset(file)
    assert (preset.name, preset.dataset, preset.description) == ("mine", "karate", "")
    assert preset.config == wanted
    file.write_text(yaml.safe_dump(wanted.to_dict()))  # a bare mapping
    assert (load_preset(str(file)).dataset, load_preset(str(file)).config) == (None, wanted)
    file.write_text("lr: 0.05\ndataset: cora\n")
    assert (load_preset(file).dataset, load_preset(file).config) == ("cora", settings("mcn", lr=0.05))
    refuses(r"unknown preset 'cora-papr'; did you mean 'cora-paper'\?", load_preset, "cora-papr")
    with pytest.raises(FileNotFoundError):
        load_preset("nowhere.yaml")


@pytest.mark.parametrize(
    ("content", "recipe", "config"),
    [
        ("settings: {lr: 0.1}", "mcn", settings("mcn", lr=0.1)),
        ("recipe: paper\nsettings: {lr: 0.1}", "paper", settings("paper", lr=0.1)),
        ("attention: paper", "mcn", settings("mcn", attention="paper")),
        ("recipe: mcn\nsettings: {attention: paper}", "mcn", settings("mcn", attention="paper")),
        ("recipe: views\nsettings: {walk_length: 3}", "views", settings("views", walk_length=3)),
        ("recipe: views\nsettings:", "views", settings("views")),
    ],
)
def test_recipes(tmp_path: Path, content: str, recipe: str, config: Any) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content)
    preset = load_preset(file)
    assert (preset.recipe, preset.config) == (recipe, config)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("settings: {motif: [edge]}", "unknown setting 'motif'; did you mean 'motifs'"),
        ("settings: {lr: fast}", "lr must be"),
        ("settings: [lr]", "settings must be named values, got"),
        ("setings: {}\nsettings: {}", f"unknown entry 'setings'; expected {ENTRIES}"),
        ("lerning: 1", "unknown setting 'lerning'"),
        ("dataset: 3\nsettings: {}", "dataset must be a name, got 3"),
        ("recipe: view\nsettings: {}", f"{RECIPE}, got 'view'; did you mean 'views'?"),
        ("recipe: [views]\nsettings: {}", f"{RECIPE}, got ['views']"),
        ("recipe: views\nsettings: {steps: 2}", "unknown setting 'steps'"),
        ("walk_length: 3", "'walk_length' is a setting of the recipe views; add `recipe: views`"),
        ("recipe: paper\nsettings: {attention: gated}", "attention is paper in the recipe paper, got gated"),
        ("default: sometimes\nsettings: {}", "default must be true or false, got 'sometimes'"),
        ("- lr", "expected a mapping"),
        ("", "expected a mapping"),
        ("a: [", "not YAML"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
        ("\x00", "not YAML"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(content)
    assert message in refuses(r"^preset .*bad\.yaml: ", load_preset, file)
