"""Runs to look at: a real one with two motifs and two steps, and one whose names are hostile."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from torch_geometric.data import Data

from mcn.data import load_dataset, load_graph
from mcn.train import MCNConfig, Run, ViewsConfig, load_run, train_run

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
    train_run(folder, data, MCNConfig(**(QUICK | settings)), source)
    return Trained(folder, data, load_run(folder))


@pytest.fixture(scope="session")
def karate(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Zachary's club, two motifs, two steps, two layers."""
    folder = tmp_path_factory.mktemp("viz") / "karate"
    return train(folder, load_dataset("karate"), {"dataset": "karate"}, motifs=("edge", "triangle"), steps=2)


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
    train_run(folder, data, config, {"dataset": "karate", "graph": None, "nodes": None})
    return Trained(folder, data, load_run(folder))
