"""Searching for settings on the validation nodes."""

from __future__ import annotations

from mcn.experiments.search.proposals import importances
from mcn.experiments.search.run import SearchResult, Trial, search
from mcn.experiments.search.space import Range, Space, load_space, spaces

__all__ = [
    "Range",
    "SearchResult",
    "Space",
    "Trial",
    "importances",
    "load_space",
    "search",
    "spaces",
]
