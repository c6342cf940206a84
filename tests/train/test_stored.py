"""Runs that version 0.1.0 wrote: they load, predict the same, and go on where they were left.

Each was made with `mcn train --dataset karate`; those in `interrupted` were ended before their time.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from torch_geometric.data import Data

from mcn.data import load_dataset
from mcn.train import MCNConfig, PaperConfig, ViewsConfig, load_run, train_run
from mcn.train.predictions import predictions_csv

STORED = Path(__file__).parent / "stored" / "0.1.0"
CONFIGS = {
    "mcn": MCNConfig(attention="gated", hidden=2, heads=2, max_epochs=12),
    "paper": PaperConfig(hidden=2, heads=2, max_epochs=12),
    "views": ViewsConfig(max_epochs=4),
}
SOURCE = {"dataset": "karate", "graph": None, "nodes": None}


@pytest.fixture(scope="module")
def karate() -> Data:
    return load_dataset("karate")


@pytest.fixture(params=sorted(CONFIGS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED / name, tmp_path / name))


def test_it_loads(name: str, folder: Path) -> None:
    run = load_run(folder)
    assert run.config == CONFIGS[name]
    assert type(run.config) is type(CONFIGS[name])
    assert run.source == SOURCE
    assert run.summary["versions"]["mcn"] == "0.1.0"


def test_it_predicts_the_same(folder: Path, karate: Data) -> None:
    run = load_run(folder)
    assert run.is_about(karate)
    again = predictions_csv(karate, run.predict(karate))
    assert again.encode() == (folder / "predictions.csv").read_bytes()
    assert run.predict(karate).shares() == run.summary["motif_share"]


def test_it_explains_what_it_predicted(folder: Path, karate: Data) -> None:
    found = load_run(folder).explain(karate)
    assert predictions_csv(karate, found.predictions).encode() == (folder / "predictions.csv").read_bytes()


def test_resuming_a_finished_run_returns_it(name: str, folder: Path, karate: Data) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run = train_run(folder, karate, CONFIGS[name], SOURCE, resume=True)
    assert run.summary == json.loads(before["summary.json"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with pytest.raises(ValueError, match=r"the run there was started with lr = 0\.0\d+, now it is 0\.5"):
        train_run(folder, karate, CONFIGS[name].replace(lr=0.5), SOURCE, resume=True)


@pytest.mark.parametrize("name", ["mcn", "views"])
def test_an_interrupted_run_ends_as_if_it_had_been_left_alone(
    name: str, tmp_path: Path, karate: Data
) -> None:
    folder = Path(shutil.copytree(STORED / "interrupted" / name, tmp_path / name))
    train_run(folder, karate, CONFIGS[name], SOURCE, resume=True)
    assert (folder / "predictions.csv").read_bytes() == (STORED / name / "predictions.csv").read_bytes()
    lines, wanted = (
        [json.loads(line)["epoch"] for line in (where / "metrics.jsonl").read_text().splitlines()]
        for where in (folder, STORED / name)
    )
    assert lines == wanted
    assert yaml.safe_load((folder / "config.yaml").read_text())["config"] == CONFIGS[name].to_dict()


def test_settings_beside_the_paper_s_rule_make_a_run_of_mcn(tmp_path: Path, karate: Data) -> None:
    """In 0.1.0 the recipe paper was a rule of attention, and could stand beside any other setting."""
    folder = Path(shutil.copytree(STORED / "paper", tmp_path / "paper"))
    content = yaml.safe_load((folder / "config.yaml").read_text())
    content["config"] |= {"priors": "validation", "epsilon": 0.2}
    (folder / "config.yaml").write_text(yaml.safe_dump(content))
    config = load_run(folder).config
    assert config == MCNConfig(**{**CONFIGS["paper"].to_dict(), "class_priors": "validation", "epsilon": 0.2})
    assert config.recipe == "mcn"
