"""Dividing labelled nodes into training, validation and test nodes.

`random_split` returns masks. `find_parts` finds the split that a user asked for with a graph of one's own.
The others are plain functions over arrays, which return the part of every node, int64 [N]: 0 training,
1 validation, 2 test, -1 no label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import as_array, as_integer
from graphmotifs._messages import shown
from mcn.data.node_table import RawTable, column_of, is_date, plain_number
from mcn.data.targets import strata, target_kind
from mcn.data.text import is_missing

if TYPE_CHECKING:
    from torch import Tensor

Parts = NDArray[np.int64]
SHARES = (60.0, 20.0, 20.0)
MOST = 10_000  # validation and test nodes of a split that nobody asked for
_PER_CLASS = re.compile(r"([1-9][0-9]{0,5})-per-class")
_SHARE = r"([0-9]{1,2}(?:\.[0-9]+)?)"
_SHARES = re.compile(f"{_SHARE}/{_SHARE}(?:/{_SHARE})?")
_HELD_BACK = 0.2  # of the training nodes, for validation where a split names none
_EACH = {"classes": " of each class", "regression": ", numbers spread evenly", "multilabel": ""}


def random_split(
    y: Any,
    *,
    train_per_class: int | Sequence[int] | None = None,
    val: int | None = None,
    test: int | None = None,
    seed: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw `train_per_class` nodes of every class; from the rest, `val` and `test` nodes of any class.

    Of numbers, spread evenly, and of yes/no targets, `val` and `test` are a fifth if not given, and all
    others are for training.

    Args:
        y: target of each node, see `target_kind`; nodes without one are in no part.
        train_per_class: one number for all classes, 20 if not given, or one per class.
        val: validation nodes; if not given, half of what the other parts leave.
        test: test nodes; if not given, all that the other parts leave.
        seed: decides the draw.

    Returns:
        Three boolean masks (training, validation, test) that do not overlap.
    """
    import torch

    targets = as_array(y, "y", "[N]")
    targets = targets if targets.size else np.empty(0, np.int64)
    if targets.ndim not in (1, 2) or targets.dtype.kind not in "iubf":
        raise ValueError(
            f"y has shape {list(targets.shape)}, dtype {targets.dtype}; expected one class number per node, "
            "one number, or several columns of yes and no"
        )
    kind, groups = target_kind(targets), strata(targets)
    if kind == "classes":
        train_per_class = 20 if train_per_class is None else train_per_class
    elif train_per_class is not None:
        raise ValueError(f"train_per_class {train_per_class}: y is for {kind}; give val and test instead")
    else:
        sizes = np.bincount(groups[groups >= 0])
        fifth = int(sizes.sum()) // 5
        others = (fifth if val is None else val) + (fifth if test is None else test)
        train_per_class = [max(0, int(size - np.ceil(others * size / sizes.sum()))) for size in sizes]
    parts = draw_parts(groups, train_per_class, val, test, seed)
    train, validation, tested = (torch.from_numpy(parts == part) for part in range(3))
    return train, validation, tested


