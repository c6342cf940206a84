"""Where the nodes of a graph are drawn: forces within each component, components packed in rings.

The forces are ForceAtlas2's (Jacomy et al. 2014): nodes repel each other, found through a quadtree (Barnes
and Hut), and edges attract. Compiled functions at the end of the file find them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d
from scipy.sparse import csgraph

from graphmotifs._jit import kernel
from graphmotifs._sort import sort_part
from mcn.motifs import count_motifs
from mcn.viz.drawing import Pairs, Places

_PIVOTS = 40
_DIRECTIONS = 720
_GRAVITY = 1.0
_BITS = 16  # depth of the quadtree: cells of 1/65536 of the picture


def layout(edges: Pairs, num_nodes: int, seed: int = 0) -> Places:
    """Places for the nodes, [N, 2], the whole picture within a circle of radius 1.

    Each connected component starts from its distances to a few pivot nodes (pivot MDS) and is then relaxed
    by forces (ForceAtlas2). The same graph and seed give the same places.

    Args:
        edges: undirected, [M, 2], each once.
        num_nodes: N.
        seed: of the small random offsets that tell equal nodes apart.
    """
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    if num_nodes == 0:
        return np.zeros((0, 2))
    ones = np.ones(len(edges))
    graph = sp.csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(num_nodes, num_nodes))
    count, label = csgraph.connected_components(graph, directed=False)
    sizes, edge_counts = np.bincount(label), np.bincount(label[edges[:, 0]], minlength=count)
    order = np.argsort(label, kind="stable")  # component after component
    position = np.empty(num_nodes, np.int64)
    position[order] = np.arange(num_nodes) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    by_component = position[edges[np.argsort(label[edges[:, 0]], kind="stable")]]
    generator = np.random.default_rng(seed)
    parts, laid_out = [], dict[bytes, Places]()
    for c, inside in enumerate(np.split(by_component, np.cumsum(edge_counts)[:-1])):
        size = int(sizes[c])
        # Thousands of equal pairs and triangles need one layout.
        key = inside.tobytes() if size < 8 else f"component {c}".encode()
        if key not in laid_out:
            laid_out[key] = _component(inside, size, generator)
        parts.append(laid_out[key])
    places = np.empty((num_nodes, 2))
    places[order] = np.concatenate(_pack(parts))
    places -= (places.min(0) + places.max(0)) / 2
    return np.asarray(places / max(1e-9, np.hypot(*places.T).max()), np.float64)


def _component(edges: Pairs, size: int, generator: np.random.Generator) -> Places:
    """One connected component, centred, in units in which a node takes an area of about 1."""
    if size == 1:
        return np.zeros((1, 2))
    if size == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    graph = sp.csr_array((np.ones(len(edges)), tuple(edges.T)), shape=(size, size))
    graph = sp.csr_array(graph + graph.T)
    places = _pivot_mds(graph) * 3.0 * np.sqrt(size)
    places += generator.normal(scale=0.5, size=(size, 2))
    degree = np.bincount(edges.ravel(), minlength=size)
    mass = 1.0 + np.sqrt(degree)
    pulls = edge_strengths(edges, size) / np.sqrt(degree[edges].min(axis=1))  # tight groups show
    rounds = 800 if size < 5000 else int(np.clip(400 * 20_000 / size, 60, 400))
    relax(places, edges, pulls, mass, rounds, _GRAVITY)
    places -= np.median(places, axis=0)
    return np.asarray(_reined(places) * (0.6 * np.sqrt(size)), np.float64)


def _reined(places: Places) -> Places:
    """Scaled so that nine in ten nodes lie within a radius of 1; the outer ones are drawn in, so that a few
    long chains do not shrink all the rest."""
    distance = np.hypot(*places.T)
    distance = np.maximum(distance / max(float(np.quantile(distance, 0.9)), 1e-9), 1e-9)
    target = np.where(distance > 1.0, 1.0 + 0.7 * np.log(distance), distance)
    return np.asarray(places / np.hypot(*places.T).clip(1e-9)[:, None] * target[:, None], np.float64)


def edge_strengths(edges: Pairs, num_nodes: int) -> NDArray[np.float64]:
    """Return how strong each edge is, 0 to 1: strong are those whose ends share neighbours.

    What counts is the share of common neighbours beside the best of the two nodes' other edges: the best edge
    of a node has 1, an open one between two nodes in cliques next to 0.
    """
    u, v = edges.T
    degree = np.bincount(edges.ravel(), minlength=num_nodes)
    triangles = count_motifs(edges.T, num_nodes, motifs=["triangle"]).adjacency("triangle")
    shared = np.asarray(triangles[u, v]).ravel()
    closed = 0.08 + shared / np.maximum(np.minimum(degree[u], degree[v]) - 1, 1)
    best = np.zeros(num_nodes)
    np.maximum.at(best, u, closed)
    np.maximum.at(best, v, closed)
    return np.asarray(closed / np.minimum(best[u], best[v]), np.float64)


def _pivot_mds(graph: sp.csr_array[Any]) -> Places:
    """The two main axes of the squared distances to pivots that lie far from each other."""
    size = graph.shape[0]
    nearest, pivot, columns = np.full(size, np.inf), 0, []
    for _ in range(min(_PIVOTS, size)):
        _, ahead = csgraph.breadth_first_order(graph, pivot)
        ahead[pivot], distance = pivot, (np.arange(size) != pivot).astype(np.float64)
        while (ahead != pivot).any():  # the steps to a node ahead, which is twice as far on every time
            distance, ahead = distance + distance[ahead], ahead[ahead]
        columns.append(distance)
        nearest = np.minimum(nearest, distance)
        pivot = int(nearest.argmax())
    square = np.stack(columns, 1) ** 2
    square -= square.mean(0) + square.mean(1, keepdims=True) - square.mean()
    _, values, axes = np.linalg.svd(square.T @ square)
    places = square @ axes[:2].T / np.sqrt(np.maximum(values[:2], 1e-12))
    places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    # The sign of an axis is the library's choice; fix it so that machines agree.
    places *= np.where(places[np.abs(places).argmax(0), np.arange(2)] < 0, -1.0, 1.0)
    return np.asarray(places, np.float64)


def _pack(parts: list[Places]) -> list[Places]:
    """The largest component in the middle, the others around it, each as near as it fits, large ones first.

    `skyline` holds, per direction, how far out the picture is taken already.
    """
    radii = np.array([np.hypot(*part.T).max() + 0.8 for part in parts])
    order = np.argsort(-radii, kind="stable")
    moved, skyline = list(parts), _outline(parts[order[0]])
    for c in order[1:]:
        r = radii[c]
        half = np.arcsin(min(1.0, r / (r + skyline.min())))
        width = 2 * int(np.ceil(half / (2 * np.pi) * _DIRECTIONS)) + 1
        free = maximum_filter1d(skyline, min(width, _DIRECTIONS), mode="wrap")
        best = int(free.argmin())
        distance, angle = free[best] + r, 2 * np.pi * best / _DIRECTIONS
        moved[c] = parts[c] + distance * np.array([np.cos(angle), np.sin(angle)])
        half = int(np.ceil(np.arcsin(min(1.0, r / distance)) / (2 * np.pi) * _DIRECTIONS))
        skyline[np.arange(best - half, best + half + 1) % _DIRECTIONS] = distance + r
    return moved


def _outline(part: Places) -> NDArray[np.float64]:
    """The farthest node per direction, with room around it."""
    outline = np.full(_DIRECTIONS, 1.5)
    direction = np.arctan2(part[:, 1], part[:, 0]) / (2 * np.pi) * _DIRECTIONS
    np.maximum.at(outline, direction.astype(np.int64) % _DIRECTIONS, np.hypot(*part.T) + 1.5)
    return np.asarray(maximum_filter1d(outline, _DIRECTIONS // 24, mode="wrap"), np.float64)


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
def _build_tree(codes: Any, points: Any, width: float) -> Any:
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
            m += points[p, 2]
            x += points[p, 2] * points[p, 0]
            y += points[p, 2] * points[p, 1]
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
    following = np.empty(_BITS + 2, np.int64)
    for level in range(_BITS + 2):
        following[level] = count
    for c in range(count - 1, -1, -1):
        after[c] = following[levels[c]]
        for level in range(levels[c], _BITS + 2):
            following[level] = c
    return cells, spans, after


@kernel
def _repel(points: Any, order: Any, tree: Any, theta: float, force: Any) -> None:
    """Add to each point the push of all others: m_i · m_j / distance.

    Points that follow each other, along the Z curve, walk through the same cells: they are in the cache.
    """
    cells, spans, after = tree
    near = theta * theta
    for i in range(points.shape[0]):
        x, y, fx, fy, c = points[i, 0], points[i, 1], 0.0, 0.0, 0
        while c < after.shape[0]:
            if spans[c, 2] == 1:
                for j in range(spans[c, 0], spans[c, 1]):
                    dx, dy = x - points[j, 0], y - points[j, 1]
                    push = points[j, 2] / (dx * dx + dy * dy + 1e-4)
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
        force[order[i], 0] += points[i, 2] * fx
        force[order[i], 1] += points[i, 2] * fy


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


def relax(
    place: Places,
    edges: Pairs,
    weight: NDArray[np.float64],
    mass: NDArray[np.float64],
    rounds: int,
    gravity: float,
) -> None:
    """Move the points, in place, until the forces balance; the speed adapts (Jacomy et al. 2014)."""
    n = len(place)
    before, speed, efficiency = np.zeros((n, 2)), 1.0, 1.0
    for _ in range(rounds):
        low = place.min(0)
        width = float((place.max(0) - low).max()) + 1e-9
        codes, order = _sorted_codes(place, low[0], low[1], width)
        points = np.column_stack([place[order], mass[order]])
        force = place * (-gravity * mass / (_lengths(place) + 1e-9))[:, None]
        _repel(points, order, _build_tree(codes, points, width), 1.2, force)
        _attract(place, edges, weight, force)
        swing = _lengths(before - force)
        swinging, traction = float((mass * swing).sum()), 0.5 * float((mass * _lengths(before + force)).sum())
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
        place += force * (speed / (1.0 + np.sqrt(speed * mass * swing)))[:, None]
        before = force


def _lengths(vectors: Places) -> NDArray[np.float64]:
    return np.sqrt(vectors[:, 0] ** 2 + vectors[:, 1] ** 2)
