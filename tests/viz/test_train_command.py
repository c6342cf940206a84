import shlex
from dataclasses import replace
from typing import Any

import pytest
import typer

from mcn.cli import _options, train
from mcn.train import load_preset
from mcn.train.presets import dataset_config, default_recipe
from mcn.train.recipes import all_settings
from mcn.train.settings import Settings
from mcn.viz.page_data import train_command
from tests.configs import MCNConfig, PaperConfig, ViewsConfig
from tests.viz.conftest import QUICK, Trained

DATASETS = ["cora", "citeseer", "pubmed", "dd6", "dd7", "strong-ties", "karate", None]


def options(text: str) -> dict[str, list[str]]:
    """The options of a command with their values, in order; a switch has none."""
    words, values = shlex.split(text), {}
    assert words[:2] == ["mcn", "train"]
    for word in words[2:]:
        if word.startswith("--"):
            last = values.setdefault(word, [])
        else:
            last.append(word)
    return values


def asked(text: str) -> tuple[Settings, dict[str, Any]]:
    """The configuration that `mcn train` makes of a command, and its other options."""
    app = typer.Typer()
    app.command()(train.run)
    params = typer.main.get_command(app).make_context("train", shlex.split(text)[2:]).params
    settings = [name for name in [*all_settings(), "sets"] if name in params and name != "seed"]
    known = {name: params.pop(name) for name in settings}
    config = _options.configured(params["recipe"], params["dataset"], None, _options.settings_given(known))
    return config.replace(seed=params["seed"]), params


WANTED = [
    MCNConfig(),
    MCNConfig(attention="paper"),
    MCNConfig(attention="paper", epsilon=0.3, gate=True),  # some of them what the other rule has
    MCNConfig(motifs=("2-star",), steps=3, epsilon=0.2, lr=0.02, stopping="loss", seed=7),
    MCNConfig(materialize=False, policy_lr=1e-05, features="motifs", add_edges=True),
    MCNConfig(consistency=0.25, class_priors="validation", psi_prior="product", self_attention=False),
    PaperConfig(),
    PaperConfig(steps=4, policy_decay=0.0, init_bias=2.5, output_heads=8),
    load_preset("pubmed-paper").config,
    ViewsConfig(),
    ViewsConfig(motifs=("edge", "order=4", "random=1"), batch_norm=True, row_norm=True),
    ViewsConfig(full_batch=True, stop_probability=0.25, smooth_predictions=True, seed=3),
    ViewsConfig(features="both", tolerance=0.0, ema_decay=0.0, symmetric=False, consistency_ramp=0),
    load_preset("citeseer-views").config,
    load_preset("pubmed-views").config.replace(stop_probability=None),
]


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("wanted", WANTED, ids=range(len(WANTED)))
def test_the_command_makes_the_configuration(karate: Trained, dataset: str | None, wanted: Settings) -> None:
    """Typed again, it has every setting of the run, whatever the data set's own settings are."""
    source = {"dataset": dataset, "graph": None if dataset else "my edges.csv", "nodes": None}
    text = train_command(replace(karate.run, config=wanted, source=source))
    config, others = asked(text)
    assert (type(config), config) == (type(wanted), wanted)
    assert (others["dataset"], str(others["graph"])) == (dataset, str(source["graph"]))
    assert ("--recipe" in options(text)) == (wanted.recipe != default_recipe(dataset))


def test_only_what_differs_is_said_and_the_data_sets_own_settings_are_no_surprise(
    karate: Trained, views: Trained
) -> None:
    for recipe in ("mcn", "paper", "views"):
        for dataset in DATASETS[:-1]:
            run = replace(karate.run, config=dataset_config(recipe, dataset), source={"dataset": dataset})
            assert options(train_command(run)).keys() - {"--recipe"} == {"--dataset", "--motifs", "--seed"}
    run = replace(karate.run, config=MCNConfig(attention="paper"), source={"dataset": "karate"})
    assert options(train_command(run)).keys() == {"--dataset", "--motifs", "--attention", "--seed"}
    given = options(train_command(karate.run))
    assert (given["--hidden"], given["--steps"], given["--seed"]) == (["4"], ["2"], ["0"])
    assert (given["--motifs"], given["--set"]) == (["edge,triangle"], ["policy_lr=0.2"])
    # Pubmed's eight output heads come with `--dataset pubmed`; for one's own graph they are said.
    run = replace(karate.run, config=MCNConfig(**QUICK | {"output_heads": 8, "policy_lr": None}))
    assert "output_heads" not in train_command(replace(run, source={"dataset": "pubmed"}))
    text = train_command(replace(run, source={"graph": "edges.csv"}))
    assert options(text)["--set"] == ["output_heads=8"]
    assert " --graph edges.csv " in text
    words = {"dataset": None, "graph": "my edges & more.csv", "nodes": "it's.csv"}  # that a shell would split
    given = options(train_command(replace(karate.run, source=words)))
    assert (given["--graph"], given["--nodes"]) == (["my edges & more.csv"], ["it's.csv"])
    words = shlex.split(train_command(views.run))
    assert words[:6] == ["mcn", "train", "--dataset", "karate", "--recipe", "views"]
    assert words[6:] == [
        *("--motifs", "edge,triangle", "--hidden", "8", "--max-epochs", "3", "--set", "max_neighbours=6"),
        *("--set", "labelled_batch=4", "--set", "unlabelled_batch=10", "--seed", "0"),
    ]
