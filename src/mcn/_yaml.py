"""YAML files of settings: those that come with the package, called by name, and any that somebody wrote.

A file from a stranger must be small, not deep, and no bomb.
"""

from __future__ import annotations

import os
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import accumulate
from pathlib import Path
from typing import Any

import yaml

from graphmotifs._messages import did_you_mean

MAX_BYTES = 2**16
_MAX_NODES = 100_000  # aliases written out
_MAX_DEPTH = 50


def names(package: str, folder: str) -> list[str]:
    """Return the names of the files in a folder of a package."""
    files = _files(package, folder).iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".yaml"))


def find(kind: str, package: str, folder: str, name_or_path: str | os.PathLike[str]) -> tuple[str, str, Any]:
    """Read a file by its name in the folder of the package, or by its path; say which was probably meant.

    Returns the name to call it by, what the user called it, and its content.
    """
    name, known = os.fspath(name_or_path), names(package, folder)
    path = Path(name).expanduser()
    if name in known:
        content = (_files(package, folder) / f"{name}.yaml").read_bytes()
        return name, name, parse_yaml(content, f"{kind} {name}")
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return path.stem, name, read_yaml(path, f"{kind} {name}")
    hint = did_you_mean(name, known)
    raise ValueError(f"unknown {kind} {name!r}{hint} (there are {', '.join(known)}, or a .yaml file)")


def _files(package: str, folder: str) -> Traversable:
    return resources.files(package) / folder


def read_yaml(path: str | os.PathLike[str], what: str) -> Any:
    """Return the plain values in a YAML file; `what` is what the message of an error begins with.

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
    steps = (1 if byte in b"[{" else -1 for byte in content if byte in b"[]{}")
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
            children = [child for pair in node.value for child in pair]
        known[id(node)] = 1 + sum(_weigh(child, known, depth + 1) for child in children)
        if known[id(node)] > _MAX_NODES:
            raise ValueError(f"more than {_MAX_NODES:,} values, with aliases written out")
    return known[id(node)]
