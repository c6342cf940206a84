"""The kernels of the force layout: repulsion through a quadtree (Barnes and Hut), attraction along edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcn._jit import kernel
from mcn._sort import sort_part

_BITS = 16  # depth of the quadtree: cells of 1/65536 of the picture


@kernel
def _spread_bits(v: int) -> int:
    """Every bit of a 16-bit number moved to twice its place."""
    v = (v | (v << 8)) & 0x00FF00FF
    v = (v | (v << 4)) & 0x0F0F0F0F
    v = (v | (v << 2)) & 0x33333333
    return (v | (v << 1)) & 0x55555555


@kernel
def _sorted_codes(place: Any, low_x: float, low_y: float, width: float) -> Any:
    """Cell numbers along a Z curve, ascending, and the points in that order."""
    n = place.shape[0]
    keys = np.empty(n, np.int64)  # the cell and the point: points of one cell in their own order
    scale = ((1 << _BITS) - 1) / width
    for i in range(n):
        cx = int((place[i, 0] - low_x) * scale)
        cy = int((place[i, 1] - low_y) * scale)
        keys[i] = ((_spread_bits(cx) | (_spread_bits(cy) << 1)) << 31) | i
    sort_part(keys, np.int64(0), n)
    order = np.empty(n, np.int64)
    for p in range(n):
        order[p] = keys[p] & 0x7FFFFFFF
        keys[p] >>= 31
    return keys, order


@kernel
def _build_tree(codes: Any, order: Any, place: Any, mass: Any, width: float) -> Any:
    """The cells in depth-first order: centre x, y, mass, side; first and end point; the cell after it."""
    n = codes.shape[0]
    cells = np.empty((2 * n + 64 * _BITS, 4))
    spans = np.empty((2 * n + 64 * _BITS, 3), np.int64)
    levels = np.empty(2 * n + 64 * _BITS, np.int64)
    stack = np.empty((4 * _BITS + 8, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, 0
    top, count = 1, 0
    while top > 0:
        top -= 1
        first, end, level = stack[top, 0], stack[top, 1], stack[top, 2]
        # A chain of cells with one child each is one cell.
        while level < _BITS and end - first > 1:
            shift = 2 * (_BITS - 1 - level)
            if codes[first] >> shift != codes[end - 1] >> shift:
                break
            level += 1
        m = x = y = 0.0
        for p in range(first, end):
            i = order[p]
            m += mass[i]
            x += mass[i] * place[i, 0]
            y += mass[i] * place[i, 1]
        cells[count, 0], cells[count, 1], cells[count, 2] = x / m, y / m, m
        cells[count, 3] = width / (1 << level)
        leaf = level == _BITS or end - first <= 4
        spans[count, 0], spans[count, 1], spans[count, 2] = first, end, 1 if leaf else 0
        levels[count] = level
        count += 1
        if leaf:
            continue
        shift, stop = 2 * (_BITS - 1 - level), end
        while stop > first:  # children from the last to the first, so that the first is taken next
            child, start = codes[stop - 1] >> shift, stop - 1
            while start > first and codes[start - 1] >> shift == child:
                start -= 1
            stack[top, 0], stack[top, 1], stack[top, 2] = start, stop, level + 1
            top += 1
            stop = start
    after = np.empty(count, np.int64)
    following = np.full(_BITS + 2, count, np.int64)
    for c in range(count - 1, -1, -1):
        after[c] = following[levels[c]]
        for level in range(levels[c], _BITS + 2):
            following[level] = c
    return cells[:count], spans[:count], after


@kernel
def _repel(place: Any, mass: Any, order: Any, tree: Any, theta: float, force: Any) -> None:
    """Add to each point the push of all others: m_i · m_j / distance."""
    cells, spans, after = tree
    near = theta * theta
    for i in range(place.shape[0]):
        x, y, fx, fy, c = place[i, 0], place[i, 1], 0.0, 0.0, 0
        while c < cells.shape[0]:
            if spans[c, 2] == 1:
                for p in range(spans[c, 0], spans[c, 1]):
                    j = order[p]
                    dx, dy = x - place[j, 0], y - place[j, 1]
                    push = mass[j] / (dx * dx + dy * dy + 1e-4)
                    fx += push * dx
                    fy += push * dy
                c = after[c]
                continue
            dx, dy = x - cells[c, 0], y - cells[c, 1]
            square = dx * dx + dy * dy
            if cells[c, 3] * cells[c, 3] < near * square:
                push = cells[c, 2] / square
                fx += push * dx
                fy += push * dy
                c = after[c]
            else:
                c += 1
        force[i, 0] += mass[i] * fx
        force[i, 1] += mass[i] * fy


@kernel
def _attract(place: Any, edges: Any, weight: Any, force: Any) -> None:
    """Add the pull along every edge: its weight times the distance."""
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        dx, dy = weight[e] * (place[i, 0] - place[j, 0]), weight[e] * (place[i, 1] - place[j, 1])
        force[i, 0] -= dx
        force[i, 1] -= dy
        force[j, 0] += dx
        force[j, 1] += dy


@kernel
def relax(place: Any, edges: Any, weight: Any, mass: Any, rounds: int, gravity: float) -> None:
    """Move the points, in place, until the forces balance; the speed adapts (Jacomy et al. 2014)."""
    n = place.shape[0]
    force, before = np.zeros((n, 2)), np.zeros((n, 2))
    speed, efficiency = 1.0, 1.0
    for _ in range(rounds):
        low_x, low_y = high_x, high_y = place[0, 0], place[0, 1]
        for i in range(n):
            low_x, high_x = min(low_x, place[i, 0]), max(high_x, place[i, 0])
            low_y, high_y = min(low_y, place[i, 1]), max(high_y, place[i, 1])
            force[i, 0] = force[i, 1] = 0.0
        width = max(high_x - low_x, high_y - low_y) + 1e-9
        codes, order = _sorted_codes(place, low_x, low_y, width)
        _repel(place, mass, order, _build_tree(codes, order, place, mass, width), 1.2, force)
        _attract(place, edges, weight, force)
        swinging = traction = 0.0
        for i in range(n):
            d = np.sqrt(place[i, 0] ** 2 + place[i, 1] ** 2) + 1e-9
            force[i, 0] -= gravity * mass[i] * place[i, 0] / d
            force[i, 1] -= gravity * mass[i] * place[i, 1] / d
            swing = np.sqrt((before[i, 0] - force[i, 0]) ** 2 + (before[i, 1] - force[i, 1]) ** 2)
            swinging += mass[i] * swing
            traction += (
                0.5 * mass[i] * np.sqrt((before[i, 0] + force[i, 0]) ** 2 + (before[i, 1] + force[i, 1]) ** 2)
            )
        estimate = 0.05 * np.sqrt(n)
        jitter = max(np.sqrt(estimate), min(10.0, estimate * traction / (n * n)))
        if swinging / (traction + 1e-12) > 2.0:
            efficiency = max(0.05, efficiency * 0.5)
            jitter = max(jitter, 1.0)
        target = jitter * efficiency * traction / (swinging + 1e-12)
        if swinging > jitter * traction:
            efficiency = max(0.05, efficiency * 0.7)
        elif speed < 1000.0:
            efficiency *= 1.3
        speed += min(target - speed, 0.5 * speed)
        for i in range(n):
            swing = np.sqrt((before[i, 0] - force[i, 0]) ** 2 + (before[i, 1] - force[i, 1]) ** 2)
            factor = speed / (1.0 + np.sqrt(speed * mass[i] * swing))
            place[i, 0] += force[i, 0] * factor
            place[i, 1] += force[i, 1] * factor
            before[i, 0], before[i, 1] = force[i, 0], force[i, 1]
