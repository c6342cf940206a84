"""Edges from any supported file format, chosen by the file's name."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from mcn.data.arrow import TABLES, read_arrow
from mcn.data.border import MAX_NODES, brief, check_nodes, read_bytes, reading, shown, told
from mcn.data.edge_list import EdgeList, checked_weights, sorted_ids
from mcn.data.edge_text import read_edge_text
from mcn.data.mtx import Entries, read_mtx
from mcn.data.npz import Archive, sparse_entries
from mcn.data.objects import frame_columns, frame_edges

TEXT = (".csv", ".tsv", ".txt", ".edges", ".edgelist")
NETWORKX = (".graphml", ".gexf", ".gml")
FORMATS = (*TEXT, ".mtx", ".npz", *TABLES, *NETWORKX)


def edge_format(path: Path) -> str:
    """Return the format of an edge file: its suffix, `.gz` aside."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    kind = suffixes[-1] if suffixes else ""
    if kind not in FORMATS:
        raise ValueError(
            f"{path}: unknown format {kind!r}; expected one of {', '.join(FORMATS)} (or with .gz)"
        )
    return kind


def read_edges(
    path: Path,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    as_text: bool = False,
    weights: str | None = None,
) -> EdgeList:
    """Read the edges of a text, Matrix Market, NumPy, Parquet or Feather file.

    The options are those of text files; `weights`, a column, is one of Parquet and Feather files too.
    """
    kind = edge_format(path)
    if kind in TEXT:
        return read_edge_text(path, delimiter=delimiter, header=header, as_text=as_text, weights=weights)
    if kind in TABLES:
        return frame_edges(frame_columns(read_arrow(path)), str(path), weights=weights, as_text=as_text)
    if weights is not None:
        raise ValueError(f"{path}: weights={weights!r}: a {kind} file has no columns to take weights from")
    if kind == ".mtx":  # entry (i, j) is an edge; ids are 1..n as in the file
        with reading(path, "not a readable Matrix Market file"):
            return _from_entries(read_mtx(path), path, first=1)
    return _read_npz(path)


def _read_npz(path: Path) -> EdgeList:
    """Read `edge` [M, 2] or `edge_index` [2, M] and optionally `n`, or a SciPy sparse matrix."""
    with reading(path, "not a readable .npz file without pickles"):
        archive = Archive(path)
        if {"format", "shape", "data"} <= set(archive.names):
            return _from_entries(sparse_entries(archive, path), path, first=0)
        name = next((name for name in ("edge", "edge_index") if name in archive.names), None)
        if name is None:
            there = ", ".join(map(shown, archive.names[:10])) or "nothing"
            raise ValueError(f"{path}: has {there}; expected 'edge' [M, 2] or 'edge_index' [2, M]")
        ends = archive[name].T if name == "edge" else archive[name]
        given = archive["n"] if "n" in archive.names else None
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise ValueError(
            f"{path}: edges of shape {list(ends.T.shape)}, dtype {ends.dtype}; expected integer pairs [M, 2]"
        )
    if ends.size and int(ends.max()) > MAX_NODES:  # before an unsigned id can become a negative one
        check_nodes(path, int(ends.max()) + 1)
    return _numbered(ends.astype(np.int64), given, path)


def _numbered(ends: NDArray[np.int64], given: NDArray[Any] | None, path: Path) -> EdgeList:
    if ends.size and int(ends.min()) < 0:
        place = int(np.argmax((ends < 0).any(axis=0)))
        raise ValueError(f"{path}: negative node id in edge {place}: {ends[:, place].tolist()}")
    if given is not None and (given.size != 1 or given.dtype.kind not in "iu"):
        raise ValueError(f"{path}: n is {told(given)}; expected one integer, the number of nodes")
    n = int(ends.max(initial=-1)) + 1 if given is None else int(given.reshape(-1)[0])
    if ends.size and int(ends.max()) >= n:
        place = int(np.argmax((ends >= n).any(axis=0)))
        raise ValueError(
            f"{path}: edge {place} is {ends[:, place].tolist()}, but n is {n}; expected ids below n"
        )
    check_nodes(path, n)
    return EdgeList(ends, np.arange(n), [])


def _from_entries(found: Entries, path: Path, first: int) -> EdgeList:
    """The entries (i, j) of a matrix that are not zero, as edges; ids count from `first`."""
    kept = found.nonzero
    notes = [] if kept.all() else [f"{int((~kept).sum()):,} stored zeros are no edges"]
    if found.weighted:
        notes.append("values (weights) accepted, not used: the graph is unweighted")
    ends = np.stack([found.rows, found.columns])[:, kept]
    numbered = _numbered(ends, np.array(found.n), path)
    return EdgeList(numbered.ends, numbered.ids + first, notes)


def read_networkx(path: Path, weights: str | None = None) -> tuple[EdgeList, list[dict[str, str]]]:
    """Read a GraphML, GEXF or GML file: its edges, and the attributes of each node as text, by id.

    `weights` names an attribute of the edges.
    """
    try:
        import networkx
    except ImportError as error:
        raise ValueError(f"{path}: reading this format needs networkx; pip install 'mcn[viz]'") from error
    kind = edge_format(path)
    with reading(path, f"not a readable {kind} file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx guesses at odd files, and says so
        content = read_bytes(path)
        if kind != ".gml":
            _refuse_doctype(content, path)
        if kind == ".graphml":
            graph = networkx.read_graphml(io.BytesIO(content))
        elif kind == ".gexf":
            graph = networkx.read_gexf(io.BytesIO(content))
        else:
            graph = networkx.parse_gml(content.decode("utf-8").splitlines(), label="id")
        return _from_networkx(graph, path, weights)


def _from_networkx(graph: Any, path: Path, weights: str | None) -> tuple[EdgeList, list[dict[str, str]]]:
    names = [str(name) for name in graph.nodes]
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(f"{path}: node id {shown(twice)} occurs twice, as text and as a number")
    ids, order = sorted_ids(names)
    place = {names[at]: position for position, at in enumerate(order)}
    ends = np.array([(place[str(u)], place[str(v)]) for u, v in graph.edges()], np.int64).reshape(-1, 2).T
    attributes = [{str(key): str(value) for key, value in row.items()} for _, row in graph.nodes(data=True)]
    if weights is not None:
        rows = list(graph.edges(data=True))
        given = checked_weights(
            [row.get(weights, "") for *_, row in rows], lambda at: f"{path}, edge {rows[at][:2]}", weights
        )
        return EdgeList(ends, ids, [], given), [attributes[at] for at in order]
    weighted = any("weight" in row and not _is_one(row["weight"]) for *_, row in graph.edges(data=True))
    notes = ["edge weights accepted, not used: the graph is unweighted"] if weighted else []
    return EdgeList(ends, ids, notes), [attributes[at] for at in order]


def _is_one(weight: Any) -> bool:
    """Whether a weight of any type, as GML allows it, is the number 1."""
    try:
        return float(weight) == 1
    except (TypeError, ValueError, OverflowError):
        return False


def _refuse_doctype(content: bytes, path: Path) -> None:
    """Refuse XML with a document type, which can declare entities without end or name other files."""

    def refuse(*_: Any) -> None:
        raise ValueError(f"{path}: refused, the XML declares a document type (DOCTYPE); remove it")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError) as error:
        line = getattr(error, "lineno", 1)  # an unknown encoding is declared in the first line
        raise ValueError(f"{path}, line {line}: not well-formed XML ({brief(error)})") from error
