"""Graphs on disk: memory-mapped plain arrays with a manifest, for graphs past one machine's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy

if TYPE_CHECKING:
    from mcn.store.graph_store import GraphStore as GraphStore
    from mcn.store.graph_store import StoreRows as StoreRows
    from mcn.store.graph_store import as_data as as_data
    from mcn.store.graph_store import node_data as node_data
    from mcn.store.graph_store import read_graph as read_graph
    from mcn.store.manifest import as_bytes as as_bytes
    from mcn.store.manifest import is_store as is_store
    from mcn.store.manifest import read_manifest as read_manifest
    from mcn.store.pack import pack_graph as pack_graph

_NAMES = {
    ".graph_store": ("GraphStore", "StoreRows", "as_data", "node_data", "read_graph"),
    ".manifest": ("as_bytes", "is_store", "read_manifest"),
    ".pack": ("pack_graph",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
