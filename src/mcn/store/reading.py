"""A graph from wherever it is: a packed folder, or files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcn.store.graph_store import GraphStore
from mcn.store.manifest import is_store

_UNSET = (None, "auto", "none", 0)


def as_data(graph: Any) -> Any:
    """Return a store as a `Data` in memory, and anything else as it is."""
    return graph.to_data() if isinstance(graph, GraphStore) else graph


def read_graph(
    path: str | os.PathLike[str],
    nodes: Any = None,
    on_disk: Callable[[GraphStore], bool] | None = None,
    **options: Any,
) -> Any:
    """Read a packed graph, or whatever else `mcn.load_graph` reads: a `Data`.

    Args:
        path: a folder that `mcn pack` made, or a file of edges.
        nodes: a table of the nodes; a packed graph has its own.
        on_disk: asked whether a packed graph is to stay on disk; the `GraphStore` is then returned.
        options: of `mcn.load_graph`; those on columns, split and features were decided when packing.

    Raises:
        ValueError: an option that a packed graph does not take, or a treatment other than its own.
    """
    from mcn.data.graph import add_structure, load_graph
    from mcn.data.treatment import Treatment

    if not is_store(Path(path).expanduser()):
        return load_graph(path, nodes=nodes, **options)
    structure, treatment = options.pop("structure", "none"), options.pop("treatment", None)
    given = [name for name, value in {"nodes": nodes, **options}.items() if value not in _UNSET]
    if given:
        raise ValueError(
            f"{path}: {', '.join(given)} cannot be given for a packed graph; it was decided when packing"
        )
    store = GraphStore.open(path)
    own = store.about.get("treatment")
    if treatment is not None and (own is None or treatment != Treatment.from_dict(own)):
        raise ValueError(
            f"{path}: its features were treated in another way than those trained on (scaled by its own "
            "training nodes, say); give the files it was packed from"
        )
    if on_disk is not None and on_disk(store):
        if structure not in _UNSET:
            raise ValueError(
                f"{path}: structure = {structure} needs the graph in memory, and it does not fit"
            )
        return store
    data = store.to_data()
    add_structure(data, structure)
    return data
