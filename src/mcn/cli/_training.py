"""What `mcn train` decides before it trains: the processes, graph in memory or on disk, methods beside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn._names import one_of
from mcn.cli._terminal import Report, progress_bar
from mcn.cli.main import go_on, started_together

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.motifs import MotifCounts
    from mcn.store import GraphStore
    from mcn.train.processes import Team
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


def methods_beside(
    names: str | None, default: Sequence[str], dataset: str | None, recipe: str, weighted: bool
) -> list[str]:
    """Return the methods to run for comparison; refuse what they cannot do before anything is trained.

    Where a method exists in the way of the recipe (gat-paper), that is the one to compare with.
    """
    wanted = list(default) if names is None else [name.strip() for name in names.split(",") if name.strip()]
    wanted = [name for name in wanted if name != "none"]
    if not wanted:
        return []
    from mcn.baselines import METHODS, check_methods, find_method

    methods = []
    for name in check_methods(wanted, "--beside"):
        name = f"{name}-{recipe}" if f"{name}-{recipe}" in METHODS else name
        if weighted:
            find_method(name).check_weights()
        methods.append(name)
    return methods


def settings_beside(methods: Sequence[str], config: Settings, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the methods beside a network share with it: those of its special cases.

    Settings of another kind of network say nothing about them.
    """
    if not methods:
        return {}
    from mcn.baselines import find_method

    of_recipe = {getattr(find_method(name), "recipe", None) for name in methods}
    return given if config.recipe in of_recipe else {}


def run_folders(folder: Path, seeds: Sequence[int], resume: bool) -> dict[int, Path]:
    """Return the folder of each run by its seed; none of them, nor the one around them, may hold a run."""
    from mcn.train.folder import check_free

    if len(seeds) == 1:
        folders = {seeds[0]: folder}
    else:
        folders = {seed: folder / f"seed-{seed}" for seed in seeds}
        check_free(folder)
    for each in folders.values():
        check_free(each, resume)
    return folders


def begun_with(folder: Path | None, seeds: Sequence[int]) -> tuple[dict[str, Any], Settings] | None:
    """Read what a run that is to be resumed was begun with, if it was begun."""
    from mcn.train.folder import CONFIG, read_settings

    assert folder is not None
    first = folder if len(seeds) == 1 else folder / f"seed-{seeds[0]}"
    return read_settings(first) if (first / CONFIG).exists() else None


class StaysOnDisk:
    """Whether a packed graph stays on disk: as a run that is resumed was begun, else if it is too large.

    The first of several processes decides for all. So many `processes` are taken to be on this machine; `why`
    has the words.
    """

    def __init__(
        self, team: Team, before: tuple[dict[str, Any], Settings] | None, processes: int = 1
    ) -> None:
        self._team, self._before, self._processes, self.why = team, before, processes, ""

    def __call__(self, store: GraphStore) -> bool:
        from mcn.train.memory import too_large

        if self._before is not None:
            self.why = "as the run was begun" if self._before[0]["source"].get("on_disk") else ""
        else:
            self.why = self._team.from_first(lambda: too_large(store, self._processes)) or ""
        return bool(self.why)


def for_memory(
    config: Settings, counts: MotifCounts, before: tuple[dict[str, Any], Settings] | None
) -> tuple[Settings, str | None]:
    """Choose between the full batch and mini-batches, as a run that is resumed was begun; say why."""
    from mcn.train.memory import fit_into_memory

    if before is not None and getattr(config, "batch_size", 0) is None:
        return config.replace(batch_size=getattr(before[1], "batch_size", None)), None
    return fit_into_memory(config, counts)


def for_store(
    store: GraphStore, config: Settings, given: Sequence[str], why: str, team: Team
) -> tuple[Settings, str]:
    """Return the settings for a graph that stays on disk, and say so; count what is not counted yet."""
    from mcn.motifs import count_motifs
    from mcn.train.memory import batches_in_words

    config = config.for_disk(given)
    missing = [name for name in config.motifs if name != "self" and name not in store.counts]
    if missing and team.leads:
        with progress_bar(f"counting {', '.join(missing)}") as bar:
            count_motifs(store, motifs=missing, out=store.path, progress=bar)
    team.from_first(bool)  # the others wait until everything is counted
    return config, (
        f"{why}: the recipe {config.recipe} trains on the graph on disk, in {batches_in_words(config)}; "
        "no report, which shows a graph in memory"
    )


def train_seeds(
    data: Data | GraphStore,
    config: Settings,
    folders: dict[int, Path],
    source: dict[str, Any],
    counts: MotifCounts | None,
    resume: bool,
) -> list[Run]:
    """Train a run per seed in this process; the graph is prepared once for all of them."""
    from mcn.train import prepare, train

    runs: list[Run] = []
    with progress_bar("training") as report:
        problem = prepare(data, config, counts)
        for done, (seed, folder) in enumerate(folders.items()):
            runs.append(
                train(
                    data,
                    config.replace(seed=seed),
                    folder,
                    source=source,
                    problem=problem,
                    resume=resume,
                    progress=partial(_report_run, report, done, len(folders)),
                )
            )
    return runs


def _report_run(report: Report, done: int, of: int, fraction: float) -> None:
    report((done + fraction) / of)


def train_on_cluster(
    data: Data | GraphStore,
    config: Settings,
    folders: dict[int, Path],
    source: dict[str, Any],
    counts: MotifCounts | None,
    workers: int,
    address: str | None,
) -> list[Run]:
    """Train a run per seed on a Ray cluster; where workers are lost, say how to go on."""
    from mcn._ray import ClusterError
    from mcn.train.folder import CONFIG
    from mcn.train.on_ray import train_on_ray

    try:
        with progress_bar("training on Ray"):
            return train_on_ray(
                data, config, folders, source=source, counts=counts, workers=workers, address=address
            )
    except ClusterError as error:
        begun = [folder for folder in folders.values() if (folder / CONFIG).exists()]
        if not begun:
            raise
        around = begun[0] if len(folders) == 1 else begun[0].parent
        raise ClusterError(f"{error}; go on with: {go_on(around)}") from None
