"""What an argument of `mcn.load_graph` is called on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_ON_COMMAND_LINE = ContextVar("on_command_line", default=False)


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
        flags = {"True": [data_flag(name)], "False": [data_flag(f"no_{name}")]}
        words += flags.get(repr(value), [data_flag(name), listed])
    return words


@contextmanager
def words_of_command_line() -> Iterator[None]:
    """Make messages name flags of the command line, not parameters of Python, as long as this lasts."""
    before = _ON_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_COMMAND_LINE.reset(before)


def spell_option(name: str, value: Any = None) -> str:
    """Return an argument of `mcn.load_graph`, with its value, in the words of the interface that is used.

    >>> spell_option("drop"), spell_option("label", "age"), spell_option("directed", True)
    ('drop=', "label='age'", 'directed=True')
    >>> with words_of_command_line():
    ...     spell_option("drop"), spell_option("label", "age"), spell_option("directed", True)
    ('--drop', '--label age', '--directed')
    """
    if not _ON_COMMAND_LINE.get():
        return f"{name}={'' if value is None else repr(value)}"
    return " ".join(data_words({"columns" if name == "features" else name: True if value is None else value}))
