"""The folder of a run: its files, the lock on it, and its settings with the checksum that ties them down."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graphmotifs._files import try_claim
from graphmotifs._messages import brief
from mcn._yaml import read_yaml
from mcn.data.limits import read_bytes
from mcn.train.recipes import find_recipe
from mcn.train.settings import Settings

CONFIG, METRICS, MODEL, LAST = "config.yaml", "metrics.jsonl", "model.safetensors", "last.safetensors"
PREDICTIONS, SUMMARY = "predictions.csv", "summary.json"
FILES = (CONFIG, METRICS, MODEL, LAST, PREDICTIONS, SUMMARY)
_LOCK = ".lock"
_WORDS = ("dataset", "graph", "nodes", "label", "task", "id", "split", "split_by", "scaling", "weights")
_OLD = re.compile(r"0\.[0-2](\.|$)")
_SOURCE = dict.fromkeys(_WORDS, str) | {"split_index": int, "folds": int, "trust": bool, "on_disk": bool}


def check_free(folder: Path, resume: bool = False) -> None:
    """Refuse a folder that holds a run already, unless it is to be resumed; or that is being trained into."""
    _check_empty(folder, resume)
    if (folder / _LOCK).exists() and not (folder / SUMMARY).exists():
        with alone_in(folder, resume):
            pass


@contextmanager
def alone_in(folder: Path, resume: bool = False) -> Iterator[None]:
    """Keep all other processes from training into a folder, made if it is not there; begin by tidying it.

    The lock is the operating system's: it ends with the process, however that ends.

    Raises:
        ValueError: another process is training there, or it holds a run and that is not to be resumed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    claim = try_claim(folder / _LOCK)
    if claim is None:
        raise ValueError(
            f"{folder}: another process is training there; choose another folder, or wait and resume"
        )
    try:
        _check_empty(folder, resume)
        for name in FILES:
            for leftover in folder.glob(f".{name}.*"):  # of a process killed while it was writing
                leftover.unlink(missing_ok=True)
        yield
    finally:
        claim.release()


def tidy(folder: Path) -> None:
    """Remove from a finished run what a process that was killed at the very end left, if that is allowed."""
    if (folder / LAST).exists() or (folder / _LOCK).exists():
        with suppress(OSError, ValueError), alone_in(folder, resume=True):
            (folder / LAST).unlink(missing_ok=True)


def _check_empty(folder: Path, resume: bool) -> None:
    if (folder / CONFIG).exists() and not resume:
        raise ValueError(f"{folder} already holds a run; choose another folder, or resume the run")


def read_settings(folder: Path) -> tuple[dict[str, Any], Settings]:
    """Return the content of config.yaml, and the configuration in it."""
    path = folder / CONFIG
    settings = read_yaml(path, str(path))
    try:
        _check_types(settings)
        _check_version(settings)
        return settings, find_recipe(settings["recipe"]).config.from_dict(settings["config"])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: not the settings of a run ({brief(error)})") from None


def settings_digest(settings: dict[str, Any]) -> str:
    """Return the SHA-256 of all that config.yaml says, which the model beside it states as well."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=repr).encode()).hexdigest()


def check_same(folder: Path, settings: dict[str, Any]) -> None:
    """Refuse to go on with a run under other settings, or on another graph."""
    before, config = read_settings(folder)
    for part, old in {"source": before["source"], "config": config.to_dict()}.items():
        new = settings[part]
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                raise ValueError(
                    f"{folder}: the run there was started with {name} = {old.get(name)!r}, "
                    f"now it is {new.get(name)!r}; resume with the same settings"
                )
    if before.get("data") != settings["data"]:
        raise ValueError(
            f"{folder}: the graph is no longer the one the run was started with (edges, features, labels or "
            "split differ); train anew in another folder"
        )


def check_finished(folder: Path) -> None:
    """Refuse a folder without a finished run; say what is missing, and where runs are if not here."""
    for name in (CONFIG, SUMMARY, MODEL):
        if not (folder / name).is_file():
            raise ValueError(f"{folder}: no finished run here, {name} is missing{_hint(folder, name)}")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file, or an error that names the file."""
    try:
        content = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON, or truncated ({brief(error)})") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected a JSON object, got {type(content).__name__}")
    return content


def _check_types(settings: Any) -> None:
    """Refuse content of config.yaml that is not of the kinds that a run writes."""
    if not isinstance(settings, dict):
        raise ValueError(f"expected a mapping, got {type(settings).__name__}")
    _check_names(settings)
    for part in ("source", "config"):
        own = settings.get(part)
        if not isinstance(own, dict):
            raise ValueError(f"{part} must be a mapping of names to values, got {type(own).__name__}")
    if not isinstance(settings.get("recipe"), str):
        raise ValueError(f"recipe must be a name, got {settings.get('recipe')!r}")
    if not isinstance(settings.get("data"), str | None):
        raise ValueError(f"data must be a fingerprint, got {settings['data']!r}")
    for name, kind in _SOURCE.items():
        value = settings["source"].get(name)
        if value is not None and type(value) is not kind:
            raise ValueError(f"source.{name} must be a {kind.__name__}, got {value!r}")


def _check_version(settings: dict[str, Any]) -> None:
    """Refuse a run of an earlier version, whose settings meant other networks."""
    version = str(settings.get("mcn"))
    if _OLD.match(version):
        raise ValueError(f"it is a run of mcn {version}: read it with that version, or train anew")


def _check_names(value: Any) -> None:
    """Refuse a mapping, at any depth, whose keys are not all text: there is no digest of such a one."""
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise ValueError(f"the name {name!r} is no text; write it in quotes")
        value = list(value.values())
    for each in value if isinstance(value, list | tuple) else ():
        _check_names(each)


def _hint(folder: Path, name: str) -> str:
    if name != CONFIG:
        return " (interrupted? resume it)"
    inside = sorted(path.parent.name for path in folder.glob(f"*/{CONFIG}"))
    return f" (there are runs in it: {', '.join(inside[:5])})" if inside else ""
