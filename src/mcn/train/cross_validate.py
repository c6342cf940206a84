"""An estimator on several splits of one graph."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable
from typing import Any

import torch
from torch_geometric.data import Data

from mcn.train.estimator import NodeClassifier


def cross_validate(
    clf: NodeClassifier,
    data: Data,
    splits: Iterable[tuple[Any, Any, Any]] | None = None,
    metric: str | None = None,
) -> dict[str, Any]:
    """Fit a clone of an estimator on every split of a graph, and score it on that split's test nodes.

    Args:
        clf: what to fit; it is not changed.
        data: the graph. Without `splits` its three masks have shape [N, splits], as PyG's sets have them.
        splits: masks (train, val, test), each bool [N].
        metric: see `NodeClassifier.score`.

    Returns:
        By name, a list with an entry per split: "test_score", "val_accuracy", "fit_time" in seconds, and
        "estimator", the fitted clones.

    Raises:
        ValueError: a split cannot be trained on, or the masks are no splits.

    >>> import mcn
    >>> data = mcn.load_dataset("karate")
    >>> masks = (data.train_mask, data.val_mask, data.test_mask)
    >>> clf = mcn.MCNClassifier(max_epochs=20, random_state=0)
    >>> len(mcn.cross_validate(clf, data, [masks, masks])["test_score"])
    2
    """
    from sklearn.base import clone

    if splits is None:
        masks = [data.get(f"{part}_mask") for part in ("train", "val", "test")]
        if any(mask is None or mask.dim() != 2 for mask in masks):
            raise ValueError("give splits, or masks of shape [N, splits] in data")
        splits = zip(*(mask.unbind(1) for mask in masks), strict=True)
    found: dict[str, Any] = {"test_score": [], "val_accuracy": [], "fit_time": [], "estimator": []}
    for split in splits:
        part = copy.copy(data)
        part.train_mask, part.val_mask, part.test_mask = map(torch.as_tensor, split)
        began = time.perf_counter()
        fitted = clone(clf).fit(part)
        found["fit_time"].append(time.perf_counter() - began)
        found["test_score"].append(fitted.score(part, metric))
        found["val_accuracy"].append(fitted.val_accuracy_)
        found["estimator"].append(fitted)
    return found
