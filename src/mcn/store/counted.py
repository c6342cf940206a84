"""Motif counts that lie in a store: one array per motif, aligned with the store's neighbours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._files import atomic_write
from mcn.data.limits import reading
from mcn.store.arrays import Entry, check_sum, open_array

FILE = "counts.json"
_FORMAT = "mcn-graph-store-counts"


def array_name(motif: str) -> str:
    """Return the name of the array that holds the counts of a motif."""
    return f"count.{motif}"


def read_counts(folder: Path, indices: Entry, *, verify: bool = False) -> Mapping[str, NDArray[Any]]:
    """Map the counts in a store by motif; "edge" is 1 everywhere and takes no room.

    Args:
        folder: the store's.
        indices: the description of its neighbours, which the counts must belong to.
        verify: also compare check sums.
    """
    counts: dict[str, NDArray[Any]] = {"edge": np.broadcast_to(np.int32(1), indices.shape)}
    for motif, entry in counted(folder, indices).items():
        counts[motif] = open_array(folder, array_name(motif), entry)
        if verify:
            check_sum(folder, array_name(motif), entry)
    return counts


def counted(folder: Path, indices: Entry) -> dict[str, Entry]:
    """Return the description of the counts in a store, by motif; empty if nothing was counted.

    Raises:
        ValueError: the file of counts was altered.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    with reading(path, "not a list of counts"):
        content = json.loads(path.read_bytes())
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ValueError(f"{path}: not a list of counts")
        if content.get("of") != indices.sha256:
            raise ValueError(f"{path}: these counts are of another graph; remove the file and count again")
        listed = content.get("arrays")
        if not isinstance(listed, dict) or not all(_is_name(motif) for motif in listed):
            raise ValueError(f"{path}: not a list of counts")
        entries = {motif: Entry.from_plain(values, f"{path}, {motif}") for motif, values in listed.items()}
        for motif, entry in entries.items():
            if entry.shape != indices.shape or entry.dtype not in ("<i4", "<i8"):
                raise ValueError(f"{path}: the counts of {motif} do not fit this graph")
    return entries


def add_counts(folder: Path, indices: Entry, entries: Mapping[str, Entry]) -> None:
    """Make arrays that are complete known as the counts of their motifs."""
    everything = {**counted(folder, indices), **entries}
    content = {
        "format": _FORMAT,
        "of": indices.sha256,
        "arrays": {motif: entry.plain() for motif, entry in everything.items()},
    }
    with atomic_write(folder / FILE) as file:
        file.write(json.dumps(content, indent=1).encode())


def _is_name(motif: Any) -> bool:
    return isinstance(motif, str) and motif.replace("-", "").isalnum() and motif.isascii()
