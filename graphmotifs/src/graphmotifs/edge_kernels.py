"""Kernels that enumerate triangles, 4-cliques and 4-cycles: five numbers per edge.

The counts of all orbits follow from these numbers (see `orbit_formulas`).

For an edge (u, v): `t` triangles on it; `s1` the degrees of its common neighbours summed; `s2` the
triangles on the other two edges of each of its triangles, summed; `k` 4-cliques on it; `c` paths of
three edges that close it to a 4-cycle, chords allowed.

Indices are unsigned throughout: numba then leaves out its wrap-around test for negative ones, which is
a third of the time. (uint64 mixed with int64 becomes float64 in numba, hence the typed constants.)
All kernels work on a range of nodes and *add* to what they are given, so that ranges can be shared out
between threads with accumulators of their own; integer sums do not depend on the order. `g` is the graph
as `orient` makes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from graphmotifs._jit import kernel

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_THREE = np.uint64(3)
_SIX = np.uint64(6)
_NINE = np.uint64(9)
_LOW6 = np.uint64(63)
_MANY = np.uint64(16)  # neighbours below a node from which on it is taken for granted to be on a cycle


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """Set bits of a uint64, one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.ctpop", [ir.IntType(64)])
        return builder.call(function, args)

    return types.uint64(types.uint64), generate


@kernel
def triangles(start: Any, stop: Any, mark: Any, g: Any, t: Any, s1: Any) -> Any:
    """Add to `t` and `s1` the triangles whose lowest node is in [start, stop).

    `mark[w]` is one more than the edge (u, w) of the node under way. Marks of earlier nodes are smaller
    than any of this one's, so they need not be cleared as long as a thread goes upwards. The last of u's
    list is walked from no triangle: nothing in the list is above it.
    """
    degree, out_ptr, out = g.degree, g.out_ptr, g.out
    for u in range(np.uint64(start), np.uint64(stop)):
        first, last = out_ptr[u], out_ptr[u + _ONE]
        if last - first < np.uint64(2):  # the lowest node of a triangle has two edges upwards
            continue
        for p in range(first, last):
            mark[out[p]] = p + _ONE
        du = degree[u]
        v = np.uint64(out[first])
        begin, end = out_ptr[v], out_ptr[v + _ONE]
        for p in range(first, last - _ONE):
            dv = degree[v]
            tp, sp = _ZERO, _ZERO
            here, until = begin, end
            v = np.uint64(out[p + _ONE])  # where the next list is has to be there when this one ends
            begin, end = out_ptr[v], out_ptr[v + _ONE]
            for q in range(here, until):
                w = out[q]
                r = np.uint64(mark[w])
                # A mark of this node is at least first + 1; those of earlier nodes are at most first.
                if r > first:
                    r -= _ONE
                    t[q] += np.uint32(1)
                    s1[q] += du
                    t[r] += np.uint32(1)
                    s1[r] += dv
                    tp += _ONE
                    sp += np.uint64(degree[w])
            if tp > _ZERO:
                t[p] += tp
                s1[p] += sp


@kernel
def closed_triples(
    start: Any, stop: Any, mark: Any, out_ptr: Any, low: Any, high: Any, lowest: Any, middle: Any, ways: Any
) -> Any:
    """Add the triangles whose lowest node is in [start, stop) and whose middle one is in [low, high).

    `lowest` has the out-lists of the former, the edge from which on they are there, and their counters;
    `middle` the same of the latter: pieces of one array, or that array itself. Nothing but triangles is
    counted (see `triangles`).

    `ways` is None, or says how every edge points: 0 upwards, 1 downwards, 2 both ways. The triangles of an
    edge are then counted apart, nine counters to an edge: three times the way from its lower end to the third
    node, plus the way from its upper end to that node.
    """
    (rows, rows_at, t_rows), (lists, lists_at, t_lists) = lowest, middle
    for u in range(np.uint64(start), np.uint64(stop)):
        first, last = out_ptr[u], out_ptr[u + _ONE]
        if last - first < np.uint64(2):
            continue
        for p in range(first, last):
            mark[rows[p - rows_at]] = p + _ONE
        for p in range(first, last - _ONE):
            v = np.uint64(rows[p - rows_at])
            if v < low:
                continue
            if v >= high:  # lists ascend: all further nodes are past the block too
                break
            closed = _ZERO
            for q in range(out_ptr[v] - lists_at, out_ptr[v + _ONE] - lists_at):
                r = np.uint64(mark[lists[q]])
                if r > first:
                    if ways is None:
                        t_lists[q] += np.uint32(1)
                        t_rows[r - _ONE - rows_at] += np.uint32(1)
                        closed += _ONE
                    else:
                        r -= _ONE
                        by_p, by_q, by_r = np.uint64(ways[p]), np.uint64(ways[q]), np.uint64(ways[r])
                        t_rows[_NINE * p + _THREE * by_r + by_q] += np.uint32(1)
                        t_rows[_NINE * r + _THREE * by_p + _turned(by_q)] += np.uint32(1)
                        t_lists[_NINE * q + _THREE * _turned(by_p) + _turned(by_r)] += np.uint32(1)
            if ways is None:
                t_rows[p - rows_at] += closed


