"""The size of a stack, computed before any power is built."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcn.matrices.adjacencies import (
    Adjacencies,
    adjacencies_from_counts,
    adjacencies_from_mapping,
)
from mcn.matrices.compute import compute_lengths
from mcn.matrices.pattern import most_entries

if TYPE_CHECKING:
    from mcn.motifs import MotifCounts

ENTRY_BYTES = 8  # int32 column, float32 value
ROW_BYTES = 8  # int64 row pointer
MAX_STEPS = 1000


class StackTooLarge(ValueError):
    """The K·T matrices need more memory than allowed; the message names the largest and says what to do."""


@dataclass(frozen=True, eq=False)
class StackSize:
    """Entries and bytes of every Ψ(A_t^k).

    Attributes:
        motifs: names of the T motifs.
        num_nodes: N.
        entries: int64 [T, K].
        exact: False where `entries` are upper bounds.
    """

    motifs: tuple[str, ...]
    num_nodes: int
    entries: NDArray[np.int64]
    exact: bool = True

    @property
    def bytes(self) -> NDArray[np.int64]:
        """Memory of every matrix when it is stored, int64 [T, K]."""
        return self.entries * ENTRY_BYTES + self.num_nodes * ROW_BYTES

    @property
    def total_entries(self) -> int:
        """Entries of all matrices together."""
        return int(self.entries.sum())

    @property
    def total_bytes(self) -> int:
        """Memory of all matrices together when they are stored."""
        return int(self.bytes.sum())

    def __str__(self) -> str:
        width = max(len("total"), *map(len, self.motifs))
        lines = [f"{'motif':<{width}}  step  {'entries':>16}  {'memory':>10}"]
        for t, motif in enumerate(self.motifs):
            for k in range(self.entries.shape[1]):
                size = human_bytes(int(self.bytes[t, k]))
                lines.append(f"{motif:<{width}}  {k + 1:>4}  {self.entries[t, k]:>16,}  {size:>10}")
        lines.append(
            f"{'total':<{width}}        {self.total_entries:>16,}  {human_bytes(self.total_bytes):>10}"
        )
        return "\n".join(lines if self.exact else [*lines, "(upper bounds)"])

    def __repr__(self) -> str:
        most = "" if self.exact else "at most "
        motifs, steps = self.entries.shape
        return (
            f"StackSize({motifs} motifs × {steps} steps: {most}{self.total_entries:,} entries, "
            f"{human_bytes(self.total_bytes)})"
        )


def stack_size(
    source: MotifCounts | Mapping[str, Any],
    motifs: Sequence[str] | None = None,
    steps: int = 1,
    *,
    scope: str = "edges",
    add_edges: bool = False,
    exact: bool = True,
    threads: int | None = None,
) -> StackSize:
    """Compute the size of the stack of these motifs and steps without building it. Ψ does not matter.

    Args:
        source: `mcn.MotifCounts`, or a mapping from names to symmetric matrices.
        motifs: names; None means edge and triangle of counts, everything of a mapping.
        steps: K.
        scope: as in `MotifStack.from_counts`, for counts only.
        add_edges: as in `MotifStack.from_counts`, for counts only.
        exact: count by a search from every node (memory O(N) per thread, no power is stored);
            False gives upper bounds in O(K · edges).
        threads: at most so many; None for all cores.
    """
    if isinstance(source, Mapping):
        adj = adjacencies_from_mapping(source, motifs)
    else:
        adj = adjacencies_from_counts(source, motifs or ("edge", "triangle"), scope, add_edges)
    check_steps(steps)
    return exact_size(adj, steps, threads) if exact else bounded_size(adj, steps)


def check_steps(steps: int) -> int:
    """Check that `steps` is an integer of at least 1, and return it."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise ValueError(f"steps={steps!r}; expected an integer of at least 1 (K, the greatest step size).")
    if steps > MAX_STEPS:
        raise ValueError(f"steps={steps!r}; at most {MAX_STEPS} are supported.")
    return int(steps)


def exact_size(adj: Adjacencies, steps: int, threads: int | None) -> StackSize:
    """Count the entries with `compute_lengths`."""
    lengths, _ = compute_lengths(adj, steps, threads)
    return StackSize(adj.motifs, adj.num_nodes, lengths.sum(axis=2, dtype=np.int64))


def bounded_size(adj: Adjacencies, steps: int) -> StackSize:
    """Bound the entries with `most_entries`; for K = 1 this is exact unless A has entries on its diagonal."""
    n = adj.num_nodes
    bounds = []
    for t in range(len(adj.motifs)):
        indptr = adj.indptr[t * n : (t + 1) * n + 1]
        bounds.append(most_entries(indptr - indptr[0], adj.indices[indptr[0] : indptr[-1]], steps))
    return StackSize(adj.motifs, n, np.array(bounds, np.int64), exact=False)


def lengths_within(
    adj: Adjacencies, steps: int, memory_limit: float, threads: int | None
) -> NDArray[np.int32]:
    """Count the row lengths of all matrices; raise `StackTooLarge` as soon as they exceed the limit."""
    pointers = len(adj.motifs) * steps * adj.num_nodes * ROW_BYTES
    lengths, complete = compute_lengths(adj, steps, threads, (memory_limit - pointers) / ENTRY_BYTES)
    if complete:
        return lengths
    counted = lengths.sum(axis=2, dtype=np.int64)
    t, k = map(int, np.unravel_index(counted.argmax(), counted.shape))
    at_least, at_most = int(counted[t, k]), int(bounded_size(adj, steps).entries[t, k])
    all_rows = bool((lengths[t, k] > 0).all())
    number = f"{at_least:,}" if all_rows else f"between {at_least:,} and {at_most:,}"
    memory = human_bytes(at_least * ENTRY_BYTES)
    memory = memory if all_rows else f"{memory} to {human_bytes(at_most * ENTRY_BYTES)}"
    fewer = f"fewer steps (steps={k} leaves it out), " if k else ""
    raise StackTooLarge(
        f"the matrices of {len(adj.motifs)} motifs × {steps} steps need more than memory_limit="
        f"{human_bytes(memory_limit)}; the largest found is motif {adj.motifs[t]!r} at step {k + 1} with "
        f"{number} entries ({memory}). Use {fewer}fewer motifs, "
        "materialize=False (rows are computed when they are chosen), or a higher memory_limit."
    )


def default_memory_limit() -> float:
    """8 GiB, or half of the machine's memory where that is less."""
    try:
        half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    except (AttributeError, ValueError, OSError):  # not a system that tells
        half = np.inf
    return float(min(8 * 2**30, half))


def human_bytes(count: float) -> str:
    """Write `count` bytes with three digits and a unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:,.3g} TiB"
