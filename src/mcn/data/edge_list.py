"""Edges as they are read from anywhere, and from objects in memory.

Objects are frames of pandas, polars and pyarrow, graphs of NetworkX and igraph, and SciPy matrices. None of
these packages is imported: an object is known by what it can do.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from graphmotifs._messages import did_you_mean, shown
from mcn._names import spell_option
from mcn.data.limits import check_memory, check_nodes, listed
from mcn.data.sparse import check_structure
from mcn.data.tables import cell_text, frame_columns, is_arrow, values_of
from mcn.data.text import is_integer, is_number

if TYPE_CHECKING:
    from graphmotifs.graph import SimpleGraph

_PAIRS = (
    ("source", "target"), ("src", "dst"), ("src", "dest"), ("source", "destination"), ("from", "to"),
    ("u", "v"), ("head", "tail"), ("start", "end"), ("node1", "node2"), ("id1", "id2"), ("user1", "user2"),
    ("sourceid", "targetid"), ("srcid", "dstid"), ("fromid", "toid"), ("fromnodeid", "tonodeid"),
    ("sourcenode", "targetnode"), ("fromnode", "tonode"), ("nodea", "nodeb"), ("follower", "followee"),
    ("follower", "followed"), ("follower", "following"), ("sender", "receiver"), ("sender", "recipient"),
    ("citing", "cited"), ("origin", "destination"), ("parent", "child"), ("subject", "object"),
)  # fmt: skip
LETTERS = (("a", "b"), ("i", "j"))  # names of columns, where it is known that there are such
INDEX = ("", "unnamed: 0", "__index_level_0__")  # what pandas and R call the numbers of rows
_NUMBERED = ("id", "index", "edge", "edge_id", "edgeid", "row", "no", "nr")  # what others call them
_WEIGHTS = ("weight", "weights", "amount", "count", "value", "strength", "w", "n", "total")
SAMPLE = 1000
"""The most rows by which it is decided what the columns are."""
SQUARE = "expected a square adjacency matrix"
_PART = 2**16  # names that are numbered before the memory that all of them take is looked at
_NAME_BYTES, _NUMBER_BYTES = 200, 26  # of a distinct name beside its text, and of the number of any name
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Layout:
    """What a user says of a table of edges: its separator, whether there is a header, the two columns."""

    delimiter: str | None = None
    header: bool | None = None
    source: str | None = None
    target: str | None = None

    def __post_init__(self) -> None:
        if (self.source is None) != (self.target is None):
            both = f"{spell_option('source')} and {spell_option('target')}"
            raise ValueError(f"give both {both}, or neither: the two columns that are an edge")


ANY_LAYOUT = Layout()


def usual_pair(titles: Sequence[str], *further: tuple[str, str]) -> tuple[int, int] | None:
    """The places of the first usual pair of names, as source and target, among the names of columns."""
    plain = [re.sub("[ _.-]", "", title.lower()) for title in titles[:1000]]
    pair = next((pair for pair in (*_PAIRS, *further) if set(pair) <= set(plain)), None)
    return None if pair is None else (plain.index(pair[0]), plain.index(pair[1]))


def edge_columns(
    titles: Sequence[str], layout: Layout, name: str, rows: Sequence[Sequence[str]]
) -> tuple[int, int]:
    """Which two columns are source and target: those asked for, a usual pair of names, or the first two.

    `rows` are the first ones: a first column that numbers them is no end of an edge.
    """
    if layout.source is None or layout.target is None:
        first = int(len(titles) > 2 and (titles[0].lower() in INDEX or _numbers_rows(titles[0], rows)))
        one, other = usual_pair(titles, *LETTERS) or (first, first + 1)
    else:
        one, other = (_place(titles, asked, name) for asked in (layout.source, layout.target))
        if one == other:
            both = f"{spell_option('source')} and {spell_option('target')}"
            raise ValueError(f"{name}: {both} name the same column {shown(layout.source)}")
    return one, other


def _numbers_rows(title: str, rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first column counts the rows, beside two columns that have ids in common.

    If these ids are among the numbers, which might then be ids too, the name of the column decides.
    """
    if len(rows) < 3 or min(map(len, rows)) < 3 or not is_integer(rows[0][0]):
        return False
    numbers, some, others = ({row[column] for row in rows} for column in range(3))
    counted = [str(int(rows[0][0]) + row) for row in range(len(rows))]
    if [row[0] for row in rows] != counted or not some & others:
        return False
    return title.lower() in _NUMBERED or not numbers & (some | others)


