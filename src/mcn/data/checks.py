"""What must hold before a graph is trained on."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor
from torch_geometric.data import Data

from mcn.data.simple import simple_graph

_MASKS = ("train_mask", "val_mask", "test_mask")


def check_data(data: Data) -> None:
    """Check a `Data` before training: edges, features, labels and masks.

    Warns of a class without a training node.

    Raises:
        ValueError: names the attribute, shows the value, says what was expected.
    """
    n = data.num_nodes
    if n is None or data.edge_index is None:
        raise ValueError("data has no edge_index or no num_nodes; expected both")
    simple_graph(data.edge_index, n)
    _check_features(data.x, n)
    masks = {name: _mask(data, name, n) for name in _MASKS}
    _check_overlap(masks)
    _check_labels(data.y, masks, n)


def _check_features(x: Tensor | None, n: int) -> None:
    if x is None:
        raise ValueError(
            "data.x is missing; expected features [num_nodes, F], for instance mcn.data.degree_features"
        )
    if x.dim() != 2 or x.shape[0] != n:
        raise ValueError(f"data.x has shape {list(x.shape)}; expected [{n}, F], a row per node")
    values = x.values() if x.layout == torch.sparse_csr else x
    bad = (~torch.isfinite(values)).nonzero()
    if len(bad) == 0:
        return
    if x.layout == torch.sparse_csr:
        place = int(bad[0, 0])
        node = int(torch.searchsorted(x.crow_indices(), place, right=True)) - 1
        column, value = int(x.col_indices()[place]), float(values[place])
    else:
        node, column = (int(i) for i in bad[0])
        value = float(x[node, column])
    raise ValueError(f"data.x holds {value} at node {node}, column {column}; expected finite numbers")


def _mask(data: Data, name: str, n: int) -> Tensor:
    mask = data.get(name)
    if mask is None:
        raise ValueError(f"data.{name} is missing; draw one with mcn.data.random_split(data.y)")
    if mask.dtype != torch.bool or tuple(mask.shape) != (n,):
        raise ValueError(
            f"data.{name} has shape {list(mask.shape)}, dtype {mask.dtype}; expected bool of shape [{n}]"
        )
    return torch.as_tensor(mask)


def _check_overlap(masks: dict[str, Tensor]) -> None:
    for first, second in (("train_mask", "val_mask"), ("train_mask", "test_mask"), ("val_mask", "test_mask")):
        both = (masks[first] & masks[second]).nonzero()
        if len(both):
            raise ValueError(
                f"data.{first} and data.{second} overlap in {len(both)} nodes, first in node {int(both[0])}; "
                "expected every node in one part at most"
            )


def _check_labels(y: Tensor | None, masks: dict[str, Tensor], n: int) -> None:
    if y is None:
        raise ValueError("data.y is missing; expected a class for every node in a mask")
    if tuple(y.shape) != (n,) or y.is_floating_point():
        raise ValueError(
            f"data.y has shape {list(y.shape)}, dtype {y.dtype}; expected integers of shape [{n}]"
        )
    for name, mask in masks.items():
        missing = (mask & (y < 0)).nonzero()
        if len(missing):
            raise ValueError(
                f"data.{name} holds node {int(missing[0])}, which has no label (y = {int(y[missing[0]])})"
            )
    if not masks["train_mask"].any():
        raise ValueError("data.train_mask is empty; expected at least one training node per class")
    classes = torch.unique(y[y >= 0])
    if len(classes) < 2:
        raise ValueError(f"data.y holds one class only ({int(classes[0])}); expected at least two")
    untrained = sorted(set(classes.tolist()) - set(y[masks["train_mask"]].tolist()))
    if untrained:
        warnings.warn(
            f"no training node of class {', '.join(map(str, untrained))}: it can never be predicted",
            stacklevel=3,
        )
