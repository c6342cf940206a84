"""Graphs from files of one's own: edges, and a node table if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch_geometric.data import Data

from mcn.data.border import check_size, reading, shown
from mcn.data.edge_files import NETWORKX, TEXT, edge_format, read_edges, read_networkx
from mcn.data.edge_text import EdgeList, line_of_edge
from mcn.data.node_table import NodeTable, RawTable, node_table, read_table
from mcn.data.simple import SimpleGraph, simple_graph
from mcn.data.sparse import feature_tensor
from mcn.data.splits import capped_train_counts, random_split
from mcn.data.structure import degree_features, wl_features

_STRUCTURAL = ("degree", "wl")
_SPARSE_BELOW = 0.1


def load_graph(
    edges: str | Path,
    nodes: str | Path | None = None,
    *,
    id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    features: Sequence[str] | str | None = None,
    seed: int = 0,
    delimiter: str | None = None,
    header: bool | None = None,
    dense: bool = False,
) -> Data:
    """Read a graph from an edge file and, optionally, a node table; `docs/data.md` has the formats.

    Edges are made simple: undirected, no self-loops, no repeats. `data.node_ids` holds the ids of the nodes
    in their order (that of the table, else ascending): int64, or Python strings if any is not a number.
    `data.report` says in plain lines what was done.

    A file may take at most 2 GiB of memory, unpacked; the environment variable `MCN_MAX_BYTES` sets another
    limit, in bytes.

    Args:
        edges: csv, tsv, txt, edges, edgelist, mtx, npz, graphml, gexf or gml, also with `.gz`.
        nodes: csv or tsv with a header: one line per node.
        id: the table's id column; by default one named id, node, node_id or nodeid, else the first.
        label: its label column; by default one named label, class, y or target, if any. An empty cell, NA,
            nan or ? is a missing label: `y` is -1 and the node is in no mask.
        split: its column of train, val and test; by default one named split. Without one, a split is drawn:
            20 nodes per class, at most half of a class, for training, the others halved.
        features: its feature columns; by default all other columns that start with a number. "degree" or
            "wl" for features from the graph alone; "degree" is also what a graph without columns gets.
        seed: decides the drawn split.
        delimiter: separator of both text files; by default found from the first line.
        header: whether the edge list has a header line; by default found from its first lines.
        dense: keep `x` dense; by default it is CSR when fewer than a tenth of its values are not zero.

    Raises:
        ValueError: names the file, the line and the value; also for a file that is too large or damaged.
        OSError: a file is not there (FileNotFoundError) or cannot be read.
    """
    if isinstance(features, str) and features not in _STRUCTURAL:
        raise ValueError(f'features must be column names, "degree" or "wl", got {features!r}')
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character, got {delimiter!r}")
    if delimiter is not None and delimiter in '"\r\n':
        raise ValueError(f"delimiter must be neither a quote nor a line end, got {delimiter!r}")
    columns = features if features is None else [] if isinstance(features, str) else list(features)
    path = _existing(edges)
    table_path = None if nodes is None else _existing(nodes)
    with reading(path, "not a readable graph", table_path):
        raw = None if table_path is None else read_table(table_path, delimiter)
        if edge_format(path) in NETWORKX:
            found, attributes = read_networkx(path)
            if raw is None and (label or split or columns):
                raw = _attribute_table(path, found, attributes)
                id = raw.header[0]
        elif raw is None and (id or label or split or columns):
            raise ValueError(f"{path}: columns were named, but there is no node table; give one with nodes=")
        table = None if raw is None else node_table(raw, id=id, label=label, split=split, features=columns)
        if edge_format(path) not in NETWORKX:
            as_text = table is not None and table.ids.dtype == object
            found = read_edges(path, delimiter=delimiter, header=header, as_text=as_text)
        ids, ends = found.ids, found.ends
        if table is not None and raw is not None:
            ids, ends = table.ids, _positions(found, table.ids, path, raw.name, header, delimiter)
        return _assemble(simple_graph(ends, len(ids)), ids, table, features, found.notes, seed, dense)


def _existing(path: str | Path) -> Path:
    with suppress(RuntimeError):  # a home folder of nobody: the name is taken as it is
        path = Path(path).expanduser()
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return Path(path)


def _attribute_table(path: Path, found: EdgeList, attributes: list[dict[str, str]]) -> RawTable:
    names = sorted({key for row in attributes for key in row})
    check_size(path, 8 * len(names) * len(attributes), "has node attributes that make a table of")
    own = [str(name) for name in found.ids]
    rows = [[node, *(row.get(name, "") for name in names)] for node, row in zip(own, attributes, strict=True)]
    # A blank first name cannot collide with an attribute.
    return RawTable(str(path), ["", *names], rows, [f"{path}, node {shown(node)}" for node in own])


def _positions(
    found: EdgeList, ids: NDArray[Any], path: Path, table: str, header: bool | None, delimiter: str | None
) -> NDArray[np.int64]:
    """Translate the ends of the edges into rows of the table."""
    mine = found.ids
    if mine.dtype == ids.dtype == np.int64:
        order = np.argsort(ids, kind="stable")
        place = order[np.minimum(np.searchsorted(ids, mine, sorter=order), len(ids) - 1)]
        known = ids[place] == mine
    else:  # text on one side at least: what is spelled alike is the same node
        row_of = {str(name): row for row, name in enumerate(ids.tolist())}
        place = np.array([row_of.get(str(name), -1) for name in mine.tolist()], np.int64)
        known = place >= 0
    if not known.all():
        missing = ~known[found.ends]
        if missing.any():
            edge = int(np.argmax(missing.any(axis=0)))
            value = mine[found.ends[np.argmax(missing[:, edge]), edge]]
            at = (
                f"line {line_of_edge(path, edge, header, delimiter)}"
                if edge_format(path) in TEXT
                else f"edge {edge}"
            )
            raise ValueError(
                f"{path}, {at}: node id {shown(str(value))} is not in the node table {table}; add it there"
            )
    return np.asarray(place[found.ends])


def _assemble(
    graph: SimpleGraph,
    ids: NDArray[Any],
    table: NodeTable | None,
    features: Sequence[str] | str | None,
    notes: list[str],
    seed: int,
    dense: bool,
) -> Data:
    report = [graph.describe(), *notes, *(table.notes if table else [])]
    isolated = graph.num_nodes - np.count_nonzero(np.bincount(graph.pairs.reshape(-1)))
    if isolated:
        report.append(f"{isolated:,} nodes without edges, kept")
    data = Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)
    data.node_ids = ids
    if table is not None and table.feature_names and not isinstance(features, str):
        data.x, data.feature_names = _table_features(table, dense), table.feature_names
        report.append(f"features: {len(table.feature_names):,} columns of the node table")
    elif features == "wl":
        data.x = feature_tensor(wl_features(graph, iterations=3), dense=dense)
        report.append("features: one-hot colours of 3 Weisfeiler–Lehman iterations")
    else:
        data.x = feature_tensor(degree_features(graph), dense=dense)
        report.append("features: one-hot size of the degree (no feature columns)")
    if table is not None and table.y is not None:
        _add_labels(data, table.y, table, seed, report)
    else:
        report.append("no labels")
    data.report = report
    return data


def _table_features(table: NodeTable, dense: bool) -> torch.Tensor:
    if not dense and np.count_nonzero(table.features) < _SPARSE_BELOW * table.features.size:
        return feature_tensor(sparse.csr_array(table.features))
    return torch.from_numpy(table.features)


def _add_labels(data: Data, y: NDArray[np.int64], table: NodeTable, seed: int, report: list[str]) -> None:
    data.y, data.classes = torch.from_numpy(y), table.classes
    unlabelled = int((y < 0).sum())
    missing = f", {unlabelled:,} nodes without a label" if unlabelled else ""
    report.append(f"labels: {len(table.classes)} classes{missing}")
    if table.split is not None:
        part = torch.from_numpy(np.where(y < 0, -1, table.split))
        data.train_mask, data.val_mask, data.test_mask = part == 0, part == 1, part == 2
        origin = "from the node table"
    else:
        counts = capped_train_counts(y)
        masks = random_split(y, train_per_class=counts, seed=seed)
        data.train_mask, data.val_mask, data.test_mask = masks
        origin = (
            f"drawn with seed {seed} (up to 20 per class for training, at most half a class; the rest halved)"
        )
    sizes = [int(mask.sum()) for mask in (data.train_mask, data.val_mask, data.test_mask)]
    report.append(f"split: {sizes[0]:,} training, {sizes[1]:,} validation, {sizes[2]:,} test nodes, {origin}")