def _place(titles: Sequence[str], asked: str, name: str) -> int:
    """The place of a column that is named, or numbered from 1."""
    if asked in titles:
        return titles.index(asked)
    if is_integer(asked) and 1 <= int(asked) <= len(titles):
        return int(asked) - 1
    there = f"; there is {', '.join(map(shown, titles[:10]))}"
    raise ValueError(f"{name}: no column {shown(asked)}{did_you_mean(asked, titles[:100]) or there}")


def columns_note(
    titles: Sequence[str], ends: tuple[int, int], weights: str | None = None, header: bool = True
) -> list[str]:
    """Return one line that accounts for every column: the ends of an edge, its weight, those not used.

    Without a `header` the titles are numbers.
    """
    one, other = (titles[end] for end in ends)
    line = f"header: an edge is {shown(one)} and {shown(other)}"
    if not header:
        line = f"no header: an edge is columns {one} and {other}"
    unused = [title for place, title in enumerate(titles) if place not in ends]
    if weights in unused:
        unused.remove(weights)
        line += f", its weight {shown(weights)}"
    if len(titles) > 2 and (not header or usual_pair(titles, *LETTERS) is None):
        line += f" ({spell_option('source')} and {spell_option('target')} name others)"
    if unused:
        line += f"; not used: {listed(unused, 10) if header else 'column ' + ', '.join(unused[:10])}"
    if unused and header and weights is None:
        usual = next((title for title in unused if title.lower() in _WEIGHTS), None)
        line += f"; {spell_option('weights', usual or 'NAME')} makes weights of a column of numbers"
    return [line]


@dataclass(frozen=True)
class EdgeList:
    """Edges as read: `ends` [2, E] are positions in `ids`, which are int64 or Python strings.

    `weights` [E] are there if they were asked for. `attributes` are those of the nodes as text, by position,
    if the edges come from a graph that has some. `both_ways`: that graph says that it is not directed.
    """

    ends: NDArray[np.int64]
    ids: NDArray[Any]
    notes: list[str] = field(default_factory=list)
    weights: NDArray[np.float64] | None = None
    attributes: list[dict[str, str]] | None = None
    both_ways: bool = False


def id_array(names: Sequence[str], *, as_text: bool = False) -> NDArray[Any]:
    """Return node ids as int64 if all of them are integers, otherwise as Python strings.

    NumPy's own strings would drop NULs at the end, and give every id as much room as the longest takes.
    """
    if names and not as_text and all(map(is_integer, names)):
        return np.array(names, np.int64)
    ids = np.empty(len(names), object)
    ids[:] = names
    return ids


def sorted_ids(names: Sequence[str], *, as_text: bool = False) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct ids in ascending order, and the position of each of `names` among them."""
    ids = id_array(names, as_text=as_text)
    if ids.dtype == object:  # Python compares its strings twice as fast as NumPy does
        order = np.array(sorted(range(len(ids)), key=names.__getitem__), np.int64)
    else:
        order = np.argsort(ids, kind="stable")
    position = np.empty(len(ids), np.int64)
    position[order] = np.arange(len(ids))
    return ids[order], position


def compact(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct ids, ascending, and the position of each given id among them."""
    largest = int(ids.max(initial=-1))
    if largest < 2 * ids.size + 1024:
        present = np.zeros(largest + 1, np.bool_)
        present[ids] = True
        known, position = np.flatnonzero(present), np.cumsum(present, dtype=np.int64)
        position -= 1
        return known, position[ids]
    known, ends = np.unique(ids, return_inverse=True)
    return known, ends.reshape(ids.shape)


