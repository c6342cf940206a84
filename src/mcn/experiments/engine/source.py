"""Where a graph comes from, and the graph itself, loaded once per process."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from mcn.data import load_dataset, simple_graph, weight_matrix
from mcn.motifs import MotifCounts, count_motifs
from mcn.store import as_data, read_graph
from mcn.train.problem import graph_facts, known_labels, sha256_of

DRAWN = ("dd6", "dd7")
"""Data sets whose split is drawn anew for every seed, as in the paper's table 3."""
_MOST = 12  # graphs kept in memory: the draws of table 3 share one


@dataclass(frozen=True)
class Source:
    """A data set by name, files of one's own, or a graph in memory.

    One of `dataset` and `graph` is given; a graph in memory (see `in_memory`) needs neither.

    Attributes:
        dataset: a name that `mcn.load_dataset` knows.
        graph: an edge file that `mcn.load_graph` reads, or a packed graph.
        nodes: the table of its nodes.
        data_root: folder to look for data sets in first.
        memory: the fingerprint of a graph that this process holds.
        options: further ones of `mcn.load_graph` or `mcn.load_dataset`: the split, what is done to features.
    """

    dataset: str | None = None
    graph: str | None = None
    nodes: str | None = None
    data_root: str | None = None
    memory: str | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if (self.dataset is None) == (self.graph is None) and self.memory is None:
            raise ValueError(f"a source is a data set or a graph file, got {asdict(self)}; give one of them")
        if self.nodes is not None and self.graph is None:
            raise ValueError(f"nodes={self.nodes!r} describes the nodes of a graph file; give that too")
        for name in ("graph", "nodes", "data_root"):  # plain absolute paths: workers may start elsewhere
            if (path := getattr(self, name)) is not None:
                object.__setattr__(self, name, str(Path(path).expanduser().resolve()))

    @property
    def title(self) -> str:
        """What to call it: the data set's name, or that of the file."""
        if self.dataset is not None:
            return self.dataset
        return "a graph" if self.graph is None else Path(self.graph).name

    def draw(self, seed: int) -> int:
        """The seed of the split: the run's for the sets of table 3, else 0, as the data are given."""
        return seed if self.dataset in DRAWN and self.memory is None else 0


@dataclass(frozen=True, eq=False)
class Graph:
    """A loaded graph with its motif counts and the fingerprint that goes into the keys of its runs."""

    data: Data
    counts: MotifCounts
    fingerprint: str


_graphs: OrderedDict[tuple[Source, int], Graph] = OrderedDict()


def load(source: Source, seed: int) -> Graph:
    """The graph that a run with this seed is about; kept, so that further runs find it loaded."""
    key = (source, source.draw(seed))
    if key not in _graphs:
        data = _read(source, key[1])
        known = (graph.counts for (other, _), graph in _graphs.items() if other == source)
        counts = next(known, None) or count_motifs(data.edge_index, data.num_nodes)
        install(source, seed, Graph(data, counts, fingerprint(data)))
    _graphs.move_to_end(key)
    return _graphs[key]


def is_loaded(source: Source, seed: int) -> bool:
    """Whether `load` has the graph at hand."""
    return (source, source.draw(seed)) in _graphs


def install(source: Source, seed: int, graph: Graph) -> None:
    """Make `graph` the one that `load` gives: how a worker on another machine gets its data."""
    _graphs[source, source.draw(seed)] = graph
    _graphs.move_to_end((source, source.draw(seed)))
    while len(_graphs) > _MOST:
        _graphs.popitem(last=False)


def in_memory(data: Data, dataset: str | None = None, counts: MotifCounts | None = None) -> Source:
    """Return a source for a graph that is loaded already; only this process can run its units.

    `dataset` is the data set whose presets apply to it, if any; `counts` are its motif counts, if known.
    """
    data = as_data(data)
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    graph = Graph(data, counts, fingerprint(data))
    source = Source(dataset, memory=graph.fingerprint)
    install(source, 0, graph)
    return source


def fingerprint(data: Data) -> str:
    """SHA-256 of edges, features, what is to be done to them, split, and the labels outside the test part.

    It depends neither on the order in which edges are listed nor on the labels of test nodes, only on which
    nodes these are.
    """
    treatment = [str(data.get(name)) for name in ("scaling", "split_at_random", "directed")]
    graph, test = simple_graph(data.edge_index, data.num_nodes), np.flatnonzero(data.test_mask.numpy())
    facts = graph_facts(data.x, graph.indptr, graph.indices, weight_matrix(data))
    what = [treatment, facts, known_labels(data).check_sums(), sha256_of(test)]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def _read(source: Source, draw: int) -> Data:
    if source.memory is not None:
        raise ValueError(
            f"{source.title}: the graph was in the memory of another process, or is no longer kept"
        )
    if source.graph is not None:
        return read_graph(source.graph, nodes=source.nodes, **dict(source.options))
    return load_dataset(str(source.dataset), root=source.data_root, seed=draw, **dict(source.options))
