"""Edges from any supported file format, chosen by the file's name."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray
from scipy import io as scipy_io
from scipy import sparse

from mcn.data.edge_text import EdgeList, read_edge_text
from mcn.data.text import is_integer, read_bytes

TEXT = (".csv", ".tsv", ".txt", ".edges", ".edgelist")
NETWORKX = (".graphml", ".gexf", ".gml")
FORMATS = (*TEXT, ".mtx", ".npz", *NETWORKX)


def edge_format(path: Path) -> str:
    """The format of an edge file: its suffix, `.gz` aside."""
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
    path: Path, *, delimiter: str | None = None, header: bool | None = None, as_text: bool = False
) -> EdgeList:
    """Read the edges of a text, Matrix Market or NumPy file; the options are those of text files."""
    kind = edge_format(path)
    if kind in TEXT:
        return read_edge_text(path, delimiter=delimiter, header=header, as_text=as_text)
    return read_mtx(path) if kind == ".mtx" else read_npz(path)


def read_mtx(path: Path) -> EdgeList:
    """A Matrix Market file: entry (i, j) is an edge; ids are 1..n as in the file."""
    try:
        matrix: Any = scipy_io.mmread(io.BytesIO(read_bytes(path)))
    except (ValueError, OverflowError, TypeError) as error:
        raise ValueError(f"{path}: not a readable Matrix Market file ({error})") from error
    return _from_matrix(matrix, path, first=1)


def read_npz(path: Path) -> EdgeList:
    """A NumPy archive: `edge` [M, 2] or `edge_index` [2, M] and optionally `n`, or a SciPy sparse matrix."""
    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, EOFError, OSError, AttributeError) as error:
        raise ValueError(f"{path}: not a readable .npz file without pickles ({error})") from error
    if {"format", "shape", "data"} <= arrays.keys():
        try:
            matrix = sparse.load_npz(io.BytesIO(read_bytes(path)))
        except (ValueError, KeyError, IndexError) as error:
            raise ValueError(f"{path}: not a readable SciPy sparse matrix ({error})") from error
        return _from_matrix(matrix, path, first=0)
    if "edge" in arrays:
        ends = arrays["edge"].T
    elif "edge_index" in arrays:
        ends = arrays["edge_index"]
    else:
        raise ValueError(
            f"{path}: has {', '.join(arrays) or 'nothing'}; expected 'edge' [M, 2] or 'edge_index' [2, M]"
        )
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise ValueError(
            f"{path}: edges of shape {list(ends.T.shape)}, dtype {ends.dtype}; expected integer pairs [M, 2]"
        )
    return _numbered(ends.astype(np.int64), arrays.get("n"), path)


def _numbered(ends: NDArray[np.int64], given: NDArray[Any] | None, path: Path) -> EdgeList:
    if ends.size and int(ends.min()) < 0:
        place = int(np.argmax((ends < 0).any(axis=0)))
        raise ValueError(f"{path}: negative node id in edge {place}: {ends[:, place].tolist()}")
    if given is not None and (given.size != 1 or given.dtype.kind not in "iu"):
        raise ValueError(f"{path}: n is {given!r}; expected one integer, the number of nodes")
    n = int(ends.max(initial=-1)) + 1 if given is None else int(given.reshape(-1)[0])
    if ends.size and int(ends.max()) >= n:
        place = int(np.argmax((ends >= n).any(axis=0)))
        raise ValueError(
            f"{path}: edge {place} is {ends[:, place].tolist()}, but n is {n}; expected ids below n"
        )
    if n > 2**31:
        raise ValueError(f"{path}: {n} nodes; at most 2**31 are supported: number them without gaps")
    return EdgeList(ends, np.arange(n), [])


def _from_matrix(matrix: Any, path: Path, first: int) -> EdgeList:
    coo = sparse.coo_array(matrix)
    if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
        raise ValueError(f"{path}: a matrix of shape {list(coo.shape)}; expected a square adjacency matrix")
    row, column = coo.coords
    kept = coo.data != 0
    notes = [] if kept.all() else [f"{int((~kept).sum()):,} stored zeros are no edges"]
    if (coo.data[kept] != 1).any():
        notes.append("values (weights) accepted, not used: the graph is unweighted")
    found = _numbered(np.stack([row, column])[:, kept].astype(np.int64), np.array(coo.shape[0]), path)
    return EdgeList(found.ends, found.ids + first, notes)


def read_networkx(path: Path) -> tuple[EdgeList, list[dict[str, str]]]:
    """A GraphML, GEXF or GML file: its edges, and each node's attributes as text, in the order of ids."""
    try:
        import networkx
    except ImportError as error:
        raise ValueError(f"{path}: reading this format needs networkx; pip install 'mcn[viz]'") from error
    kind, content = edge_format(path), read_bytes(path)
    if kind != ".gml":
        _refuse_doctype(content, path)
    try:
        if kind == ".graphml":
            graph = networkx.read_graphml(io.BytesIO(content))
        elif kind == ".gexf":
            graph = networkx.read_gexf(io.BytesIO(content))
        else:
            graph = networkx.parse_gml(content.decode("utf-8").splitlines(), label="id")
    except Exception as error:
        # networkx lets the errors of its parsers through, whatever they are.
        raise ValueError(f"{path}: not a readable {kind} file ({error})") from error
    names = [str(name) for name in graph.nodes]
    ids = np.array(names, np.int64 if names and all(map(is_integer, names)) else np.str_)
    order = np.argsort(ids, kind="stable")
    place = {names[at]: position for position, at in enumerate(order)}
    ends = np.array([(place[str(u)], place[str(v)]) for u, v in graph.edges()], np.int64).reshape(-1, 2).T
    attributes = [{key: str(value) for key, value in row.items()} for _, row in graph.nodes(data=True)]
    weighted = any("weight" in row and float(row["weight"]) != 1 for *_, row in graph.edges(data=True))
    notes = ["edge weights accepted, not used: the graph is unweighted"] if weighted else []
    return EdgeList(ends, ids[order], notes), [attributes[at] for at in order]


def _refuse_doctype(content: bytes, path: Path) -> None:
    """XML with a document type can declare entities that expand without end or name other files."""

    def refuse(*_: Any) -> None:
        raise ValueError(f"{path}: refused, the XML declares a document type (DOCTYPE); remove it")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ValueError(f"{path}, line {error.lineno}: not well-formed XML ({error})") from error
