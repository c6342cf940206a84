"""Seed and extend: from two nodes that look alike, match their surroundings node by node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.twins.kernels import kernel

PENALTY = 0.5
"""Cost of an edge to the matched part that the other side does not have."""
WEIGHT = 0.3
"""Weight of the similarity when the next pair is chosen."""
MOST_CANDIDATES = 20_000_000
"""Pairs that one extension may have to choose from."""


@dataclass(frozen=True, eq=False)
class Extensions:
    """Matched pairs, extension by extension.

    score: float64 [S], per extension: conserved edges - `PENALTY` * edges that are not conserved.
    size: int64 [S], its number of pairs; those of the first extension come first.
    row, column: int32 [P], the nodes of each pair.
    local: float32 [P], Jaccard index of the edges at the two nodes: conserved / all of both.
    """

    score: NDArray[np.float64]
    size: NDArray[np.int64]
    row: NDArray[np.int32]
    column: NDArray[np.int32]
    local: NDArray[np.float32]


def extend(
    adjacency: Any,
    similar: NDArray[np.float32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    most: int,
) -> Extensions:
    """Extend every seed pair greedily to at most `most` pairs.

    An edge is conserved if it joins two nodes of the left part and their partners are joined too. The next
    pair (a, b), joined to the matched part by at least one conserved edge, is the one with the largest
    ``conserved - PENALTY * not conserved + WEIGHT * similar[a, b]``, counting edges to the matched part.

    Args:
        adjacency: A as CSR with sorted rows, symmetric.
        similar: float32 [N, N]; -inf for pairs that must not be matched.
        left, right: the seed pairs.
        most: pairs per extension.

    Raises:
        ValueError: nodes have so many neighbours that there are too many pairs to choose from.
    """
    room = candidates(np.diff(adjacency.indptr), most)
    if room > MOST_CANDIDATES:
        raise ValueError(
            f"twins would have to choose from up to {room:,} pairs of neighbours at a time, as nodes have "
            f"up to {int(np.diff(adjacency.indptr).max()):,} neighbours; expected at most "
            f"{MOST_CANDIDATES:,} pairs. It is made for graphs with small degrees: use another baseline"
        )
    indptr, indices = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
    return Extensions(*_extend(indptr, indices, similar, left, right, most, room))


def candidates(degree: NDArray[Any], most: int) -> int:
    """The largest number of candidates that an extension of `most` pairs can see.

    Matching (a, b) adds at most d_a d_b of them, and no node is matched twice on a side: by the rearrangement
    inequality the sum is at most that of the `most` largest squared degrees. The seed is one more.
    """
    largest = np.sort(degree.astype(np.int64))[::-1][:most]
    return 1 + min(int(np.square(largest).sum()), len(degree) ** 2)


@kernel
def _extend(indptr: Any, indices: Any, similar: Any, left: Any, right: Any, most: Any, room: Any) -> Any:
    n, seeds = len(indptr) - 1, len(left)
    score, sizes = np.zeros(seeds), np.zeros(seeds, np.int64)
    row, column = np.empty(seeds * most, np.int32), np.empty(seeds * most, np.int32)
    local = np.empty(seeds * most, np.float32)
    mate = np.full(n, -1, np.int64)  # of a node on the left
    taken = np.zeros(n, np.bool_)  # on the right
    touch_left, touch_right = np.zeros(n, np.int32), np.zeros(n, np.int32)  # edges to the matched part
    slot = np.zeros((n, n), np.int32)  # 1 + the candidate that a pair is, 0 if it is none
    first, second = np.empty(room, np.int32), np.empty(room, np.int32)
    shared, bonus = np.empty(room, np.int32), np.empty(room, np.float32)
    open_ = np.empty(room, np.int64)  # candidates of which no node is matched yet
    begin = 0
    for s in range(seeds):
        first[0], second[0], shared[0], bonus[0], open_[0] = left[s], right[s], 0, 0.0, 0
        slot[left[s], right[s]] = 1
        made, alive, size = 1, 1, 0
        while size < most:
            chosen, alive = _choose(
                open_, alive, first, second, shared, bonus, mate, taken, touch_left, touch_right
            )
            if chosen < 0:
                break
            a, b = first[chosen], second[chosen]
            score[s] += shared[chosen] - PENALTY * (touch_left[a] + touch_right[b] - 2 * shared[chosen])
            mate[a], taken[b] = b, True
            row[begin + size], column[begin + size] = a, b
            size += 1
            for p in range(indptr[a], indptr[a + 1]):
                touch_left[indices[p]] += 1
            for q in range(indptr[b], indptr[b + 1]):
                touch_right[indices[q]] += 1
            for p in range(indptr[a], indptr[a + 1]):
                x = indices[p]
                if mate[x] >= 0:
                    continue
                for q in range(indptr[b], indptr[b + 1]):
                    y = indices[q]
                    if taken[y] or similar[x, y] == -np.inf:
                        continue
                    c = slot[x, y] - 1
                    if c < 0:
                        c = made
                        first[c], second[c], shared[c], bonus[c] = x, y, 0, WEIGHT * similar[x, y]
                        open_[alive] = c
                        alive += 1
                        made += 1
                        slot[x, y] = made
                    shared[c] += 1
        sizes[s] = size
        for i in range(begin, begin + size):
            local[i] = _jaccard(indptr, indices, mate, row[i], column[i])
        for i in range(begin, begin + size):  # leave everything as it was found
            a, b = row[i], column[i]
            mate[a], taken[b] = -1, False
            for p in range(indptr[a], indptr[a + 1]):
                touch_left[indices[p]] = 0
            for q in range(indptr[b], indptr[b + 1]):
                touch_right[indices[q]] = 0
        for c in range(made):
            slot[first[c], second[c]] = 0
        begin += size
    return score, sizes, row[:begin].copy(), column[:begin].copy(), local[:begin].copy()


@kernel
def _choose(
    open_: Any,
    alive: Any,
    first: Any,
    second: Any,
    shared: Any,
    bonus: Any,
    mate: Any,
    taken: Any,
    touch_left: Any,
    touch_right: Any,
) -> Any:
    """The best of the open candidates, -1 if there is none; those that a match has closed are dropped."""
    best, chosen, kept = -np.inf, -1, 0
    for t in range(alive):
        c = open_[t]
        a, b = first[c], second[c]
        if mate[a] >= 0 or taken[b]:
            continue
        open_[kept] = c
        kept += 1
        value = shared[c] - PENALTY * (touch_left[a] + touch_right[b] - 2 * shared[c]) + bonus[c]
        if value > best:
            best, chosen = value, c
    return chosen, kept


@kernel
def _jaccard(indptr: Any, indices: Any, mate: Any, a: Any, b: Any) -> Any:
    """Conserved edges at a and b over all edges at either, partners counted as one node."""
    common = 0
    for p in range(indptr[a], indptr[a + 1]):
        partner = mate[indices[p]]
        for q in range(indptr[b], indptr[b + 1]):
            if indices[q] == partner:
                common += 1
    return common / max(indptr[a + 1] - indptr[a] + indptr[b + 1] - indptr[b] - common, 1)
