"""Presets: named settings for a data set, one YAML file each, and files of the same form by path.

A file holds `description`, `dataset` and `settings`; the settings are fields of `mcn.train.Config` that
differ from its defaults. A bare mapping of such fields, as `mcn search` writes it, is a preset as well.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from mcn.experiments._named import find, names
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
    return names("presets")


def load_preset(name_or_path: str | os.PathLike[str]) -> Preset:
    """A preset by its name, or from a YAML file.

    Raises:
        ValueError: there is no such preset (says which was probably meant), or the file is not one.
    """
    return _parse(*find("preset", "presets", name_or_path))


def _parse(name: str, where: str, values: Any) -> Preset:
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
