from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mcn.data import load_dataset
from mcn.experiments import load_preset, presets
from mcn.train import Config, Trainer, build_model, dataset_config, prepare

OURS = ["citeseer", "cora", "dd6", "dd7", "pubmed", "strong-ties"]
PAPER = ["citeseer-paper", "cora-paper", "dd6-paper", "dd7-paper", "pubmed-paper"]


def test_names() -> None:
    assert presets() == sorted(OURS + PAPER)


@pytest.mark.parametrize("name", OURS)
def test_ours_are_the_defaults_of_the_data_set(name: str) -> None:
    preset = load_preset(name)
    assert preset.dataset == name
    assert preset.config == dataset_config(name)


@pytest.mark.parametrize("name", OURS)
def test_ours_hold_only_what_differs_from_the_defaults(name: str) -> None:
    usual = Config().to_dict()
    preset = load_preset(name)
    assert all(preset.config.to_dict()[key] != usual[key] for key in preset.settings)


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
    config = load_preset(name).config
    assert (config.attention, config.epsilon, config.advantage, config.gate) == ("paper", 0.1, "none", False)
    assert {key: getattr(config, key) for key in BEST[name]} == BEST[name]
    if name.startswith("dd"):
        assert (config.hidden * config.heads, config.patience) == (32, 50)
    else:
        assert (config.hidden, config.heads, config.patience) == (8, 8, 100)
        l2, heads = (0.001, 8) if name == "pubmed-paper" else (0.0005, 1)
        assert (config.weight_decay, config.output_heads) == (l2, heads)


@pytest.mark.parametrize("name", sorted(OURS + PAPER))
def test_every_preset_runs_an_epoch(name: str, request: pytest.FixtureRequest) -> None:
    preset = load_preset(name)
    assert preset.dataset is not None
    assert preset.description.endswith(".")
    root = None if preset.dataset == "strong-ties" else request.getfixturevalue("data_root")
    problem = prepare(load_dataset(preset.dataset, root=root, download=False), preset.config)
    epoch = Trainer(build_model(problem, preset.config), problem, preset.config).run_epoch()
    assert 0 <= epoch.val_accuracy <= 1


def test_a_file_of_one_s_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("dataset: karate\nsettings: {motifs: [edge, 4-clique], steps: 2}\n")
    preset = load_preset(file)
    assert (preset.name, preset.dataset, preset.description) == ("mine", "karate", "")
    assert preset.config == Config(motifs=("edge", "4-clique"), steps=2)


def test_a_bare_mapping_of_settings(tmp_path: Path) -> None:
    file = tmp_path / "best.yaml"
    wanted = Config(motifs=("edge", "2-star"), attention="paper", lr=0.05)
    file.write_text(yaml.safe_dump(wanted.to_dict()))
    preset = load_preset(str(file))
    assert preset.dataset is None
    assert preset.config == wanted
    file.write_text("lr: 0.05\ndataset: cora\n")
    assert load_preset(file).config == Config(lr=0.05)
    assert load_preset(file).dataset == "cora"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("settings: {motif: [edge]}", "unknown setting 'motif'; did you mean 'motifs'"),
        ("settings: {lr: fast}", "lr must be"),
        ("settings: [lr]", "settings must be a mapping, got list"),
        (
            "setings: {lr: 0.1}\nsettings: {}",
            "unknown entry 'setings'; expected description, dataset, settings",
        ),
        ("lerning: 1", "unknown setting 'lerning'"),
        ("dataset: 3\nsettings: {}", "dataset must be a name, got 3"),
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
