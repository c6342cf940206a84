"""The stages of `benchmarks/scale.py` that train and predict: one process each, or two by torchrun."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from epoch import peak_bytes, pyg_epoch

import mcn
from mcn.nn._parallel import one_torch_thread
from mcn.train import RECIPES, prepare
from mcn.train.processes import joined
from mcn.train.recipes import work_of

MCNConfig: Any = RECIPES["mcn"].config

MOTIFS = ("edge", "triangle")
BATCH, NEIGHBOURS = 1024, (10, 10)
SETTINGS: dict[str, Any] = {"attention": "gated", "motifs": MOTIFS, "consistency": 0.0, "lr": 0.01}


def settings(batch: int | None) -> Any:
    batched: dict[str, Any] = {} if batch is None else {"batch_size": batch, "neighbours": NEIGHBOURS}
    return MCNConfig(**SETTINGS, **batched)


def one_epoch(graph: Any, config: Any, counts: Any = None) -> dict[str, Any]:
    """Prepare, then train for an epoch and validate; the first step is of the same kind as all others."""
    began = time.perf_counter()
    problem = prepare(graph, config, counts)
    trainer = work_of(config).trainer(problem, config)
    prepared = time.perf_counter() - began
    began = time.perf_counter()
    with one_torch_thread():
        trainer.run_epoch()
    return {"seconds": time.perf_counter() - began, "prepare": prepared, "trained": len(problem.train)}


def batches(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    """An epoch in mini-batches, the graph on disk; of several processes each has its share of a batch."""
    store = mcn.GraphStore.open(path)
    with joined() as team:
        row = one_epoch(store, settings(BATCH // team.size))
        (memory_of_all,) = team.sum(float(peak_bytes()))
    return row | {"edges": store.num_edges, "peak": int(memory_of_all), "speaks": team.leads}


def full_batch(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    """An epoch on the whole graph in memory."""
    store = mcn.GraphStore.open(path)
    counts = mcn.count_motifs(store)  # of all motifs: nodes in memory know their numbers of each
    return one_epoch(store.to_data(), settings(None), counts) | {"edges": store.num_edges}


def predict(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    """Exact predictions of all nodes, layer by layer, with the graph on disk; any weights take as long."""
    store, config = mcn.GraphStore.open(path), settings(BATCH)
    work = work_of(config)
    problem = prepare(store, config)
    model = work.trainer(problem, config).model
    began = time.perf_counter()
    with one_torch_thread():
        found = work.predict(model, problem.inputs, problem.task)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "edges": store.num_edges, "predicted": len(found.labels)}


def gat(path: Path, kind: str, edges: int, memory: int) -> dict[str, Any]:
    """An epoch of PyG's GAT, of the same width, on the whole graph."""
    store = mcn.GraphStore.open(path)
    data = store.to_data()
    if not isinstance(data.x, torch.Tensor):
        raise TypeError("PyG's GAT takes dense features")
    epoch = pyg_epoch(data, int(data.y.max()) + 1, 1)
    began = time.perf_counter()
    with one_torch_thread():
        epoch()
    return {"seconds": time.perf_counter() - began, "edges": store.num_edges}
