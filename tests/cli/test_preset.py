"""`mcn train --preset`."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from mcn.train import load_preset, load_run
from tests.cli.conftest import Run, printed, write_graph
from tests.configs import MCNConfig, PaperConfig, ViewsConfig

OWN = MCNConfig(motifs=("edge", "3-star"), hidden=4, heads=2, max_epochs=1)
OTHER_MOTIFS = "--motifs edge,2-star --layers 3 --lr 0.02"


@pytest.mark.parametrize("name", ["cora-paper", "cora-views"])
def test_a_preset_by_name_brings_its_data_set(mcn: Run, name: str, data_root: Path, tmp_path: Path) -> None:
    preset = load_preset(name)
    words = ["--preset", name, "--recipe", preset.recipe, "--max-epochs", 2, "--seed", 3, "--no-report"]
    text = printed(mcn("train", *words, "--data-root", data_root, "--out", tmp_path / "run"))
    assert preset.recipe in text
    assert "GAT" not in text
    run = load_run(tmp_path / "run")
    assert run.source["dataset"] == "cora"
    assert run.config == preset.config.replace(max_epochs=2, seed=3)


@pytest.mark.parametrize(
    ("words", "dataset", "config"),
    [
        (
            f"--preset citeseer --dataset karate --attention paper --steps 2 {OTHER_MOTIFS}",
            "karate",
            MCNConfig(
                **{"motifs": ("edge", "2-star"), "steps": 2, "num_layers": 3, "lr": 0.02, "max_epochs": 1},
                **{"attention": "paper", "stopping": "gat-accuracy", "consistency_ramp": 500},
            ),
        ),
        (
            f"--preset citeseer-paper --dataset karate {OTHER_MOTIFS}",
            "karate",
            PaperConfig(
                **{"motifs": ("edge", "2-star"), "steps": 2, "num_layers": 3, "lr": 0.02, "max_epochs": 1},
                stopping="gat-accuracy",
            ),
        ),
        (
            "--preset views.yaml --dataset karate --motifs edge,4-clique --layers 1",
            "karate",
            ViewsConfig(
                motifs=("edge", "4-clique"), walk_length=3, unlabelled_batch=10, num_layers=1, max_epochs=1
            ),
        ),
        ("--preset small.yaml", "strong-ties", MCNConfig(hidden=2, heads=1, max_epochs=1)),
        ("--preset whole.yaml --graph edges.csv --nodes nodes.csv", None, OWN),
    ],
    ids=["ours", "of the paper", "of views", "a file without a data set: the embedded one", "one's own"],
)
def test_options_and_data_set_win(mcn: Run, words: str, dataset: Any, config: Any, here: Path) -> None:
    write_graph(here)
    Path("whole.yaml").write_text(yaml.safe_dump(OWN.to_dict()))
    Path("views.yaml").write_text("recipe: views\nwalk_length: 3\nunlabelled_batch: 10\n")
    Path("small.yaml").write_text("hidden: 2\nheads: 1\n")
    printed(mcn("train", *words.split(), "--max-epochs", 1, "--beside", "none", "--out", "run"))
    run = load_run("run")
    assert run.source["dataset"] == dataset
    assert run.config == config
