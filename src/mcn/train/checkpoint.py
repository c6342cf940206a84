"""Tensors on disk, and the networks in them: safetensors with a checksum; nothing in them can run.

The checksum finds damage, not malice: whoever changes a file can compute it anew. So what a file states is
checked as strictly as any other input, and nothing is built before.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save

from graphmotifs._files import atomic_write
from graphmotifs._messages import brief, told
from mcn.data.fields import check_fields
from mcn.data.limits import read_bytes, reading
from mcn.data.treatment import Treatment
from mcn.train.features import check_stored
from mcn.train.loop import below
from mcn.train.problem import Memory
from mcn.train.recipes import work_of
from mcn.train.settings import Settings
from mcn.train.tasks import stored_task

_FORMAT = "mcn-checkpoint-1"
Tensors = dict[str, torch.Tensor]
_STATED = {"in_channels": int, "classes": [str], "feature_names": ([str], None)}


def save_tensors(
    path: str | os.PathLike[str], tensors: dict[str, torch.Tensor], state: dict[str, Any]
) -> None:
    """Write tensors and plain values into one file, which appears complete or not at all."""
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    text = json.dumps(state)
    # One entry only: safetensors writes several in any order, and equal runs are to give equal files.
    metadata = {_FORMAT: json.dumps({"state": text, "sha256": _digest(plain, text)})}
    with atomic_write(path) as file:
        file.write(save(plain, metadata))


def load_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Raises:
        ValueError: the file is something else, truncated or altered.
    """
    content = read_bytes(Path(path))
    try:
        size = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + size]).get("__metadata__", {})
        tensors = load(content)
    except Exception as error:  # noqa: BLE001 - the library raises several kinds, of its own and Python's
        raise ValueError(f"{path}: not a checkpoint, or truncated ({brief(error)})") from None
    if not isinstance(metadata, dict) or _FORMAT not in metadata:
        raise ValueError(f"{path}: a safetensors file, but not a checkpoint of this program")
    try:
        own = json.loads(metadata[_FORMAT])
        text, sha256 = str(own["state"]), own["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        text, sha256 = "", None
    if sha256 != _digest(tensors, text):
        raise ValueError(f"{path}: the checksum does not fit; the file was damaged or altered")
    with reading(path, "its plain values are not JSON"):
        state: dict[str, Any] = json.loads(text)
        check_fields(state, dict)
    return tensors, state


def load_weights(model: torch.nn.Module, tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Put weights into a model, or say that they belong to another architecture or are no numbers."""
    check_weights(model, tensors, path)
    for name, value in tensors.items():
        if not torch.isfinite(value).all():
            raise ValueError(f"{path}: {told(name)} holds numbers that are not finite")
    model.load_state_dict(tensors)


def check_weights(model: torch.nn.Module, tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Refuse weights that are not of a model's names, shapes and types.

    A module whose weights may be of any number has a method `make_room`, which takes their lengths.
    """
    for prefix, module in model.named_modules():
        if callable(make_room := getattr(module, "make_room", None)):
            make_room(below(f"{prefix}." if prefix else "", tensors))
    own = {name: (tuple(value.shape), value.dtype) for name, value in model.state_dict().items()}
    given = {name: (tuple(value.shape), value.dtype) for name, value in tensors.items()}
    for name in sorted(own.keys() | given.keys()):
        (here, kind), (there, other) = own.get(name, (None, None)), given.get(name, (None, None))
        if here != there:
            raise ValueError(
                f"{path}: weights of another architecture; {told(name)} has shape {there} in the file "
                f"and {here} in the network"
            )
        if kind != other:
            raise ValueError(f"{path}: {told(name)} holds {other}; expected {kind}")


def stored_network(
    config: Settings, tensors: dict[str, torch.Tensor], state: dict[str, Any], path: Path
) -> tuple[torch.nn.Module, list[str], Memory]:
    """Return the network in a model's file, the names of its classes, and what it remembers of its graph.

    Raises:
        ValueError: names the file, and what of the tensors and plain values in it cannot be.
    """
    with reading(path, "not the model of a finished run"):
        check_fields(state, _STATED, "it")
        width, classes, names = (state[name] for name in _STATED)
        if width < 0:
            raise ValueError(f"in_channels must be a number of features, got {width!r}")
        if not classes:
            raise ValueError("classes must be a list of names, got none")
        memory = Memory(width, names, {name: state[name] for name in state.keys() - _STATED})
        _check_finite("", memory.state)
        check_stored(memory)
        stored_task(memory.state.get("task"), len(classes))
        if memory.state.get("treatment") is not None:
            Treatment.from_dict(memory.state["treatment"])
        if len(tensors) < (config.num_layers or 1):
            raise ValueError(f"{len(tensors)} tensors for a network of {config.num_layers} layers")

        def network() -> torch.nn.Module:
            return work_of(config).network(width, len(classes), config, memory)

        with torch.device("meta"):  # the shapes alone, in no memory, whatever the file states
            check_weights(network(), tensors, path)
        model = network()
        load_weights(model, tensors, path)
        model.eval()
    return model, classes, memory


def _check_finite(name: str, value: Any) -> None:
    """Refuse NaN and infinity, which JSON files of Python may hold."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} holds {value}; expected finite numbers")
    if isinstance(value, Mapping):
        for key, each in value.items():
            _check_finite(f"{name}.{key}".lstrip("."), each)
    elif isinstance(value, list):
        for each in value:
            _check_finite(name, each)


def weights_digest(tensors: Tensors) -> str:
    """Return the SHA-256 of a network's weights, by which a run's summary names the model it belongs to."""
    return _digest(tensors, "")


def _digest(tensors: dict[str, torch.Tensor], text: str) -> str:
    sha = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        value = tensors[name].cpu()
        sha.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        sha.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()
