"""Epoch time (train step plus validation) of PyG's GAT and of motif convolutional networks, side by side.

    python benchmarks/epoch.py --data-root DATA [--graphs cora cora-dense text-100k …] [--threads 1 2]

All networks have GAT's architecture (8 heads × 8 hidden, dropout 0.6) and train with Adam; ours by the
very loop of `mcn train`, the attention's loss included. PyG's GAT gets dense features and computes the
whole graph, as its examples do; ours compute the receptive field of the training and validation nodes.
The networks of one graph take turns epoch by epoch in one process, so that a busy machine slows all of
them alike; peak memory comes from a process of its own for each. Times on one thread are those of the
processor, which others on the machine disturb less; on more threads they are those of the clock.

`cora` has CSR features, `cora-dense` the dense ones that PyG's `Planetoid` brings; `text-20k` and
`text-100k` are generated graphs whose nodes have 768 dense columns, as text embeddings do. `product` is the
input layer alone on such features, beside a BLAS on one thread.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.data import Data
    from torch_geometric.nn import GATConv

from random_graphs import powerlaw_cluster

import mcn
from mcn.data import feature_csr, feature_tensor
from mcn.nn._parallel import one_torch_thread
from mcn.nn.ops import transform
from mcn.train import RECIPES, prepare
from mcn.train.recipes import work_of

MCNConfig: Any = RECIPES["mcn"].config

FIVE = ("edge", "2-star", "triangle", "3-star", "4-clique")
PYG = "PyG GAT"
EDGE, PINNED = "mcn edge (GAT)", "mcn 5 × K=2, pinned to (edge, 1)"
NETWORK_SETTINGS: dict[str, tuple[tuple[str, ...], int, str | None]] = {
    EDGE: (("edge",), 1, None),
    "mcn edge+triangle, paper's rule": (("edge", "triangle"), 1, "paper"),
    "mcn edge+triangle, default rule": (("edge", "triangle"), 1, "gated"),
    "mcn 5 motifs × K=2, paper's rule": (FIVE, 2, "paper"),
    PINNED: (FIVE, 2, None),
}
GIVEN_CSR = "mcn edge (GAT), x given as CSR"
NETWORKS = (PYG, *NETWORK_SETTINGS, GIVEN_CSR)
TEXTS = {"text-20k": 20_000, "text-100k": 100_000}
GRAPHS = ("cora", "cora-dense", "citeseer", "pubmed", "text-20k", "text-100k", "million")


def million(seed: int = 0) -> Data:
    """A power-law graph of a million edges with triangles, 500 sparse words, 5 classes."""
    n, words = 200_000, 500
    rng = np.random.default_rng(seed)
    edges = torch.from_numpy(powerlaw_cluster(n, 5, 0.3, seed))
    columns = rng.integers(0, words, (n, 10)).ravel()
    x = feature_tensor(sparse.csr_array((np.ones(10 * n, np.float32), columns, np.arange(0, 10 * n + 1, 10))))
    return with_parts(x, edges, rng)


def texts(n: int, seed: int = 0) -> Data:
    """A power-law graph of n nodes and 5 n edges with triangles, 768 dense columns, 5 classes."""
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(rng.standard_normal((n, 768), np.float32))
    return with_parts(x, torch.from_numpy(powerlaw_cluster(n, 5, 0.3, seed)), rng)


def with_parts(x: torch.Tensor, edges: torch.Tensor, rng: np.random.Generator) -> Data:
    """Five random classes; 1,000 nodes for training, 2,000 for validation."""
    n = len(x)
    order = torch.from_numpy(rng.permutation(n))
    masks = {}
    parts = {"train_mask": order[:1000], "val_mask": order[1000:3000], "test_mask": order[3000:]}
    for name, part in parts.items():
        masks[name] = torch.zeros(n, dtype=torch.bool)
        masks[name][part] = True
    y = torch.from_numpy(rng.integers(0, 5, n))
    return Data(x=x, y=y, edge_index=torch.cat([edges, edges.flip(0)], 1), num_nodes=n, **masks)


def load(name: str, root: str | None) -> Data:
    if name in TEXTS:
        return texts(TEXTS[name])
    if name == "million":
        return million()
    data = mcn.load_dataset(name.removesuffix("-dense"), root)
    if name.endswith("-dense"):
        data.x = data.x.to_dense()
    return data


class PygGat(torch.nn.Module):
    """The GAT of PyG's examples."""

    def __init__(self, features: int, classes: int, output_heads: int) -> None:
        super().__init__()
        self.first = GATConv(features, 8, heads=8, dropout=0.6)
        self.second = GATConv(64, classes, heads=output_heads, concat=False, dropout=0.6)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.dropout(x, 0.6, self.training)
        x = torch.nn.functional.elu(self.first(x, edge_index))
        x = torch.nn.functional.dropout(x, 0.6, self.training)
        out: torch.Tensor = self.second(x, edge_index)
        return out


