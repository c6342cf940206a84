"""Kernels that draw some neighbours of a node from its chosen row of Ψ(A_t^k), without the rest of the row.

A drawn entry has its weight divided by the chance that it was drawn, so that the expected value of a drawn
row is the row itself; the diagonal is never drawn but always kept. Every node draws by numbers of its own,
made from a key and its id: what it draws does not depend on the other nodes of a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmotifs._jit import kernel
from mcn.matrices.psi import LAPLACIAN, SYMMETRIC, UNWEIGHTED, entry_weight, loop_weight

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = (np.uint64(v) for v in (30, 27, 31, 11))
_UNIT = 2.0**-53


@kernel
def _mix(x: Any) -> Any:
    x = (x ^ (x >> _S30)) * _MIX1
    x = (x ^ (x >> _S27)) * _MIX2
    return x ^ (x >> _S31)


@kernel
def start_state(key: Any, node: int) -> Any:
    """Begin the random numbers of a node."""
    return _mix(np.uint64(key) ^ _mix((np.uint64(node) + np.uint64(1)) * _GOLDEN))


@kernel
def to_unit(state: Any) -> float:
    """Turn a state into a number from 0 to 1, 1 excluded."""
    return float(_mix(state) >> _S11) * _UNIT


@kernel
def explore(nodes: Any, options: int, epsilon: float, key: Any, choice: Any) -> None:
    """Replace the choice of each node, with probability `epsilon`, by any one of the options."""
    for r in range(nodes.size):
        state = start_state(key, nodes[r])
        if to_unit(state) < epsilon:
            choice[r] = min(options - 1, int(to_unit(state + _GOLDEN) * options))


@kernel
def _threshold(values: Any, first: int, last: int, diagonal: int, total: float, fan: int) -> float:
    """Find τ such that taking an entry with probability min(1, value / τ) takes `fan` of them."""
    tau = total / fan
    while True:
        sure = 0
        rest = total
        for p in range(first, last):
            if p != diagonal and values[p] >= tau:
                sure += 1
                rest -= values[p]
        if sure >= fan or not rest > 0:
            return tau
        lower = rest / (fan - sure)
        if not lower < tau * (1.0 - 1e-12):
            return tau
        tau = lower


@kernel
def _put(j: Any, weight: float, at: int, used: int, to_columns: Any, to_values: Any) -> int:
    """Add an entry to the ascending columns from `at` to `used`; returns where they end."""
    p = used
    while p > at and to_columns[p - 1] > j:
        p -= 1
    if p > at and to_columns[p - 1] == j:
        to_values[p - 1] += weight
        return used
    for s in range(used, p, -1):
        to_columns[s], to_values[s] = to_columns[s - 1], to_values[s - 1]
    to_columns[p], to_values[p] = j, weight
    return used + 1


@kernel
def draw_rows(psi: int, fan: int, nodes: Any, slots: Any, csr: Any, roots: Any, key: Any, out: Any) -> None:
    """Draw at most `fan` neighbours of each node from its row of Ψ(A): all of them if there are no more.

    Neighbours are drawn without replacement, each with a probability proportional to its weight (to 1 if Ψ is
    ``unweighted``) or surely: systematic sampling, one random number per row.

    Args:
        nodes: whose rows. slots: where each goes; row s begins at ``starts[s]``, which must leave room for
            ``min(row, fan) + 1`` entries.
        csr: indptr, indices and values of A, columns ascending; entries of value 0 are no neighbours. Without
            values, all are 1.
        roots: √D_jj of eq:k5 for every node, read by ``symmetric`` alone.
        out: where each row starts, columns, values, and the lengths of the rows.
    """
    indptr, indices, values = csr
    starts, to_columns, to_values, lengths = out
    weighted = values.size > 0
    for r in range(nodes.size):
        i, slot = nodes[r], slots[r]
        first, last = indptr[i], indptr[i + 1]
        own, total, top, count, diagonal = 0.0, 0.0, 0.0, 0, -1
        if weighted:
            for p in range(first, last):
                value = float(values[p])
                if np.int64(indices[p]) == i:
                    diagonal = p
                    own = value
                elif value > 0.0:
                    count += 1
                total += value
                top = max(top, value)
        else:
            count = last - first
            total, top = float(count), 1.0
        here = roots[i] if psi == SYMMETRIC else 1.0
        u = to_unit(start_state(key, i))
        at = starts[slot]
        used = at
        alike = psi == UNWEIGHTED or not weighted
        tau = 0.0  # everything is taken
        if count > fan:
            tau = count / fan if alike else _threshold(values, first, last, diagonal, total - own, fan)
        if not weighted and tau > 0.0:
            for m in range(fan):
                j = np.int64(indices[first + min(count - 1, int((u + m) * tau))])
                to_columns[used] = j
                there = roots[j] if psi == SYMMETRIC else 1.0
                to_values[used] = entry_weight(psi, 1.0, total, top, here, there) * tau
                used += 1
        else:
            for p in range(first, last):
                value = float(values[p]) if weighted else 1.0
                if p == diagonal or value == 0.0:
                    continue
                size = 1.0 if alike else value
                factor = 1.0
                if size < tau:
                    u += size / tau
                    if u < 1.0 or used - at >= fan:
                        continue
                    u -= 1.0
                    factor = tau / size
                j = np.int64(indices[p])
                there = roots[j] if psi == SYMMETRIC else 1.0
                to_columns[used] = j
                to_values[used] = entry_weight(psi, value, total, top, here, there) * factor
                used += 1
        loop = loop_weight(psi, own, total, top, here, here)
        lengths[slot] = _put(i, loop, at, used, to_columns, to_values) - at


@kernel
def _next_node(csr: Any, weighted: bool, v: Any, left: int, reach: Any, u: float) -> Any:
    """Draw the next node of a walk that is at `v` and has `left` steps to go, by the weight of all walks."""
    indptr, indices, values = csr
    goal, total, found = u * reach[left, v], 0.0, np.int64(v)
    for p in range(indptr[v], indptr[v + 1]):
        j = np.int64(indices[p])
        step = (float(values[p]) if weighted else 1.0) * reach[left - 1, j]
        if step > 0.0:
            total += step
            found = j
            if total > goal:
                break
    return found


@kernel
def _walked(csr: Any, weighted: bool, i: int, steps: int, total: Any, other: Any, touched: Any) -> int:
    """Write row `i` of A^steps into `total`, and its columns into `touched`; returns how many there are.

    `total` and `other` are zero before, `other` after as well.
    """
    indptr, indices, values = csr
    total[i] = 1.0
    touched[0] = i
    found = 1
    for _ in range(steps):
        sources = touched[:found].copy()
        for v in sources:
            other[v] = total[v]
            total[v] = 0.0
        found = 0
        for v in sources:
            for q in range(indptr[v], indptr[v + 1]):
                j = np.int64(indices[q])
                if total[j] == 0.0:
                    touched[found] = j
                    found += 1
                total[j] += other[v] * (float(values[q]) if weighted else 1.0)
            other[v] = 0.0
    return found


@kernel
def draw_walks(
    psi: int,
    fan: int,
    step: int,
    nodes: Any,
    slots: Any,
    csr: Any,
    walks: Any,
    key: Any,
    out: Any,
    scratch: Any,
) -> None:
    """Draw entries of each node's row of Ψ(A^k), k = `step`, as the ends of `fan` weighted walks of k steps.

    A walk ends in j with probability (A^k)_ij / Σ_j (A^k)_ij. The row itself is never made.

    Args:
        walks: reach [k + 1, N], ``reach[m] = A^m 1``, of the pattern of A for ``unweighted``; and tops, the
            greatest entry of each row of A^k, read by ``row-max``, ``transition`` and ``symmetric``.
        scratch: two arrays of N zeros and one of N places, used by ``unweighted``.

    The other arguments are those of `draw_rows`; a row needs room for ``fan + 1`` entries.
    """
    indptr, indices, values = csr
    starts, to_columns, to_values, lengths = out
    weighted = values.size > 0 and psi != UNWEIGHTED
    (reach, tops), (ways, other, touched) = walks, scratch
    for r in range(nodes.size):
        i, slot = nodes[r], slots[r]
        at = starts[slot]
        total = reach[step, i]
        used = at
        own, here, top = 0.0, 1.0, 0.0
        if total > 0.0:
            top = tops[i] if psi != UNWEIGHTED and psi != LAPLACIAN else 0.0
            here = np.sqrt(total + top) if psi == SYMMETRIC else 1.0
            seen = _walked(csr, False, i, step - 1, ways, other, touched) if psi == UNWEIGHTED else 0
            state = start_state(key, i)
            u = to_unit(state)
            tau = total / fan
            begun = 0
            for p in range(indptr[i], indptr[i + 1]):
                v = np.int64(indices[p])
                u += (float(values[p]) if weighted else 1.0) * reach[step - 1, v] / tau
                while u >= 1.0 and begun < fan:
                    u -= 1.0
                    begun += 1
                    j = v
                    for left in range(step - 1, 0, -1):
                        state += _GOLDEN
                        j = _next_node(csr, weighted, j, left, reach, to_unit(state))
                    if psi == UNWEIGHTED:
                        if j == i:
                            continue
                        times = 0.0
                        for q in range(indptr[j], indptr[j + 1]):
                            times += ways[indices[q]]
                        weight = tau / times
                    else:
                        there = np.sqrt(reach[step, j] + tops[j]) if psi == SYMMETRIC else 1.0
                        weight = entry_weight(psi, tau, total, top, here, there)
                    if j == i:
                        own += weight
                    else:
                        used = _put(j, weight, at, used, to_columns, to_values)
            for p in range(seen):
                ways[touched[p]] = 0.0
        loop = own + loop_weight(psi, 0.0, total, top, here, here)
        lengths[slot] = _put(i, loop, at, used, to_columns, to_values) - at


@kernel
def row_tops(step: int, csr: Any, tops: Any, scratch: Any) -> None:
    """Find the greatest entry of every row of A^k, k = `step`, one row at a time."""
    total, other, touched = scratch
    for i in range(tops.size):
        found = _walked(csr, csr[2].size > 0, i, step, total, other, touched)
        top = 0.0
        for p in range(found):
            top = max(top, total[touched[p]])
            total[touched[p]] = 0.0
        tops[i] = top


@kernel
def local_rows(rows: Any, position: Any, src: Any, known: int, out: Any) -> int:
    """Number the columns of drawn rows by position among the sources, new ones at the end.

    Returns the number of sources, of which there were `known` before.
    """
    for p in range(rows.indices.size):
        j = rows.indices[p]
        if position[j] < 0:
            position[j] = known
            src[known] = j
            known += 1
        out[p] = position[j]
    return known
