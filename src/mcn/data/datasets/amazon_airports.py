"""Amazon Photo (Shchur et al. 2018) and the airports of the USA (Ribeiro et al. 2017), as PyG reads them.

They come without a split: it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphmotifs._sparse import check_csr
from mcn.data.datasets import NodeSet, RawFiles
from mcn.data.limits import Archive, reading
from mcn.data.splits import share_split

_PHOTO = RawFiles(
    ("Amazon/Photo/raw", "Photo/raw"),
    {"amazon_electronics_photo.npz": "4f552b0f6631b465c417b05db89d9d280fa7d01061b89fcc4602d88dd82ed22d"},
    "https://raw.githubusercontent.com/shchur/gnn-benchmark/master/data/npz",
)
_AIRPORTS = RawFiles(
    ("Airports/usa/raw", "usa/raw"),
    {
        "labels-usa-airports.txt": "d4062ff3b3a67c3ae72b581bb68228433223e35d6f0b2d41844d197ad3772195",
        "usa-airports.edgelist": "c73fec3eef27ed6d6ef4d8dfa7fd1604b959601a38d399eeaa1f87e8d8d58fc0",
    },
    "https://raw.githubusercontent.com/leoribeiro/struc2vec/master/graph",
)


def raw_files(name: str) -> RawFiles:
    """The files of a set."""
    return _PHOTO if name == "amazon-photo" else _AIRPORTS


def make(name: str, files: Mapping[str, bytes], split: int) -> NodeSet:
    """Amazon Photo or the airports of the USA; 60/20/20, stratified by class, drawn with seed `split`."""
    if split < 0:
        raise ValueError(f"{name}: splits are drawn with the seeds 0, 1, 2, …; got split {split}")
    with reading(" and ".join(files), f"not the files of {name}"):
        x, y, edges = _photo(files) if name == "amazon-photo" else _airports(files)
    parts = share_split(y, seed=split)
    note = f"split: 60/20/20, stratified by class, drawn with seed {split}"
    return NodeSet(x, y, edges, [parts == part for part in range(3)], notes=[note])


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
