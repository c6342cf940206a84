"""Graphs in memory and settings as targets: an input's bytes decide columns, kinds and values."""

import datetime
import decimal
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import networkx
import numpy as np
import pyarrow as pa

import mcn
from tests.configs import MCNConfig, ViewsConfig
from tests.fuzz.arrays import SCALARS, Choices, array, register_choices, scipy_matrix
from tests.fuzz.files import sound

CELLS: list[Any] = [
    *(None, "", " ", "a", "b", "c", "1", "02", "nan", "a\0", "é", "x" * 300, "=1+1", 0, 1, 2, 3, 4, -1),
    *(2**31, 2**63 - 1, 2**64, 0.0, 1.5, float("nan"), float("inf"), 1e308, True, False, b"x", b"\xff"),
    *(datetime.date(2020, 1, 1), datetime.datetime(1, 1, 1, 1), decimal.Decimal("1.0"), [1], {"a": 1}),
    *(datetime.timedelta(1), np.int8(1), np.float32(2), object(), (1, 2), 10**400),
]
NAMES = ["source", "target", "id", "label", "split", "weight", "", "f", "\0", "source", "x" * 100]
KINDS = [
    *(pa.int64(), pa.int64(), pa.string(), pa.int8(), pa.uint64(), pa.float64(), pa.float16(), pa.bool_()),
    *(pa.binary(), pa.date32(), pa.timestamp("ns"), pa.duration("s"), pa.decimal128(5, 2), pa.null()),
    *(pa.list_(pa.int64()), pa.struct([("a", pa.int64())]), pa.large_string(), pa.string_view()),
    pa.dictionary(pa.int8(), pa.string()),
]


class Frame:
    """What `load_graph` knows a frame of pandas or polars by."""

    def __init__(self, columns: list[tuple[Any, Any]]) -> None:
        self.columns = [name for name, _ in columns]
        self._values = columns
        self.shape = (np.size(columns[0][1]) if columns else 0, len(columns))

    def __getitem__(self, name: Any) -> Any:
        return next(values for own, values in self._values if own is name or own == name)


def _cells(c: Choices, rows: int) -> list[Any]:
    """A column of values: usually of small integers or of names, sometimes of anything."""
    kind = c.upto(3)
    if kind == 0:
        return [c.upto(5) for _ in range(rows)]
    if kind == 1:
        return [c.of(("a", "b", "c", "d", "train", "val", "test")) for _ in range(rows)]
    return [c.of(CELLS) if c.wild() or kind == 3 else c.upto(5) for _ in range(rows)]


def _columns(c: Choices, names: list[str]) -> list[tuple[Any, Any]]:
    rows = c.upto(9)
    made = []
    for name in names[: 1 + c.upto(5)]:
        values: Any = _cells(c, rows if not c.wild() else c.upto(9))
        if c.wild():
            values = array(c, (rows,))
        made.append((c.of((*NAMES, 0, None, ("a", 1))) if c.wild() else name, values))
    return made


def _arrow(c: Choices, columns: list[tuple[Any, Any]]) -> Any:
    """The columns as a table of pyarrow, in kinds that their values allow; perhaps in several pieces."""
    made = []
    for _, values in columns:
        cells = values if isinstance(values, list) else [1] * 3
        try:
            column = pa.array(cells, c.of(KINDS)) if c.wild() else pa.array(cells)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):  # pyarrow itself refuses
            column = pa.array(["a"] * len(cells))
        made.append(pa.chunked_array([column, column[:1]]) if c.wild() else column)
    names = [str(name) for name, _ in columns]
    try:
        return pa.table(made, names)
    except (pa.ArrowException, ValueError):  # columns of different lengths
        rows = min(map(len, made))
        return pa.table([column[:rows] for column in made], names)


def _table(c: Choices, names: list[str]) -> Any:
    columns = _columns(c, names)
    return _arrow(c, columns) if c.upto(1) else Frame(columns)


def _frames(c: Choices) -> None:
    edges = _table(c, ["source", "target", "weight", "f", "g"])
    nodes = _table(c, ["id", "label", "split", "f", "g"]) if c.upto(1) else None
    asked = ({}, {}, {"weights": "weight"}, {"label": "label"}, {"features": ["f"]}, {"split": "10/90"})
    sound(mcn.load_graph(edges, nodes, **c.of(asked)))


def _networkx(c: Choices) -> None:
    graph: Any = c.of((networkx.Graph, networkx.DiGraph, networkx.MultiGraph))()
    odd = [name for name in CELLS if name.__hash__ and not isinstance(name, decimal.Decimal | None)]
    names = ["a", "b", 1, 2, 3, 4] if not c.wild() else odd
    for _ in range(c.upto(6)):
        graph.add_node(c.of(names), **{c.of(NAMES): c.of(CELLS) for _ in range(c.upto(2))})
    for _ in range(c.upto(8)):
        cells = {c.of(NAMES): c.of(CELLS) for _ in range(c.upto(2))}
        graph.add_edge(c.of(names), c.of(names), **cells)
    options = c.of(({}, {"weights": "weight"}, {"label": "label"}, {"label": "f", "features": ["label"]}))
    sound(mcn.load_graph(graph, **options))


def _matrix(c: Choices) -> None:
    sound(mcn.load_graph(scipy_matrix(c), weights=c.of((None, None, "weight"))))


def _settings(c: Choices) -> None:
    """Settings that cannot be hashed, compared or shown are refused as well."""
    kind = c.of((MCNConfig, ViewsConfig))
    names = [field.name for field in fields(kind)]
    pick: Callable[[], Any] = lambda: c.of((SCALARS, CELLS, [*PLAIN]))  # noqa: E731 - one list, then one of it
    made = kind(**{c.of(names): c.of(pick()) for _ in range(1 + c.upto(3))})
    assert kind.from_dict(made.to_dict()) == made, "settings do not survive being stored"


PLAIN: list[Any] = [
    *("edge", ["edge", "triangle"], ["edge"], "transition", "none", "all"),
    *(0.5, 1e-3, 16, -0.0, 1e-320, [5, 5]),
]

register_choices({"frames": _frames, "networkx": _networkx, "scipy": _matrix, "settings": _settings})
