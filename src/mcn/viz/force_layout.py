"""Where the nodes of a graph are drawn: forces within each component, components packed in rings."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d
from scipy.sparse import csgraph

from mcn.viz._forces import relax

Places = NDArray[np.float64]
_PIVOTS = 40
_DIRECTIONS = 720
_GRAVITY = 1.0


def layout(edges: NDArray[np.int64], num_nodes: int, seed: int = 0) -> Places:
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
    order = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[order], np.arange(count + 1))
    position = np.empty(num_nodes, np.int64)
    position[order] = np.arange(num_nodes) - bounds[label[order]]
    by_label = np.argsort(label[edges[:, 0]], kind="stable")
    edge_bounds = np.searchsorted(label[edges[by_label, 0]], np.arange(count + 1))
    generator = np.random.default_rng(seed)
    parts, known = [], dict[bytes, Places]()
    for c in range(count):
        own = position[edges[by_label[edge_bounds[c] : edge_bounds[c + 1]]]]
        size = int(bounds[c + 1] - bounds[c])
        key = own.tobytes() if size < 8 else b""  # thousands of equal pairs and triangles need one layout
        if key and key in known:
            parts.append(known[key])
            continue
        parts.append(_component(own, size, generator))
        if key:
            known[key] = parts[-1]
    places = np.empty((num_nodes, 2))
    places[order] = np.concatenate(_pack(parts))
    places -= (places.min(0) + places.max(0)) / 2
    return np.asarray(places / max(1e-9, np.hypot(*places.T).max()), np.float64)


def _component(edges: NDArray[np.int64], size: int, generator: np.random.Generator) -> Places:
    """One connected component, centred, in units in which a node takes an area of about 1."""
    if size == 1:
        return np.zeros((1, 2))
    if size == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    places = _pivot_mds(edges, size) * 3.0 * np.sqrt(size)
    places += generator.normal(scale=0.5, size=(size, 2))
    mass = 1.0 + np.sqrt(np.bincount(edges.ravel(), minlength=size))
    rounds = 800 if size < 5000 else int(np.clip(400 * 20_000 / size, 60, 400))
    relax(places, edges, _pulls(edges, size), mass, rounds, _GRAVITY)
    places -= np.median(places, axis=0)
    return np.asarray(_reined(places) * (0.6 * np.sqrt(size)), np.float64)


def _reined(places: Places) -> Places:
    """Scaled so that nine in ten nodes lie within a radius of 1; the outer ones are drawn in, so that a few
    long chains do not shrink all the rest."""
    distance = np.hypot(*places.T)
    distance = np.maximum(distance / max(float(np.quantile(distance, 0.9)), 1e-9), 1e-9)
    target = np.where(distance > 1.0, 1.0 + 0.7 * np.log(distance), distance)
    return np.asarray(places / np.hypot(*places.T).clip(1e-9)[:, None] * target[:, None], np.float64)


def _pulls(edges: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """How hard each edge pulls: ends that share neighbours are held close, so that tight groups show.

    What counts is the share of common neighbours beside the best of the two nodes' other edges: the only
    edge of a node pulls in full, an open one between two nodes in cliques hardly.
    """
    u, v = edges.T
    graph = sp.csr_array((np.ones(len(edges)), (u, v)), shape=(size, size))
    graph = sp.csr_array(graph + graph.T)
    degree = np.diff(graph.indptr)
    least = np.minimum(degree[u], degree[v])
    shared = np.asarray(sp.csr_array((graph @ graph) * graph)[u, v]).ravel()
    closed = 0.08 + shared / np.maximum(least - 1, 1)
    best = np.zeros(size)
    np.maximum.at(best, u, closed)
    np.maximum.at(best, v, closed)
    return np.asarray(closed / np.minimum(best[u], best[v]) / np.sqrt(least), np.float64)


def _pivot_mds(edges: NDArray[np.int64], size: int) -> Places:
    """The two main axes of the squared distances to pivots that lie far from each other."""
    graph = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(size, size))
    graph = sp.csr_array(graph + graph.T)
    nearest, pivot, columns = np.full(size, np.inf), 0, []
    for _ in range(min(_PIVOTS, size)):
        (distance,) = csgraph.dijkstra(graph, directed=False, indices=np.array([pivot]), unweighted=True)
        columns.append(distance)
        nearest = np.minimum(nearest, distance)
        pivot = int(nearest.argmax())
    square = np.stack(columns, 1) ** 2
    square -= square.mean(0) + square.mean(1, keepdims=True) - square.mean()
    _, values, axes = np.linalg.svd(square.T @ square)
    found = square @ axes[:2].T / np.sqrt(np.maximum(values[:2], 1e-12))
    found = np.pad(found, ((0, 0), (0, 2 - found.shape[1])))
    # The sign of an axis is the library's choice; fix it so that machines agree.
    found *= np.where(found[np.abs(found).argmax(0), np.arange(2)] < 0, -1.0, 1.0)
    return np.asarray(found, np.float64)


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
