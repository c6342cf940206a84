"""Which motifs a graph has more or fewer of than graphs with the same degrees (Milo et al. 2002, 2004).

The graphs to compare with are made by swaps: two edges a–b and c–d become a–d and c–b, unless that would make
a loop or an edge that is there. A swap is tried ten times per edge before each of them, so that an edge is
drawn twenty times; a try that fails counts, or graphs with many possible swaps would come too often. Each
goes on from the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmotifs._arguments import as_integer, limit_threads
from graphmotifs._jit import kernel
from graphmotifs._messages import one_of
from graphmotifs.base_counts import BaseCounts
from graphmotifs.catalogue import CATALOGUE
from graphmotifs.counting import as_graph, count
from graphmotifs.graph import SimpleGraph, known_ways
from graphmotifs.triads import DIRECTED_CATALOGUE

TRIES = 10
"""Swaps that are tried per edge between one random graph and the next."""
_ONE = np.uint64(1)


class Significance(NamedTuple):
    """A line of `MotifSignificance.lines`."""

    motif: str
    instances: int
    mean: float  # instances in the random graphs
    deviation: float  # the standard deviation of these
    z: float  # how many deviations the graph is above the mean
    error: float  # the standard error of z, by the number of random graphs
    profile: float  # z over the length of all z of motifs on as many nodes


@dataclass(frozen=True)
class MotifSignificance:
    """How a graph's motifs compare with random graphs, made by `motif_significance`.

    Attributes:
        lines: a `Significance` per motif.
        samples: random graphs.
        keep: what these have in common with the graph.
    """

    lines: tuple[Significance, ...]
    samples: int
    keep: str

    def __getitem__(self, motif: str) -> Significance:
        return {line.motif: line for line in self.lines}[motif]


def motif_significance(
    graph: Any,
    num_nodes: int | None = None,
    *,
    directed: bool = False,
    keep: str | None = None,
    samples: int = 100,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> MotifSignificance:
    """Compare the motifs of a graph with those of random graphs that have the same degrees.

    Args:
        graph, num_nodes, directed: the graph, as `count` takes it. Compared are the motifs on three and four
            nodes, or the 13 triads of a digraph.
        keep: what stays as it is at every node. "degrees": its number of neighbours, or of arcs in and out.
            "reciprocity", the default for a digraph: also that of reciprocal arcs, which are swapped among
            themselves, as Milo et al. do.
        samples: random graphs, at least 2; the standard error of z is √(1/samples + z² / 2(samples − 1)).
        seed: decides them.
        threads, progress: as in `count`.

    A motif that no random graph varies in has z = 0 if the graph agrees with them, else an infinite one.

    >>> ring = [list(range(12)), [*range(1, 12), 0]]
    >>> motif_significance(ring, samples=20)["4-path"].instances
    12
    """
    number, key = as_integer(samples, "samples"), as_integer(seed, "seed")
    if number < 2:
        raise ValueError(f"samples must be at least 2, for a deviation, got {samples}")
    kept = keep or ("reciprocity" if directed else "degrees")
    one_of("keep", kept, ("degrees", "reciprocity") if directed else ("degrees",))
    simple, _ = as_graph(graph, num_nodes)
    three = {g.name: 3 for g in DIRECTED_CATALOGUE if len(g.roles) == 3}
    sizes = three if directed else {g.name: g.size for g in CATALOGUE if g.size > 2}
    how: dict[str, Any] = {"directed": directed, "threads": limit_threads(threads)}

    def count_instances(edges: Any) -> list[int]:
        counts: BaseCounts = count(edges, simple.num_nodes, **how)
        instances = counts.instances()
        return [instances[name] for name in sizes]

    observed, drawn = count_instances(simple), np.empty((number, len(sizes)))
    for sample, edges in zip(range(number), rewired(simple, directed, kept, key), strict=False):
        drawn[sample] = count_instances(edges)
        if progress is not None:
            progress((sample + 1) / number)
    numbers = _score(np.array(observed, float), drawn, np.array(list(sizes.values())))
    lines = [
        Significance(name, instances, *map(float, row))
        for name, instances, row in zip(sizes, observed, numbers.T, strict=True)
    ]
    return MotifSignificance(tuple(lines), number, kept)


def _score(
    observed: NDArray[np.float64], drawn: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return mean, deviation, z, the error of z and the profile of every motif, a row each."""
    samples, same = len(drawn), (drawn == drawn[0]).all(axis=0)
    mean, deviation = drawn.mean(axis=0), np.where(same, 0.0, drawn.std(axis=0, ddof=1))
    away = np.where(same & (observed == drawn[0]), 0.0, observed - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(away == 0, 0.0, away / deviation)
    profile = np.empty_like(z)
    for size in set(sizes.tolist()):
        part = z[sizes == size]
        if np.isinf(part).any():  # it outweighs all others
            part = np.where(np.isinf(part), np.sign(part), 0.0)
        profile[sizes == size] = part / (np.linalg.norm(part) or 1.0)
    return np.stack([mean, deviation, z, np.sqrt(1 / samples + z**2 / (2 * (samples - 1))), profile])


def rewired(graph: SimpleGraph, directed: bool, keep: str, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the edges, or arcs, of random graphs with the degrees of a graph, without end."""
    # Edges, and reciprocal arcs as such, stand behind those of one direction.
    ends, one_way, by_pairs = graph.pairs.T, 0, not directed or keep == "reciprocity"
    if not by_pairs:
        ends = graph.arcs
        one_way = ends.shape[1]
    elif directed:
        ways = known_ways(graph)
        alone = np.where(ways == 2, ends[::-1], ends)[:, ways < 3]
        ends, one_way = np.concatenate([alone, ends[:, ways == 3]], axis=1), alone.shape[1]
    rng, ends = np.random.default_rng(seed), np.ascontiguousarray(ends)
    while True:
        swap_edges(rng, TRIES * ends.shape[1], ends, one_way, by_pairs)
        yield np.concatenate([ends, ends[::-1, one_way:]], axis=1) if directed else ends


@kernel
def _edge_key(a: Any, b: Any, by_pairs: Any) -> Any:
    """Return a number for a pair of nodes, or for the arc from a to b; 0 is left for empty slots."""
    low, high = (min(a, b), max(a, b)) if by_pairs else (a, b)
    return (np.uint64(low) << np.uint64(32) | np.uint64(high)) + _ONE


@kernel
def _home_slot(table: Any, name: Any) -> Any:
    """Return the slot of a hash table where a key should stand: multiplicative hashing."""
    return (name * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(24)) & np.uint64(len(table) - 1)


@kernel
def _find_slot(table: Any, name: Any) -> Any:
    """Return the slot where a key stands, or the empty slot where it would be put."""
    at = _home_slot(table, name)
    while table[at] != 0 and table[at] != name:
        at = (at + _ONE) & np.uint64(len(table) - 1)
    return at


@kernel
def _remove_key(table: Any, name: Any) -> None:
    """Remove a key, and move back the keys behind it that collisions had pushed away from their slots."""
    mask = np.uint64(len(table) - 1)
    hole = _find_slot(table, name)
    at = (hole + _ONE) & mask
    while table[at] != 0:
        if (at - _home_slot(table, table[at])) & mask >= (at - hole) & mask:
            table[hole] = table[at]
            hole = at
        at = (at + _ONE) & mask
    table[hole] = 0


@kernel
def swap_edges(rng: Any, tries: Any, ends: Any, one_way: Any, by_pairs: Any) -> None:
    """Try `tries` swaps among the edges `ends` [2, E], in place; none may make a loop or a repeat.

    The first `one_way` arcs swap heads among themselves, and so do the edges behind them, either end of which
    may be the head. If `by_pairs`, no two nodes are joined twice; otherwise they may be, in both directions.
    """
    size, room = ends.shape[1], 2  # a power of two, at least twice the number of edges: probes stay short
    while room < 2 * size:
        room *= 2
    table = np.zeros(room, np.uint64)
    for e in range(size):
        name = _edge_key(ends[0, e], ends[1, e], by_pairs)
        table[_find_slot(table, name)] = name
    for _ in range(tries):
        i = int(rng.random() * size)
        first, last = (0, one_way) if i < one_way else (one_way, size)
        j = first + int(rng.random() * (last - first))
        a, b = ends[0, i], ends[1, i]
        c, d = ends[0, j], ends[1, j]
        if i >= one_way and rng.random() < 0.5:
            c, d = d, c
        if i == j or a == d or c == b:
            continue
        names = _edge_key(a, d, by_pairs), _edge_key(c, b, by_pairs)
        if table[_find_slot(table, names[0])] != 0 or table[_find_slot(table, names[1])] != 0:
            continue
        _remove_key(table, _edge_key(a, b, by_pairs))
        _remove_key(table, _edge_key(c, d, by_pairs))
        for name in names:
            table[_find_slot(table, name)] = name
        ends[1, i] = d
        ends[0, j], ends[1, j] = c, b