def draw_parts(
    labels: NDArray[Any],
    train_per_class: int | Sequence[int],
    val: int | None = None,
    test: int | None = None,
    seed: int = 0,
) -> Parts:
    """Draw the parts as `random_split` says: 0 training, 1 validation, 2 test, -1 in none."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(labels >= 0))
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
    parts = np.full(len(labels), -1, np.int64)
    parts[train], parts[rest[:val]], parts[rest[val : val + test]] = 0, 1, 2
    return parts


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


def share_split(
    y: NDArray[Any], shares: Sequence[float] = SHARES, *, seed: int = 0, most: int | None = None
) -> Parts:
    """Draw a split in which every class is divided by the same shares, to within one node.

    Every class has a training node and, from three nodes on, a validation and a test node (if their shares
    are not zero). Validation nodes and test nodes above `most` go to training.
    """
    rng = np.random.default_rng(seed)
    order, sizes = _by_class(y, rng)
    wanted = np.array(shares, np.float64) / sum(shares)
    if most is not None:
        wanted[1:] = np.minimum(wanted[1:], most / max(1, len(order)))
        wanted[0] = 1 - wanted[1:].sum()
    counts = _apportion(sizes, wanted, rng)
    if most is not None:
        _trim(counts, sizes, wanted, most)
    codes = np.repeat(np.tile([0, 1, 2], len(sizes)), counts.reshape(-1))
    parts = np.full(len(y), -1, np.int64)
    parts[order] = codes
    return parts


def fold_split(y: NDArray[Any], folds: int, index: int, *, seed: int = 0) -> Parts:
    """Draw `folds` parts of equal size in which every class is spread evenly; part `index` is the test part.

    Of the others, a fifth is for validation. The same `seed` with all the indices tests every node once.
    """
    order, _ = _by_class(y, np.random.default_rng(seed))
    fold = np.full(len(y), -1, np.int64)
    fold[order] = np.arange(len(order)) % folds
    parts = share_split(np.where(fold == index, -1, y), (80, 20, 0), seed=seed)
    parts[fold == index] = 2
    return parts


def group_split(y: NDArray[Any], groups: NDArray[Any], *, seed: int = 0) -> Parts:
    """Draw a split that cuts no group: shuffled, one after the other goes where most of 60/20/20 is missing.

    Of three groups or more, each part has one at least.
    """
    labelled = np.asarray(y) >= 0
    known, inverse = np.unique(np.asarray(groups)[labelled], return_inverse=True)
    sizes = np.bincount(inverse, minlength=len(known))
    wanted = np.array(SHARES) / sum(SHARES) * sizes.sum()
    have = np.zeros(3)
    part_of = np.zeros(len(known), np.int64)
    for place, group in enumerate(np.random.default_rng(seed).permutation(len(known))):
        missing = wanted - have
        if len(known) - place <= (have == 0).sum():  # the groups that are left go to parts that have none
            missing = np.where(have == 0, missing, -np.inf)
        part = int(np.argmax(missing))
        part_of[group] = part
        have[part] += sizes[group]
    parts = np.full(len(labelled), -1, np.int64)
    parts[labelled] = part_of[inverse.reshape(-1)]
    return parts


def order_split(y: NDArray[Any], values: NDArray[Any]) -> Parts:
    """Divide by time, 60/20/20: the largest values are for testing, those before them for validation.

    Nodes of equal value stay together; of three values or more, each part has one at least.
    """
    labelled = np.asarray(y) >= 0
    known, inverse = np.unique(np.asarray(values)[labelled], return_inverse=True)
    until = np.cumsum(np.bincount(inverse, minlength=len(known)))
    whole, count = float(until[-1]) if len(until) else 0.0, len(known)
    ends = np.cumsum(np.array(SHARES) / sum(SHARES))[:2] * whole
    cut = [int(np.argmin(np.abs(until - end))) + 1 if count else 0 for end in ends]
    first = max(1, min(cut[0], count - 2))
    second = max(first + 1, min(cut[1], count - 1))
    parts = np.full(len(labelled), -1, np.int64)
    parts[labelled] = np.searchsorted([first, second], inverse.reshape(-1), side="right")
    return parts


def _by_class(y: NDArray[Any], rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The labelled nodes, class by class, each in the order of the draw; the sizes of the classes."""
    labels = np.asarray(y)
    order = rng.permutation(np.flatnonzero(labels >= 0))
    order = order[np.argsort(labels[order], kind="stable")]
    return order, np.unique(labels[order], return_counts=True)[1]


