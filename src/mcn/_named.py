"""YAML files that come with the package and are called by their names, or others by path."""

from __future__ import annotations

import os
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

from mcn._names import did_you_mean
from mcn._yaml import parse_yaml, read_yaml


class Named(NamedTuple):
    """What a file holds: the name to call it by, what the user called it, its content."""

    name: str
    where: str
    content: Any


def names(package: str, folder: str) -> list[str]:
    """Return the names of the files in a folder of a package."""
    files = _files(package, folder).iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".yaml"))


def find(kind: str, package: str, folder: str, name_or_path: str | os.PathLike[str]) -> Named:
    """Read a file by its name in the folder of the package, or by its path.

    Raises:
        ValueError: there is none (says which was probably meant), or it is not YAML.
    """
    name, known = os.fspath(name_or_path), names(package, folder)
    path = Path(name).expanduser()
    if name in known:
        content = (_files(package, folder) / f"{name}.yaml").read_bytes()
        return Named(name, name, parse_yaml(content, f"{kind} {name}"))
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return Named(path.stem, name, read_yaml(path, f"{kind} {name}"))
    hint = did_you_mean(name, known)
    raise ValueError(f"unknown {kind} {name!r}{hint} (there are {', '.join(known)}, or a .yaml file)")


def _files(package: str, folder: str) -> Traversable:
    return resources.files(package) / folder
