"""Whether a graph fits into memory as a whole, or is better trained on in mini-batches."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import torch

from mcn import _memory
from mcn._memory import human_bytes
from mcn.matrices import stack_size
from mcn.motifs import MotifCounts
from mcn.store import GraphStore
from mcn.train.auto.config import AutoConfig
from mcn.train.mcn.config import MCNConfig
from mcn.train.recipes import check_settings, find_recipe
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


def free_bytes(device: str = "cpu") -> float:
    """Memory that is free on this machine, as far as it tells; else what stored matrices may take."""
    if device == "cuda":
        return float(torch.cuda.mem_get_info()[0])
    return _memory.free_bytes()


def decide(config: Settings, counts: MotifCounts, free: float | None = None) -> Decision:
    """Choose mini-batches if the full batch is not expected to fit.

    Args:
        config: as the user gave it; a batch size in it stands.
        counts: of the graph.
        free: bytes there are; those of this machine if not given.
    """
    network = config.shared() if isinstance(config, AutoConfig) else config
    if not isinstance(network, MCNConfig) or network.batch_size is not None:
        return Decision(config, None)
    free = free_bytes(network.device) if free is None else free
    need = full_batch_bytes(counts, network)
    words = f"a full batch needs about {human_bytes(need)}, {human_bytes(free)} are free"
    if need <= _SHARE * free:
        return Decision(config, f"{words}: the whole graph in every step")
    try:
        smaller = config.replace(batch_size=BATCH_SIZE)
    except ValueError as error:
        return Decision(config, f"{words}, but {error}")
    return Decision(smaller, f"{words}: {_batches(smaller)}")


def _batches(config: Any) -> str:
    fans = ",".join(map(str, config.neighbours))
    return f"mini-batches of {config.batch_size:,} nodes with {fans} neighbours (--batch-size, --neighbours)"


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

    Args:
        store: the graph.
        processes: that would load it on this machine, each for itself.
        free: bytes there are; those of this machine if not given.
    """
    free = free_bytes() if free is None else free
    need = processes * store_bytes(store)
    if need <= _SHARE * free:
        return None
    each = "" if processes == 1 else f" in {processes} processes"
    return f"the graph in memory needs about {human_bytes(need)}{each}, {human_bytes(free)} are free"


def for_disk(config: Settings, given: Collection[str]) -> Decision:
    """Return settings that a graph on disk can be trained with, and what they are.

    Args:
        config: as the user gave it. Without a batch size it gets one; a recipe or a rule of attention that
            compares candidates, and that the user did not ask for by name, becomes the rule `gated`.
        given: names of the settings that the user gave, "recipe" among them if it was.

    Raises:
        ValueError: the user asked by name for what needs the graph in memory.
    """
    if isinstance(config, AutoConfig) and "recipe" not in given:
        own = {name: getattr(config, name) for name in given}
        find = find_recipe("mcn")
        check_settings(find, own)
        config = find.config(**{"attention": "gated", "seed": config.seed, **own})
    if not isinstance(config, MCNConfig):
        raise ValueError(
            f"the recipe {config.recipe} needs the graph in memory, where it does not fit; leave the recipe "
            "out, or give --recipe mcn"
        )
    said = ""
    if config.home is not None:
        if "attention" in given:
            raise ValueError(
                f"the rule {config.attention} compares candidates on the graph in memory, where it does not "
                "fit; give --attention gated or paper"
            )
        config = config.replace(attention="gated")
    if config.attention == "gated" and "attention" not in given and config.chooses:
        said = "; the rule of attention is gated, as probed compares candidates on a graph in memory"
    if config.batch_size is None:
        config = config.replace(batch_size=BATCH_SIZE)
    return Decision(config, f"it stays on disk: {_batches(config)}{said}")
