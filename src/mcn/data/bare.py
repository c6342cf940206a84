"""The edges of a graph alone, without features and labels; reading them does not need torch."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcn.data.border import reading
from mcn.data.edge_files import NETWORKX, edge_format, read_edges, read_networkx
from mcn.data.simple import SimpleGraph, simple_graph


@dataclass(frozen=True)
class BareGraph:
    """The edges of a graph, and in plain lines what was done to them."""

    graph: SimpleGraph
    report: list[str]


def bare_graph(path: str | os.PathLike[str]) -> BareGraph:
    """Read the edges of a file; the formats, notes and errors are those of `load_graph`."""
    file = existing(path)
    with reading(str(file), "not a readable graph"):
        found = read_networkx(file)[0] if edge_format(file) in NETWORKX else read_edges(file)
        graph = simple_graph(found.ends, len(found.ids))
        return BareGraph(graph, edge_report(graph, found.notes))


def bare_dataset(name: str, root: str | Path | None = None) -> BareGraph:
    """Return the edges of a data set by name; karate's without torch, the others' from their `Data`."""
    if name == "karate":
        from mcn.data.karate import karate_graph

        karate = karate_graph()
        return BareGraph(karate, [karate.describe()])
    from mcn.data.registry import load_dataset

    data = load_dataset(name, root=root)
    return BareGraph(simple_graph(data.edge_index, data.num_nodes), data.report)


def edge_report(graph: SimpleGraph, notes: list[str]) -> list[str]:
    """Say what was done to the edges: the size, notes of the reader, nodes without edges."""
    isolated = graph.num_nodes - int(np.count_nonzero(np.bincount(graph.pairs.reshape(-1))))
    return [graph.describe(), *notes, *isolated_note(isolated)]


def isolated_note(isolated: int) -> list[str]:
    """Say that there are nodes without edges, if there are."""
    return [f"{isolated:,} nodes without edges, kept"] if isolated else []


def existing(path: Any) -> Path:
    """Return a path to a file that is there.

    Raises:
        ValueError: it is not a path.
        FileNotFoundError: there is no such file.
    """
    if not isinstance(path, str | os.PathLike):
        raise ValueError(
            f"got a {type(path).__name__}; expected a path, a pandas or polars frame, a NetworkX or igraph "
            "graph, or a SciPy sparse matrix"
        )
    with suppress(RuntimeError):  # a home folder of nobody: the name is taken as it is
        path = Path(path).expanduser()
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return Path(path)
