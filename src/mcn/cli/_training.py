"""What `mcn train` decides before it trains: the processes, graph in memory or on disk, methods beside."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmotifs._messages import one_of
from mcn.cli._terminal import progress_bar
from mcn.cli.main import BEGAN, go_on, started_together

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.motifs import MotifCounts
    from mcn.store import GraphStore
    from mcn.train.loop import Epoch, Training
    from mcn.train.processes import Team
    from mcn.train.run import Run
    from mcn.train.settings import Settings

Before = tuple[dict[str, Any], "Settings"] | None
"""What a run that is resumed was begun with, see `begun_with`."""


@dataclass
class Phases:
    """What the phases of a command took, in seconds of processor time and by the clock."""

    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    _last: tuple[float, float] = (0.0, BEGAN)

    def ended(self, phase: str) -> None:
        """Count everything since the last phase ended as part of this one."""
        now = time.process_time(), time.monotonic()
        spent = self.seconds.setdefault(phase, {"processor": 0.0, "wall": 0.0})
        spent["processor"] += now[0] - self._last[0]
        spent["wall"] += now[1] - self._last[1]
        self._last = now

    def after_epoch(self, training: Training, epoch: Epoch) -> None:
        """Take the last epoch of a run for the end of its training."""
        if training.stopped:
            self.ended("training")

    def write(self, run: Run) -> None:
        """Add the seconds of the phases to the summary of a run."""
        from mcn.train.folder import extend_summary

        assert run.folder is not None
        run.summary = extend_summary(run.folder, run.summary, {"phase_seconds": self.seconds})

    def __str__(self) -> str:
        """Say all of it in a line."""
        parts = ", ".join(f"{spent['processor']:.1f} s {phase}" for phase, spent in self.seconds.items())
        wall = sum(spent["wall"] for spent in self.seconds.values())
        return f"processor time: {parts}; by the clock {wall:.1f} s in all"


def processes_on(engine: str, workers: int, address: str | None, config: Settings) -> int:
    """Return how many processes train on this machine; refuse such as would have nothing to share."""
    one_of("--engine", engine, ("local", "ray"))
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


def register_baselines() -> None:
    """Register the classic baselines of the paper as methods, where the package `mcn.paper` is installed."""
    if importlib.util.find_spec("mcn.paper") is not None:
        importlib.import_module("mcn.paper.baselines")


def methods_beside(names: str | None, default: Sequence[str], recipe: str, weighted: bool) -> list[str]:
    """Return the methods to run for comparison; refuse what they cannot do before anything is trained.

    Where a method exists in the way of the recipe (gat-paper), that is the one to compare with.
    """
    wanted = list(default) if names is None else [name.strip() for name in names.split(",") if name.strip()]
    wanted = [name for name in wanted if name != "none"]
    if not wanted:
        return []
    from mcn.experiments import METHODS, check_methods, find_method

    register_baselines()

    known = check_methods(wanted, "--beside")
    methods = [f"{name}-{recipe}" if f"{name}-{recipe}" in METHODS else name for name in known]
    for name in methods if weighted else ():
        find_method(name).check_weights()
    return methods


def train_beside(
    methods: Sequence[str],
    data: Data,
    config: Settings,
    asked: dict[str, Any],
    seeds: Sequence[int],
    dataset: str | None,
    counts: MotifCounts | None,
) -> list[dict[str, Any]]:
    """Train the methods for comparison; the settings asked for are theirs too if they are special cases."""
    if not methods:
        return []
    from mcn.experiments import compare, find_method

    akin = config.recipe in {getattr(find_method(name), "recipe", None) for name in methods}
    with progress_bar(" and ".join(methods)) as bar:
        return compare(
            *(data, methods, seeds),
            dataset=dataset,
            settings=asked if akin else {},
            counts=counts,
            progress=bar,
        )


def folders_by_seed(folder: Path, seeds: Sequence[int]) -> dict[int, Path]:
    """Return the folder of each run: `folder` itself for a single one."""
    return {seed: folder if len(seeds) == 1 else folder / f"seed-{seed}" for seed in seeds}


def check_folders(folder: Path, folders: dict[int, Path], resume: bool) -> None:
    """Refuse folders that hold a run, also around those of several runs."""
    from mcn.train.folder import check_free

    if len(folders) > 1:
        check_free(folder)
    for of_seed in folders.values():
        check_free(of_seed, resume)


def begun_with(folder: Path | None, seeds: Sequence[int]) -> Before:
    """Read what a run that is to be resumed was begun with, if it was begun."""
    from mcn.train.folder import CONFIG, read_settings

    assert folder is not None
    first = folders_by_seed(folder, seeds)[seeds[0]]
    return read_settings(first) if (first / CONFIG).exists() else None


@dataclass
class StaysOnDisk:
    """Whether a packed graph stays on disk: as a run that is resumed was begun, else if it is too large.

    The first of several processes decides for all. So many `processes` are taken to be on this machine; `why`
    has the words.
    """

    team: Team
    before: Before
    processes: int
    why: str = ""

    def __call__(self, store: GraphStore) -> bool:
        from mcn.train.memory import too_large

        if self.before is not None:
            self.why = "as the run was begun" if self.before[0]["source"].get("on_disk") else ""
        else:
            self.why = self.team.from_first(lambda: too_large(store, self.processes)) or ""
        return bool(self.why)


def for_memory(config: Settings, counts: MotifCounts, before: Before) -> tuple[Settings, str | None]:
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
    phases: Phases,
) -> list[Run]:
    """Train a run per seed in this process; the graph is prepared once for all of them."""
    from mcn.train import prepare, train

    runs: list[Run] = []
    with progress_bar("training") as report:
        problem = prepare(data, config, counts)
        phases.ended("counting and preparation")
        for seed, folder in folders.items():
            own: Any = {"source": source, "problem": problem, "resume": resume}
            own["callbacks"] = [phases.after_epoch]
            own["progress"] = lambda fraction: report((len(runs) + fraction) / len(folders))
            runs.append(train(data, config.replace(seed=seed), folder, **own))
            phases.ended("results and report")
    return runs


def train_on_cluster(
    folder: Path, data: Data | GraphStore, config: Settings, folders: dict[int, Path], **how: Any
) -> list[Run]:
    """Train a run per seed on a Ray cluster; where workers are lost, say how to go on."""
    from graphmotifs._ray import ClusterError
    from mcn.train.folder import CONFIG
    from mcn.train.on_ray import train_on_ray

    try:
        with progress_bar("training on Ray"):
            return train_on_ray(data, config, folders, **how)
    except ClusterError as error:
        if not any((of_seed / CONFIG).exists() for of_seed in folders.values()):
            raise
        raise ClusterError(f"{error}; {go_on(folder)}") from None
