"""Runs of several seeds, alone or as one of several processes that train together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from mcn.motifs import MotifCounts
from mcn.store import GraphStore
from mcn.train.problem import prepare
from mcn.train.processes import team
from mcn.train.run import Run, follow_run, train_run
from mcn.train.settings import Settings


def train_seeds(
    folders: Sequence[Path],
    seeds: Sequence[int],
    data: Data | GraphStore,
    config: Settings,
    source: dict[str, Any],
    *,
    counts: MotifCounts | None = None,
    resume: bool = False,
    progress: Callable[[float], Any] | None = None,
) -> list[Run]:
    """Train a run per seed, one after the other. Every process of a team calls this; the first one writes.

    Args:
        folders: of the runs.
        seeds: theirs.
        data: the graph, which is prepared once for all of them.
        config: the settings, but for the seed.
        source: where the graph came from.
        counts: the motif counts, if they are known already.
        resume: go on from the last checkpoints.
        progress: told how far all of it is, between 0 and 1.

    Returns:
        The runs; none in the processes that only train along.
    """
    problem = prepare(data, config, counts)
    runs = []
    for done, (folder, seed) in enumerate(zip(folders, seeds, strict=True)):
        own = config.replace(seed=seed)
        if not team().leads:
            follow_run(own, problem)
            continue

        def overall(fraction: float, done: int = done) -> None:
            if progress is not None:
                progress((done + fraction) / len(seeds))

        runs.append(train_run(folder, data, own, source, problem=problem, resume=resume, progress=overall))
    return runs
