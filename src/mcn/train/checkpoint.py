"""Tensors on disk: safetensors with a checksum; nothing in them can run."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save

from mcn._files import atomic_write
from mcn.data.limits import brief, read_bytes, told

_FORMAT = "mcn-checkpoint-1"


def save_tensors(
    path: str | os.PathLike[str], tensors: dict[str, torch.Tensor], state: dict[str, Any]
) -> None:
    """Write tensors and plain values into one file, which appears complete or not at all."""
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    text = json.dumps(state, sort_keys=True)
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
    try:
        state = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: its plain values are not JSON ({brief(error)})") from None
    if not isinstance(state, dict):
        raise ValueError(f"{path}: its plain values are no JSON object")
    return tensors, state


def load_weights(model: torch.nn.Module, tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Put weights into a model, or say that they belong to another architecture or are no numbers."""
    check_weights(model, tensors, path)
    for name, value in tensors.items():
        if not torch.isfinite(value).all():
            raise ValueError(f"{path}: {told(name)} holds numbers that are not finite")
    model.load_state_dict(tensors)


def check_weights(model: torch.nn.Module, tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Refuse weights that are not of a model's names, shapes and types."""
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


def _digest(tensors: dict[str, torch.Tensor], text: str) -> str:
    sha = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        value = tensors[name].cpu()
        sha.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        sha.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()
