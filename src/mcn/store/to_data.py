"""From a store to a PyG `Data` in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.limits import NO_MEMORY
from mcn.data.sparse import feature_tensor
from mcn.data.treatment import Treatment
from mcn.store.ids import TextIds

if TYPE_CHECKING:
    from mcn.store.graph_store import GraphStore


def to_data(store: GraphStore) -> Data:
    """Read a whole store into memory.

    Raises:
        ValueError: its rows were altered, or it does not fit into memory.
    """
    store.check()
    try:
        return _in_memory(store)
    except MemoryError as error:
        raise ValueError(f"{store.path}: {NO_MEMORY}; use mini-batches (batch_size)") from error


def node_data(store: GraphStore) -> Data:
    """Return labels, split, ids and names of a store as a `Data` without edges and features.

    They take a few bytes per node; text ids stay on disk.
    """
    data = Data(num_nodes=store.num_nodes)
    data.node_ids = store.ids
    _add_labels(data, store)
    return data


def _in_memory(store: GraphStore) -> Data:
    ends = np.empty((2, 2 * store.num_edges), np.int64)
    ends[0] = np.repeat(np.arange(store.num_nodes), np.diff(store.indptr))
    ends[1] = store.indices
    data = Data(edge_index=torch.from_numpy(ends), num_nodes=store.num_nodes)
    ids = store.ids
    data.node_ids = ids.to_array() if isinstance(ids, TextIds) else np.array(ids)
    if len(set(data.node_ids.tolist())) < store.num_nodes:
        raise ValueError(f"{store.path}: two nodes have one id; the file of ids was altered: pack again")
    if store.x is not None:
        data.x = torch.from_numpy(np.array(store.x))
    elif store.x_values is not None:
        shape = (store.num_nodes, store.num_features)
        parts = (np.array(store.x_values), np.array(store.x_indices), np.array(store.x_indptr))
        data.x = feature_tensor(sparse.csr_array(parts, shape=shape))
    _add_labels(data, store)
    return data


def _add_labels(data: Data, store: GraphStore) -> None:
    for name in ("y", "train_mask", "val_mask", "test_mask"):
        values = getattr(store, name)
        if values is not None:
            setattr(data, name, torch.from_numpy(np.array(values)))
    if store.classes:
        data.classes = list(store.classes)
    _add_about(data, store.about)


def _add_about(data: Data, about: dict[str, Any]) -> None:
    data.report = [str(line) for line in about.get("report", [])]
    if about.get("scaling") in ("rows", "unit", "raw"):
        data.scaling = about["scaling"]
    if about.get("treatment") is not None:
        data.treatment = Treatment.from_dict(about["treatment"])
    if about.get("feature_names") is not None:
        data.feature_names = [str(name) for name in about["feature_names"]]
