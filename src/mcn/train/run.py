"""A run on disk: a folder with everything needed to resume it, predict with it and explain it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch_geometric.data import Data

from mcn import __version__
from mcn._files import atomic_write
from mcn.data.treatment import Treatment
from mcn.motifs import MotifCounts
from mcn.train.callbacks import Checkpoints, Fraction, JSONLines
from mcn.train.checkpoint import load_tensors, load_weights, save_tensors
from mcn.train.explained import Explained
from mcn.train.loop import Callback, FitResult, Trainer, below, fit
from mcn.train.metrics import all_scores
from mcn.train.predictions import Predictions, predictions_csv, scores_on_test
from mcn.train.problem import Inputs, Memory, Problem, class_names, known_labels, prepare
from mcn.train.recipes import find_recipe, work_of
from mcn.train.remarks import alone, graph_remarks, result_remarks
from mcn.train.settings import Settings

CONFIG, METRICS, MODEL, LAST = "config.yaml", "metrics.jsonl", "model.safetensors", "last.safetensors"
PREDICTIONS, SUMMARY = "predictions.csv", "summary.json"


@dataclass
class Run:
    """A finished run. It keeps what it prepared of the last graph it saw, so that nothing is made twice.

    Attributes:
        folder: where it is.
        config, source: its settings, and where its graph came from.
        fingerprint: of the graph it was trained on, see `Problem.fingerprint`.
        model: the trained network.
        summary: the content of summary.json.
        classes: names of the classes.
        memory: what the network remembers of its graph.
    """

    folder: Path
    config: Settings
    source: dict[str, Any]
    fingerprint: str | None
    model: torch.nn.Module
    summary: dict[str, Any]
    classes: list[str]
    memory: Memory
    _prepared: tuple[Data, Inputs] | None = field(default=None, repr=False)

    def inputs(self, data: Data) -> Inputs:
        """Return what the network takes from a graph.

        Raises:
            ValueError: the graph's features are not those the network was trained on.
        """
        if self._prepared is None or self._prepared[0] is not data:
            self._prepared = (data, work_of(self.config).inputs(data, self.config, memory=self.memory))
        return self._prepared[1]

    @property
    def treatment(self) -> Treatment | None:
        """What was done to the columns of the node table, to be done to another one."""
        stored = self.memory.state.get("treatment")
        return None if stored is None else Treatment.from_dict(stored)

    def predict(self, data: Data) -> Predictions:
        """Predict the nodes of a graph with the same features as the one trained on."""
        return work_of(self.config).predict(self.model, self.inputs(data))

    def explain(self, data: Data) -> Explained:
        """Say what the predictions for the nodes of a graph rest on."""
        return work_of(self.config).explain(self.model, self.inputs(data))

    def is_about(self, data: Data) -> bool:
        """Whether edges, features, known labels and split are those that the run was trained on."""
        if data.y is None or data.get("val_mask") is None or not bool(data.val_mask.any()):
            return False
        return Problem(self.inputs(data), known_labels(data)).fingerprint() == self.fingerprint


def train_run(
    folder: str | os.PathLike[str],
    data: Data,
    config: Settings,
    source: dict[str, Any],
    *,
    counts: MotifCounts | None = None,
    problem: Problem | None = None,
    resume: bool = False,
    progress: Callable[[float], Any] | None = None,
    callbacks: tuple[Callback, ...] = (),
) -> Run:
    """Train into `folder`.

    Nothing is written before the graph and the settings have passed every check.

    Args:
        folder: made if it is not there; a folder with a run in it is refused unless `resume`.
        source: where the data came from (plain values), to find it again.
        counts: the motif counts of `data`, if they are known already.
        problem: `data` prepared for `config`, if that was done already; the seed does not matter to it.
        resume: go on from the last checkpoint; a finished run is returned as it is.
        progress: told how far the run is, between 0 and 1.
        callbacks: told of every epoch, besides those that write the run's files.

    Raises:
        ValueError: the graph cannot be trained on, the folder holds another run, or a file is damaged.
    """
    folder = Path(folder)
    check_free(folder, resume)
    if problem is None:
        problem = prepare(data, config, counts)
    settings = {
        "mcn": __version__,
        "recipe": config.recipe,
        "source": source,
        "data": problem.fingerprint(),
        "config": config.to_dict(),
    }
    if (folder / CONFIG).exists():
        _check_same(folder, settings)
    if not (folder / SUMMARY).exists():
        trainer = work_of(config).trainer(problem, config)
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(f".{LAST}.*"):  # of a process killed while it was saving
            leftover.unlink()
        _write(folder / CONFIG, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
        if (folder / LAST).exists():
            _load_into(trainer, folder / LAST)
        notes: list[Callback] = [
            JSONLines(folder / METRICS, trainer.epoch),
            Checkpoints(folder / LAST),
            *callbacks,
        ]
        result = fit(trainer, [*notes, Fraction(progress)] if progress else notes)
        _finish(folder, data, trainer, result)
    run = load_run(folder)
    run._prepared = (data, problem.inputs)
    return run


def _finish(folder: Path, data: Data, trainer: Trainer, result: FitResult) -> None:
    """Write what a finished run leaves; the summary last, as its presence says that the run is finished."""
    config, problem = trainer.config, trainer.problem
    own = work_of(config).predict(trainer.model, problem.inputs)
    memory = problem.memory(data)
    state = {
        "in_channels": memory.in_channels,
        "classes": class_names(data) or [str(number) for number in range(problem.num_classes)],
        "feature_names": memory.feature_names,
        **memory.state,
    }
    save_tensors(folder / MODEL, dict(trainer.model.state_dict()), state)
    _write(folder / PREDICTIONS, predictions_csv(data, own))
    test = scores_on_test(data, own.probabilities)
    summary: dict[str, Any] = {
        "val_accuracy": result.val_accuracy,
        "test_accuracy": None if test is None else test["accuracy"],
        "metric": config.metric,
        "scores": {
            "train": all_scores(own.probabilities[problem.train], problem.train_labels.numpy()),
            "val": all_scores(own.probabilities[problem.val], problem.val_labels.numpy()),
            "test": test,
        },
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "seconds": result.seconds,
        "protocol": protocol(data, config),
        "motif_share": own.shares(),
        "versions": versions(),
        **trainer.notes(),
    }
    beside = alone(data, config.metric, problem.known)
    summary["alone"] = {"guess": beside.guess, "features": beside.features, "graph": beside.graph}
    summary["remarks"] = [
        *result_remarks(data, own.labels, summary, beside, config.max_epochs),
        *graph_remarks(data, problem.known),
    ]
    _write(folder / SUMMARY, json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    (folder / LAST).unlink(missing_ok=True)


def load_run(folder: str | os.PathLike[str]) -> Run:
    """Read a finished run, of this version or of 0.1.0.

    Raises:
        ValueError: there is no run, it is not finished, or its files do not fit together.
    """
    folder = Path(folder)
    for name in (CONFIG, SUMMARY, MODEL):
        if not (folder / name).is_file():
            raise ValueError(f"{folder}: no finished run here, {name} is missing{_hint(folder, name)}")
    settings, config = _read_settings(folder)
    tensors, state = load_tensors(folder / MODEL)
    missing = sorted({"in_channels", "classes", "feature_names"} - set(state))
    if missing:
        raise ValueError(f"{folder / MODEL}: not the model of a finished run; it does not state {missing[0]}")
    own = {name: state.pop(name) for name in ("in_channels", "classes", "feature_names")}
    memory = Memory(int(own["in_channels"]), own["feature_names"], state)
    model = work_of(config).network(memory.in_channels, len(own["classes"]), config, memory)
    load_weights(model, tensors, folder / MODEL)
    model.eval()
    source, summary = settings["source"], read_json(folder / SUMMARY)
    return Run(folder, config, source, settings.get("data"), model, summary, own["classes"], memory)


def _stored_config(settings: dict[str, Any]) -> Settings:
    """Return the configuration of a stored run.

    In 0.1.0 the recipe paper was a rule of attention, which may stand beside settings that the recipe does
    not admit any more; such a run is one of the recipe mcn.
    """
    recipe, values = settings.get("recipe", "mcn"), settings["config"]
    try:
        return find_recipe(recipe).config.from_dict(values)
    except ValueError:
        if recipe != "paper":
            raise
        return find_recipe("mcn").config.from_dict(values)


def check_free(folder: Path, resume: bool = False) -> None:
    """Refuse a folder that holds a run already, unless it is to be resumed."""
    if (folder / CONFIG).exists() and not resume:
        raise ValueError(f"{folder} already holds a run; choose another folder, or resume the run")


def protocol(data: Data, config: Settings) -> str:
    """One line on how the numbers of a run came about."""
    sizes = [int(data[f"{part}_mask"].sum()) for part in ("train", "val", "test")]
    return (
        f"{sizes[0]} training, {sizes[1]} validation, {sizes[2]} test nodes; {config.protocol}; "
        "test labels read once, after training"
    )


def versions() -> dict[str, str]:
    """What made the numbers."""
    import numba
    import torch_geometric

    return {
        "mcn": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file, or an error that names the file."""
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path}: not JSON, or truncated ({error})") from None
    return content


