"""Whether a graph fits into memory as a whole, or is trained on in mini-batches."""

from __future__ import annotations

from typing import Any

import torch

from mcn import _memory
from mcn._memory import human_bytes
from mcn.motifs import MotifCounts
from mcn.store import GraphStore
from mcn.train.settings import BATCH_SIZE, Settings

_SHARE = 0.7  # of the free memory that a full batch may take: the estimate is rough


def free_bytes(device: str = "cpu") -> float:
    """Memory that is free on this machine, as far as it tells; else what stored matrices may take."""
    if device == "cuda":
        return float(torch.cuda.mem_get_info()[0])
    return _memory.free_bytes()


def fit_into_memory(
    config: Settings, counts: MotifCounts, free: float | None = None
) -> tuple[Settings, str | None]:
    """Return the settings, with mini-batches if the full batch is not expected to fit; and a line if so.

    A batch size that the user gave stands. `free` are the bytes there are; this machine's if not given.
    """
    need = config.full_batch_bytes(counts)
    if need is None:
        return config, None
    free = free_bytes(config.device) if free is None else free
    if need <= _SHARE * free:
        return config, None
    sizes = f"a full batch needs about {human_bytes(need)}, {human_bytes(free)} are free"
    try:
        smaller = config.replace(batch_size=BATCH_SIZE)
    except ValueError as error:
        return config, f"{sizes}, but {error}"
    return smaller, f"{sizes}: {batches_in_words(smaller)}"


def batches_in_words(config: Any) -> str:
    """Say how large the mini-batches of a configuration are."""
    drawn = "" if config.neighbours is None else f" with {','.join(map(str, config.neighbours))} neighbours"
    return f"mini-batches of {config.batch_size:,} nodes{drawn} (--batch-size, --neighbours)"


def store_bytes(store: GraphStore) -> int:
    """Estimate the memory that a packed graph takes when it is loaded and its motifs are counted.

    The edges in both directions (32 bytes each), what counting holds (90 bytes each, as measured), the
    features and a copy of them that is made ready, and what there is per node.
    """
    stored = store.x if store.x is not None else store.x_values
    features = 0 if stored is None else 2 * stored.nbytes + (stored.nbytes if store.x is None else 0)
    return 122 * store.num_edges + features + 64 * store.num_nodes


def too_large(store: GraphStore, processes: int = 1, free: float | None = None) -> str | None:
    """Say why a packed graph stays on disk, if it does: loaded, it would take most of the free memory.

    Each of the `processes` on this machine would load it for itself.
    """
    free = free_bytes() if free is None else free
    need = processes * store_bytes(store)
    if need <= _SHARE * free:
        return None
    several = "" if processes == 1 else f" in {processes} processes"
    return f"the graph in memory needs about {human_bytes(need)}{several}, {human_bytes(free)} are free"
