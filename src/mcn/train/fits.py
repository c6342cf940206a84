"""Whether a graph fits into memory as a whole, or is better trained on in mini-batches."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from mcn.matrices import stack_size
from mcn.matrices.size import default_memory_limit, human_bytes
from mcn.motifs import MotifCounts
from mcn.train.mcn.config import MCNConfig
from mcn.train.settings import Settings

BATCH_SIZE = 1024
"""Nodes per step where the full batch does not fit and no batch size was given."""
_SHARE = 0.7  # of the free memory that a full batch may take: the estimate is rough


class Decision(NamedTuple):
    """The settings to train with, and one line on why; None where there was nothing to decide."""

    config: Settings
    line: str | None


def full_batch_bytes(counts: MotifCounts, config: MCNConfig) -> int:
    """Estimate the memory that training on the whole graph takes beside the graph itself.

    The matrices Ψ(A_t^k) and what they are made of; per layer and head two numbers for every entry of the
    chosen rows, and six for every node and hidden unit (values, gradients and their copies).
    """
    size = stack_size(counts, config.motifs, config.steps, scope=config.scope, exact=False)
    stored = size.total_bytes if config.materialize else 0
    steps = int(size.entries[:, 0].sum())
    matrices = stored + 12 * steps + 8 * (2 * len(counts.pairs) + counts.num_nodes)
    chosen = int(size.entries.max(initial=0))
    heads = config.heads * (config.num_layers - 1) + config.output_heads
    width = config.heads * config.hidden * config.num_layers
    passes = 2 if config.consistency or config.gate else 1
    return matrices + passes * 4 * (2 * heads * chosen + 6 * width * counts.num_nodes)


def free_bytes() -> float:
    """Memory that is free on this machine, as far as it tells; else what stored matrices may take."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        found = None
    return float(found[1]) * 1024 if found else default_memory_limit()


def decide(config: Settings, counts: MotifCounts, free: float | None = None) -> Decision:
    """Choose mini-batches if the full batch is not expected to fit.

    Args:
        config: as the user gave it; a batch size in it stands.
        counts: of the graph.
        free: bytes there are; those of this machine if not given.
    """
    if not isinstance(config, MCNConfig) or config.batch_size is not None:
        return Decision(config, None)
    free = free_bytes() if free is None else free
    need = full_batch_bytes(counts, config)
    words = f"a full batch needs about {human_bytes(need)}, {human_bytes(free)} are free"
    if need <= _SHARE * free:
        return Decision(config, f"{words}: the whole graph in every step")
    try:
        smaller = config.replace(batch_size=BATCH_SIZE)
    except ValueError as error:
        return Decision(config, f"{words}, but {error}")
    fans = ",".join(map(str, smaller.neighbours))
    return Decision(
        smaller,
        f"{words}: mini-batches of {BATCH_SIZE:,} nodes with {fans} neighbours (--batch-size, --neighbours)",
    )
