"""Edges as they are read from anywhere: positions, ids, weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcn.data.border import shown
from mcn.data.text import is_integer, is_number

if TYPE_CHECKING:
    from torch import Tensor

    from mcn.data.simple import SimpleGraph

_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class EdgeList:
    """Edges as read: `ends` [2, E] are positions in `ids`, which are int64 or Python strings.

    `weights` [E] are there if they were asked for.
    """

    ends: NDArray[np.int64]
    ids: NDArray[Any]
    notes: list[str] = field(default_factory=list)
    weights: NDArray[np.float64] | None = None


def id_array(names: Sequence[str], *, as_text: bool = False) -> NDArray[Any]:
    """Return node ids as int64 if all of them are integers, otherwise as Python strings.

    NumPy's own strings would drop NULs at the end, and give every id as much room as the longest takes.
    """
    if names and not as_text and all(map(is_integer, names)):
        return np.array(names, np.int64)
    ids = np.empty(len(names), object)
    ids[:] = names
    return ids


def sorted_ids(names: Sequence[str], *, as_text: bool = False) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct ids in ascending order, and where each of them stands among `names`."""
    ids = id_array(names, as_text=as_text)
    order = np.argsort(ids, kind="stable")
    return ids[order], order


def compact(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct ids, ascending, and the position of each given id among them."""
    largest = int(ids.max(initial=-1))
    if largest < 4 * ids.size + 1024:
        present = np.zeros(largest + 1, np.bool_)
        present[ids] = True
        known = np.flatnonzero(present)
        return known, (np.cumsum(present) - 1)[ids]
    known, ends = np.unique(ids, return_inverse=True)
    return known, ends.reshape(ids.shape)


def checked_weights(cells: Any, where: Callable[[int], str], name: str) -> NDArray[np.float64]:
    """Return edge weights, all positive and finite.

    Args:
        cells: the values or their texts.
        where: says where each of them stands.
        name: the weight column.

    Raises:
        ValueError: names the first place and value that is not.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        values = cells.astype(np.float64)
    else:
        values = np.fromiter(map(_number, cells), np.float64, len(cells))
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((values > 0) & (values <= _LARGEST)))
    if len(bad):
        at = int(bad[0])
        raise ValueError(
            f"{where(at)}: {shown(str(cells[at]))} in weight column {shown(name)}; "
            "expected a positive finite number"
        )
    return values


def _number(cell: Any) -> float:
    if isinstance(cell, str) and not is_number(cell):
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def further_note(count: int) -> list[str]:
    """Say that there are columns that are not used."""
    if count <= 0:
        return []
    return [
        f"{count} further column{'s' * (count > 1)} (weights) accepted, not used: the graph is unweighted"
    ]


def edge_weights(
    graph: SimpleGraph, ends: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[Tensor, str]:
    """Return the weight of every entry of `graph.edge_index`, float32, and a note on what was summed.

    Args:
        graph: the graph that was made of `ends`.
        ends: the edges as given, [2, E].
        weights: the weight of each.
    """
    import torch

    n, pairs = graph.num_nodes, graph.pairs
    keys = pairs[:, 0] * n + pairs[:, 1]
    kept = ends[0] != ends[1]
    (low, high), given = np.sort(ends[:, kept], axis=0), weights[kept]
    place = np.searchsorted(keys, low * n + high)
    up = ends[0][kept] == low
    forward, backward = (
        np.bincount(place[side], weights=given[side], minlength=len(keys)) for side in (up, ~up)
    )
    both = len(keys) > 0 and np.array_equal(forward, backward)
    total = forward if both else forward + backward
    source, target = graph.edge_index
    at = np.searchsorted(keys, np.minimum(source, target) * n + np.maximum(source, target))
    repeated = not both and len(given) > len(keys)
    note = "; those of repeated edges are summed" if repeated else ""
    return torch.from_numpy(total[at].astype(np.float32)), note
