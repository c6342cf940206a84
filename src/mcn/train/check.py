"""A graph before any training: sizes, classes, features, split, homophily by motif, what to expect."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.sparse import feature_csr
from mcn.matrices import stack_size
from mcn.motifs import MotifCounts, count_motifs
from mcn.train.memory import fit_into_memory
from mcn.train.metrics import SKEWED
from mcn.train.problem import class_names, known_labels, prepare
from mcn.train.recipes import RECIPES, work_of
from mcn.train.remarks import graph_remarks, homophily, simple_scores

_MOTIFS = ("edge", "triangle", "4-cycle", "4-clique")
_USUAL = ("edge", "triangle")


def check_graph(data: Data, counts: MotifCounts | None = None) -> dict[str, Any]:
    """Return what a careful colleague would look at, as plain values; no test label is read.

    `counts` are the motif counts of the graph, if they are known already.

    >>> import mcn
    >>> found = check_graph(mcn.load_dataset("karate"))
    >>> found["nodes"], found["edges"], found["degrees"]["max"]
    (34, 78, 17)
    """
    known = known_labels(data)
    counts = count_motifs(data.edge_index, data.num_nodes) if counts is None else counts
    labels = known.labels.numpy()
    degree = np.bincount(counts.pairs.ravel(), minlength=data.num_nodes)
    number, part = sparse.csgraph.connected_components(counts.adjacency("edge"), directed=False)
    names = class_names(data) or [str(c) for c in range(known.num_classes)]
    sizes = np.bincount(labels[labels >= 0], minlength=known.num_classes)
    order = np.argsort(-sizes, kind="stable").tolist()
    masks = [int(data[f"{name}_mask"].sum()) for name in ("train", "val", "test")]
    simple = simple_scores(data, known=known)
    by_motif = {}
    for motif in _MOTIFS:
        matrix = counts.adjacency(motif).tocoo()
        share = homophily(np.stack(matrix.coords).astype(np.int64), labels) if matrix.nnz else None
        if share is not None:
            by_motif[motif] = share
    return {
        "nodes": int(data.num_nodes),
        "edges": len(counts.pairs),
        "degrees": {
            "median": float(np.median(degree)),
            "max": int(degree.max(initial=0)),
            "isolated": int((degree == 0).sum()),
        },
        "components": {"number": int(number), "largest": float(np.bincount(part).max() / data.num_nodes)},
        "classes": {names[c]: float(sizes[c] / max(1, sizes.sum())) for c in order},
        "features": _features(data),
        "split": f"{masks[0]:,} training, {masks[1]:,} validation, {masks[2]:,} test nodes",
        "homophily": by_motif,
        "alone": {"guess": simple.guess, "features": simple.features, "graph": simple.graph},
        "alone_auc": {"features": simple.features_auc, "graph": simple.graph_auc},
        "memory": int(stack_size(counts, _USUAL, 1).bytes.sum()),
        "remarks": [*_skew([names[c] for c in order], sizes[order]), *graph_remarks(data, known)],
    }


def _skew(names: list[str], sizes: NDArray[np.int64]) -> list[str]:
    """Say that one class is far larger than another, and what to judge by then."""
    if len(sizes) < 2 or sizes[0] < SKEWED * max(1, sizes[-1]):
        return []
    return [
        f"classes are skewed: {names[0]} has {sizes[0] / sizes.sum():.1%} of the labelled nodes, {names[-1]} "
        f"{sizes[-1] / sizes.sum():.1%}; look at ROC-AUC or balanced accuracy beside accuracy"
    ]


def epoch_seconds(data: Data, counts: MotifCounts) -> float:
    """Measure an epoch of MCN with edge and triangle; a first one, which may compile, is left out.

    Mini-batches where the whole graph is not expected to fit into memory.

    Raises:
        ValueError: says what of `data` cannot be trained on.
    """
    config, _ = fit_into_memory(RECIPES["mcn"].config.from_dict({"motifs": _USUAL, "max_epochs": 2}), counts)
    trainer = work_of(config).trainer(prepare(data, config, counts), config)
    trainer.run_epoch()
    before = trainer.seconds
    trainer.run_epoch()
    return float(trainer.seconds - before)


def _features(data: Data) -> str:
    x = feature_csr(data.x)
    filled = x.nnz / max(1, x.shape[0] * x.shape[1])
    whole = "whole numbers" if bool((x.data == np.round(x.data)).all()) else "fractions"
    sign = "none negative" if not (x.data < 0).any() else "of both signs"
    empty = int((np.diff(x.indptr) == 0).sum())
    return (
        f"{x.shape[1]:,} columns, {filled:.1%} of the values not zero, {whole}, {sign}; "
        f"{empty:,} nodes have none"
    )