def _hint(folder: Path, name: str) -> str:
    if name != CONFIG:
        return " (interrupted? resume it)"
    inside = sorted(path.parent.name for path in folder.glob(f"*/{CONFIG}"))
    return f" (there are runs in it: {', '.join(inside[:5])})" if inside else ""


def _load_into(trainer: Trainer, path: Path) -> None:
    tensors, state = load_tensors(path)
    if trainer.model is not None:  # the recipe auto has none before it is done
        load_weights(trainer.model, below("model.", tensors), path)
    trainer.load(tensors, state)


def _check_same(folder: Path, settings: dict[str, Any]) -> None:
    before, config = _read_settings(folder)
    for part, old in {"source": before["source"], "config": config.to_dict()}.items():
        new = settings[part]
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                raise ValueError(
                    f"{folder}: the run there was started with {name} = {old.get(name)!r}, "
                    f"now it is {new.get(name)!r}; resume with the same settings"
                )
    if before.get("data") != settings["data"]:
        raise ValueError(
            f"{folder}: the graph is no longer the one the run was started with (edges, features, labels or "
            "split differ); train anew in another folder"
        )


def _read_settings(folder: Path) -> tuple[dict[str, Any], Settings]:
    """Return the content of config.yaml, and the configuration in it."""
    try:
        settings = yaml.safe_load((folder / CONFIG).read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{folder / CONFIG}: not YAML ({error})") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{folder / CONFIG}: not the settings of a run")
    try:
        config = _stored_config(settings)
        settings["source"] = dict(settings["source"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / CONFIG}: not the settings of a run ({error})") from None
    return settings, config


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())
