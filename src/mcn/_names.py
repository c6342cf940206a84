"""What an argument of `mcn.load_graph` is called on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def data_flag(name: str) -> str:
    """Return the option for an argument of `mcn.load_graph`.

    >>> data_flag("split_by")
    '--split-by'
    """
    return f"--{name.replace('_', '-')}"


def data_words(options: Mapping[str, Any]) -> list[str]:
    """Return the words that give such options again.

    >>> data_words({"split": ["a", "b"], "trust": True, "split_index": 1})
    ['--split', 'a,b', '--trust', '--split-index', '1']
    """
    words = []
    for name, value in options.items():
        listed = ",".join(value) if isinstance(value, list | tuple) else str(value)
        words += [data_flag(name)] if value is True else [data_flag(name), listed]
    return words
