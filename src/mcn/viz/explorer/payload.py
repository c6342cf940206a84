"""What the page holds of an explanation: plain values as JSON, arrays as one compressed block."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn.viz.explanation import Explanation
from mcn.viz.neighbours import Neighbourhood
from mcn.viz.statistics import calibrations, confusion, shares_by_class, shares_by_degree

_BUDGET = 1_000_000  # entries of all neighbourhoods together; about 8 MB of the page
_CAPS = (30, 20, 12, 8, 5, 3, 2, 1)


def pack(arrays: dict[str, NDArray[Any]]) -> tuple[list[list[Any]], str]:
    """Arrays as base64 of zlib, and the name, type, place and length of each in the unpacked bytes."""
    directory: list[list[Any]] = []
    parts, offset = [], 0
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        directory.append([name, array.dtype.name, offset, array.size])
        padding = -len(raw) % 8  # typed arrays start at multiples of their item's size
        parts.append(raw + b"\0" * padding)
        offset += len(raw) + padding
    return directory, base64.b64encode(zlib.compress(b"".join(parts), 6)).decode()


def graph_arrays(found: Explanation, places: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Everything per node and edge: places, labels, probabilities, choices, alternatives."""
    arrays: dict[str, NDArray[Any]] = {
        "places": places.astype(np.float32).ravel(),
        "edges": found.edges.astype(np.uint32).ravel(),
        "truth": found.truth.astype(np.int32),
        "predicted": found.predicted.astype(np.int32),
        "split": found.split.astype(np.uint8),
        "probabilities": _fraction(found.probabilities),
        "alternative_class": found.alternatives.argmax(2).astype(np.uint16).ravel(),
        "alternative_probability": _fraction(found.alternatives.max(2)),
    }
    for layer in range(found.motif.shape[1]):
        arrays[f"motif_{layer}"] = found.motif[:, layer].astype(np.uint8)
        arrays[f"step_{layer}"] = found.step[:, layer].astype(np.uint8)
        for name, probabilities in (("f", found.motif_probs[layer]), ("g", found.step_probs[layer])):
            if probabilities is not None:
                arrays[f"{name}_{layer}"] = _fraction(probabilities)
    return arrays


def option_arrays(options: list[Neighbourhood]) -> dict[str, NDArray[Any]]:
    """The neighbourhood of every motif and step."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, option in enumerate(options):
        arrays[f"pointers_{number}"] = option.indptr.astype(np.uint32)
        arrays[f"neighbours_{number}"] = option.indices.astype(np.uint32)
        arrays[f"weights_{number}"] = option.weights
        arrays[f"members_{number}"] = option.members.astype(np.uint8).ravel()
        arrays[f"total_{number}"] = option.total.astype(np.uint32)
        places = ("first", "last")[-len(option.coefficients) :]
        for place, values in zip(places, option.coefficients, strict=True):
            scale = max(1.0, float(values.max(initial=0.0)))  # above 1 only where no softmax comes last
            arrays[f"{place}_scale_{number}"] = np.array([scale], np.float32)
            arrays[f"{place}_{number}"] = _fraction(values / np.float32(scale))
    return arrays


def trimmed(options: list[Neighbourhood]) -> tuple[int, list[Neighbourhood]]:
    """The options with as many neighbours per node as the page has room for, and how many that is."""
    lengths = [np.diff(option.indptr) for option in options]
    for cap in _CAPS:
        if sum(int(np.minimum(each, cap).sum()) for each in lengths) <= _BUDGET:
            break
    return cap, [option.keep(cap) for option in options]


def meta(found: Explanation, kept: int) -> dict[str, Any]:
    """The plain values."""
    bins, by_degree = shares_by_degree(found)
    return {
        "kind": found.kind,
        "nodes": found.num_nodes,
        "edges": len(found.edges),
        "ids": found.ids,
        "classes": found.classes,
        "motifs": list(found.motifs),
        "steps": found.steps,
        "layers": found.motif.shape[1],
        "chooses": [each is not None for each in found.motif_probs],
        "self_attention": found.self_attention,
        "kept": kept,
        "confusion": confusion(found),
        "calibration": calibrations(found),
        "by_class": shares_by_class(found),
        "degree_bins": bins,
        "by_degree": by_degree,
    }


def _fraction(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Numbers between 0 and 1 in 16 bits."""
    return np.rint(np.clip(values, 0.0, 1.0) * 65535).astype(np.uint16).ravel()
