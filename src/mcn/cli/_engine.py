"""What carries out a training: the processes of this machine, or the workers of a Ray cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn._names import one_of
from mcn.cli._terminal import progress_bar
from mcn.cli.main import go_on, started_together

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.motifs import MotifCounts
    from mcn.train.run import Run
    from mcn.train.settings import Settings

ENGINES = ("local", "ray")
Engine = Annotated[
    str,
    typer.Option("--engine", help="local: this process, or those that torchrun started; ray: a Ray cluster."),
]
Workers = Annotated[
    int, typer.Option("--workers", min=1, help="For --engine ray: processes that share each batch.")
]
Address = Annotated[
    str | None, typer.Option("--address", help="For --engine ray: a running cluster, such as auto.")
]


def processes_on(engine: str, workers: int, address: str | None, config: Settings) -> int:
    """Return how many processes train on this machine, as far as is known.

    Raises:
        ValueError: the options contradict each other, or the processes would have nothing to share.
    """
    one_of("--engine", engine, ENGINES)
    if engine == "local" and address is not None:
        raise ValueError(f"--address {address}: is of a Ray cluster; it needs --engine ray")
    if engine == "ray" and started_together():
        raise ValueError("--engine ray starts the processes itself: leave out torchrun, give --workers")
    several = started_together() or (engine == "ray" and workers > 1)
    if several and getattr(config, "batch_size", None) is None:
        raise ValueError(
            "several processes share mini-batches: give --batch-size (recipes mcn and paper), or start one"
        )
    return workers if engine == "ray" else int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def train_with(
    cluster: dict[str, Any] | None,
    folder: Path,
    folders: list[Path],
    seeds: list[int],
    data: Data,
    config: Settings,
    source: dict[str, Any],
    counts: MotifCounts | None,
    resume: bool,
) -> list[Run]:
    """Train a run per seed: here, or on a cluster if it says which workers at which address."""
    if cluster is None:
        from mcn.train.seeds import train_seeds

        with progress_bar("training") as report:
            return train_seeds(
                folders, seeds, data, config, source, counts=counts, resume=resume, progress=report
            )
    from mcn._ray import ClusterError
    from mcn.train.on_ray import train_on_ray

    try:
        with progress_bar("training on Ray"):
            return train_on_ray(folder, folders, seeds, data, config, source, counts=counts, **cluster)
    except ClusterError as error:
        if not any(_begun(folders)):
            raise
        raise ClusterError(f"{error}; go on with: {go_on(folder)}") from None


def _begun(folders: list[Path]) -> list[bool]:
    """Say of each folder whether a run was begun in it."""
    from mcn.train.folder import CONFIG

    return [(folder / CONFIG).exists() for folder in folders]
