"""YAML files that come with the package and are called by their names, or others by path."""

from __future__ import annotations

import difflib
import os
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

import yaml


class Named(NamedTuple):
    """What a file holds: the name to call it by, what the user called it, its content."""

    name: str
    where: str
    content: Any


def names(folder: str) -> list[str]:
    """The names of the files in a folder of the package."""
    return sorted(Path(file.name).stem for file in _files(folder).iterdir() if file.name.endswith(".yaml"))


def find(kind: str, folder: str, name_or_path: str | os.PathLike[str]) -> Named:
    """Read a file by its name in the folder, or by its path.

    Raises:
        ValueError: there is none (says which was probably meant), or it is not YAML.
    """
    name, known = os.fspath(name_or_path), names(folder)
    path = Path(name).expanduser()
    if name in known:
        return Named(name, name, _yaml(kind, name, (_files(folder) / f"{name}.yaml").read_bytes()))
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return Named(path.stem, name, _yaml(kind, name, path.read_bytes()))
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown {kind} {name!r}{hint} (there are {', '.join(known)}, or a .yaml file)")


def _files(folder: str) -> Traversable:
    return resources.files("mcn.experiments") / folder


def _yaml(kind: str, where: str, content: bytes) -> Any:
    try:
        return yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{kind} {where}: not YAML ({error})") from None
