"""Counting in all that `graphmotifs.count` takes, and in a PyG `Data` or a `GraphStore`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

import graphmotifs
from graphmotifs.significance import MotifSignificance
from mcn._composition import check_composition
from mcn.store import GraphStore, StoreRows
from mcn.store.manifest import describe_array

if TYPE_CHECKING:
    count_motifs = graphmotifs.count
else:

    def count_motifs(edge_index: Any, num_nodes: int | None = None, **options: Any) -> Any:
        """Count motifs at every edge and node, exactly: `graphmotifs.count`, for graphs of this package too.

        Args:
            edge_index: what `graphmotifs.count` takes, foremost integer node numbers of shape [2, E]; or a
                PyG `Data`; or a `GraphStore`, whose counts `out` may write into its own folder.
            num_nodes: number of nodes; the largest number plus one if not given.
            options: directed, motifs, induced, threads, progress, out, memory, engine, address, approximate
                and seed, as `graphmotifs.count` describes them.

        >>> counts = count_motifs([[0, 0, 1, 2], [1, 2, 2, 3]])
        >>> counts.column("triangle").tolist()
        [1, 1, 1, 0]
        """
        if isinstance(edge_index, GraphStore):
            return _count_store(edge_index, num_nodes, options)
        if options.get("out") is not None:
            raise ValueError("out= is for counts of an mcn.GraphStore; save others with MotifCounts.save")
        if not _is_data(edge_index):
            return graphmotifs.count(edge_index, num_nodes, **options)
        graph, ids = _graph_of_data(edge_index, bool(options.get("directed")))
        counts = graphmotifs.count(graph, num_nodes, **options)
        return replace(counts, node_ids=ids) if hasattr(counts, "node_ids") else counts


def motif_significance(
    edge_index: Any,
    num_nodes: int | None = None,
    *,
    directed: bool = False,
    keep: str | None = None,
    samples: int = 100,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> MotifSignificance:
    """Compare the motifs of a graph with those of random graphs: `graphmotifs.motif_significance`.

    `edge_index` is what `mcn.count_motifs` takes, but for a graph on disk.
    """
    packed = isinstance(edge_index, GraphStore) and "an mcn.GraphStore"
    check_composition({"significance": "motif_significance", "a packed graph": packed})
    graph = _graph_of_data(edge_index, directed)[0] if _is_data(edge_index) else edge_index
    how: dict[str, Any] = {"samples": samples, "seed": seed, "threads": threads, "progress": progress}
    return graphmotifs.motif_significance(graph, num_nodes, directed=directed, keep=keep, **how)


def _is_data(thing: Any) -> bool:
    """Whether an object has an `edge_index`, as PyG's have; that of a `SimpleGraph` takes time to make."""
    return not isinstance(thing, graphmotifs.SimpleGraph) and hasattr(thing, "edge_index")


def _graph_of_data(data: Any, directed: bool) -> tuple[Any, NDArray[Any] | None]:
    """Return the graph of a PyG `Data` and its ids; warn of edge features, which counting does not use."""
    from mcn.data.checks import told_nodes, warn_of_unused  # with torch, which counting alone does not need

    graph = graphmotifs.simple_graph(data.edge_index, told_nodes(data))
    warn_of_unused(data, replace(graph, one_way=0) if directed else graph)
    return graph, getattr(data, "node_ids", None)


def _count_store(store: GraphStore, num_nodes: int | None, options: Mapping[str, Any]) -> Any:
    """Count in a packed graph; with `out`, the counts in that folder become known as this graph's."""
    if options.get("out") is None:
        counts = graphmotifs.count(StoreRows(store), num_nodes, **options)
        return replace(counts, node_ids=store.ids) if hasattr(counts, "node_ids") else counts
    folder = Path(options["out"])
    if not options.get("induced", True) and folder.resolve() == store.path.resolve():
        raise ValueError("a store's own counts are of induced subgraphs; give another folder as out=")
    if folder.is_dir():
        store.counts_in(folder)  # refuses those of another graph before any work
    counted = graphmotifs.count(StoreRows(store), num_nodes, **options)
    files = {motif: describe_array(folder, f"count.{motif}") for motif in counted if motif != "edge"}
    store.add_counts(folder, files)
    return {motif: values for motif, values in store.counts_in(folder).items() if motif in counted}
