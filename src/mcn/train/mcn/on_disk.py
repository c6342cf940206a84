"""A graph on disk made ready for mini-batches: nothing of it is read that no batch asks for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from mcn.data.treatment import row_scaling
from mcn.nn.features import FeatureRows
from mcn.nn.graph_rows import StoreRows, store_features
from mcn.store import GraphStore
from mcn.train.features import fitted_scale, scaling_of
from mcn.train.mcn.config import MCNConfig
from mcn.train.problem import Known, Memory


@dataclass(frozen=True, eq=False)
class StoreInputs:
    """What an `mcn.MCN` takes from a graph on disk; `scaled` says what is done to its features."""

    store: GraphStore
    graph: StoreRows
    features: FeatureRows
    scaled: dict[str, Any]

    @property
    def in_channels(self) -> int:
        """Number of input features."""
        return self.features.shape[1]

    def state(self) -> dict[str, Any]:
        """Return the scale of the motif counts and of the features, which other graphs are measured by."""
        return {"count_scale": self.graph.count_scale.tolist(), **self.scaled}

    def fingerprint(self, known: Known) -> str:
        """Return a SHA-256 of the check sums in the store, and of what is known of the classes."""
        sha = hashlib.sha256(f"{known.num_classes}".encode())
        for name, entry in sorted(self.store.entries.items()):
            sha.update(f"{name} {entry.sha256}".encode())
        for whole in known[:3]:
            sha.update(np.asarray(whole, np.int64).tobytes())
        return sha.hexdigest()


def store_inputs(store: GraphStore, config: MCNConfig, memory: Memory | None = None) -> StoreInputs:
    """Open what a configuration asks for.

    Raises:
        ValueError: a setting needs the whole graph in memory.
    """
    refused = {
        "batch_size": memory is None and config.batch_size is None and "none",
        "steps": config.steps > 1 and config.steps,
        "scope": config.scope != "edges" and config.scope,
        "add_edges": config.add_edges,
        "features": config.features != "given" and config.features,
    }
    for name, value in refused.items():
        if value:
            raise ValueError(
                f"{store.path}: {name} = {value} needs the whole graph in memory; a graph on disk is trained "
                "on in mini-batches (batch_size) with one step and its own features, or load it by to_data()"
            )
    before = {} if memory is None else memory.state
    scaled = dict(before) if "scaling" in before else _fitted(store)
    scale = np.asarray(scaled["feature_scale"]) if scaled["scaling"] == "standard" else None
    features = store_features(store, "raw" if scale is not None else scaled["scaling"], scale)
    if memory is not None and features.shape[1] != memory.in_channels:
        raise ValueError(
            f"{store.path} has {features.shape[1]} features, but the network was trained on "
            f"{memory.in_channels}"
        )
    counts = None if memory is None else np.asarray(memory.state["count_scale"], np.float64)
    kept: dict[str, Any] = {name: scaled[name] for name in ("scaling", "feature_scale") if name in scaled}
    return StoreInputs(store, StoreRows(store, config.motifs, config.psi, counts), features, kept)


def _fitted(store: GraphStore) -> dict[str, Any]:
    """Say what is to be done to the features, as `node_features` does, by those of the training nodes."""
    from torch_geometric.data import Data

    assert store.train_mask is not None
    asked, train = store.about.get("scaling"), np.flatnonzero(store.train_mask)
    if store.x is None:
        if asked in ("raw", "rows", "unit") or store.x_indptr is None:
            return {"scaling": asked or "rows"}
        parts = (np.asarray(part) for part in (store.x_values, store.x_indices, store.x_indptr))
        whole: Any = sp.csr_array(tuple(parts), shape=(store.num_nodes, store.num_features))
        return {"scaling": row_scaling(whole[train], store.num_nodes)}
    seen = torch.from_numpy(np.array(store.x[train]))
    data = Data(x=seen, train_mask=torch.ones(len(seen), dtype=torch.bool), num_nodes=len(seen))
    data.scaling = asked
    scaling = scaling_of(data)
    if asked in (None, "auto") and scaling == "unit":  # which is about all nodes, not these
        scaling = row_scaling(seen.numpy(), store.num_nodes)
    return {"scaling": scaling} | ({"feature_scale": fitted_scale(data)} if scaling == "standard" else {})
