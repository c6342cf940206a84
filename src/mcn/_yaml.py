"""YAML from a file that anyone may have written: small, not deep, and no bomb."""

from __future__ import annotations

import os
from itertools import accumulate
from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 2**16
_MAX_NODES = 100_000  # aliases written out
_MAX_DEPTH = 50


def read_yaml(path: str | os.PathLike[str], what: str) -> Any:
    """Return the plain values in a YAML file.

    Args:
        path: the file.
        what: what the message of an error begins with: the file, or what it is for.

    Raises:
        ValueError: it is not YAML, larger than `MAX_BYTES`, nested too deeply, or refers to itself.
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as file:
        return parse_yaml(file.read(MAX_BYTES + 1), what)


def parse_yaml(content: bytes, what: str) -> Any:
    """Return the plain values in the content of a YAML file, see `read_yaml`."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"{what}: more than {MAX_BYTES:,} bytes; no file of settings is that large")
    if _brackets(content) > 4 * _MAX_DEPTH:  # the scanner takes seconds for such a file
        raise ValueError(f"{what}: not YAML of settings (nested too deeply)")
    try:
        loader = yaml.SafeLoader(content)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _weigh(node, {}, 0)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except RecursionError:
        raise ValueError(f"{what}: not YAML of settings (nested too deeply)") from None
    # A date or a number that Python refuses comes as a ValueError or one of its cousins.
    except (yaml.YAMLError, ValueError, OverflowError, AttributeError, TypeError, KeyError) as error:
        raise ValueError(f"{what}: not YAML ({' '.join(str(error).split())[:300]})") from None


def _brackets(content: bytes) -> int:
    """Return how deeply brackets are nested, whatever they are part of."""
    steps = (1 if each in b"[{" else -1 for each in content if each in b"[]{}")
    return max(accumulate(steps), default=0)


def _weigh(node: yaml.Node, known: dict[int, int], depth: int) -> int:
    """Return how many nodes a node stands for, with aliases written out; refuse too many or too deep ones."""
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply, or an alias to what it is in")
    if id(node) not in known:
        children: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            children = node.value
        elif isinstance(node, yaml.MappingNode):
            children = [each for pair in node.value for each in pair]
        known[id(node)] = 1 + sum(_weigh(child, known, depth + 1) for child in children)
        if known[id(node)] > _MAX_NODES:
            raise ValueError(f"more than {_MAX_NODES:,} values, with aliases written out")
    return known[id(node)]
