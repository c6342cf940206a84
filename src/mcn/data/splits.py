"""Dividing labelled nodes into training, validation and test nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mcn.data.arrays import as_array


def random_split(
    y: Any,
    *,
    train_per_class: int | Sequence[int] = 20,
    val: int | None = None,
    test: int | None = None,
    seed: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw `train_per_class` nodes of every class; from the rest, `val` and `test` nodes of any class.

    Args:
        y: class of each node, -1 for nodes without a label (they are in no part).
        train_per_class: one number for all classes, or one per class.
        val: validation nodes; if not given, half of what the other parts leave.
        test: test nodes; if not given, all that the other parts leave.
        seed: decides the draw.

    Returns:
        Three boolean masks (training, validation, test) that do not overlap.

    Raises:
        ValueError: a class or the rest has fewer nodes than asked for.
    """
    labels = as_array(y, "y", "[N]")
    if labels.ndim != 1 or (labels.size and labels.dtype.kind not in "iub"):
        raise ValueError(
            f"y has shape {list(labels.shape)}, dtype {labels.dtype}; expected one class number per node"
        )
    labels = labels if labels.size else np.empty(0, np.int64)
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.flatnonzero(labels >= 0))
    train = _draw_train(labels, order, train_per_class)
    rest = order[~np.isin(order, train)]
    if val is None:
        val = (len(rest) - (test or 0)) // (1 if test else 2)
    if test is None:
        test = len(rest) - val
    if min(val, test) < 0 or val + test > len(rest):
        raise ValueError(
            f"cannot draw {val} validation and {test} test nodes: {len(rest)} labelled nodes are left "
            f"after {len(train)} training nodes; ask for fewer"
        )
    parts = train, rest[:val], rest[val : val + test]
    return _mask(len(labels), parts[0]), _mask(len(labels), parts[1]), _mask(len(labels), parts[2])


def capped_train_counts(y: NDArray[np.int64], wanted: int = 20) -> list[int]:
    """`wanted` training nodes for every class, but at most half of a class and at least one of it."""
    sizes = np.bincount(y[y >= 0])
    return [min(wanted, max(1, int(size) // 2)) if size else 0 for size in sizes]


def _draw_train(
    labels: NDArray[Any], order: NDArray[np.int64], per_class: int | Sequence[int]
) -> NDArray[np.int64]:
    classes = int(labels.max()) + 1 if labels.size else 0
    if classes > len(labels) + 2**20:  # a mistake, and a list of that many classes is made below
        raise ValueError(
            f"y holds class {classes - 1} for {len(labels)} nodes; number the classes from 0 without gaps"
        )
    counts = [per_class] * classes if isinstance(per_class, int) else list(per_class)
    if len(counts) != classes:
        raise ValueError(
            f"train_per_class has {len(counts)} numbers for {classes} classes; give one per class"
        )
    by_class = order[np.argsort(labels[order], kind="stable")]  # each class in the order of the draw
    ends = np.searchsorted(labels[by_class], np.arange(classes + 1))
    drawn = []
    for label, count in enumerate(counts):
        members = by_class[ends[label] : ends[label + 1]]
        if count < 0 or len(members) < count:
            raise ValueError(
                f"cannot draw {count} training nodes of class {label}: it has {len(members)}; "
                "lower train_per_class"
            )
        drawn.append(members[:count])
    return np.concatenate(drawn) if drawn else np.empty(0, np.int64)


def _mask(size: int, members: NDArray[np.int64]) -> Tensor:
    mask = torch.zeros(size, dtype=torch.bool)
    mask[torch.from_numpy(members)] = True
    return mask
