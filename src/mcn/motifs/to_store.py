"""Counts of a graph on disk, written beside it: an array per motif, aligned with the store's neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._jit import kernel
from mcn._threads import available_threads
from mcn.data.arrays import as_integer
from mcn.motifs.catalogue import EDGE_ORBITS, graphlet_of
from mcn.motifs.count import count_motifs
from mcn.motifs.counts import MotifCounts, exact_sum
from mcn.motifs.enumerate import TRIANGLES
from mcn.motifs.on_disk import count_on_disk
from mcn.motifs.stages import stage_of
from mcn.store import GraphStore
from mcn.store.arrays import Entry, write_array
from mcn.store.counted import add_counts, array_name, read_counts

LEAST_MEMORY = 2**16
_ROWS = 2**16


def count_to_folder(
    store: GraphStore,
    motifs: Sequence[str] | None,
    folder: Path,
    *,
    induced: bool,
    threads: int | None,
    memory: int,
    progress: Callable[[float], object] | None,
    engine: str = "local",
    address: str | None = None,
) -> Mapping[str, NDArray[Any]]:
    """Count motifs of a store into a folder; see `mcn.count_motifs`."""
    if as_integer(memory, "memory") < LEAST_MEMORY:
        raise ValueError(f"memory must be at least {LEAST_MEMORY:,} bytes, got {memory}")
    if not induced and motifs is None:
        motifs = EDGE_ORBITS
    names = list(dict.fromkeys(EDGE_ORBITS if motifs is None else motifs))
    for name in names:
        graphlet_of(name)
    if not induced and folder.resolve() == store.path.resolve():
        raise ValueError("a store's own counts are of induced subgraphs; give another folder as out=")
    folder.mkdir(parents=True, exist_ok=True)
    # A cluster counts in its memory, whatever the motif.
    most = TRIANGLES if engine == "local" else 0
    small = [name for name in names if stage_of(name, induced) <= most and name != "edge"]
    others = [name for name in names if stage_of(name, induced) > most and name != "edge"]
    entries: dict[str, Entry] = {}
    if small:
        cores = available_threads() if threads is None else threads
        entries |= count_on_disk(
            store, small, folder, induced=induced, threads=cores, memory=memory, progress=progress
        )
    if others:
        counts = count_motifs(
            store,
            motifs=others,
            induced=induced,
            threads=threads,
            progress=progress,
            engine=engine,
            address=address,
        )
        entries |= _written(store, counts, others, folder)
    add_counts(folder, store.entries["indices"], entries)
    return {name: values for name, values in read_counts(folder, store.entries["indices"]).items()
            if name in names}  # fmt: skip


def _written(store: GraphStore, counts: MotifCounts, names: list[str], folder: Path) -> dict[str, Entry]:
    entries = {}
    for name in names:
        column = counts.column(name)
        kind = np.int32 if int(column.max(initial=0)) < 2**31 else np.int64
        values = _in_rows(np.asarray(store.indptr), np.asarray(store.indices), column.astype(kind))
        entries[name] = write_array(folder, array_name(name), values, kind)
    return entries


def summed(store: GraphStore, values: NDArray[Any]) -> dict[str, int]:
    """Sum the counts of a motif over the edges, and say how many edges and nodes have any."""
    indptr = np.asarray(store.indptr)
    total = edges = nodes = 0
    for start in range(0, store.num_nodes, _ROWS):
        stop = min(start + _ROWS, store.num_nodes)
        piece = np.asarray(values[indptr[start] : indptr[stop]])
        total += exact_sum(piece.astype(np.int64))
        edges += int(np.count_nonzero(piece))
        rows = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
        nodes += int(np.count_nonzero(np.bincount(rows[piece > 0], minlength=stop - start)))
    return {"per_edge": total // 2, "edges": edges // 2, "nodes": nodes}


@kernel
def _in_rows(indptr: Any, indices: Any, column: Any) -> Any:
    """From a number per edge (u < v, sorted) to one per neighbour.

    Rows are walked upwards: the neighbours below a node have met it, in order, before its own row comes.
    """
    values = np.empty(len(indices), column.dtype)
    at = indptr[:-1].copy()
    edge = 0
    for u in range(len(at)):
        for e in range(at[u], indptr[u + 1]):
            v = indices[e]
            values[e] = column[edge]
            values[at[v]] = column[edge]
            at[v] += 1
            edge += 1
    return values
