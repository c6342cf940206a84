"""Public sets without a split of their own: Amazon Photo and the airports of the USA; theirs are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.border import reading
from mcn.data.files import obtain
from mcn.data.layout import DRAWN_FOLDERS, DRAWN_SUMS
from mcn.data.npz import Archive
from mcn.data.simple import simple_graph
from mcn.data.sparse import check_csr, feature_tensor
from mcn.data.splits import share_split

DRAWN_HOMES = {
    "amazon-photo": "https://raw.githubusercontent.com/shchur/gnn-benchmark/master/data/npz",
    "airports-usa": "https://raw.githubusercontent.com/leoribeiro/struc2vec/master/graph",
}


def load_drawn(
    name: str,
    root: str | Path | None = None,
    *,
    split: int = 0,
    dense: bool = False,
    download: bool = True,
    home: str | None = None,
) -> Data:
    """Amazon Photo or the airports of the USA, as in PyG; 60/20/20, stratified, drawn with seed `split`.

    Raises:
        ValueError: `split` is negative, or a file is not what it should be.
        DatasetNotFound: the files are nowhere and cannot be downloaded.
    """
    if split < 0:
        raise ValueError(f"{name}: splits are drawn with the seeds 0, 1, 2, …; got split {split}")
    sums = DRAWN_SUMS[name]
    files = obtain(name, DRAWN_FOLDERS[name], sums, root, download, home or DRAWN_HOMES[name])
    with reading(" and ".join(sums), f"not the files of {name}"):
        x, y, edges = _photo(files) if name == "amazon-photo" else _airports(files)
        graph = simple_graph(edges, len(y))
    data = Data(
        x=feature_tensor(x, dense=dense),
        y=torch.from_numpy(y),
        edge_index=torch.from_numpy(graph.edge_index),
        num_nodes=len(y),
    )
    part = torch.from_numpy(share_split(y, seed=split))
    data.train_mask, data.val_mask, data.test_mask = part == 0, part == 1, part == 2
    data.split_at_random = True
    data.report = [graph.describe(), f"split: 60/20/20, stratified by class, drawn with seed {split}"]
    return data


def _photo(files: Mapping[str, bytes]) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Features, labels and edges; a word counts once, as in PyG."""
    ((file, content),) = files.items()
    names = [f"{kind}_{part}" for kind in ("attr", "adj") for part in ("data", "indices", "indptr", "shape")]
    arrays = Archive(Path(file), content).read([*names, "labels"])
    words, ties = (_matrix(arrays, kind) for kind in ("attr", "adj"))
    words.data[words.data > 0] = 1
    return words, arrays["labels"].astype(np.int64), np.stack(ties.nonzero()).astype(np.int64)


def _matrix(arrays: Mapping[str, NDArray[Any]], kind: str) -> Any:
    data, indices, indptr = (arrays[f"{kind}_{part}"] for part in ("data", "indices", "indptr"))
    shape = tuple(arrays[f"{kind}_shape"].tolist())
    check_csr(indptr, indices, shape, kind, values=data)
    return sparse.csr_array((data, indices, indptr), shape=shape)


def _airports(files: Mapping[str, bytes]) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """One-hot numbers as features, as in PyG; labels; edges."""
    edges, labels = (files[file] for file in sorted(files, reverse=True))
    table = np.array(labels.split()[2:], np.int64).reshape(-1, 2)
    order = np.argsort(table[:, 0], kind="stable")
    ends = np.array(edges.split(), np.int64).reshape(-1, 2).T
    place = np.searchsorted(table[:, 0], ends, sorter=order)
    if place.size and (int(place.max()) >= len(table) or (table[order[place], 0] != ends).any()):
        raise ValueError("an edge to an airport without a label")
    return sparse.identity(len(table), format="csr"), table[:, 1].copy(), order[place]
