"""Where in Cora the nodes stand that chose a motif: the sentence under figure 4, over several runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch_geometric.data import Data

import mcn
from mcn.experiments import METHODS
from mcn.train import RECIPES, fit, prepare
from studies.figure4.pattern import MEASURES, node_measures, over_runs, rank_correlations

MOTIFS = ("edge", "4-path", "triangle")


def class_component(data: Data, label: int) -> NDArray[np.int64]:
    """The nodes of the largest connected component of the subgraph induced by a class, ascending."""
    inside = np.flatnonzero(data.y.numpy() == label)
    joined = mcn.count_motifs(data.edge_index, data.num_nodes).adjacency("edge")[inside][:, inside]
    _, part = sp.csgraph.connected_components(joined, directed=False)
    return np.asarray(inside[part == np.bincount(part).argmax()], np.int64)


def pattern(data: Data, seeds: int, scope: str, label: int = 4, **changes: Any) -> dict[str, Any]:
    """Train by the paper's rule with each seed; say how the choice in layer 1 goes with a node's place."""
    members = class_component(data, label)
    graph = mcn.count_motifs(data.edge_index, data.num_nodes).adjacency("edge")
    measures = node_measures(graph[members][:, members])
    runs: list[dict[str, Any]] = []
    for seed in range(seeds):
        settings = {"motifs": MOTIFS, "steps": 1, "scope": scope, **changes}
        config = METHODS["paper"].configure("cora", settings, {"seed": seed})
        assert config is not None
        work, problem = RECIPES["paper"].work, prepare(data, config)
        trainer = work.trainer(problem, config)
        fit(trainer)
        chosen = work.predict(trainer.model, problem.inputs, problem.task).motif[members, 0]
        share = {motif: float((chosen == number).mean()) for number, motif in enumerate(MOTIFS)}
        runs.append(
            {"seed": seed, "share": share, "correlation": rank_correlations(chosen, MOTIFS, measures)}
        )
    together = {
        motif: {name: over_runs([run["correlation"][motif][name] for run in runs]) for name in MEASURES}
        for motif in MOTIFS
    }
    said = {"version": mcn.__version__, "scope": scope, "nodes": len(members)}
    return said | {"runs": runs, "correlation": together}


def described(found: dict[str, Any]) -> str:
    """Return one line on the favourites, and one per motif."""
    favourites = Counter(max(run["share"], key=run["share"].get) for run in found["runs"])
    counts = ", ".join(f"{motif} in {favourites[motif]}" for motif in MOTIFS)
    lines = [
        f"{found['nodes']} nodes, scope {found['scope']}, {len(found['runs'])} runs by version "
        f"{found['version']}; the favourite of the nodes is {counts}",
        "rank correlation of the choice in layer 1 with a node's place, mean ± standard error:",
    ]
    for motif, places in found["correlation"].items():
        parts = [
            f"{place} –"
            if one["mean"] is None
            else f"{place} {one['mean']:+.2f}" + ("" if one["error"] is None else f" ± {one['error']:.2f}")
            for place, one in places.items()
        ]
        lines.append(f"  {motif}: {', '.join(parts)}")
    return "\n".join(lines)


def kept(scope: str) -> dict[str, Any]:
    """Return what was found with version 0.2.0."""
    content: dict[str, Any] = json.loads((Path(__file__).parent / f"{scope}.json").read_text("utf-8"))
    return content
