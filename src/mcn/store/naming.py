"""From what the user calls a node to its number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mcn.data.edge_list import bad_number, id_array
from mcn.data.text import is_integer
from mcn.store.edge_blocks import Block


class Naming(Protocol):
    """Gives nodes their numbers."""

    ids: NDArray[Any]

    def positions(self, block: Block) -> NDArray[np.int64]:
        """Numbers [2, E] of the ends of a block's edges, -1 for a node that has none."""
        ...


def naming(ids: NDArray[Any]) -> Naming:
    """Return what numbers nodes by where they stand among `ids`."""
    return _Integers(ids) if ids.dtype == np.int64 else _Texts(ids)


class _Integers:
    def __init__(self, ids: NDArray[np.int64]) -> None:
        self.ids = ids
        self._order = np.argsort(ids, kind="stable")
        self._sorted = ids[self._order]

    def positions(self, block: Block) -> NDArray[np.int64]:
        ids = block.ids
        if ids is None:
            given = [int(name) if is_integer(name) else -1 for name in block.names]
            ids = np.array(given, np.int64).reshape(-1, 2).T
        if not len(self.ids):
            return np.full(ids.shape, -1, np.int64)
        place = np.minimum(np.searchsorted(self._sorted, ids), len(self.ids) - 1)
        return np.where(self._sorted[place] == ids, self._order[place], -1)


class _Texts:
    def __init__(self, ids: NDArray[Any]) -> None:
        self.ids = ids
        self._row = {str(name): row for row, name in enumerate(ids.tolist())}

    def positions(self, block: Block) -> NDArray[np.int64]:
        if block.ids is None:
            flat = np.array([self._row.get(name, -1) for name in block.names], np.int64)
            return flat.reshape(-1, 2).T
        distinct, place = np.unique(block.ids, return_inverse=True)
        rows = np.array([self._row.get(str(name), -1) for name in distinct.tolist()], np.int64)
        return rows[place.reshape(block.ids.shape)] if len(rows) else np.empty((2, 0), np.int64)


def collect(blocks: Iterable[Block]) -> tuple[NDArray[Any], str | None, str | None]:
    """Find all ids of an edge list, in ascending order.

    Returns:
        The ids; an id that makes all of them text, if there is one; and one that is no id, if all of them
        are numbers but not all of them integers.
    """
    numbers: NDArray[np.int64] = np.empty(0, np.int64)
    waiting: list[NDArray[np.int64]] = []
    names: dict[str, None] = {}
    for block in blocks:
        if block.ids is None:
            names.update(dict.fromkeys(block.names))
            continue
        waiting.append(np.unique(block.ids))
        if sum(map(len, waiting)) > len(numbers) + 2**20:
            numbers = np.unique(np.concatenate([numbers, *waiting]))
            waiting.clear()
    numbers = np.unique(np.concatenate([numbers, *waiting]))
    if all(map(is_integer, names)):
        spelled = np.array(list(names), np.int64)
        return np.unique(np.concatenate([numbers, spelled])), None, None
    odd = next(name for name in names if not is_integer(name))
    every = list(dict.fromkeys([*map(str, numbers.tolist()), *names]))
    bad = bad_number(every)
    ids = id_array(every, as_text=True)
    return ids[np.argsort(ids, kind="stable")], odd, None if bad is None else every[bad]
