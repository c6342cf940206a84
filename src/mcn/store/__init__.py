"""Graphs on disk: memory-mapped plain arrays with a manifest, for graphs past one machine's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy

if TYPE_CHECKING:
    from mcn.store.graph_store import GraphStore as GraphStore

_HOME = {"GraphStore": ".graph_store"}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
