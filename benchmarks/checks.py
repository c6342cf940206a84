"""What it costs to look at arrays before a kernel trusts them: the share of a count, and of an epoch.

    python benchmarks/checks.py [--nodes 20000] [--degree 16] [--epochs 5]

The functions that check are timed inside the work that calls them, in one run; the share is their time over
the time of the whole. The limits are 3 % of a count and 1 % of an epoch; beyond one the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from scipy import sparse

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import torch_geometric.data

from random_graphs import powerlaw_cluster

import mcn
from mcn.data import feature_tensor
from mcn.nn._parallel import one_torch_thread
from mcn.train import RECIPES, prepare
from mcn.train.loop import Training
from mcn.train.recipes import work_of

MCNConfig: Any = RECIPES["mcn"].config
ViewsConfig: Any = RECIPES["views"].config

COUNT = (
    "graphmotifs.graph.endpoints",
    "graphmotifs.graph._num_nodes",
    "graphmotifs.graph.SimpleGraph.__post_init__",
    "graphmotifs.motif_counts.MotifCounts.__post_init__",
    "graphmotifs.counting.limit_threads",
)
EPOCH = (
    "mcn.nn.conv.check_kind",
    "mcn.nn.features.check_csr",
    "mcn.nn.features._check_coordinates",
    "mcn.nn.views._ids",
    "mcn.nn.model.node_ids",
    "mcn.matrices.rows.RowSource.check_choice",
    "mcn.matrices.stack.MotifStack._check_targets",
    "mcn.matrices.pagerank.PageRankRows.__post_init__",
)
LIMITS = {"count": 0.03, "epoch": 0.01}


@contextmanager
def timed(names: tuple[str, ...]) -> Iterator[list[float]]:
    """Add up the seconds spent in functions; one that is called by another of them is not counted twice."""
    spent, inside = [0.0], [False]

    def wrap(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if inside[0]:
                return function(*args, **kwargs)
            inside[0] = True
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent[0] += time.perf_counter() - began
                inside[0] = False

        return call

    with ExitStack() as stack:
        for name in names:
            stack.enter_context(patch(name, wrap(_find(name))))
        yield spent


def _find(name: str) -> Any:
    """The function of this dotted name; a class is part of a module."""
    parts = name.split(".")
    depth = 2 if parts[0] == "graphmotifs" else 3  # of its modules
    holder: Any = sys.modules[".".join(parts[:depth])]
    for part in parts[depth:]:
        holder = getattr(holder, part)
    return holder


def share(names: tuple[str, ...], work: Callable[[], object]) -> tuple[float, float]:
    """The share of the time that checks take, and the seconds of the whole."""
    with timed(names) as spent:
        began = time.perf_counter()
        work()
        whole = time.perf_counter() - began
    return spent[0] / whole, whole


def graph(nodes: int, degree: int) -> torch_geometric.data.Data:
    """A generated graph with sparse features, three classes and a split."""
    edges = powerlaw_cluster(nodes, degree // 2, 0.5, seed=0)
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(nodes, 64, generator=generator)
    data = torch_geometric.data.Data(edge_index=torch.as_tensor(edges), num_nodes=nodes)

    data.x = feature_tensor(sparse.csr_array((dense * (dense > 0.95)).numpy()))
    data.y = torch.randint(0, 3, (nodes,), generator=generator)
    part = torch.arange(nodes) % 3
    data.train_mask, data.val_mask, data.test_mask = part == 0, part == 1, part == 2
    return data


def epochs(trainer: Training, number: int) -> None:
    """Train for some epochs."""
    for _ in range(number):
        trainer.run_epoch()


def main() -> int:
    """Print a line for each, and return 1 if a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    data = graph(options.nodes, options.degree)
    mcn.count_motifs([[0, 1, 2, 3], [1, 2, 3, 0]], 4)  # compiles
    found = {"count": share(COUNT, lambda: mcn.count_motifs(data.edge_index, data.num_nodes))}
    counts = mcn.count_motifs(data.edge_index, data.num_nodes)
    for name, config in (("mcn", MCNConfig()), ("views", ViewsConfig(steps_per_epoch=10))):
        trainer = work_of(config).trainer(prepare(data, config, counts), config)
        with one_torch_thread():
            trainer.run_epoch()
            found[f"epoch, {name}"] = share(EPOCH, partial(epochs, trainer, options.epochs))
    print(f"{options.nodes:,} nodes, {data.num_edges // 2:,} edges")
    broken = False
    for name, (part, seconds) in found.items():
        limit = LIMITS[name.split(",")[0]]
        broken |= part > limit
        print(f"{name:<14}{seconds:>9.3f} s, checks {part:>7.3%} (at most {limit:.0%})")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
