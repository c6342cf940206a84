"""Totals of motifs by sampling, for graphs where exact counting takes too long.

A *wedge* is a node with two of its neighbours. Wedges are drawn alike; a share of them is closed, and each
triangle holds three. A *3-path* is an edge (u, v) with a further neighbour of u and one of v; edges are drawn
by (d(u) − 1)(d(v) − 1), so that 3-paths are drawn alike, and the graphlet that the four nodes induce holds a
known number of them (path sampling, Jha, Seshadhri and Pinar 2015). Stars follow by subtraction from sums
over degrees, which are exact. Every estimate is the mean of independent draws, hence unbiased; its interval
is Wilson's, which holds where draws of a kind are few, or none. Memory: 16 bytes per edge.

What exact counting would walk is known from the degrees. Where that is less work than the draws, or where
even a first sample is no small part of it, the totals are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import as_integer
from graphmotifs._jit import kernel
from graphmotifs.catalogue import CATALOGUE, CYCLES, GRAPHLETS, TRIANGLES, graphlet_copies, graphlet_of

if TYPE_CHECKING:
    from graphmotifs.motif_counts import MotifCounts

_Z = 1.959963984540054
_PILOT = 20_000
_MOST = 2**24
_STEPS_PER_DRAW = (600, 1200)
"""Steps of exact counting in the time of a draw of a wedge, and of a 3-path: the most that was measured."""
_STEPS_PER_EDGE = 40
"""The same for what draws are made from."""
# 3-paths in each graphlet, in the order of GRAPHLETS; stars have none.
_PATHS = graphlet_copies()[GRAPHLETS.index("4-path")]
_STARS = graphlet_copies()[GRAPHLETS.index("3-star")]


class EstimatedTotal(NamedTuple):
    """A line of `MotifEstimates.totals`: instances in the whole graph, with the bounds of the interval."""

    graphlet: str
    instances: float
    low: float
    high: float


@dataclass(frozen=True)
class MotifEstimates:
    """Estimated totals of a graph's motifs, made by ``count(…, approximate=…)``.

    Attributes:
        num_nodes: N.
        num_edges: M.
        samples: draws of wedges and of 3-paths; none if the totals were counted, and are exact.
        induced: whether induced subgraphs were counted.
    """

    num_nodes: int
    num_edges: int
    samples: tuple[int, int]
    induced: bool
    lines: tuple[EstimatedTotal, ...]

    @property
    def exact(self) -> bool:
        """Whether the totals were counted, because that was less work than to estimate them."""
        return self.samples == (0, 0)

    def totals(self) -> list[EstimatedTotal]:
        """Return a line per graphlet; the interval holds the exact number 19 times out of 20."""
        return list(self.lines)

    def __getitem__(self, graphlet: str) -> EstimatedTotal:
        name = graphlet_of(graphlet).name
        return next(line for line in self.lines if line.graphlet == name)


def estimate_totals(
    rows: Callable[[], tuple[NDArray[Any], NDArray[Any]]],
    motifs: Sequence[str] | None,
    error: float,
    *,
    induced: bool,
    seed: int,
    num_edges: int = 0,
    steps: float = math.inf,
    counted: Callable[[], MotifCounts] | None = None,
) -> MotifEstimates:
    """Estimate how often each graphlet occurs.

    A first, small sample decides how many draws the wanted error takes; the estimates are from further draws,
    at most 16 million of each kind. Where that is more work than exact counting, which takes so many `steps`
    (`exact_steps`), `counted` is called instead.

    `rows` makes the CSR of all neighbours of every node, ascending. `error` is half of the interval's width
    over the estimate; `motifs` must reach it.
    """
    if not isinstance(error, int | float) or not 0 < error < 1:
        raise ValueError(f"approximate must be between 0 and 1, such as 0.01 for one per cent, got {error!r}")
    names = set(GRAPHLETS) if motifs is None else {graphlet_of(name).name for name in motifs}
    wanted = np.array([name in names for name in GRAPHLETS])
    rng = np.random.default_rng(as_integer(seed, "seed"))
    planned: list[int] = []
    if counted is None or steps > _least_steps(num_edges):
        indptr, indices = rows()
        both = [_Sampler(rng, indptr, indices, induced, paths) for paths in (False, True)]
        planned = [_needed_draws(draws, wanted & draws.concerned, error) for draws in both]
    work = sum(count * each for count, each in zip(planned, _STEPS_PER_DRAW, strict=False))
    if counted is not None and (not planned or work >= steps):
        counts = counted()
        instances = counts.instances()
        exact = [(float(instances[g.name]),) * 3 if g.name in names else None for g in CATALOGUE]
        return MotifEstimates(counts.num_nodes, counts.num_edges, (0, 0), induced, _totals_of(exact))
    found = np.zeros((3, len(GRAPHLETS)))
    for draws, count in zip(both, planned, strict=True):
        found += draws.interval(count)
    bounds = [tuple(map(float, three)) if kept else None for three, kept in zip(found.T, wanted, strict=True)]
    sizes = len(indptr) - 1, len(indices) // 2
    return MotifEstimates(*sizes, (planned[0], planned[1]), induced, _totals_of(bounds))


def _totals_of(bounds: Sequence[tuple[float, ...] | None]) -> tuple[EstimatedTotal, ...]:
    """Return a line for every graphlet that has an estimate, with its bounds."""
    known = zip(CATALOGUE, bounds, strict=True)
    return tuple(EstimatedTotal(g.name, *values) for g, values in known if values is not None)


def _needed_draws(draws: _Sampler, asked: NDArray[np.bool_], error: float) -> int:
    """Return how many draws the wanted error takes, by a first, small sample; none if nothing is asked."""
    if not asked.any():
        return 0
    pilot, spread = draws.draw(_PILOT)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(asked & (pilot > 0), (_Z / error) ** 2 * spread / pilot**2, 0)
    return int(np.clip(np.ceil(needed.max(initial=0)), _PILOT, _MOST))


class _Sampler:
    """Draws wedges or 3-paths of a graph, and turns the shares of outcomes into estimates of totals."""

    def __init__(
        self, rng: Any, indptr: NDArray[Any], indices: NDArray[Any], induced: bool, paths: bool
    ) -> None:
        self._rng, self._indptr, self._indices = rng, indptr, indices
        degree = np.diff(indptr).astype(np.float64)
        size = np.array([g.size for g in CATALOGUE])
        self.concerned = size == 4 if paths else size < 4
        constant = np.zeros(len(GRAPHLETS))
        if paths:
            # What a 3-path adds: rows are the graphlets it may induce; the last is a triangle.
            self._draw, weight = _draw_paths, _path_weights(indptr, indices)
            self._values = np.zeros((len(GRAPHLETS) + 1, len(GRAPHLETS)))
            star = GRAPHLETS.index("3-star")
            for at in np.flatnonzero(_PATHS):
                self._values[at, at] = 1 / _PATHS[at]
                self._values[at, star] = -_STARS[at] / _PATHS[at]
            constant[star] = (degree * (degree - 1) * (degree - 2) / 6).sum()
        else:
            # What a wedge adds, open or closed.
            self._draw, weight = _draw_wedges, degree * (degree - 1) / 2
            self._values = np.zeros((2, len(GRAPHLETS)))
            self._values[0, GRAPHLETS.index("2-star")] = 1
            self._values[1, GRAPHLETS.index("triangle")] = 1 / 3
            constant[GRAPHLETS.index("edge")] = degree.sum() / 2
        self._cumulated = np.cumsum(weight, out=weight)
        total = float(self._cumulated[-1]) if len(weight) else 0.0
        self._values, self._total = self._values * total, total
        self._constant = constant
        if not induced:
            copies = graphlet_copies().astype(np.float64) * self.concerned[:, None]
            self._values, self._constant = self._values @ copies.T, copies @ constant

    def draw(self, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Mean and variance of what `count` draws say of each graphlet."""
        if not count or not self._total:
            return self._constant if count else 0 * self._constant, 0 * self._constant
        hits = np.zeros(len(self._values), np.int64)
        self._draw(self._rng, count, self._cumulated, self._indptr, self._indices, hits)
        share = hits / count
        mean = share @ self._values
        spread = share @ (self._values - mean) ** 2
        return self._constant + mean, spread

    def interval(self, count: int) -> NDArray[np.float64]:
        """What `count` draws say of each graphlet: the mean, and both ends of its interval.

        Wilson's interval of a share p is that of all p which are not improbable given the draws; here it is
        that of the share times the largest value a draw can have.
        """
        mean, spread = self.draw(count)
        if not count:
            return np.stack([mean] * 3)
        largest = np.take_along_axis(self._values, np.abs(self._values).argmax(axis=0)[None], axis=0)[0]
        drawn, little = mean - self._constant, _Z**2 / count
        middle = self._constant + (drawn + largest * little / 2) / (1 + little)
        half = np.sqrt(little * spread + (largest * little / 2) ** 2) / (1 + little)
        return np.stack([mean, np.maximum(0, middle - half), middle + half])


