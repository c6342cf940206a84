"""A seed decides the bytes of a model, whatever the number of threads and the order of the edge list."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mcn.data import load_dataset, load_graph, strong_ties
from mcn.train import MCNConfig, train_run
from mcn.train.folder import MODEL, PREDICTIONS
from mcn.train.presets import dataset_config
from tests.nn.graphs import threads

NO_SOURCE = {"dataset": None, "graph": None, "nodes": None}


def _bytes(folder: Path) -> tuple[bytes, bytes]:
    return (folder / MODEL).read_bytes(), (folder / PREDICTIONS).read_bytes()


def test_one_thread_and_two_on_cora(data_root: Path, tmp_path: Path) -> None:
    data = load_dataset("cora", root=data_root)
    config = dataset_config("mcn", "cora").replace(max_epochs=3, seed=5)
    for count in (1, 2):
        with threads(count):
            train_run(tmp_path / str(count), data, config, {"dataset": "cora"})
    assert _bytes(tmp_path / "1") == _bytes(tmp_path / "2")


@pytest.mark.parametrize("attention", ["gated", "probed"])
def test_lines_in_another_order_and_direction(attention: str, tmp_path: Path) -> None:
    data = strong_ties(num_nodes=240, val=60, test=60)
    nodes = tmp_path / "nodes.csv"
    rows = [[number, int(data.y[number]), number % 7, number * 13 % 11] for number in range(240)]
    nodes.write_text("id,label,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    edges = data.edge_index[:, data.edge_index[0] < data.edge_index[1]].T.tolist()
    draw = random.Random(0)
    other = [edge if draw.random() < 0.5 else edge[::-1] for edge in draw.sample(edges, len(edges))]
    found = []
    for name, lines in (("given", edges), ("other", other)):
        path = tmp_path / f"{name}.csv"
        path.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in lines))
        graph = load_graph(path, nodes)
        train_run(tmp_path / name, graph, MCNConfig(attention=attention, max_epochs=3), NO_SOURCE)
        found.append(_bytes(tmp_path / name))
    assert found[0] == found[1]
