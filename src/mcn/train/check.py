"""A graph before any training: sizes, classes, features, split, homophily by motif, what to expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mcn.data.sparse import feature_csr
from mcn.matrices import stack_size
from mcn.motifs import MotifCounts, count_motifs
from mcn.train.memory import fit_into_memory
from mcn.train.problem import class_names, known_labels, prepare
from mcn.train.recipes import RECIPES, work_of
from mcn.train.remarks import graph_remarks, simple_scores

if TYPE_CHECKING:
    from torch_geometric.data import Data

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
    task, described = known.task, known.task.described(known.targets, class_names(data))
    names = class_names(data) or [str(place) for place in range(task.outputs)]
    masks = [int(data[f"{name}_mask"].sum()) for name in ("train", "val", "test")]
    simple = simple_scores(data, known=known)
    by_motif = {}
    for motif in _MOTIFS:
        matrix = counts.adjacency(motif).tocoo()
        share = task.likeness(np.stack(matrix.coords).astype(np.int64), labels) if matrix.nnz else None
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
        "task": {
            "kind": task.kind,
            "title": task.title.format(len(names), names[0]),
            "guess": task.guess_name,
            "alike": task.alike,
            "metric": simple.metric,
            "figures": task.figures,
        },
        "classes": described,
        "features": _features(data),
        "split": f"{masks[0]:,} training, {masks[1]:,} validation, {masks[2]:,} test nodes",
        "homophily": by_motif,
        "alone": {"guess": simple.guess, "features": simple.features, "graph": simple.graph},
        "alone_auc": {"features": simple.features_auc, "graph": simple.graph_auc},
        "memory": int(stack_size(counts, _USUAL, 1).bytes.sum()),
        "remarks": [*task.skew_remarks(described), *graph_remarks(data, known)],
    }


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