@kernel
def _turned(way: Any) -> Any:
    """The way of an edge as its other end sees it: 0 and 1 change places, 2 stays."""
    return way ^ ((way >> _ONE) ^ _ONE)


@kernel
def cliques(
    start: Any, stop: Any, mark: Any, bits: Any, corners: Any, share: Any, g: Any, t: Any, s2: Any, k: Any
) -> Any:
    """Add to `s2` and `k` what the triangles whose lowest node is in [start, stop) bring.

    `bits` holds, for the node u under way, which of its out-neighbours are joined: two rows ANDed give
    the 4-cliques on u and both. Each clique is so found once for each of the three edges away from u and
    twice for each of the edges at u.
    """
    out_ptr, out = g.out_ptr, g.out
    for u in range(np.uint64(start), np.uint64(stop)):
        first, last = out_ptr[u], out_ptr[u + _ONE]
        size = last - first
        closed = _ZERO
        for p in range(first, last):
            mark[out[p]] = p + _ONE
            closed += np.uint64(t[p] > 0)
        if closed < np.uint64(2):  # of a triangle from u there are two edges
            continue
        words = (size + _LOW6) >> _SIX
        for i in range(size * words):
            bits[i] = _ZERO
        count = _ZERO
        for p in range(first, last - _ONE):
            tp = np.uint64(t[p])
            if tp == _ZERO:
                continue
            v = np.uint64(out[p])
            i = p - first
            sp = _ZERO
            for q in range(out_ptr[v], out_ptr[v + _ONE]):
                r = np.uint64(mark[out[q]])
                if r > first:  # as in `triangles`: edges p, q and r are a triangle
                    r -= _ONE
                    tq, tr = np.uint64(t[q]), np.uint64(t[r])
                    s2[q] += tp + tr
                    s2[r] += tp + tq
                    sp += tq + tr
                    j = r - first
                    bits[i * words + (j >> _SIX)] |= _ONE << (j & _LOW6)
                    bits[j * words + (i >> _SIX)] |= _ONE << (i & _LOW6)
                    corners[count, 0], corners[count, 1], corners[count, 2] = i, j, q
                    count += _ONE
            s2[p] += sp
        if count < np.uint64(3):  # three of the four triangles of a 4-clique have its lowest node
            continue
        for i in range(size):
            share[i] = _ZERO
        for c in range(count):
            a, b = np.uint64(corners[c, 0]), np.uint64(corners[c, 1])
            both = _ZERO
            for x in range(words):
                both += _popcount(bits[a * words + x] & bits[b * words + x])
            k[corners[c, 2]] += both
            share[a] += both
            share[b] += both
        # An edge at u is a side of two of the three triangles on u in a clique: it was counted twice.
        for i in range(size):
            k[first + i] += share[i] >> _ONE


