"""The folder of a run: its files, the lock on it, and its settings with the checksum that ties them down."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graphmotifs._files import try_claim, write_text
from graphmotifs._messages import brief
from mcn._yaml import read_yaml
from mcn.data.fields import check_checksum, check_fields, with_checksum
from mcn.data.limits import read_bytes, reading
from mcn.train.checkpoint import Tensors, weights_digest
from mcn.train.problem import FACTS
from mcn.train.recipes import find_recipe
from mcn.train.settings import Settings

CONFIG, METRICS, MODEL, LAST = "config.yaml", "metrics.jsonl", "model.safetensors", "last.safetensors"
PREDICTIONS, SUMMARY = "predictions.csv", "summary.json"
FILES = (CONFIG, METRICS, MODEL, LAST, PREDICTIONS, SUMMARY)
_LOCK = ".lock"
_WORDS = ("dataset", "graph", "nodes", "label", "task", "id", "split", "split_by", "scaling", "weights")
_COLUMNS = ("source", "target", "columns", "drop", "unknown_ids")
_SOURCE: dict[str, Any] = dict.fromkeys((*_WORDS, *_COLUMNS), (str, None))
_SOURCE |= dict.fromkeys(("split_index", "folds"), (int, None))
_SOURCE |= dict.fromkeys(("trust", "on_disk", "directed"), (bool, None))
_OLD = re.compile(r"0\.[0-3](\.|$)")
_SETTINGS = {"recipe": str, "source": _SOURCE, "config": {str: object}, "data": (str, None)}
"""The fields of config.yaml, see `mcn.data.fields`."""
_CHOOSING = {"mode": str, "winner": str, "blend": ({str: float}, None)}
_CANDIDATE: dict[str, Any] = dict.fromkeys(("runs", "score", "behind", "seconds_per_run"), float)
_CANDIDATE |= {"candidate": str, "behind_error": (float, None)}
_SUMMARY: dict[str, Any] = {
    **dict.fromkeys(("task", "metric", "protocol", "weights"), str),
    **dict.fromkeys(("epochs", "best_epoch", "seconds"), float),
    "versions": {str: str},
    "files": {str: str},
    **dict.fromkeys(("val_accuracy", "test_accuracy", "threshold"), (float, None)),
    "remarks": [str],
    "scores": {str: ({str: (float, None)}, None)},
    "alone": {str: (float, None)},
    "graph": (FACTS, None),
    "candidates": ([_CANDIDATE], None),
    "candidate_runs": ([{"candidate": str, "best_epoch": int}], None),
    "choosing": (_CHOOSING, None),
    "columns": ([{"column": str, "loss": float, "error": float}], None),
}
"""The fields of summary.json; `weights` is the check sum of the model's, `files` those of other files."""


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
        check_fields(settings, _SETTINGS)
        settings_digest(settings)  # a mapping whose names are not all text has none
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


def write_summary(folder: Path, summary: Mapping[str, Any], model: Tensors) -> dict[str, Any]:
    """Write summary.json, and return its content: `summary` with what ties it to the run's other files."""
    return extend_summary(folder, summary, {"weights": weights_digest(model)})


def extend_summary(folder: Path, summary: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Write summary.json with further fields and new checksums, and return its content."""
    logs = [folder / name for name in (METRICS, PREDICTIONS) if (folder / name).exists()]
    files = {path.name: _sha256(path) for path in logs}
    content = with_checksum({**summary, **more, "files": files})
    write_text(folder / SUMMARY, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return content


def read_summary(folder: Path, model: Tensors | None = None) -> dict[str, Any]:
    """Return the content of summary.json, of the run whose `model` has these weights if they are given.

    Raises:
        ValueError: the file is damaged, is no summary, or that of another run.
    """
    path = folder / SUMMARY
    try:
        content: dict[str, Any] = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON, or truncated ({brief(error)})") from None
    with reading(path, "not the summary of a finished run"):
        check_fields(content, _SUMMARY)
        if model is not None and content["weights"] != weights_digest(model):
            raise ValueError(f"{path}: the summary of another run than the one whose {MODEL} is beside it")
        check_checksum(content)
    return content


def check_file(path: Path, summary: Mapping[str, Any]) -> None:
    """Refuse a file of a finished run that is not the one its summary knows."""
    expected = summary.get("files", {}).get(path.name)
    if expected is not None and path.is_file() and _sha256(path) != expected:
        raise ValueError(f"{path}: not the file that the run wrote; it was damaged, altered or exchanged")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_version(settings: dict[str, Any]) -> None:
    """Refuse a run of an earlier version, whose settings meant other networks."""
    version = str(settings.get("mcn"))
    if _OLD.match(version):
        raise ValueError(f"it is a run of mcn {version}: read it with that version, or train anew")


def _hint(folder: Path, name: str) -> str:
    if name != CONFIG:
        return " (interrupted? resume it)"
    inside = sorted(path.parent.name for path in folder.glob(f"*/{CONFIG}"))
    return f" (there are runs in it: {', '.join(inside[:5])})" if inside else ""
