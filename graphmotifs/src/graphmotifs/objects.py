"""Graphs in objects of other libraries: NetworkX, igraph, SciPy, and frames of pandas, polars, pyarrow.

None of these libraries is imported: an object is known by what it can do. Its nodes are numbered by their ids
in ascending order: as integers if all of them are, else as text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphmotifs._messages import brief, shown
from graphmotifs.graph import SimpleGraph, simple_graph

_INTEGER = re.compile(r"0|[1-9][0-9]{0,17}")
_COLUMNS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("node1", "node2"))
Graph = tuple[SimpleGraph, NDArray[Any]]


def graph_of_object(thing: Any) -> Graph | None:
    """Return the graph in an object of another library and the ids of its nodes; None for anything else.

    In a graph that is not directed, every edge has both directions.
    """
    if hasattr(thing, "tocoo") and hasattr(thing, "shape"):
        return _matrix_graph(thing)
    if hasattr(thing, "adjacency") and hasattr(thing, "nodes") and hasattr(thing, "edges"):
        return _named_graph(list(thing.nodes), thing.edges(), thing.is_directed(), "the NetworkX graph")
    if hasattr(thing, "get_edgelist") and hasattr(thing, "vs"):
        names = thing.vs["name"] if "name" in thing.vs.attributes() else range(thing.vcount())
        edges = ((names[u], names[v]) for u, v in thing.get_edgelist())
        return _named_graph(list(names), edges, thing.is_directed(), "the igraph graph")
    if hasattr(thing, "column_names") or (hasattr(thing, "columns") and hasattr(thing, "to_numpy")):
        return _frame_graph(thing)
    return None


def _matrix_graph(matrix: Any) -> Graph:
    """Take every entry of a square matrix that is not zero for an edge."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix has shape {list(matrix.shape)}; expected a square adjacency matrix")
    coo = _checked_entries(matrix) if sparse.issparse(matrix) else matrix.tocoo()
    ends, kept = np.stack([coo.row, coo.col], dtype=np.int64, casting="unsafe"), np.asarray(coo.data) != 0
    n = int(matrix.shape[0])
    return simple_graph(ends if kept.all() else ends[:, kept], n), np.arange(n)


def _checked_entries(matrix: Any) -> Any:
    """Return the entries of a SciPy matrix; its ids are checked, as SciPy writes wherever they point."""
    try:
        if matrix.format == "lil":
            rows = np.repeat(np.arange(len(matrix.rows)), [len(row) for row in matrix.rows])
            columns, values = (np.concatenate([[], *lists]) for lists in (matrix.rows, matrix.data))
            return sparse.coo_array((values, (rows, columns.astype(np.int64))), shape=matrix.shape)
        if matrix.format in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)
        coo = matrix.tocoo()
        return sparse.coo_array((coo.data, (coo.row, coo.col)), shape=matrix.shape)
    except (IndexError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"the matrix is not sound ({brief(error)})") from error


def _named_graph(names: Sequence[Any], edges: Iterable[Any], directed: bool, what: str) -> Graph:
    """Make a graph of pairs of names; they are told apart as text."""
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(text for text, times in Counter(texts).items() if times > 1)
        raise ValueError(f"{what}: node id {shown(twice)} occurs twice, as text and as a number")
    ids, position = _sorted_ids(texts)
    numbers = dict(zip(texts, position.tolist(), strict=True))
    ends = np.array([(numbers[str(u)], numbers[str(v)]) for u, v in edges], np.int64).reshape(-1, 2).T
    graph = simple_graph(ends, len(ids))
    return graph if directed else replace(graph, ways=np.full(graph.num_edges, 3, np.uint8)), ids


def _sorted_ids(texts: Sequence[str]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return distinct ids in ascending order, and the position of each of `texts` among them."""
    integers = all(map(_INTEGER.fullmatch, texts))
    ids = np.array(texts, np.int64 if integers else object)
    order, position = np.argsort(ids, kind="stable"), np.empty(len(ids), np.int64)
    position[order] = np.arange(len(ids))
    return ids[order], position


def _frame_graph(frame: Any) -> Graph:
    """Take every row of a frame for an edge: of two columns with usual names, else of the first two."""
    titles = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    if len(titles) < 2:
        raise ValueError(f"the frame has {len(titles)} columns; expected two, with the node ids of an edge")
    plain = [str(title).lower() for title in titles]
    pair = next((pair for pair in _COLUMNS if set(pair) <= set(plain)), None)
    chosen = titles[:2] if pair is None else [titles[plain.index(name)] for name in pair]
    sides = [_id_column(frame[title], str(title)) for title in chosen]
    if all(side.dtype.kind in "iu" for side in sides):
        ids, ends = np.unique(np.stack(sides), return_inverse=True)
        return simple_graph(ends.reshape(2, -1), len(ids)), ids
    texts = [list(map(str, side.tolist())) for side in sides]
    edges = zip(*texts, strict=True)
    return _named_graph(list(dict.fromkeys(texts[0] + texts[1])), edges, True, "the frame")


def _id_column(column: Any, title: str) -> NDArray[Any]:
    """Return a column of node ids as an array; a missing id is refused with its row."""
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if values.dtype.kind in "iuUT":
        return values
    missing = [row for row, value in enumerate(values.tolist()) if value is None or value != value]
    if missing:
        raise ValueError(f"the frame: row {missing[0]} has no node id in column {shown(title)}")
    if values.dtype.kind == "f":
        if not (values == np.floor(values)).all():
            raise ValueError(f"the frame: column {shown(title)} holds fractions; expected node ids")
        return values.astype(np.int64)
    return values
