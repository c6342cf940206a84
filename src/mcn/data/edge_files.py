"""Edges from any supported file format, chosen by the file's name."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from scipy import sparse

from graphmotifs._messages import brief, shown, told
from graphmotifs._sparse import check_csr
from graphmotifs.graph import SimpleGraph, simple_graph
from mcn._names import spell_option
from mcn.data.edge_list import (
    ANY_LAYOUT,
    SQUARE,
    EdgeList,
    GraphEdges,
    Layout,
    frame_edges,
    matrix_edges,
    networkx_edges,
    report_graph,
)
from mcn.data.edge_text import read_edge_text
from mcn.data.limits import (
    MAX_NODES,
    Archive,
    check_memory,
    check_nodes,
    existing_file,
    read_bytes,
    reading,
)
from mcn.data.tables import FOREIGN, TABLES, frame_columns, read_arrow

TEXT = (".csv", ".tsv", ".txt", ".edges", ".edgelist")
NETWORKX = (".graphml", ".gexf", ".gml")
FORMATS = (*TEXT, ".mtx", ".npz", *TABLES, *NETWORKX)
_VALUE_BYTES = 80  # of a text as Python's, in the one column of a table that is looked at
_ENTRY_BYTES = 80  # of an entry of a matrix, as it is made coordinates and these ends of edges
_TEXT_TIMES = 6  # copies of a text of XML, in the widest characters
_ELEMENT_BYTES, _ATTRIBUTE_BYTES = 800, 300  # of one in XML, as a tree and as NetworkX has it
_TAG_TIMES = 48  # bytes that expat and Python take for one of a tag
_XML_PIECE = 2**16  # bytes that are parsed at a time
_GML_TIMES = 48  # bytes that NetworkX takes for one of GML, at worst
_SPARSE_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}


def edge_format(path: Path) -> str:
    """Return the format of an edge file: its suffix, `.gz` aside."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    kind = suffixes[-1] if suffixes else ""
    if kind in FOREIGN:
        raise ValueError(f"{path}: {FOREIGN[kind]} is not read; save the edges as CSV or Parquet")
    if kind not in FORMATS:
        raise ValueError(
            f"{path}: unknown format {kind!r}; expected one of {', '.join(FORMATS)} (or with .gz)"
        )
    return kind


def read_edges(
    path: Path, layout: Layout = ANY_LAYOUT, *, as_text: bool = False, weights: str | None = None
) -> EdgeList:
    """Read the edges of a file, if the graph that they make stays within the limit on memory."""
    edges = _edges_of(path, layout, as_text, weights)
    texts = sum(map(sys.getsizeof, edges.ids)) if edges.ids.dtype == object else 0
    check_nodes(path, len(edges.ids), edges.ends.shape[1] * (1 if weights is None else 2), texts)
    return edges


def _edges_of(path: Path, layout: Layout, as_text: bool, weights: str | None) -> EdgeList:
    kind = edge_format(path)
    if kind in TEXT:
        return read_edge_text(path, layout, as_text=as_text, weights=weights)
    if kind in TABLES:
        table = read_arrow(path)
        columns = frame_columns(table, str(path))
        held = 2 * table.nbytes + _VALUE_BYTES * table.num_rows
        return frame_edges(columns, str(path), layout, weights=weights, as_text=as_text, held=held)
    if layout.source is not None:
        raise ValueError(
            f"{path}: {spell_option('source', layout.source)}: a {kind} file has no columns to choose from"
        )
    if kind in NETWORKX:
        return _read_networkx(path, kind, weights)
    if weights is not None:
        raise ValueError(
            f"{path}: {spell_option('weights', weights)}: a {kind} file has no columns to take weights from"
        )
    return _read_mtx(path) if kind == ".mtx" else _read_npz(path)


def load_edges(
    path: str | os.PathLike[str], source: str | None = None, target: str | None = None
) -> GraphEdges:
    """Read the edges of a file alone, without torch; formats, notes and errors are those of `load_graph`."""
    file = existing_file(path)
    with reading(str(file), "not a readable graph"):
        edges = read_edges(file, Layout(source=source, target=target))
        graph = graph_of_edges(edges)
        return GraphEdges(graph, report_graph(graph, edges.notes), edges.ids)


