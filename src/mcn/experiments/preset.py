"""Presets: named settings for a data set, one YAML file each, and files of the same form by path.

A file holds `description`, `dataset` and `settings`; the settings are fields of `mcn.train.Config` that
differ from its defaults. A bare mapping of such fields, as `mcn search` writes it, is a preset as well.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from mcn.train import Config

_FIELDS = ("description", "dataset", "settings")


@dataclass(frozen=True)
class Preset:
    """Settings with a name; `config` is the defaults with `settings` changed, whatever the data set."""

    name: str
    description: str
    dataset: str | None
    config: Config
    settings: dict[str, Any]


def presets() -> list[str]:
    """The names of the presets that come with the package."""
    return sorted(Path(file.name).stem for file in _folder().iterdir() if file.name.endswith(".yaml"))


def load_preset(name_or_path: str | os.PathLike[str]) -> Preset:
    """A preset by its name, or from a YAML file.

    Raises:
        ValueError: there is no such preset (says which was probably meant), or the file is not one.
    """
    name = os.fspath(name_or_path)
    if name in presets():
        return _parse(name, name, (_folder() / f"{name}.yaml").read_bytes())
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return _parse(path.stem, name, path.read_bytes())
    near = difflib.get_close_matches(name, presets(), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown preset {name!r}{hint} (there are {', '.join(presets())}, or a .yaml file)")


def _folder() -> Traversable:
    return resources.files("mcn.experiments") / "presets"


def _parse(name: str, where: str, content: bytes) -> Preset:
    try:
        values = yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"preset {where}: not YAML ({error})") from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise ValueError(f"preset {where}: expected a mapping of names to values")
    if "settings" not in values:
        values = {k: v for k, v in values.items() if k in _FIELDS} | {
            "settings": {k: v for k, v in values.items() if k not in _FIELDS}
        }
    unknown = [key for key in values if key not in _FIELDS]
    if unknown:
        raise ValueError(f"preset {where}: unknown entry {unknown[0]!r}; expected {', '.join(_FIELDS)}")
    settings, dataset = values["settings"] or {}, values.get("dataset")
    if not isinstance(settings, dict):
        raise ValueError(f"preset {where}: settings must be a mapping, got {type(settings).__name__}")
    if dataset is not None and not isinstance(dataset, str):
        raise ValueError(f"preset {where}: dataset must be a name, got {dataset!r}")
    try:
        config = Config.from_dict(settings)
    except (ValueError, TypeError) as error:
        raise ValueError(f"preset {where}: {error}") from None
    return Preset(name, str(values.get("description") or ""), dataset, config, settings)