def pyg_epoch(data: Data, classes: int, output_heads: int) -> Callable[[], float]:
    torch.manual_seed(0)
    x = data.x.to_dense()
    model = PygGat(x.shape[1], classes, output_heads)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4, fused=True)

    def epoch() -> float:
        model.train()
        optimizer.zero_grad()
        scores = model(x, data.edge_index)[data.train_mask]
        loss = torch.nn.functional.cross_entropy(scores, data.y[data.train_mask])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        model.eval()
        with torch.no_grad():
            found = model(x, data.edge_index)[data.val_mask].argmax(1)
        return float((found == data.y[data.val_mask]).float().mean())

    return epoch


def mcn_epoch(data: Data, output_heads: int, name: str) -> Callable[[], float]:
    motifs, steps, rule = NETWORK_SETTINGS[name]
    # The squares of a power-law graph do not fit: rows of powers are computed when they are chosen.
    stored = data.num_nodes < 50_000 or steps == 1
    config = MCNConfig(
        motifs=motifs,
        steps=steps,
        output_heads=output_heads,
        materialize=stored,
        motif_attention=rule is not None,
        attention=rule or "paper",
    )
    problem = prepare(data, config)
    trainer = work_of(config).trainer(problem, config)

    def epoch() -> float:
        with one_torch_thread():
            return trainer.run_epoch().val_loss

    return epoch


def make(name: str, data: Data, graph: str) -> Callable[[], float]:
    classes, output_heads = int(data.y.max()) + 1, 8 if graph == "pubmed" else 1
    if name == PYG:
        return pyg_epoch(data, classes, output_heads)
    if name == GIVEN_CSR:
        data, name = data.clone("x"), EDGE
        data.x = feature_tensor(feature_csr(data.x))
    return mcn_epoch(data, output_heads, name)


def chosen(graph: str, names: list[str]) -> list[str]:
    """The networks that say something of this graph."""
    if graph in TEXTS:  # only the input layer differs from the other graphs
        return [name for name in names if name in NETWORKS[:4]]
    return [name for name in names if name != GIVEN_CSR or graph.endswith("-dense")]


def product(rounds: int) -> None:
    """The input layer on dense features, forward and backward, in processor seconds of one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, g = torch.randn(20_000, 768), torch.randn(20_000, 64)
    w = torch.randn(768, 64, requires_grad=True)
    print("\nproduct, 1 thread: dropout(X) W with X 20,000 × 768 and W 768 × 64, forward and backward")
    for p in (0.0, 0.6):
        both: dict[str, Callable[[], torch.Tensor]] = {
            "mcn": lambda p=p: transform(x, w, p, 1),  # type: ignore[misc]
            "torch": lambda p=p: torch.mm(torch.nn.functional.dropout(x, p) if p else x, w),  # type: ignore[misc]
        }
        seconds: dict[str, list[float]] = {name: [] for name in both}
        for _ in range(rounds + 2):
            for name, make_product in both.items():
                start = time.thread_time()
                make_product().backward(g)  # type: ignore[no-untyped-call]
                seconds[name].append(time.thread_time() - start)
        best = {name: min(times[2:]) for name, times in seconds.items()}
        ratio = best["mcn"] / best["torch"]
        both_times = ", ".join(f"{name} {value * 1e3:.1f} ms" for name, value in best.items())
        print(f"  dropout {p}, best of {rounds}: {both_times}; {ratio:.2f} times torch's time")


def measure(
    graph: str, names: list[str], threads: int, rounds: int, root: str | None
) -> dict[str, list[float]]:
    """Seconds of every epoch, the networks taking turns; the first two epochs of each do not count."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    torch.set_num_threads(threads)
    data = load(graph, root)
    epochs = {name: make(name, data, graph) for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    rng = np.random.default_rng(0)
    for turn in range(rounds + 2):
        # In another order each time: who comes after PyG's finds the caches full of other things.
        for name in rng.permutation(names).tolist():
            start = clock()
            epochs[name]()
            if turn > 1:
                seconds[name].append(clock() - start)
    return seconds


def peak_memory(graph: str, name: str, threads: int, root: str | None) -> float:
    """Peak resident gigabytes of a process that trains this network alone for two epochs."""
    command = [sys.executable, __file__, "--one", name, "--graphs", graph, "--threads", str(threads)]
    command += ["--data-root", root] if root else []
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(found)["peak_gb"])


