"""`mcn train --preset`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mcn.train import load_preset, load_run
from tests.cli.conftest import Run, refused, write_graph
from tests.configs import MCNConfig, PaperConfig, ViewsConfig


def test_a_preset_by_name_brings_its_data_set(mcn: Run, data_root: Path, tmp_path: Path) -> None:
    done = mcn(
        *("train", "--preset", "cora-paper", "--max-epochs", 2, "--seed", 3),
        *("--data-root", data_root, "--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    assert "GAT" not in done.out
    run = load_run(tmp_path / "run")
    assert run.source["dataset"] == "cora"
    assert run.config == load_preset("cora-paper").config.replace(max_epochs=2, seed=3)


def test_options_and_data_set_win(mcn: Run, tmp_path: Path) -> None:
    done = mcn(
        *("train", "--preset", "citeseer", "--dataset", "karate", "--max-epochs", 2),
        *("--attention", "paper", "--motifs", "edge,2-star", "--steps", 2, "--layers", 3, "--lr", 0.02),
        *("--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    run = load_run(tmp_path / "run")
    assert run.source["dataset"] == "karate"
    assert run.config == MCNConfig(
        **{"motifs": ("edge", "2-star"), "steps": 2, "num_layers": 3, "lr": 0.02, "max_epochs": 2},
        **{"attention": "paper", "stopping": "gat-accuracy", "consistency_ramp": 500},
    )


def test_options_win_over_a_preset_of_the_paper(mcn: Run, tmp_path: Path) -> None:
    done = mcn(
        *("train", "--preset", "citeseer-paper", "--dataset", "karate", "--max-epochs", 2),
        *("--motifs", "edge,2-star", "--layers", 3, "--lr", 0.02, "--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    assert load_run(tmp_path / "run").config == PaperConfig(
        motifs=("edge", "2-star"), steps=2, num_layers=3, lr=0.02, stopping="gat-accuracy", max_epochs=2
    )


def test_a_file_of_settings_and_a_graph_of_one_s_own(mcn: Run, tmp_path: Path) -> None:
    edges, nodes = write_graph(tmp_path)
    wanted = MCNConfig(motifs=("edge", "3-star"), hidden=4, heads=2, max_epochs=2)
    (tmp_path / "best.yaml").write_text(yaml.safe_dump(wanted.to_dict()))
    done = mcn(
        *("train", "--preset", tmp_path / "best.yaml", "--graph", edges, "--nodes", nodes),
        *("--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    assert load_run(tmp_path / "run").config == wanted


def test_a_file_without_a_data_set_means_the_embedded_one(mcn: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("max_epochs: 1\nhidden: 2\nheads: 1\n")
    done = mcn("train", "--preset", tmp_path / "mine.yaml", "--beside", "none", "--out", tmp_path / "run")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == f"folder: {tmp_path / 'run'}"
    assert load_run(tmp_path / "run").source["dataset"] == "strong-ties"


def test_a_preset_of_views(mcn: Run, data_root: Path, tmp_path: Path) -> None:
    done = mcn(
        *("train", "--preset", "cora-views", "--recipe", "views", "--max-epochs", 2, "--seed", 3),
        *("--data-root", data_root, "--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    assert "views" in done.out
    run = load_run(tmp_path / "run")
    assert run.source["dataset"] == "cora"
    assert run.config == load_preset("cora-views").config.replace(max_epochs=2, seed=3)


def test_a_preset_of_views_on_another_graph(mcn: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("recipe: views\nwalk_length: 3\nunlabelled_batch: 10\n")
    done = mcn(
        *("train", "--preset", tmp_path / "mine.yaml", "--dataset", "karate", "--max-epochs", 1),
        *("--motifs", "edge,4-clique", "--layers", 1, "--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    assert load_run(tmp_path / "run").config == ViewsConfig(
        motifs=("edge", "4-clique"), walk_length=3, unlabelled_batch=10, num_layers=1, max_epochs=1
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--preset cora --recipe views",
            "--preset cora has the recipe mcn, --recipe asks for views; leave out one of them, "
            "or use --preset cora-views",
        ),
        ("--preset pubmed-views --recipe mcn", "leave out one of them, or use --preset pubmed"),
        (
            "--preset dd6 --recipe views",
            "--preset dd6 has the recipe mcn, --recipe asks for views; leave out one of them",
        ),
        (
            "--preset cora --recipe vews",
            "--recipe must be one of mcn, paper, views, auto, got 'vews'; did you mean 'views'?",
        ),
        (
            "--preset cora-views --dataset karate --psi transition",
            "psi is a setting of the recipes mcn and paper; the recipe views has none of that name",
        ),
        (
            "--preset cora-paper --recipe paper --dataset karate --attention gated",
            "attention is paper in the recipe paper, got gated; the recipe mcn can change it",
        ),
        (
            "--recipe paper --dataset karate --set features=motifs",
            "features is given in the recipe paper, got motifs; the recipe mcn can change it",
        ),
        (
            "--recipe views --dataset karate --set full_batch=true --set row_norm=true",
            "full_batch mixes after the first layer; it needs batch_norm and row_norm to be false",
        ),
        (
            "--recipe mcn --dataset karate --set walk_length=3",
            "walk_length is a setting of the recipe views; the recipe mcn has none of that name",
        ),
        (
            "--dataset cora --heads 8",
            "heads is a setting of the recipes mcn and paper; the recipe views has none of that name",
        ),
    ],
)
def test_contradictions(
    mcn: Run, words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(mcn("train", *words.split())).endswith(message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("coar", "unknown preset 'coar'; did you mean 'cora'?"),
        ("missing.yaml", "missing.yaml: No such file or directory"),
        ("bad.yaml", "preset bad.yaml: unknown setting 'lerning_rate'"),
    ],
)
def test_wrong_use(
    mcn: Run, name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_text("lerning_rate: 1\n")
    assert message in refused(mcn("train", "--preset", name))
    assert [path.name for path in tmp_path.iterdir()] == ["bad.yaml"]
