"""Sets in which edges join unlike nodes (Platonov et al. 2023, Pei et al. 2020), with ten splits each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.border import reading
from mcn.data.files import obtain
from mcn.data.layout import HETEROPHILOUS_SUMS, heterophilous_folders
from mcn.data.npz import Archive
from mcn.data.simple import simple_graph
from mcn.data.sparse import feature_tensor

HETEROPHILOUS_HOME = "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/main/data"
_MASKS = ("train_masks", "val_masks", "test_masks")


def load_heterophilous(
    name: str,
    root: str | Path | None = None,
    *,
    split: int = 0,
    dense: bool = False,
    download: bool = True,
    home: str = HETEROPHILOUS_HOME,
) -> Data:
    """One of the sets with ten given splits, of which `split` chooses one.

    Raises:
        ValueError: there is no such split, or the file is not what it should be.
        DatasetNotFound: the file is nowhere and cannot be downloaded.
    """
    sums = HETEROPHILOUS_SUMS[name]
    (file,) = sums
    content = obtain(name, heterophilous_folders(name), sums, root, download, home)[file]
    with reading(file, "not the file of this data set"):
        arrays = Archive(Path(file), content).read(("node_features", "node_labels", "edges", *_MASKS))
    y = arrays["node_labels"].astype(np.int64)
    splits = len(arrays["train_masks"])
    if not 0 <= split < splits:
        raise ValueError(f"{name} has {splits} given splits, from 0 to {splits - 1}; got split {split}")
    graph = simple_graph(np.ascontiguousarray(arrays["edges"].T), len(y))
    data = Data(
        x=feature_tensor(sparse.csr_array(arrays["node_features"]), dense=dense),
        y=torch.from_numpy(y),
        edge_index=torch.from_numpy(graph.edge_index),
        num_nodes=len(y),
    )
    data.train_mask, data.val_mask, data.test_mask = (
        torch.from_numpy(arrays[mask][split].copy()) for mask in _MASKS
    )
    data.split_at_random = True
    data.report = [graph.describe(), f"split: number {split} of the {splits} given ones (0 to {splits - 1})"]
    return data