def graph_of_edges(edges: EdgeList) -> SimpleGraph:
    """Make a graph of edges as read; it keeps the directions in which they were given."""
    graph = simple_graph(edges.ends, len(edges.ids))
    return replace(graph, ways=np.full(graph.num_edges, 3, np.uint8)) if edges.both_ways else graph


def _read_npz(path: Path) -> EdgeList:
    """Read `edge` [M, 2] or `edge_index` [2, M] and optionally `n`, or a SciPy sparse matrix."""
    with reading(path, "not a readable .npz file without pickles"):
        archive = Archive(path)
        if {"format", "shape", "data"} <= set(archive.names):
            return matrix_edges(_sparse_matrix(archive), str(path))
        name = next((name for name in ("edge", "edge_index") if name in archive.names), None)
        if name is None:
            there = ", ".join(map(shown, archive.names[:10])) or "nothing"
            raise ValueError(f"{path}: has {there}; expected 'edge' [M, 2] or 'edge_index' [2, M]")
        ends = archive[name].T if name == "edge" else archive[name]
        check_memory(path, archive.held + 2 * 16 * (ends.size // 2))
        stated = archive["n"] if "n" in archive.names else None
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise ValueError(
            f"{path}: edges of shape {list(ends.T.shape)}, dtype {ends.dtype}; expected integer pairs [M, 2]"
        )
    if ends.size and int(ends.max()) > MAX_NODES:  # before an unsigned id can become a negative one
        check_nodes(path, int(ends.max()) + 1)
    ends = ends.astype(np.int64)
    if ends.size and int(ends.min()) < 0:
        place = int(np.argmax((ends < 0).any(axis=0)))
        raise ValueError(f"{path}: negative node id in edge {place}: {ends[:, place].tolist()}")
    if stated is not None and (stated.size != 1 or stated.dtype.kind not in "iu"):
        raise ValueError(f"{path}: n is {told(stated)}; expected one integer, the number of nodes")
    n = int(ends.max(initial=-1)) + 1 if stated is None else int(stated.reshape(-1)[0])
    if ends.size and int(ends.max()) >= n:
        place = int(np.argmax((ends >= n).any(axis=0)))
        raise ValueError(
            f"{path}: edge {place} is {ends[:, place].tolist()}, but n is {n}; expected ids below n"
        )
    check_nodes(path, n)
    return EdgeList(ends, np.arange(n), [])


def _sparse_matrix(archive: Archive) -> Any:
    """A matrix as `scipy.sparse.save_npz` writes it; what its ids point to is checked by `matrix_edges`."""
    kind = archive["format"]
    if kind.shape != () or kind.dtype.kind not in "US":
        raise ValueError(f"its format is an array of {kind.dtype}; expected a word")
    form = kind.item().decode("ascii") if kind.dtype.kind == "S" else str(kind.item())
    if form not in _SPARSE_PARTS:
        raise ValueError(f"its format is {form[:20]!r}; expected one of {', '.join(_SPARSE_PARTS)}")
    names = ("data", "coords") if form == "coo" and "coords" in archive.names else _SPARSE_PARTS[form]
    arrays = archive.read(("shape", *names))
    check_memory("the matrix", archive.held + _ENTRY_BYTES * max(arrays[name].size for name in names))
    for name, array in arrays.items():
        if array.dtype.kind not in ("biufc" if name == "data" else "iu"):
            kinds = "numbers" if name == "data" else "integers"
            raise ValueError(f"{name!r} holds {array.dtype}; expected {kinds}")
    shape = tuple(arrays["shape"].reshape(-1).tolist())
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 0:
        raise ValueError(f"a matrix of shape {list(shape)}; {SQUARE}")
    check_nodes("the matrix", shape[0])  # before SciPy makes room for its rows
    data, *places = (arrays[name] for name in names)
    if form in ("csr", "csc"):
        if data.ndim != 1:
            raise ValueError(f"'data' has shape {list(data.shape)}; expected one dimension")
        check_csr(arrays["indptr"], arrays["indices"], shape, "the matrix", values=data)
    # SciPy warns of unsigned ids, and computes with them.
    places = [part.astype(np.int64) for part in places]
    parts: Any = (data, *places)
    if form == "coo":
        parts = (data, tuple(places[0] if "coords" in names else places))
    return getattr(sparse, f"{form}_array")(parts, shape=shape)


def _read_mtx(path: Path) -> EdgeList:
    """Read a Matrix Market file of any kind: entry (i, j) is an edge, ids are 1..n as in the file."""
    from scipy import io as scipy_io

    problem = "not a readable Matrix Market file"
    with reading(path, problem):
        # A blank after the last number, or a NUL anywhere, takes SciPy's reader past the end of the file.
        content = read_bytes(path)
        check_memory(path, 2 * len(content))
        if not content.endswith(b"\n") or content[-2:-1].isspace():
            content = content.rstrip() + b"\n"
        nul = content.find(b"\0")
        if nul >= 0:
            line = content.count(b"\n", 0, nul) + 1
            raise ValueError(f"{path}: {problem} (line {line} holds a NUL)")
        try:
            rows, columns, declared, form, _, symmetry = scipy_io.mminfo(io.BytesIO(content))
            if rows != columns:
                raise ValueError(f"{path}: a matrix of shape {[rows, columns]}; {SQUARE}")
            check_nodes(path, rows)
            # An entry takes two ids, a blank and a line end at least.
            if form != "array" and declared > len(content) // 4:
                raise ValueError(f"{declared:,} entries are declared, in a file of {len(content):,} bytes")
            entries = rows * columns if form == "array" else declared
            check_memory(path, len(content) + _ENTRY_BYTES * entries * (1 if symmetry == "general" else 2))
            matrix: Any = scipy_io.mmread(io.BytesIO(content))
        except (ValueError, OverflowError) as error:
            said = re.match(r"Line (\d+): (.*)", str(error))
            if said is None:
                raise
            line = int(said[1])
            entry = next(islice(io.BytesIO(content), line - 1, None), b"")
            text = entry.rstrip(b"\n")[:100].decode("latin-1")
            raise ValueError(f"{path}: {problem} (line {line} is {shown(text)}: {said[2][:200]})") from error
        return matrix_edges(sparse.coo_array(matrix), str(path), first=1)


def _read_networkx(path: Path, kind: str, weights: str | None) -> EdgeList:
    """Read a GraphML, GEXF or GML file; the edges come with the attributes of the nodes."""
    try:
        import networkx
    except ImportError as error:
        raise ValueError(f"{path}: reading this format needs networkx; pip install 'mcn[viz]'") from error
    with reading(path, f"not a readable {kind} file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx guesses at odd files, and says so
        content = read_bytes(path)
        check_memory(path, (_GML_TIMES if kind == ".gml" else _TEXT_TIMES) * len(content))
        if kind != ".gml":
            _check_xml(content, path)
        if kind == ".graphml":
            graph = networkx.read_graphml(io.BytesIO(content))
        elif kind == ".gexf":
            graph = networkx.read_gexf(io.BytesIO(content))
        else:
            graph = networkx.parse_gml(content.decode("utf-8").splitlines(), label="id")
            graph = _by_name(graph, networkx)
        return networkx_edges(graph, str(path), weights)


def _by_name(graph: Any, networkx: Any) -> Any:
    """The graph of a GML file with the names (label) of its nodes as ids, if all have one of their own."""
    names = {node: attributes.get("label") for node, attributes in graph.nodes(data=True)}
    if None in names.values() or len({str(name) for name in names.values()}) < len(names):
        return graph
    for _, attributes in graph.nodes(data=True):
        del attributes["label"]
    return networkx.relabel_nodes(graph, names)


def _check_xml(content: bytes, path: Path) -> None:
    """Refuse XML of too many elements, or with a document type, which can declare entities without end."""
    needed = _TEXT_TIMES * len(content)

    def count(_: str, attributes: dict[str, str]) -> None:
        nonlocal needed
        needed += _ELEMENT_BYTES + _ATTRIBUTE_BYTES * len(attributes)
        check_memory(path, needed)

    def refuse(*_: Any) -> None:
        raise ValueError(f"{path}: refused, the XML declares a document type (DOCTYPE); remove it")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = count
    try:
        for start in range(0, len(content), _XML_PIECE):
            parser.Parse(content[start : start + _XML_PIECE], False)
            # What is not told of yet is one tag, with attributes.
            tag = start + _XML_PIECE - max(0, parser.CurrentByteIndex)
            check_memory(path, needed + _TAG_TIMES * tag)
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError) as error:
        line = getattr(error, "lineno", 1)  # an unknown encoding is declared in the first line
        raise ValueError(f"{path}, line {line}: not well-formed XML ({brief(error)})") from error
