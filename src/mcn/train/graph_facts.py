"""What a run keeps of its graph: sizes and check sums, by which a changed graph is noticed and described."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.data.sparse import feature_csr

_OF_EDGES = ("edges", "weights", "directions")
_FOLLOWS = {"weights": "edges", "directions": "edges", "labels": "split"}
"""Parts that cannot be compared where another one differs."""
FACTS = {"nodes": int, "edges": int, "columns": int, "sha256": {str: str}}
"""The fields that the facts of every graph have, see `mcn.data.fields`."""


def graph_facts(
    x: torch.Tensor, indptr: NDArray[Any], indices: NDArray[Any], weights: Any = None
) -> dict[str, Any]:
    """Return the sizes of a graph and the SHA-256 of its features, its edges (the rows of A) and weights."""
    csr = feature_csr(x)
    sha256 = {"edges": sha256_of(indptr, indices), "columns": sha256_of(csr.indptr, csr.indices, csr.data)}
    if weights is not None:
        sha256["weights"] = sha256_of(weights.data)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    edges = int(np.count_nonzero(rows < indices))  # A may have a diagonal
    return {"nodes": len(indptr) - 1, "edges": edges, "columns": x.shape[1], "sha256": sha256}


def sha256_of(*arrays: Any) -> str:
    """Return the SHA-256 of arrays one after the other; whole numbers of any width count as int64."""
    sha = hashlib.sha256()
    for array in map(np.asarray, arrays):
        whole = np.issubdtype(array.dtype, np.integer)
        sha.update(np.ascontiguousarray(array, np.int64 if whole else array.dtype).tobytes())
    return sha.hexdigest()


def graph_changes(
    before: Mapping[str, Any], here: Mapping[str, Any], source: Mapping[str, Any], when: str = " now"
) -> str:
    """Say by file how a graph differs from the one trained on; empty if it does not.

    Args:
        before: the facts that a run states of its graph.
        here: those of the graph given; what only one of the two states is not compared.
        source: where the graph given is from: its dataset, or its graph and nodes.
        when: follows the figures of the graph given.
    """
    graph = source.get("graph") or source.get("dataset") or "the graph"
    edge_file, node_file = (Path(str(name)).name for name in (graph, source.get("nodes") or graph))
    sizes = [size for size in ("nodes", "edges", "columns") if here[size] != before[size]]
    changes = {size: f"{here[size]:,} {size}{when}, {before[size]:,} in training" for size in sizes}
    parts = {part for part, sha in here["sha256"].items() if before["sha256"].get(part, sha) != sha}
    for part in sorted(parts - changes.keys()):
        if "nodes" not in sizes and _FOLLOWS.get(part) not in parts:  # else it has to differ
            changes[part] = f"other {part} than in training"
    return "; ".join(
        f"{edge_file if part in _OF_EDGES else node_file} has {what}" for part, what in changes.items()
    )