class IdIndex:
    """Where each of some distinct ids stands among them; what is spelled alike is the same id."""

    def __init__(self, ids: NDArray[Any]) -> None:
        self._order = np.argsort(ids, kind="stable") if ids.dtype == np.int64 else None
        self._sorted = ids if self._order is None else ids[self._order]
        self._row = {} if self._order is not None else {str(name): at for at, name in enumerate(ids.tolist())}

    def find(self, ids: NDArray[Any] | Sequence[str]) -> NDArray[np.int64]:
        """The position of each id, -1 for one that is not known."""
        if self._order is None:
            names = map(str, ids.tolist()) if isinstance(ids, np.ndarray) else ids
            return np.fromiter((self._row.get(name, -1) for name in names), np.int64, len(ids))
        if not isinstance(ids, np.ndarray) or ids.dtype != np.int64:
            ids = np.array([int(name) if is_integer(name) else -1 for name in ids], np.int64)
        if not len(self._order):
            return np.full(len(ids), -1, np.int64)
        place = np.minimum(np.searchsorted(self._sorted, ids), len(self._order) - 1)
        return np.where(self._sorted[place] == ids, self._order[place], -1)


def text_note(names: Iterable[str]) -> list[str]:
    """Say that ids are read as text, with the first of `names` that is no integer, if there is one."""
    odd = next((name for name in names if not is_integer(name)), None)
    return [] if odd is None else [f"node ids are read as text (for instance {shown(odd)})"]


def bad_number(names: Sequence[str]) -> int | None:
    """The first id that is not of digits where all are numbers; among names, some may look like numbers."""
    if not all(map(is_number, names)):
        return None
    return next((place for place, name in enumerate(names) if not name.isdigit()), None)


