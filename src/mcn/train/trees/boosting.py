"""Boosted trees as plain arrays: a module whose buffers are saved like the weights of any network.

scikit-learn grows the trees; they are copied out of its estimator and evaluated by a kernel of this file. So
a run is stored without pickle, and reading one checks that every walk from a root ends in a leaf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._jit import kernel
from mcn.train.tasks import Task
from mcn.train.trees.columns import Table, TreesInputs

_SHOWN, _TRIED, _SHUFFLES, _NODES = 10, 30, 5, 1000
"""At most so many columns are returned and tried; shuffles of each; nodes that are looked at, at most."""
_GROWING = ("trees", "splits", "numbers", "projection")


class Trees(torch.nn.Module):
    """Trees whose leaves are summed up per output (a class, a target); the sums are scores.

    trees: int64 [trees, 2]: the root of each, and the class that it adds to.
    splits: int32 [nodes, 4]: a column of the table, the nodes left and right of the split, and whether a
        missing value goes left. A node whose left is negative is a leaf. Children come after their parent.
    numbers: float64 [nodes]: values up to this go left; of a leaf, what it adds.
    baseline: float64 [classes]: the sums before the first tree.
    gain: float64 [columns]: what the splits at each column gained in training.
    projection: what reduces words, see `TreesInputs.projection`.
    """

    trees: torch.Tensor
    splits: torch.Tensor
    numbers: torch.Tensor
    baseline: torch.Tensor
    gain: torch.Tensor
    projection: torch.Tensor

    def __init__(self, in_channels: int, num_classes: int) -> None:
        super().__init__()
        self.register_buffer("trees", torch.empty(0, 2, dtype=torch.int64))
        self.register_buffer("splits", torch.empty(0, 4, dtype=torch.int32))
        self.register_buffer("numbers", torch.empty(0, dtype=torch.float64))
        self.register_buffer("baseline", torch.zeros(num_classes, dtype=torch.float64))
        self.register_buffer("gain", torch.zeros(in_channels, dtype=torch.float64))
        self.register_buffer("projection", torch.empty(0, 0))

    def append(self, grown: Sequence[NDArray[Any]], classes: Sequence[int]) -> None:
        """Add trees, as scikit-learn's tables of their nodes, that add to these classes."""
        count = len(self.splits)
        roots = count + np.cumsum([0, *map(len, grown)])
        nodes = np.concatenate(grown)
        leaf, shift = nodes["is_leaf"].astype(bool), np.repeat(roots[:-1], np.diff(roots))
        columns = nodes["feature_idx"]
        sides = [np.where(leaf, -1, nodes[side] + shift) for side in ("left", "right")]
        splits = np.stack([np.where(leaf, 0, columns), *sides, nodes["missing_go_to_left"]], 1)
        # A split of numbers from missing values has an infinite threshold, which no file may hold.
        thresholds = np.minimum(nodes["num_threshold"], np.finfo(np.float64).max)
        numbers = np.where(leaf, nodes["value"], thresholds)
        trees = np.stack([roots[:-1], np.asarray(classes)], 1)
        for name, more in (("trees", trees), ("splits", splits), ("numbers", numbers)):
            before = getattr(self, name)
            setattr(self, name, torch.cat([before, torch.from_numpy(more).to(before.dtype)]))
        np.add.at(self.gain.numpy(), columns[~leaf], nodes["gain"][~leaf])

    def add(self, table: Table, sums: NDArray[np.float64], which: Any = slice(None)) -> None:
        """Add some of the trees to sums: one after the other, so that blocks of them give the same bits."""
        if table.shape[1] != len(self.gain):
            raise ValueError(f"the table has {table.shape[1]} columns; the trees know {len(self.gain)}")
        _add_leaves(table, self.trees.numpy()[which], self.splits.numpy(), self.numbers.numpy(), sums)

    def logits(self, table: Table) -> torch.Tensor:
        """Return the sums of all trees as float32, [rows, classes]."""
        sums = np.tile(self.baseline.numpy(), (len(table), 1))
        self.add(table, sums)
        return torch.from_numpy(sums).float()

    def make_room(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Take the sizes of what is to be loaded: how many trees there are is known by them alone."""
        for name in _GROWING:
            own, wanted = getattr(self, name), tensors.get(name)
            if wanted is not None and wanted.dim() == own.dim():
                setattr(self, name, own.new_empty(wanted.shape))

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *others: Any) -> None:
        self.make_room({name: state_dict[prefix + name] for name in _GROWING if prefix + name in state_dict})
        super()._load_from_state_dict(state_dict, prefix, *others)
        self._check()

    def _check(self) -> None:
        """Refuse arrays that are no trees, because the kernel follows them without looking."""
        trees, splits, count = self.trees.numpy(), self.splits.numpy(), len(self.numbers)
        if splits.shape != (count, 4) or trees.shape[1] != 2:
            raise ValueError("no trees: their arrays do not have the same sizes")
        roots, classes = np.append(trees[:, 0], count), trees[:, 1]
        if roots[0] != 0 or (np.diff(roots) < 1).any():
            raise ValueError("no trees: their roots are not in order")
        if not ((classes >= 0) & (classes < len(self.baseline))).all():
            raise ValueError("no trees: one adds to a class that there is not")
        inner = np.flatnonzero(splits[:, 1] >= 0)
        columns, children = splits[inner, 0], splits[inner, 1:3]
        if not ((columns >= 0) & (columns < len(self.gain))).all():
            raise ValueError(f"no trees: a split is at a column that is not among the {len(self.gain)}")
        ends = np.repeat(roots[1:], np.diff(roots))[inner]
        if not ((children > inner[:, None]) & (children < ends[:, None])).all():
            raise ValueError("no trees: a child does not come after its parent, within the tree")


@kernel
def _add_leaves(table: Any, trees: Any, splits: Any, numbers: Any, sums: Any) -> None:
    for tree in range(len(trees)):
        for row in range(len(table)):
            node = trees[tree, 0]
            while splits[node, 1] >= 0:
                value = table[row, splits[node, 0]]
                is_left = value <= numbers[node] if value == value else splits[node, 3] != 0
                node = np.int64(splits[node, 1] if is_left else splits[node, 2])
            sums[row, trees[tree, 1]] += numbers[node]


def important_columns(
    model: Trees, inputs: TreesInputs, nodes: NDArray[np.int64], targets: torch.Tensor, task: Task
) -> list[dict[str, Any]]:
    """Return the columns whose shuffling among `nodes`, which have these `targets`, raises the loss most.

    Tried are those that gained most in training. Each has its name ("column"), the mean rise of the loss
    ("loss") and its standard error ("error"). Columns that tell the same share what they are worth.
    Only the trees that have a split at a column are looked at again.
    """
    draw = np.random.default_rng(5)
    some = np.sort(draw.permutation(len(nodes))[:_NODES])
    table, names = inputs.table(model.projection)[nodes[some]], inputs.columns(model.projection)
    target, gain, rows = targets[torch.from_numpy(some)], model.gain.numpy(), []
    splits = model.splits.numpy()
    tree_of = np.searchsorted(model.trees.numpy()[:, 0], np.arange(len(splits)), side="right") - 1

    def loss(sums: NDArray[np.float64]) -> float:
        return float(task.loss(torch.from_numpy(sums), target))

    whole = np.tile(model.baseline.numpy(), (len(table), 1))
    model.add(table, whole)
    for column in np.argsort(-gain, kind="stable")[: min(_TRIED, np.count_nonzero(gain))].tolist():
        touched = np.unique(tree_of[(splits[:, 0] == column) & (splits[:, 1] >= 0)])
        known, changed, rises = np.zeros_like(whole), table.copy(), []
        model.add(table, known, touched)
        for _ in range(_SHUFFLES):
            changed[:, column] = draw.permutation(table[:, column])
            sums = whole - known
            model.add(changed, sums, touched)
            rises.append(loss(sums) - loss(whole))
        error = float(np.std(rises, ddof=1) / np.sqrt(_SHUFFLES))
        rows.append({"column": names[column][0], "loss": float(np.mean(rises)), "error": error})
    rising = [row for row in rows if row["loss"] > 0]
    return sorted(rising, key=lambda row: -row["loss"])[:_SHOWN]


def importance_remarks(rows: list[dict[str, Any]]) -> list[str]:
    """Say in a sentence which columns mattered most, if any clearly did."""
    clear = [row["column"] for row in rows if row["loss"] > 2 * row["error"]]
    return [f"what mattered most to the trees: {'; '.join(clear[:3])}"] if clear else []