def _apportion(
    sizes: NDArray[np.int64], wanted: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Whole numbers [classes, 3] by the largest remainders; none is zero that must not be."""
    exact = sizes[:, None] * wanted
    counts = np.floor(exact + 1e-9).astype(np.int64)
    rest = exact - counts + 1e-6 * rng.random(exact.shape)  # equal remainders: the draw decides
    rank = np.argsort(np.argsort(-rest, axis=1), axis=1)
    counts += rank < (sizes - counts.sum(axis=1))[:, None]
    for part, least in ((0, 1), (1, 3), (2, 3)):
        lacking = np.flatnonzero((counts[:, part] == 0) & (sizes >= least) & (wanted[part] > 0))
        counts[lacking, np.argmax(counts[lacking], axis=1)] -= 1
        counts[lacking, part] += 1
    return counts


def _trim(
    counts: NDArray[np.int64], sizes: NDArray[np.int64], wanted: NDArray[np.float64], most: int
) -> None:
    """Move what is above `most` to training, first where rounding gave too much."""
    for part in (1, 2):
        while (above := int(counts[:, part].sum()) - most) > 0:
            excess = counts[:, part] - sizes * wanted[part]
            first = np.lexsort((-excess, counts[:, part] <= 1))[:above]
            first = first[counts[first, part] > 0]
            counts[first, part] -= 1
            counts[first, 0] += 1


@dataclass(frozen=True)
class SplitRequest:
    """What a user asked for: at most one of `split`, `split_by` and `folds`."""

    split: str | Sequence[str] | None = None
    split_by: str | None = None
    folds: int | None = None
    index: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        asked = [name for name in ("split", "split_by", "folds") if getattr(self, name) is not None]
        if len(asked) > 1:
            raise ValueError(f"give one of split, split_by and folds, not {' and '.join(asked)}")
        if as_integer(self.index, "split_index") < 0:
            raise ValueError(f"split_index must not be negative, got {self.index}")
        if self.folds is not None and as_integer(self.folds, "folds") < 2:
            raise ValueError(f"folds must be at least 2, got {self.folds}")
        if self.folds is not None and self.index >= self.folds:
            raise ValueError(
                f"split_index {self.index}: there are {self.folds} folds, from 0 to {self.folds - 1}"
            )
        if self.shares is not None and (min(self.shares) <= 0 or abs(sum(self.shares) - 100) > 1e-6):
            expected = "positive percentages that sum to 100, such as 60/20/20 or 80/20"
            raise ValueError(f"split {self.split!r}: expected {expected}")
        if not isinstance(self.split, str) and self.split is not None and not self.split:
            raise ValueError("split must name at least one column, got none")

    @property
    def per_class(self) -> int | None:
        """Training nodes per class, if they were asked for as in "20-per-class"."""
        found = _PER_CLASS.fullmatch(self.split) if isinstance(self.split, str) else None
        return int(found[1]) if found else None

    @property
    def shares(self) -> tuple[float, ...] | None:
        """The percentages, if they were asked for as in "60/20/20"; in "80/20" validation is held back."""
        found = _SHARES.fullmatch(self.split) if isinstance(self.split, str) else None
        if found is None:
            return None
        first, *others = (float(part) for part in found.groups() if part is not None)
        if len(others) == 1:
            return (1 - _HELD_BACK) * first, _HELD_BACK * first, *others
        return first, *others

    @property
    def columns(self) -> list[str] | None:
        """The columns of train, val and test that were named, if any were."""
        if self.split is None or self.per_class is not None or self.shares is not None:
            return None
        return [self.split] if isinstance(self.split, str) else list(self.split)

    def at_random(self, given: Sequence[tuple[str, Parts]]) -> bool:
        """Whether chance decides, and not a column of the table."""
        asked = self.folds is not None or self.per_class is not None or self.shares is not None
        return self.split_by is None and (asked or not given)


def find_parts(
    request: SplitRequest, raw: RawTable, targets: NDArray[Any], given: Sequence[tuple[str, Parts]]
) -> tuple[Parts, str]:
    """Return the part of every node and where it comes from, in words; `given` are the table's columns."""
    kind, y = target_kind(targets), strata(targets)
    classes = len(np.unique(y[y >= 0]))
    labelled = int((y >= 0).sum())
    seed = request.seed + request.index
    if request.folds is not None:
        if request.folds > max(2, labelled):
            raise ValueError(
                f"{raw.name}: {request.folds} folds of {labelled:,} labelled nodes; ask for fewer"
            )
        parts = fold_split(y, request.folds, request.index, seed=request.seed)
        spread = ", every class spread evenly" if kind == "classes" else _EACH[kind]
        return parts, (
            f"fold {request.index} of {request.folds} (from 0){spread}, drawn with seed "
            f"{request.seed}; a fifth of the other nodes for validation"
        )
    if request.split_by is not None:
        return _by_column(request.split_by, raw, y, seed)
    if request.per_class is not None:
        if kind != "classes":
            raise ValueError(f"{raw.name}: split {request.split!r} is for classes, not {kind}; try 60/20/20")
        return _per_class(y, request.per_class, seed)
    if request.shares is not None:
        held_back = ", a fifth of the first for validation" if str(request.split).count("/") == 1 else ""
        parts = share_split(y, request.shares, seed=seed)
        return parts, f"{request.split}{_EACH[kind]}{held_back}, drawn with seed {seed}"
    if given:
        if len(given) > 1 and request.index >= len(given):
            last = len(given) - 1
            raise ValueError(f"split_index {request.index}: the split columns are numbered from 0 to {last}")
        name, parts = given[request.index if len(given) > 1 else 0]
        parts = np.where(y < 0, -1, parts)
        which = "" if len(given) == 1 else f", column {shown(name)} (number {request.index} of {len(given)})"
        if (parts == 0).any() and not (parts == 1).any():
            train = share_split(np.where(parts == 0, y, -1), (1 - _HELD_BACK, _HELD_BACK, 0), seed=seed)
            parts = np.where(parts == 0, train, parts)
            which += f"; it has no val: a fifth of the training nodes drawn for validation with seed {seed}"
        return parts, f"from the node table{which}"
    if kind != "classes" or (2 * labelled >= len(y) and labelled >= 5 * classes):
        parts = share_split(y, SHARES, seed=seed, most=MOST)
        capped = labelled * SHARES[1] / 100 > MOST
        limit = (
            f" (at most {MOST:,} for validation and for testing, the others for training)" if capped else ""
        )
        return parts, f"60/20/20{_EACH[kind]}, drawn with seed {seed}{limit}"
    return _per_class(y, 20, seed)


def _per_class(y: NDArray[np.int64], wanted: int, seed: int) -> tuple[Parts, str]:
    parts = draw_parts(y, capped_train_counts(y, wanted), None, None, seed)
    return parts, (
        f"drawn with seed {seed} (up to {wanted} per class for training, at most half a class; "
        "the rest halved)"
    )


def _by_column(name: str, raw: RawTable, y: NDArray[np.int64], seed: int) -> tuple[Parts, str]:
    cells, column = raw.columns[column_of(raw, name, "split_by")], f"by column {shown(name)}"
    bad = [row for row in np.flatnonzero(y >= 0).tolist() if is_missing(cells[row])]
    if bad:
        raise ValueError(
            f"{raw.where(bad[0])}: {shown(cells[bad[0]])} in column {shown(name)}, by which nodes are divided"
            f"; expected a value{raw.also_in(bad[1:])}"
        )
    known = {cells[row] for row in np.flatnonzero(y >= 0)}
    numbers = all(map(plain_number, known))
    if numbers or all(map(is_date, known)):
        ordered = sorted(known, key=float) if numbers else sorted(known)
        value = {cell: float(cell) if numbers else place for place, cell in enumerate(ordered)}
        parts = order_split(y, np.array([value.get(cell, 0.0) for cell in cells]))
        tested = [cells[row] for row in np.flatnonzero(parts == 2)]
        first = min(tested, key=value.__getitem__) if tested else "nothing"
        return parts, f"{column}: the largest values (from {first}) for testing, those before for validation"
    place_of = {value: at for at, value in enumerate(sorted(known))}
    codes = np.array([place_of.get(cell, 0) for cell in cells], np.int64)
    parts = group_split(y, codes, seed=seed)
    return parts, f"{column}: {len(known):,} groups, none of them cut, drawn with seed {seed}"
