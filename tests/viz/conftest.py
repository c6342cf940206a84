"""Runs to look at: with two motifs and two steps, with hostile names, with views, and with candidates."""

import csv
import json
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from torch_geometric.data import Data

from mcn.data import load_dataset, load_graph
from mcn.matrices import Rows
from mcn.train import Run, load_run
from mcn.train import train as train_run
from mcn.train.folder import extend_summary
from mcn.train.predictions import Explained, Option, Predictions
from mcn.train.tasks import Classes
from mcn.viz import Explanation, explain
from tests.configs import MCNConfig, ViewsConfig

QUICK = {"hidden": 4, "heads": 3, "max_epochs": 8, "attention": "paper", "policy_lr": 0.2}

HOSTILE = [
    "<script>document.title = 'taken'</script>",
    "</script><img src=x onerror=\"document.title = 'taken'\">",
    'it\'s "quoted" & <b>bold</b>',
    "🧬👩‍🔬 Zoë\u202e",
    "{{script}} ${x} `y`",
    "long " * 2000,
    "]]><!-- \\u003c/script>",
    "__proto__",
]


class Trained(NamedTuple):
    folder: Path
    data: Data
    run: Run


def train(folder: Path, data: Data, source: dict[str, Any] | None = None, **settings: Any) -> Trained:
    source = {"dataset": None, "graph": None, "nodes": None} | (source or {})
    train_run(data, MCNConfig(**(QUICK | settings)), folder, source=source)
    return Trained(folder, data, load_run(folder))


@pytest.fixture(scope="session")
def karate(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Zachary's club, two motifs, two steps, two layers."""
    folder = tmp_path_factory.mktemp("viz") / "karate"
    return train(folder, load_dataset("karate"), {"dataset": "karate"}, motifs=("edge", "triangle"), steps=2)


@pytest.fixture(scope="session")
def found(karate: Trained) -> Explanation:
    return explain(karate.run, karate.data)


def hostile_files(folder: Path) -> tuple[Path, Path]:
    """A graph whose ids and classes are markup, quotes, emoji and 10,000 characters long."""
    ids = [*HOSTILE, *(f"plain {i}" for i in range(12))]
    pairs = [(i, (i + 1) % len(ids)) for i in range(len(ids))] + [(0, i) for i in range(2, 15)]
    with (folder / "edges.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("source", "target"), *((ids[u], ids[v]) for u, v in pairs)])
    part = ["train", "val", "test", "train", "val"]
    rows = [(name, HOSTILE[i % 2], part[i % 5], i % 2 + i / 10, i) for i, name in enumerate(ids)]
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "label", "split", "<i>size", "b"), *rows])
    return folder / "edges.csv", folder / "nodes.csv"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("viz")
    edges, nodes = hostile_files(folder)
    source = {"graph": "<svg onload=alert(1)>.csv", "nodes": "'\";.csv"}
    return train(folder / "run", load_graph(edges, nodes=nodes), source)


@pytest.fixture(scope="session")
def views(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Zachary's club by motif views, of which a node hears at most six nodes."""
    folder, data = tmp_path_factory.mktemp("viz") / "views", load_dataset("karate")
    config = ViewsConfig(
        **{"motifs": ("edge", "triangle"), "max_neighbours": 6, "hidden": 8, "max_epochs": 3},
        **{"labelled_batch": 4, "unlabelled_batch": 10},
    )
    train_run(data, config, folder, source={"dataset": "karate", "graph": None, "nodes": None})
    return Trained(folder, data, load_run(folder))


CANDIDATES = ("mlp", "gcn", "triangle")
BLEND = {"mlp": 0.25, "triangle": 0.75}


class CandidateRun(Run):
    """A run of candidates, each of which hears itself alone and has a class that it prefers.

    The second is the winner; where a single one predicts, or a blend, every node is said to have it.
    """

    def explain(self, data: Data) -> Explained:
        """Say what the candidates predict."""
        size, choosing = data.num_nodes, self.summary["choosing"]
        names = (CANDIDATES[0], choosing["winner"], CANDIDATES[2])
        alone = Rows(np.arange(size + 1), np.arange(size, dtype=np.int32), np.ones(size, np.float32))
        preferred = [np.tile(np.float32([p, 1 - p]), (size, 1)) for p in (0.9, 0.7, 0.2)]
        options = [
            Option(name, 1, alone, [alone.values] * 2, probabilities)
            for name, probabilities in zip(names, preferred, strict=True)
        ]
        none = np.zeros((size, 0), np.int64)
        probabilities = preferred[1]
        own = Predictions(probabilities, none, none, task=Classes(2), candidate=choosing["winner"])
        return Explained("candidates", own, 1, True, [], [], iter(options))


def candidate_run(karate: Trained, folder: Path, mode: str, **changes: Any) -> CandidateRun:
    """A copy of a run that says of itself that candidates were tried; two runs each, of three epochs."""
    shutil.copytree(karate.folder, folder)
    rows = [
        {"candidate": name, "runs": 2, "score": 0.9 - behind, "behind": behind, "behind_error": error}
        for name, behind, error in (("gcn", 0.0, None), ("triangle", 0.1, 0.025), ("mlp", 0.2, None))
    ]
    tried = [{"candidate": name, "best_epoch": 2 + run} for run in (0, 1) for name in CANDIDATES]
    summary = karate.run.summary | {
        "candidates": [row | {"seconds_per_run": 1.0} for row in rows],
        "candidate_runs": tried,
        "choosing": {"mode": mode, "winner": "gcn", "blend": BLEND},
        **changes,
    }
    epochs = [
        {"candidate": run["candidate"], "run": number // 3, "epoch": 3 * number + epoch + 1}
        | dict.fromkeys(("train_loss", "val_loss", "train_accuracy", "val_accuracy"), number + epoch / 10)
        for number, run in enumerate(tried)
        for epoch in range(3)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in epochs))
    extend_summary(folder, summary, {})
    loaded = load_run(folder)
    return CandidateRun(**{field.name: getattr(loaded, field.name) for field in fields(Run)})