@kernel
def _wedges_walked(degrees: Any, indptr: Any, indices: Any) -> Any:
    """Return the wedges that exact counting walks for triangles, and for 4-cycles (see `edge_kernels`).

    Edges point at the end of higher degree. For triangles the lists of both ends of an edge are walked, for
    4-cycles all wedges but those whose middle is above both ends.
    """
    above = np.zeros(len(degrees), np.int64)
    for u in range(len(degrees)):
        for e in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[e])
            if v > u:  # every edge once, also where rows have both
                above[u if degrees[u] <= degrees[v] else v] += 1
    closing, around = 0.0, 0.0
    for u in range(len(degrees)):
        d, below = degrees[u], degrees[u] - above[u]
        closing += float(above[u]) * below  # once for every edge that points at u
        around += 0.5 * (float(d) * (d - 1) - float(below) * (below - 1))
    return closing, around


def _least_steps(num_edges: int) -> float:
    """Return the steps of exact counting of which a first sample, and what it draws from, are a twelfth."""
    return float(12 * (_STEPS_PER_EDGE * num_edges + _PILOT * sum(_STEPS_PER_DRAW)))


def exact_steps(degrees: NDArray[Any], indptr: NDArray[Any], indices: NDArray[Any], stage: int) -> float:
    """Return how many steps exact counting takes: some per edge, and the wedges of its passes up to `stage`.

    The rows of the CSR have every edge at its smaller node at least. Where the sum of squared degrees, from
    which the wedges follow, is too small for a sample to be worth while, a bound is returned.
    """
    bound = float(10 * degrees.sum() + 1.5 * np.square(degrees.astype(np.float64)).sum())
    if bound <= _least_steps(int(degrees.sum()) // 2):
        return bound
    closing, around = _wedges_walked(degrees, indptr, indices)
    passes = closing if stage == TRIANGLES else 2 * closing + (2 * around if stage == CYCLES else 0.0)
    return float(10 * degrees.sum() + passes)


@kernel
def _path_weights(indptr: Any, indices: Any) -> Any:
    """For every entry (u, v), u < v: how many pairs of a further neighbour of u and one of v; else 0."""
    weight = np.zeros(len(indices), np.float64)
    for u in range(len(indptr) - 1):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if u < v:
                weight[e] = float(indptr[u + 1] - indptr[u] - 1) * float(indptr[v + 1] - indptr[v] - 1)
    return weight


@kernel
def _are_joined(indptr: Any, indices: Any, u: Any, v: Any) -> Any:
    """Return whether two nodes are joined, by bisection of the shorter row."""
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    low, high = indptr[u], indptr[u + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < indptr[u + 1] and indices[low] == v


@kernel
def _draw_at(rng: Any, cumulated: Any) -> Any:
    """Draw an index with probability proportional to its weight, from the cumulated weights."""
    at = min(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"), len(cumulated) - 1)
    while at > 0 and cumulated[at] == cumulated[at - 1]:  # what has no weight is never drawn
        at -= 1
    return at


@kernel
def _draw_wedges(rng: Any, count: Any, cumulated: Any, indptr: Any, indices: Any, hits: Any) -> Any:
    for _ in range(count):
        u = _draw_at(rng, cumulated)
        first, d = indptr[u], indptr[u + 1] - indptr[u]
        i, j = rng.integers(0, d), rng.integers(0, d - 1)
        j += j >= i
        hits[1 if _are_joined(indptr, indices, indices[first + i], indices[first + j]) else 0] += 1


@kernel
def _draw_paths(rng: Any, count: Any, cumulated: Any, indptr: Any, indices: Any, hits: Any) -> Any:
    for _ in range(count):
        e = _draw_at(rng, cumulated)
        u = np.searchsorted(indptr, e, side="right") - 1
        v = indices[e]
        a, b = _draw_other(rng, indptr, indices, u, v), _draw_other(rng, indptr, indices, v, u)
        if a == b:
            hits[9] += 1
            continue
        closed = _are_joined(indptr, indices, a, b)
        chords = int(_are_joined(indptr, indices, a, v)) + int(_are_joined(indptr, indices, b, u))
        # In the order of GRAPHLETS: 3 is the 4-path, 5 the 4-cycle, 6 to 8 those with triangles.
        hits[
            (7 if chords == 1 else 8 if chords == 2 else 5) if closed else (3 if chords == 0 else 5 + chords)
        ] += 1


@kernel
def _draw_other(rng: Any, indptr: Any, indices: Any, u: Any, but: Any) -> Any:
    """Draw a neighbour of u other than its neighbour `but`; all others are equally likely."""
    d = indptr[u + 1] - indptr[u]
    neighbour = indices[indptr[u] + rng.integers(0, d)]
    while neighbour == but:
        neighbour = indices[indptr[u] + rng.integers(0, d)]
    return neighbour
