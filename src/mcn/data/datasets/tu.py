"""DD-6 and DD-7: two protein graphs of the set DD (Kersting et al. 2016, "TU" files)."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mcn.data.datasets import LargerSet, NodeSet, RawFiles, check_sum
from mcn.data.limits import reading
from mcn.data.splits import draw_parts

HOME = "https://www.chrsmrrs.com/graphkerneldatasets/DD.zip"
# Graphs 6 and 7 of the TU set DD, cut out and numbered from 1, edges sorted by (second, first) end.
DD_SUMS: dict[str, str] = {
    "DD67_A.txt": "09678a4373ba42460eaa7bad74b5e2fe9381ce02375b1deaff09028d3fb0ff18",
    "DD67_graph_indicator.txt": "f4759c83d7f50a3c80f0fc24f8dd79441a6bb762a2d12c2749020c7f7b2b9b63",
    "DD67_graph_labels.txt": "ad0fadf63cc7cd779ce475e345bf4063565b63a3c2efef1eebc89790aaa6acba",
    "DD67_node_labels.txt": "c8f45d5f1e7c9c96300a17db4965599c4e0e11dd215e0d38348acb1ce2a3c29d",
}

DD_FOLDERS = ("DD/DD67/raw", "DD67/raw")
# The whole set, of which the two graphs can be cut out.
DD_WHOLE_FOLDERS = ("DD/raw", "DD/DD/raw")
DD_WHOLE_FILES = ("DD_A.txt", "DD_graph_indicator.txt", "DD_graph_labels.txt", "DD_node_labels.txt")
_GRAPHS = {"dd6": 6, "dd7": 7}
_LARGEST = 512 * 1024 * 1024


def raw_files(name: str) -> RawFiles:
    """The files of the two graphs, which the whole set has too."""
    return RawFiles(DD_FOLDERS, DD_SUMS, HOME, LargerSet(DD_WHOLE_FOLDERS, DD_WHOLE_FILES, _unzip, _cut))


def make(name: str, files: Mapping[str, bytes], split: int) -> NodeSet:
    """DD-6 or DD-7 as the paper uses them: 20 classes, features from 3 Weisfeiler–Lehman iterations.

    The seed `split` draws 15 training nodes per class; the others are halved into validation and test.
    """
    from graphmotifs.graph import simple_graph  # a listing must not wait for numba
    from mcn.data.structure_features import wl_features  # a listing must not wait for numba

    labels, edges = _parse(files, _GRAPHS[name])
    y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    x = wl_features(simple_graph(edges, len(y)), iterations=3)
    parts = draw_parts(y, 15, seed=split)
    note = "features: one-hot colours of 3 Weisfeiler–Lehman iterations"
    return NodeSet(x, y, edges, [parts == part for part in range(3)], notes=[note])


def _unzip(archive: bytes, source: str) -> dict[str, bytes]:
    with reading(source, "not the archive of the set DD"), zipfile.ZipFile(io.BytesIO(archive)) as opened:
        members = {name: opened.getinfo(f"DD/{name}") for name in DD_WHOLE_FILES}
        if sum(member.file_size for member in members.values()) > _LARGEST:
            raise ValueError(f"{source}: unpacks to more than {_LARGEST} bytes, refused")
        # Asked for as many bytes as are announced, zipfile unpacks no more of them.
        return {name: opened.open(member).read(member.file_size) for name, member in members.items()}


def _cut(whole: Mapping[str, bytes], source: str) -> dict[str, bytes]:
    """Graphs 6 and 7 of the whole set in the fixed form that the check sums belong to."""
    with reading(source, "the files of the set DD are damaged"):
        edges = _numbers(whole["DD_A.txt"]).reshape(-1, 2)
        graph_of = _numbers(whole["DD_graph_indicator.txt"])
        graph_labels = _numbers(whole["DD_graph_labels.txt"])
        node_labels = _numbers(whole["DD_node_labels.txt"])
        chosen = np.concatenate([np.flatnonzero(graph_of == graph) for graph in _GRAPHS.values()])
        number = np.zeros(len(graph_of) + 1, np.int64)
        number[chosen + 1] = np.arange(1, len(chosen) + 1)
        kept = number[edges]
        kept = kept[(kept > 0).all(axis=1)]
        kept = kept[np.lexsort((kept[:, 0], kept[:, 1]))]
        columns = {
            "DD67_A.txt": [f"{u}, {v}" for u, v in kept.tolist()],
            "DD67_graph_indicator.txt": [1 if graph_of[i] == _GRAPHS["dd6"] else 2 for i in chosen],
            "DD67_graph_labels.txt": [graph_labels[graph - 1] for graph in _GRAPHS.values()],
            "DD67_node_labels.txt": node_labels[chosen].tolist(),
        }
    files = {name: "".join(f"{value}\n" for value in column).encode() for name, column in columns.items()}
    return {
        name: check_sum(content, f"{source} (graphs 6 and 7)", DD_SUMS[name])
        for name, content in files.items()
    }


def _parse(files: Mapping[str, bytes], graph: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Node labels and edges [2, E] of one graph; in the files graph 6 is number 1 and graph 7 number 2."""
    with reading("DD67", "the files of the set DD are damaged"):
        graph_of = _numbers(files["DD67_graph_indicator.txt"])
        members = np.flatnonzero(graph_of == graph - 5)
        edges = _numbers(files["DD67_A.txt"]).reshape(-1, 2).T - 1
        if edges.size and int(edges.min()) < 0:
            raise ValueError(f"DD67_A.txt: node {int(edges.min()) + 1}; expected numbers from 1")
        inside = edges[:, graph_of[edges[0]] == graph - 5]
        return _numbers(files["DD67_node_labels.txt"])[members], inside - members[0]


def _numbers(content: bytes) -> NDArray[np.int64]:
    return np.array(content.replace(b",", b" ").split(), dtype=np.int64)
