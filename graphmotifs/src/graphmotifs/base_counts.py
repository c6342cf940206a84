"""`BaseCounts`: totals, tables, frames and files, which counts of edges and counts of arcs have in common."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmotifs._csv import csv_line
from graphmotifs._files import atomic_write
from graphmotifs._messages import one_of
from graphmotifs.graph import SimpleGraph


class MotifTotal(NamedTuple):
    """A line of `totals`; for counts in a digraph, read arc for edge."""

    graphlet: str
    orbit: str
    instances: int  # of the graphlet, in the whole graph
    per_edge: int  # counts of this edge orbit, summed over the edges
    edges: int  # edges with at least one
    nodes: int  # nodes with at least one such edge


class MotifGroup(NamedTuple):
    """A motif as `totals` needs it: its name, the orbits of its edges, and how many edges it has."""

    name: str
    orbits: tuple[str, ...]
    edges: int


class BaseCounts(ABC):
    """Motif counts of every edge (or arc) and node of a graph."""

    graph: SimpleGraph
    node_ids: NDArray[Any] | None
    _unit: ClassVar[str]  # what a row is of
    _node_orbits: ClassVar[tuple[str, ...]]  # the columns of `per_node`

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.num_nodes

    @property
    @abstractmethod
    def per_node(self) -> NDArray[np.int64]:
        """Counts of the node orbits."""

    @abstractmethod
    def column(self, motif: str) -> NDArray[np.int64]:
        """Counts of one motif."""

    @property
    @abstractmethod
    def _groups(self) -> list[MotifGroup]:
        """The motifs that were counted."""

    @property
    @abstractmethod
    def _ends(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The two nodes of every row of counts."""

    def instances(self) -> dict[str, int]:
        """Return how often each motif that was counted is in the whole graph, as exact Python integers."""
        return {line.graphlet: line.instances for line in self.totals()}

    def totals(self) -> list[MotifTotal]:
        """Per edge orbit that was counted: instances in the graph, and the edges and nodes it touches.

        The numbers are Python integers: they are exact, however large.
        """
        lines = []
        for group in self._groups:
            counted = {orbit: self._orbit_total(orbit) for orbit in group.orbits}
            instances = sum(total for total, _, _ in counted.values()) // group.edges
            lines += [MotifTotal(group.name, orbit, instances, *each) for orbit, each in counted.items()]
        return lines

    def _orbit_total(self, orbit: str) -> tuple[int, int, int]:
        """Return the sum over all edges, and the edges and nodes with at least one."""
        column, (tails, heads) = self.column(orbit), self._ends
        touched = np.flatnonzero(column)
        nodes = np.zeros(self.num_nodes, bool)
        nodes[tails[touched]] = True
        nodes[heads[touched]] = True
        return exact_sum(column), len(touched), int(nodes.sum())

    def summary(self) -> str:
        """A table of the totals, for reading."""
        unit = self._unit
        head = ("motif", "instances", f"{unit} orbit", f"on {unit}s", f"{unit}s", "nodes")
        rows, last = [head], ""
        for line in self.totals():
            shown = (line.graphlet, f"{line.instances:,}") if line.graphlet != last else ("", "")
            last = line.graphlet
            rows.append((*shown, line.orbit, f"{line.per_edge:,}", f"{line.edges:,}", f"{line.nodes:,}"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        layout = "  ".join(f"{{:{side}{width}}}" for side, width in zip("<><>>>", widths, strict=True))
        return "\n".join([repr(self), *(layout.format(*row).rstrip() for row in rows)])

    def to_frame(self, of: str = "edge") -> Any:
        """Return the counts as a data frame of pandas, or of polars where pandas is not installed.

        It has a row per edge (in a digraph, per arc): source, target, and the orbits that were counted; or
        with `of="node"` a row per node: node, and the node orbits.
        """
        columns = self._table(of)
        for package in ("pandas", "polars"):
            with suppress(ImportError):
                return import_module(package).DataFrame(columns)
        raise ValueError("to_frame needs pandas or polars: pip install pandas")

    def _table(self, of: str) -> dict[str, NDArray[Any]]:
        one_of("of", of, ("edge", "node"))
        ids = np.arange(self.num_nodes) if self.node_ids is None else np.asarray(self.node_ids)
        if of == "node":
            return {"node": ids, **dict(zip(self._node_orbits, self.per_node.T, strict=True))}
        source, target = self._ends
        orbits = [orbit for group in self._groups for orbit in group.orbits]
        return {"source": ids[source], "target": ids[target], **{name: self.column(name) for name in orbits}}

    def _save_table(self, path: str | os.PathLike[str]) -> bool:
        """Write the table of edges if the file's name asks for one, by .csv or .parquet."""
        kind = Path(path).suffix
        if kind not in (".csv", ".parquet"):
            return False
        with atomic_write(path) as file:
            (_write_csv if kind == ".csv" else _write_parquet)(file, self._table("edge"))
        return True


def _write_csv(file: IO[bytes], columns: dict[str, NDArray[Any]]) -> None:
    file.write(csv_line(columns).encode())
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        file.write(csv_line(row).encode())


def _write_parquet(file: IO[bytes], columns: dict[str, NDArray[Any]]) -> None:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ValueError("a .parquet file needs pyarrow: pip install pyarrow") from None
    arrays = {name: pyarrow.array(column.tolist()) for name, column in columns.items()}
    parquet.write_table(pyarrow.table(arrays), file)


def exact_sum(column: NDArray[np.int64]) -> int:
    """Return the sum of counts ≥ 0, by halves of 32 bits: fewer than 2³¹ of those cannot exceed 63 bits."""
    return (int((column >> 32).sum()) << 32) + int((column & 0xFFFFFFFF).sum())
