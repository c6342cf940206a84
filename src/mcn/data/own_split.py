"""Which split a graph of one's own gets: columns of its table, a rule, folds, groups or time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcn.data.arrays import as_integer
from mcn.data.border import shown
from mcn.data.cells import RawTable, is_date, is_missing, plain_number
from mcn.data.splits import (
    MOST,
    SHARES,
    Parts,
    capped_train_counts,
    fold_split,
    group_split,
    order_split,
    random_split,
    share_split,
)

_PER_CLASS = re.compile(r"([1-9][0-9]{0,5})-per-class")
_SHARES = re.compile(r"([0-9]{1,2}(?:\.[0-9]+)?)/([0-9]{1,2}(?:\.[0-9]+)?)/([0-9]{1,2}(?:\.[0-9]+)?)")


@dataclass(frozen=True)
class SplitRequest:
    """What a user asked for: at most one of `split`, `split_by` and `folds`.

    Raises:
        ValueError: more than one of them, shares that do not sum to 100, or no such fold.
    """

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
            raise ValueError(f"split {self.split!r}: expected three positive percentages that sum to 100")
        if not isinstance(self.split, str) and self.split is not None and not self.split:
            raise ValueError("split must name at least one column, got none")

    @property
    def per_class(self) -> int | None:
        """Training nodes per class, if they were asked for as in "20-per-class"."""
        found = _PER_CLASS.fullmatch(self.split) if isinstance(self.split, str) else None
        return int(found[1]) if found else None

    @property
    def shares(self) -> tuple[float, ...] | None:
        """The percentages, if they were asked for as in "60/20/20"."""
        found = _SHARES.fullmatch(self.split) if isinstance(self.split, str) else None
        return tuple(float(part) for part in found.groups()) if found else None

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

    @property
    def drawn(self) -> int:
        """The seed of a drawn split."""
        return self.seed + self.index


def find_parts(
    request: SplitRequest, raw: RawTable, y: NDArray[np.int64], given: Sequence[tuple[str, Parts]]
) -> tuple[Parts, str]:
    """Return the part of every node and where it comes from, in words.

    Args:
        request: what was asked for.
        raw: the node table.
        y: class of each node, -1 for nodes without a label.
        given: names and contents of the table's split columns.
    """
    classes = len(np.unique(y[y >= 0]))
    labelled = int((y >= 0).sum())
    seed = request.drawn
    if request.folds is not None:
        parts = fold_split(y, request.folds, request.index, seed=request.seed)
        return parts, (
            f"fold {request.index} of {request.folds} (from 0), every class spread evenly, drawn with seed "
            f"{request.seed}; a fifth of the other nodes for validation"
        )
    if request.split_by is not None:
        return _by_column(request, raw, y)
    if request.per_class is not None:
        return _per_class(y, request.per_class, seed)
    if request.shares is not None:
        return share_split(
            y, request.shares, seed=seed
        ), f"{request.split} of each class, drawn with seed {seed}"
    if given:
        if len(given) > 1 and request.index >= len(given):
            last = len(given) - 1
            raise ValueError(f"split_index {request.index}: the split columns are numbered from 0 to {last}")
        name, parts = given[request.index if len(given) > 1 else 0]
        which = "" if len(given) == 1 else f", column {shown(name)} (number {request.index} of {len(given)})"
        return np.where(y < 0, -1, parts), f"from the node table{which}"
    if 2 * labelled >= len(y) and labelled >= 5 * classes:
        parts = share_split(y, SHARES, seed=seed, most=MOST)
        capped = labelled * SHARES[1] / 100 > MOST
        limit = (
            f" (at most {MOST:,} for validation and for testing, the others for training)" if capped else ""
        )
        return parts, f"60/20/20 of each class, drawn with seed {seed}{limit}"
    return _per_class(y, 20, seed)


def _per_class(y: NDArray[np.int64], wanted: int, seed: int) -> tuple[Parts, str]:
    masks = random_split(y, train_per_class=capped_train_counts(y, wanted), seed=seed)
    parts = np.full(len(y), -1, np.int64)
    for code, mask in enumerate(masks):
        parts[mask.numpy()] = code
    return parts, (
        f"drawn with seed {seed} (up to {wanted} per class for training, at most half a class; "
        "the rest halved)"
    )


def _by_column(request: SplitRequest, raw: RawTable, y: NDArray[np.int64]) -> tuple[Parts, str]:
    name = str(request.split_by)
    cells = raw.cells(name)
    for row in np.flatnonzero(y >= 0).tolist():
        if is_missing(cells[row]):
            raise ValueError(
                f"{raw.where[row]}: {shown(cells[row])} in column {shown(name)}, by which nodes are divided; "
                "expected a value"
            )
    known = {cells[row] for row in np.flatnonzero(y >= 0)}
    seed, column = request.drawn, f"by column {shown(name)}"
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
