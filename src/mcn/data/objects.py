"""Edges that are in memory: frames of pandas and polars, graphs of NetworkX and igraph, SciPy matrices.

None of these packages is imported: an object is known by what it can do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mcn._names import did_you_mean
from mcn.data.arrow import cell_text
from mcn.data.border import check_nodes, shown
from mcn.data.edge_list import EdgeList, checked_weights, compact, further_note, id_array, sorted_ids
from mcn.data.sparse import check_structure
from mcn.data.text import is_integer, is_number

Found = tuple[EdgeList, list[dict[str, str]]]


def kind_of(thing: Any) -> str | None:
    """What an object is: matrix, networkx, igraph, frame, arrow; None if it is none of them."""
    if hasattr(thing, "tocoo") and hasattr(thing, "shape"):
        return "matrix"
    if hasattr(thing, "adjacency") and hasattr(thing, "nodes") and hasattr(thing, "edges"):
        return "networkx"
    if hasattr(thing, "get_edgelist") and hasattr(thing, "vs"):
        return "igraph"
    if hasattr(thing, "column_names") and hasattr(thing, "num_rows"):
        return "arrow"
    if hasattr(thing, "columns") and hasattr(thing, "__getitem__") and hasattr(thing, "shape"):
        return "frame"
    return None


def object_edges(thing: Any, *, weights: str | None = None, as_text: bool = False) -> Found:
    """Return the edges of an object and, for graphs, the attributes of each node as text, by id.

    Raises:
        ValueError: it is none of the kinds that are known, or holds what is no edge.
    """
    kind = kind_of(thing)
    if kind == "matrix":
        return _matrix(thing, weights), []
    if kind == "networkx":
        rows = [(u, v, row) for u, v, row in thing.edges(data=True)]
        return _graph(
            list(thing.nodes), dict(thing.nodes(data=True)), rows, weights, "edges: the NetworkX graph"
        )
    if kind == "igraph":
        named = "name" in thing.vs.attributes()
        names = thing.vs["name"] if named else list(range(thing.vcount()))
        attributes = {name: vertex.attributes() for name, vertex in zip(names, thing.vs, strict=True)}
        for row in attributes.values():
            row.pop("name", None)
        edges = [(names[edge.source], names[edge.target], edge.attributes()) for edge in thing.es]
        return _graph(names, attributes, edges, weights, "edges: the igraph graph")
    if kind in ("frame", "arrow"):
        return frame_edges(frame_columns(thing), "edges", weights=weights, as_text=as_text), []
    raise ValueError(f"edges is a {type(thing).__name__}, which holds no edges")


def frame_columns(thing: Any, what: str = "edges") -> dict[str, Any]:
    """Return the columns of a frame by their names: arrays, or what pyarrow has."""
    if kind_of(thing) == "arrow":
        return {str(name): thing.column(place) for place, name in enumerate(thing.column_names)}
    names = list(thing.columns)
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(name for name in texts if texts.count(name) > 1)
        raise ValueError(f"{what}: column {shown(twice)} occurs twice")
    return {text: thing[name] for text, name in zip(texts, names, strict=True)}


def values_of(column: Any) -> list[Any]:
    """Return a column as a list of Python values."""
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return list(getattr(column, way)())
    return list(column)


def frame_edges(
    columns: dict[str, Any], name: str, *, weights: str | None = None, as_text: bool = False
) -> EdgeList:
    """Make edges of the first two columns of a frame; ids are integers if both columns are, else text.

    Raises:
        ValueError: fewer than two columns, no such weight column, an id that is missing: names the row.
    """
    if len(columns) < 2:
        raise ValueError(f"{name}: {len(columns)} columns; expected two node ids per row")
    (left, right), used = list(columns.items())[:2], 2
    given = None
    if weights is not None:
        if weights not in list(columns)[2:]:
            near = did_you_mean(weights, list(columns)[2:100])
            raise ValueError(f"{name}: no weight column {shown(weights)} after the two ids{near}")
        cells = values_of(columns[weights])
        given = checked_weights(cells, lambda row: f"{name}, row {row + 1}", weights)
        used = 3
    notes = further_note(len(columns) - used)
    arrays = [_array(column) for _, column in (left, right)]
    if not as_text and all(array is not None for array in arrays):
        ids = np.stack([array for array in arrays if array is not None]).astype(np.int64)
        if ids.size and int(ids.min()) < 0:
            row = int(np.argmax((ids < 0).any(axis=0)))
            raise ValueError(f"{name}, row {row + 1}: negative node id in {ids[:, row].tolist()}")
        known, ends = compact(ids)
        return EdgeList(ends, known, notes, given)
    index: dict[str, int] = {}
    ends = np.empty((2, len(values_of(left[1]))), np.int64)
    for side, (title, column) in enumerate((left, right)):
        for row, value in enumerate(values_of(column)):
            text = cell_text(value)
            if not text:
                raise ValueError(f"{name}, row {row + 1}: an empty node id in column {shown(title)}")
            ends[side, row] = index.setdefault(text, len(index))
    if not as_text and all(map(is_number, index)) and not all(map(is_integer, index)):
        odd = next(text for text in index if not is_integer(text))
        row = int(np.argmax((ends == index[odd]).any(axis=0)))
        raise ValueError(
            f"{name}, row {row + 1}: node id {shown(odd)}; expected a non-negative integer or a name"
        )
    return _by_names(list(index), ends, notes, given, as_text)


def _array(column: Any) -> NDArray[Any] | None:
    """A column of integers as an array; None if it holds anything else or something is missing."""
    nulls = getattr(column, "null_count", 0)
    if nulls() if callable(nulls) else nulls:
        return None
    array = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    return array if array.dtype.kind in "iu" and array.ndim == 1 else None


def _by_names(
    names: list[str],
    ends: NDArray[np.int64],
    notes: list[str],
    weights: NDArray[np.float64] | None,
    as_text: bool = False,
) -> EdgeList:
    ids, order = sorted_ids(names, as_text=as_text)
    position = np.empty(len(ids), np.int64)
    position[order] = np.arange(len(ids))
    odd = next((name for name in names if not is_integer(name)), None)
    if odd is not None and not as_text:
        notes = [*notes, f"node ids are read as text (for instance {shown(odd)})"]
    return EdgeList(position[ends] if ends.size else ends, ids, notes, weights)


def _matrix(thing: Any, weights: str | None) -> EdgeList:
    if len(thing.shape) != 2 or thing.shape[0] != thing.shape[1]:
        raise ValueError(f"edges: a matrix of shape {list(thing.shape)}; expected a square adjacency matrix")
    n = int(thing.shape[0])
    check_nodes("the matrix", n)
    coo = (check_structure(thing, "the matrix") if issparse(thing) else thing).tocoo()
    ends, data = np.stack([coo.row, coo.col]).astype(np.int64), np.asarray(coo.data)
    kept = data != 0
    notes = [] if kept.all() else [f"{int((~kept).sum()):,} stored zeros are no edges"]
    values = data[kept]
    if weights is not None:
        ends = ends[:, kept]
        given = checked_weights(
            values, lambda at: f"the matrix, entry {tuple(ends[:, at].tolist())}", weights
        )
        return EdgeList(ends, np.arange(n), notes, given)
    if (values != 1).any():
        notes.append("values (weights) accepted, not used: the graph is unweighted")
    return EdgeList(ends[:, kept], np.arange(n), notes)


def _graph(
    names: list[Any],
    attributes: dict[Any, dict[Any, Any]],
    edges: list[tuple[Any, Any, dict[Any, Any]]],
    weights: str | None,
    what: str,
) -> Found:
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        raise ValueError(f"{what}: a node id occurs twice, as text and as a number")
    place = {text: at for at, text in enumerate(texts)}
    ends = np.array([(place[str(u)], place[str(v)]) for u, v, _ in edges], np.int64).reshape(-1, 2).T
    given, notes = None, []
    if weights is not None:
        cells = [row.get(weights) for *_, row in edges]
        given = checked_weights(cells, lambda at: f"{what}, edge {edges[at][:2]}", weights)
    elif any(row.get("weight", 1) != 1 for *_, row in edges):
        notes = ["edge weights accepted, not used: the graph is unweighted"]
    found = _by_names(texts, ends, notes, given)
    order = np.argsort(id_array(texts), kind="stable")
    own = [{str(key): cell_text(value) for key, value in attributes[names[at]].items()} for at in order]
    return found, own