@kernel
def cycles(start: Any, stop: Any, wedges: Any, g: Any, c: Any) -> Any:
    """Add to `c` the 4-cycles whose highest node is in [start, stop), chords allowed.

    For the highest node v, `wedges[w]` counts the paths v–u–w with u and w below v: each of them closes
    with every other one. Counts start from `base`, which no earlier node's can exceed (a node brings at
    most its in-degree), so nothing is cleared in between. Edge (u, w) is accumulated where the scan of u's
    row passes it, so that it has a place in the rows of both its ends, which `fold` adds up. A row is one
    list up to v: short lists cost a wrong guess of the processor each, not their length.
    """
    in_ptr, out_ptr, rows, row_start, place = g.in_ptr, g.out_ptr, g.rows, g.row_start, g.place
    for v in range(np.uint64(start), np.uint64(stop)):
        shift = out_ptr[v]
        first, last = np.uint64(row_start[v]) - shift, in_ptr[v + _ONE]
        if last - first < np.uint64(2):
            continue
        # A lower node v' counted from in_ptr[v'] and added at most its in-degree to any w: what it left in
        # `wedges` is at most in_ptr[v' + 1], which is at most in_ptr[v].
        base: Any = np.uint32(in_ptr[v])
        most: Any = base
        many = last - first > _MANY
        begin, end = np.uint64(row_start[rows[first + shift]]), np.uint64(place[first])
        for p in range(first, last):
            here, until = begin, end
            following = min(p + _ONE, last - _ONE)  # see `triangles`
            begin, end = np.uint64(row_start[rows[following + shift]]), np.uint64(place[following])
            if many:
                for q in range(here, until):
                    w = rows[q]
                    wedges[w] = max(wedges[w], base) + np.uint32(1)
                continue
            for q in range(here, until):
                w = rows[q]
                before = wedges[w]
                wedges[w] = max(before, base) + np.uint32(1)
                most = max(most, before)
        if not many and most <= base:  # no node was reached twice
            continue
        base = base + np.uint32(1)  # a path does not close a cycle with itself
        for p in range(first, last):
            end = np.uint64(place[p])
            total = _ZERO
            for q in range(np.uint64(row_start[rows[p + shift]]), end):
                x = np.uint32(wedges[rows[q]] - base)
                c[q] += x
                total += np.uint64(x)
            c[end] += total


@kernel
def estimate_triangle_steps(start: Any, stop: Any, g: Any, steps_per_node: Any) -> Any:
    """Write the steps that `triangles` and `cliques` take for each node in [start, stop).

    Returned is a bound on the triangles of one node: the room that `cliques` needs for them.
    """
    out_ptr, out = g.out_ptr, g.out
    room: Any = 0
    for u in range(start, stop):
        first, last = out_ptr[u], out_ptr[u + 1]
        size = np.int64(last - first)
        steps: Any = 0
        for p in range(first, last):
            v = out[p]
            steps += np.int64(out_ptr[np.int64(v) + 1] - out_ptr[v])
        steps_per_node[u] = steps + size
        room = max(room, min(steps, size * (size - 1) // 2))
    return room


@kernel
def estimate_cycle_steps(start: Any, stop: Any, g: Any, steps_per_node: Any) -> None:
    """Write the wedges that `cycles` walks for each node in [start, stop)."""
    for v in range(start, stop):
        shift = np.int64(g.out_ptr[v])
        steps: Any = 1
        for p in range(np.int64(g.row_start[v]) - shift, np.int64(g.in_ptr[v + 1])):
            steps += np.int64(g.place[p]) - np.int64(g.row_start[g.rows[p + shift]])
        steps_per_node[v] = steps


@kernel
def fold(c: Any, g: Any) -> Any:
    """Return the 4-cycles of every edge in the order of the graph's pairs.

    `c` is what `cycles` left: an edge has a counter in the rows of both its ends, and these are added up.
    """
    in_ptr, out_ptr = g.in_ptr, g.out_ptr
    ordered = np.empty(len(g.out), c.dtype)
    for v in range(len(g.degree)):
        for p in range(in_ptr[v], in_ptr[v + 1]):
            c[g.place[p]] += c[p + out_ptr[v]]
    for u in range(len(g.degree)):
        for e in range(out_ptr[u], out_ptr[u + 1]):
            ordered[np.uint64(g.pair[e]) if len(g.pair) else e] = c[e + in_ptr[u + 1]]
    return ordered
