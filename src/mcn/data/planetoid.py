"""Cora, Citeseer and Pubmed in the Planetoid files (Yang et al. 2016), with their public split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.border import check_nodes, reading
from mcn.data.files import obtain
from mcn.data.layout import PLANETOID_SUMS, planetoid_folders
from mcn.data.pickles import read_pickle
from mcn.data.simple import simple_graph
from mcn.data.sparse import feature_tensor

PLANETOID_HOME = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_VALIDATION = 500


@dataclass(frozen=True)
class _Parts:
    """One citation set as arrays, before it becomes a `Data`."""

    x: Any
    y: NDArray[np.int64]
    edges: NDArray[np.int64]
    train: int
    test: NDArray[np.int64]


def load_planetoid(
    name: str,
    root: str | Path | None = None,
    *,
    dense: bool = False,
    download: bool = True,
    home: str = PLANETOID_HOME,
) -> Data:
    """One of the citation sets with the public split: 20 nodes per class, the next 500, `test.index`.

    Citeseer lists 15 test nodes in the graph only: as in PyG they get no features and label 0, and are
    in no mask.
    """
    sums = PLANETOID_SUMS[name]
    parts = _parse(name, obtain(name, planetoid_folders(name), sums, root, download, home))
    n = len(parts.y)
    graph = simple_graph(parts.edges, n)
    data = Data(
        x=feature_tensor(parts.x, dense=dense),
        y=torch.from_numpy(parts.y),
        edge_index=torch.from_numpy(graph.edge_index),
        num_nodes=n,
    )
    node = torch.arange(n)
    data.train_mask = node < parts.train
    data.val_mask = (node >= parts.train) & (node < parts.train + _VALIDATION)
    data.test_mask = torch.isin(node, torch.from_numpy(parts.test))
    data.report = [graph.describe()]
    return data


def _parse(name: str, files: Mapping[str, bytes]) -> _Parts:
    with reading(f"ind.{name}", "the files do not fit together"):
        return _put_together(name, files)


def _put_together(name: str, files: Mapping[str, bytes]) -> _Parts:
    def part(kind: str) -> Any:
        file = f"ind.{name}.{kind}"
        return read_pickle(files[file], file)

    test = np.array(files[f"ind.{name}.test.index"].split(), dtype=np.int64)
    # Rows of tx and ty stand in the order of test.index; ids that it skips keep an empty row.
    allx, ally, graph = part("allx"), part("ally"), part("graph")
    if int(test.min()) < 0:
        raise ValueError(f"ind.{name}.test.index holds {int(test.min())}; expected numbers of nodes")
    check_nodes(f"ind.{name}.test.index", int(test.max()) + 1)
    n = max(int(test.max()) + 1, allx.shape[0])
    position = np.concatenate([np.arange(allx.shape[0]), test])
    stacked = sparse.vstack([allx, part("tx")], format="coo")
    row, column = stacked.coords
    x = sparse.csr_array((stacked.data, (position[row], column)), shape=(n, stacked.shape[1]))
    y = np.zeros(n, np.int64)
    y[position] = np.concatenate([ally, part("ty")]).argmax(axis=1)
    source = np.repeat(list(graph), [len(around) for around in graph.values()])
    target = np.concatenate([np.array(around, np.int64) for around in graph.values()])
    return _Parts(x, y, np.stack([source, target]), part("y").shape[0], test)