def one(graph: str, name: str, threads: int, root: str | None) -> None:
    torch.set_num_threads(threads)
    epoch = make(name, load(graph, root), graph)
    epoch()
    epoch()
    print(json.dumps({"peak_gb": peak_bytes() / 1e9}))


def peak_bytes() -> int:
    """Peak resident memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would count the parent's memory at the time of the fork too
        return next(
            1024 * int(line.split()[1])
            for line in status.read_text().splitlines()
            if line.startswith("VmHWM:")
        )
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, in kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def report(graph: str, threads: int, seconds: dict[str, list[float]], memory: dict[str, float]) -> list[Any]:
    rows = []
    base = statistics.median(seconds[PYG]) if PYG in seconds else None
    count = len(next(iter(seconds.values())))
    print(f"\n{graph}, {threads} thread(s): epoch = train step + validation, median of {count}")
    for name, times in seconds.items():
        middle = statistics.median(times)
        ratio = f"{base / middle:7.1f}×" if base else "       –"
        peak = f"{memory[name]:6.2f} GB" if name in memory else ""
        print(f"  {name:34s} {middle * 1e3:10.2f} ms  (best {min(times) * 1e3:9.2f})  {ratio}  {peak}")
        rows.append({"graph": graph, "threads": threads, "network": name, "ms": middle * 1e3,
                     "best_ms": min(times) * 1e3, "times_pyg": base / middle if base else None,
                     "peak_gb": memory.get(name)})  # fmt: skip
    if EDGE in seconds and PINNED in seconds:
        more = statistics.median(seconds[PINNED]) / statistics.median(seconds[EDGE]) - 1
        print(f"  5 motifs × K=2, pinned to (edge, 1), against edge only: {more:+.0%}")
    if EDGE in seconds and GIVEN_CSR in seconds:
        more = statistics.median(seconds[EDGE]) / statistics.median(seconds[GIVEN_CSR]) - 1
        best = min(seconds[EDGE]) / min(seconds[GIVEN_CSR]) - 1
        print(f"  dense x against the same x as CSR: {more:+.0%} (best {best:+.0%})")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data-root", help="folder of the citation data sets (default: as mcn.load_dataset)")
    parser.add_argument("--graphs", nargs="+", default=[*GRAPHS, "product"])
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument(
        "--rounds", type=int, default=15, help="epochs per network (3 on graphs of 100,000 nodes or more)"
    )
    parser.add_argument("--no-memory", action="store_true", help="skip the measurement of peak memory")
    parser.add_argument("--json", help="also write the rows to this file")
    parser.add_argument("--one", choices=NETWORKS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        one(args.graphs[0], args.one, args.threads[0], args.data_root)
        return
    rows = []
    for graph in args.graphs:
        if graph == "product":
            product(args.rounds)
            continue
        rounds = min(3, args.rounds) if graph in ("million", "text-100k") else args.rounds
        wanted = chosen(graph, args.networks)
        for threads in args.threads:
            seconds = measure(graph, wanted, threads, rounds, args.data_root)
            first = threads == args.threads[0] and not args.no_memory
            names = wanted if first else []
            memory = {name: peak_memory(graph, name, threads, args.data_root) for name in names}
            rows += report(graph, threads, seconds, memory)
    if args.json:
        with open(args.json, "w") as file:  # noqa: PTH123
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
