"""Searching for settings on the validation nodes."""

from __future__ import annotations

from mcn.experiments.search.proposals import importances
from mcn.experiments.search.run import SearchResult, Trial, search
from mcn.experiments.search.space import Range, Space, load_space, spaces
from mcn.experiments.search.summary import Effect, effects, summary

__all__ = [
    "Effect",
    "Range",
    "SearchResult",
    "Space",
    "Trial",
    "effects",
    "importances",
    "load_space",
    "search",
    "spaces",
    "summary",
]