def checked_weights(cells: Any, where: Callable[[int], str], name: str) -> NDArray[np.float64]:
    """Return edge weights, all positive and finite; `where` says where each of them stands."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        values = cells.astype(np.float64)
    else:
        values = np.fromiter(map(_number, cells), np.float64, len(cells))
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((values > 0) & (values <= _LARGEST)))
    if len(bad):
        at = int(bad[0])
        raise ValueError(
            f"{where(at)}: {shown(str(cells[at]))} in weight column {shown(name)}; "
            f"expected a positive finite number{f' (and in {len(bad) - 1:,} more edges)' * (len(bad) > 1)}"
        )
    return values


def _number(cell: Any) -> float:
    if isinstance(cell, str) and not is_number(cell):
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def kind_of(thing: Any) -> str | None:
    """What an object is: matrix, networkx, igraph or frame; None if it is none of them."""
    if hasattr(thing, "tocoo") and hasattr(thing, "shape"):
        return "matrix"
    if hasattr(thing, "adjacency") and hasattr(thing, "nodes") and hasattr(thing, "edges"):
        return "networkx"
    if hasattr(thing, "get_edgelist") and hasattr(thing, "vs"):
        return "igraph"
    if is_arrow(thing) or all(hasattr(thing, name) for name in ("columns", "__getitem__", "shape")):
        return "frame"
    return None


def object_edges(
    thing: Any, layout: Layout = ANY_LAYOUT, *, weights: str | None = None, as_text: bool = False
) -> EdgeList:
    """Return the edges of an object that `kind_of` knows."""
    kind = kind_of(thing)
    if kind == "matrix":
        return matrix_edges(thing, "edges", weights=weights)
    if kind == "networkx":
        return networkx_edges(thing, "edges: the NetworkX graph", weights)
    if kind == "igraph":
        names = thing.vs["name"] if "name" in thing.vs.attributes() else list(range(thing.vcount()))
        attributes = [vertex.attributes() for vertex in thing.vs]
        for row in attributes:
            row.pop("name", None)
        edges = [(names[edge.source], names[edge.target], edge.attributes()) for edge in thing.es]
        found = _graph_edges(names, attributes, edges, weights, "edges: the igraph graph")
        return replace(found, both_ways=not thing.is_directed())
    return frame_edges(frame_columns(thing, "edges"), "edges", layout, weights=weights, as_text=as_text)


def networkx_edges(graph: Any, name: str, weights: str | None) -> EdgeList:
    """Return the edges of a NetworkX graph; messages call it `name`."""
    nodes = list(graph.nodes(data=True))
    edges = list(graph.edges(data=True))
    found = _graph_edges([node for node, _ in nodes], [row for _, row in nodes], edges, weights, name)
    return replace(found, both_ways=not graph.is_directed())


def _graph_edges(
    names: Sequence[Any],
    attributes: Sequence[dict[Any, Any]],
    edges: Sequence[tuple[Any, Any, dict[Any, Any]]],
    weights: str | None,
    graph: str,
) -> EdgeList:
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(text for text, times in Counter(texts).items() if times > 1)
        raise ValueError(f"{graph}: node id {shown(twice)} occurs twice, as text and as a number")
    ids, position = sorted_ids(texts)
    place = dict(zip(texts, position.tolist(), strict=True))
    ends = np.array([(place[str(u)], place[str(v)]) for u, v, _ in edges], np.int64).reshape(-1, 2).T
    rows = [{str(key): cell_text(value) for key, value in row.items()} for row in attributes]
    in_order = [rows[at] for at in np.argsort(position)]
    notes, values = text_note(texts), None
    if weights is not None:
        cells = [row.get(weights) for *_, row in edges]
        values = checked_weights(cells, lambda at: f"{graph}, edge {edges[at][:2]}", weights)
    # A weight of 1 says nothing.
    unused = {str(key) for *_, row in edges for key, value in row.items() if str(value) not in ("1", "1.0")}
    unused.discard(str(weights))
    if unused:
        takes = (
            "" if weights else f"; {spell_option('weights', 'NAME')} makes weights of one that holds numbers"
        )
        notes.append(f"attributes of the edges that are not used: {listed(sorted(unused), 10)}{takes}")
    return EdgeList(ends, ids, notes, values, in_order)


def matrix_edges(matrix: Any, name: str, *, first: int = 0, weights: str | None = None) -> EdgeList:
    """Return the entries (i, j) of a square matrix that are not zero as edges.

    The id of the first row is `first`. If `weights` has any name, the values are weights.
    """
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name}: a matrix of shape {list(matrix.shape)}; {SQUARE}")
    n = int(matrix.shape[0])
    check_nodes(name, n)
    coo = (check_structure(matrix, name) if issparse(matrix) else matrix).tocoo()
    ends, values = np.stack([coo.row, coo.col], dtype=np.int64, casting="unsafe"), np.asarray(coo.data)
    notes, given = [], None
    kept = values != 0
    if not kept.all():  # few matrices store zeros, and picking entries takes longer than all else here
        notes.append(f"{int((~kept).sum()):,} stored zeros are no edges")
        ends, values = ends[:, kept], values[kept]
    if weights is not None:
        given = checked_weights(values, lambda at: f"{name}, entry {tuple(ends[:, at].tolist())}", weights)
    elif (values != 1).any():
        notes.append("values of the matrix are not used: each that is not zero is an edge")
    return EdgeList(ends, np.arange(n) + first, notes, given)


def frame_edges(
    columns: dict[str, Any],
    name: str,
    layout: Layout,
    *,
    weights: str | None = None,
    as_text: bool = False,
    held: int | None = None,
) -> EdgeList:
    """Make edges of two columns of a frame; ids are integers if both columns are, else text.

    `held` are the bytes that the frame takes, if it comes from a file.
    """
    if len(columns) < 2:
        raise ValueError(f"{name}: {len(columns)} columns; expected two node ids per row")
    titles = list(columns)
    first_rows = zip(*(map(cell_text, values_of(columns[t][:SAMPLE])) for t in titles[:3]), strict=True)
    ends_at = edge_columns(titles, layout, name, list(first_rows))
    further = [title for place, title in enumerate(titles) if place not in ends_at]
    values = None
    if weights is not None:
        if weights not in further:
            near = did_you_mean(weights, further[:98])
            raise ValueError(f"{name}: no weight column {shown(weights)} after the two ids{near}")
        cells = values_of(columns[weights])
        values = checked_weights(cells, lambda row: f"{name}, row {row + 1}", weights)
    notes = columns_note(titles, ends_at, weights)
    sides = [columns[titles[place]] for place in ends_at]
    integers = [_integers(side) for side in sides]
    if not as_text and all(side is not None for side in integers):
        ids = np.stack([side for side in integers if side is not None]).astype(np.int64)
        if ids.size and int(ids.min()) < 0:
            row = int(np.argmax((ids < 0).any(axis=0)))
            raise ValueError(f"{name}, row {row + 1}: negative node id in {ids[:, row].tolist()}")
        known, ends = compact(ids)
        return EdgeList(ends, known, notes, values)

    def texts() -> Iterator[str]:
        for side, column in enumerate(sides):
            for row, value in enumerate(values_of(column)):
                text = cell_text(value)
                if not text:
                    raise ValueError(
                        f"{name}, row {row + 1}: an empty node id in column {shown(titles[ends_at[side]])}"
                    )
                yield text

    ends, names = numbered_names(texts(), name, held)
    ends = ends.reshape(2, -1)
    edges = edges_of_names(ends, names, as_text, notes, lambda row: f"{name}, row {row + 1}")
    return replace(edges, weights=values)


def numbered_names(names: Iterator[str], name: str, held: int | None) -> tuple[NDArray[np.int64], list[str]]:
    """Number the distinct names in the order in which they come.

    `held` bytes of the file `name` are in memory beside them; None for what is no file, and has no limit.
    """
    index: dict[str, int] = {}
    numbers, texts = array("q"), 0
    while part := list(islice(names, _PART)):
        before = len(index)
        numbers.extend([index.setdefault(one, len(index)) for one in part])
        if held is not None:
            texts += sum(map(sys.getsizeof, islice(reversed(index), len(index) - before)))
            check_memory(name, held + texts + _NAME_BYTES * len(index) + _NUMBER_BYTES * len(numbers))
    return np.frombuffer(numbers, np.int64) if numbers else np.empty(0, np.int64), list(index)


def edges_of_names(
    ends: NDArray[np.int64], names: list[str], as_text: bool, notes: list[str], where: Callable[[int], str]
) -> EdgeList:
    """Make edges of positions among distinct names; `where` says where an edge stands, for an error."""
    bad = None if as_text else bad_number(names)
    if bad is not None:
        edge = int(np.argmax((ends == bad).any(axis=0)))
        raise ValueError(
            f"{where(edge)}: node id {shown(names[bad])}; expected a non-negative integer or a name"
        )
    ids, position = sorted_ids(names, as_text=as_text)
    return EdgeList(position[ends], ids, notes + ([] if as_text else text_note(names)))


def _integers(column: Any) -> NDArray[Any] | None:
    """A column of integers as an array; None if it holds anything else or something is missing."""
    nulls = getattr(column, "null_count", 0)
    if nulls() if callable(nulls) else nulls:
        return None
    array = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    return array if array.dtype.kind in "iu" and array.ndim == 1 else None


class GraphEdges(NamedTuple):
    """The edges of a graph alone, in plain lines what was done to them, and the ids of its nodes, if any."""

    graph: SimpleGraph
    report: list[str]
    ids: NDArray[Any] | None = None


def made_simple(num_nodes: int, num_edges: int, self_loops: int, duplicates: int, one_way: int) -> str:
    """Return one line on a graph and on what was dropped or added to make it simple."""
    done = {
        "self-loops dropped": self_loops,
        "repeated entries merged": duplicates,
        "edges given in one direction only, used in both": one_way if one_way < num_edges else 0,
    }
    notes = [f"{count:,} {what}" for what, count in done.items() if count]
    size = f"{num_nodes:,} nodes, {num_edges:,} undirected edges"
    return f"{size} ({'; '.join(notes)})" if notes else size


def describe_graph(graph: SimpleGraph, directed: bool = False) -> str:
    """Return one line on a graph and on what was made simple; on its arcs if it is used as `directed`."""
    edges, one_way = (graph.arcs.shape[1], 0) if directed else (graph.num_edges, graph.one_way)
    line = made_simple(graph.num_nodes, edges, graph.self_loops, graph.duplicates, one_way)
    return line.replace("undirected edges", "arcs") if directed else line


def report_graph(graph: SimpleGraph, notes: Sequence[str] = (), directed: bool = False) -> list[str]:
    """Say what was done to the edges: the size, the `notes` of the reader, nodes without edges."""
    isolated = graph.num_nodes - int(np.count_nonzero(graph.degrees))
    return [describe_graph(graph, directed), *notes, *isolated_note(isolated)]


def isolated_note(isolated: int) -> list[str]:
    """Say that there are nodes without edges, if there are."""
    return [f"{isolated:,} nodes without edges, kept"] if isolated else []
