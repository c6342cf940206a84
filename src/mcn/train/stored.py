"""A trained network from its file: nothing is built before what the file states has been checked.

The checksum in a model's file finds damage, not malice: whoever changes the file can compute it anew. So what
the file states is checked as strictly as any other input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mcn.data.limits import reading
from mcn.data.treatment import Treatment
from mcn.train.checkpoint import check_weights, load_weights
from mcn.train.features import check_stored
from mcn.train.problem import Memory
from mcn.train.recipes import work_of
from mcn.train.settings import Settings

STATED = ("in_channels", "classes", "feature_names")


def stored_network(
    config: Settings, tensors: dict[str, torch.Tensor], state: dict[str, Any], path: Path
) -> tuple[torch.nn.Module, list[str], Memory]:
    """Return the network in a model's file, the names of its classes, and what it remembers of its graph.

    Args:
        config: the settings of its run.
        tensors: the weights.
        state: what the file states besides, see `mcn.train.checkpoint.load_tensors`.
        path: the file, for messages.

    Raises:
        ValueError: names the file, and what in it cannot be.
    """
    with reading(path, "not the model of a finished run"):
        missing = [name for name in STATED if name not in state]
        if missing:
            raise ValueError(f"it does not state {missing[0]}")
        width, classes, names = (state[name] for name in STATED)
        if isinstance(width, bool) or not isinstance(width, int) or width < 0:
            raise ValueError(f"in_channels must be a number of features, got {width!r}")
        if not _texts(classes) or not classes:
            raise ValueError("classes must be a list of names")
        if names is not None and not _texts(names):
            raise ValueError("feature_names must be a list of names")
        memory = Memory(width, names, {name: state[name] for name in state if name not in STATED})
        _check_finite("", memory.state)
        check_stored(memory)
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


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


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
