from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mcn.data import load_dataset
from mcn.experiments import load_preset, presets
from mcn.train import MCNConfig, ViewsConfig, dataset_config, recipe_config
from mcn.train.recipes import make_trainer, prepare_any

OURS = ["citeseer", "cora", "dd6", "dd7", "pubmed", "strong-ties"]
PAPER = ["citeseer-paper", "cora-paper", "dd6-paper", "dd7-paper", "pubmed-paper"]
VIEWS = ["citeseer-views", "cora-views", "pubmed-views"]


def test_names() -> None:
    assert presets() == sorted(OURS + PAPER + VIEWS)


@pytest.mark.parametrize("name", OURS)
def test_ours_are_the_defaults_of_the_data_set(name: str) -> None:
    preset = load_preset(name)
    assert preset.dataset == name
    assert preset.recipe == "mcn"
    assert preset.config == preset.network == dataset_config(name)


@pytest.mark.parametrize("name", OURS)
def test_ours_hold_only_what_differs_from_the_defaults(name: str) -> None:
    usual = MCNConfig().to_dict()
    preset = load_preset(name)
    assert all(preset.config.to_dict()[key] != usual[key] for key in preset.settings)


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_the_settings_of_the_recipe(name: str) -> None:
    preset = load_preset(name)
    assert f"{preset.dataset}-{preset.recipe}" == name
    own, wanted = preset.config.to_dict(), recipe_config("views", preset.dataset).to_dict()
    apart = [key for key in own if own[key] != wanted[key]]
    assert not apart, (
        f"{name}.yaml is no longer what mcn.train.recipes.VIEWS_SETTINGS says; set in the file "
        + (", ".join(f"{key}: {wanted[key]} (is {own[key]})" for key in apart))
    )


def test_views_are_no_network() -> None:
    with pytest.raises(ValueError, match="preset cora-views: expected the recipe mcn or paper, got views"):
        load_preset("cora-views").network  # noqa: B018


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
    assert load_preset(name).recipe == "paper"
    config = load_preset(name).network
    assert (config.attention, config.epsilon, config.advantage, config.gate) == ("paper", 0.1, "none", False)
    assert {key: getattr(config, key) for key in BEST[name]} == BEST[name]
    if name.startswith("dd"):
        assert (config.hidden * config.heads, config.patience) == (32, 50)
    else:
        assert (config.hidden, config.heads, config.patience) == (8, 8, 100)
        l2, heads = (0.001, 8) if name == "pubmed-paper" else (0.0005, 1)
        assert (config.weight_decay, config.output_heads) == (l2, heads)


def test_on_cora_the_recipe_is_the_paper_s_best_setting() -> None:
    assert recipe_config("paper", "cora") == load_preset("cora-paper").config


@pytest.mark.parametrize("name", sorted(OURS + PAPER + VIEWS))
def test_every_preset_runs_an_epoch(name: str, request: pytest.FixtureRequest) -> None:
    preset = load_preset(name)
    assert preset.dataset is not None
    assert preset.description.endswith(".")
    root = None if preset.dataset == "strong-ties" else request.getfixturevalue("data_root")
    problem = prepare_any(load_dataset(preset.dataset, root=root, download=False), preset.config)
    epoch = make_trainer(problem, preset.config).run_epoch()
    assert 0 <= epoch.val_accuracy <= 1


def test_a_file_of_one_s_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("dataset: karate\nsettings: {motifs: [edge, 4-clique], steps: 2}\n")
    preset = load_preset(file)
    assert (preset.name, preset.dataset, preset.description) == ("mine", "karate", "")
    assert preset.config == MCNConfig(motifs=("edge", "4-clique"), steps=2)


def test_a_bare_mapping_of_settings(tmp_path: Path) -> None:
    file = tmp_path / "best.yaml"
    wanted = MCNConfig(motifs=("edge", "2-star"), attention="paper", lr=0.05)
    file.write_text(yaml.safe_dump(wanted.to_dict()))
    preset = load_preset(str(file))
    assert preset.dataset is None
    assert preset.config == wanted
    file.write_text("lr: 0.05\ndataset: cora\n")
    assert load_preset(file).config == MCNConfig(lr=0.05)
    assert load_preset(file).dataset == "cora"


@pytest.mark.parametrize(
    ("content", "recipe", "config"),
    [
        ("settings: {lr: 0.1}", "mcn", MCNConfig(lr=0.1)),
        ("recipe: mcn\nlr: 0.1", "mcn", MCNConfig(lr=0.1)),
        ("recipe: paper\nsettings: {lr: 0.1}", "paper", MCNConfig(attention="paper", lr=0.1)),
        ("recipe: paper\nsettings: {attention: paper}", "paper", MCNConfig(attention="paper")),
        ("attention: paper", "paper", MCNConfig(attention="paper")),
        ("recipe: views\nsettings: {order: 3}", "views", ViewsConfig(order=3)),
        ("recipe: views\norder: 3\nalpha: null", "views", ViewsConfig(order=3, alpha=None)),
        ("recipe: views\nsettings:", "views", ViewsConfig()),
    ],
)
def test_recipes(tmp_path: Path, content: str, recipe: str, config: MCNConfig | ViewsConfig) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content)
    preset = load_preset(file)
    assert (preset.recipe, preset.config) == (recipe, config)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("settings: {motif: [edge]}", "unknown setting 'motif'; did you mean 'motifs'"),
        ("settings: {lr: fast}", "lr must be"),
        ("settings: [lr]", "settings must be a mapping, got list"),
        (
            "setings: {lr: 0.1}\nsettings: {}",
            "unknown entry 'setings'; expected description, dataset, recipe, settings",
        ),
        ("lerning: 1", "unknown setting 'lerning'"),
        ("dataset: 3\nsettings: {}", "dataset must be a name, got 3"),
        (
            "recipe: view\nsettings: {}",
            "recipe must be one of mcn, paper, views, got 'view'; did you mean 'views'?",
        ),
        ("recipe: [views]\nsettings: {}", "recipe must be one of mcn, paper, views, got ['views']"),
        ("recipe: views\nsettings: {steps: 2}", "unknown setting 'steps'"),
        ("recipe: views\nsettings: {lost: 1}", "lost must be a probability below 1, got 1"),
        ("order: 3", "'order' is a setting of the recipe views; add `recipe: views`"),
        ("recipe: paper\nsettings: {attention: gated}", "attention: gated is not of the recipe paper"),
        (
            "recipe: mcn\nsettings: {attention: paper}",
            "attention: paper is not of the recipe mcn; leave out one",
        ),
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
    with pytest.raises(ValueError, match=r"^preset .*bad\.yaml: ") as caught:
        load_preset(file)
    assert message in str(caught.value)


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"unknown preset 'cora-papr'; did you mean 'cora-paper'\?"):
        load_preset("cora-papr")
    with pytest.raises(FileNotFoundError):
        load_preset("nowhere.yaml")
