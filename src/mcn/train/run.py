"""A run on disk: a folder with everything needed to resume it, predict with it and explain it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import yaml

from graphmotifs._files import write_text
from mcn import __version__
from mcn.data.checks import usable_data
from mcn.data.limits import reading
from mcn.data.treatment import Treatment
from mcn.store import GraphStore, node_data
from mcn.train.callbacks import Checkpoints, JSONLines
from mcn.train.checkpoint import load_tensors, load_weights, save_tensors, stored_network
from mcn.train.folder import (
    CONFIG,
    LAST,
    METRICS,
    MODEL,
    PREDICTIONS,
    SUMMARY,
    alone_in,
    check_finished,
    check_free,
    check_same,
    read_json,
    read_settings,
    settings_digest,
    tidy,
)
from mcn.train.loop import Callback, Epoch, FitResult, Trainer, Training, below, fit
from mcn.train.predictions import Explained, Predictions, scores_on_test, write_predictions
from mcn.train.problem import Inputs, Memory, Problem, class_names, known_labels, prepare
from mcn.train.processes import team
from mcn.train.recipes import work_of
from mcn.train.remarks import graph_remarks, result_remarks, simple_scores
from mcn.train.settings import Settings
from mcn.train.tasks import Task, stored_task

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass
class Run:
    """A finished run. It keeps what it prepared of the last graph it saw, so that nothing is made twice.

    Attributes:
        folder: where it is; None for one that was not written.
        config, source: its settings, and where its graph came from.
        fingerprint: of the graph it was trained on, see `Problem.fingerprint`.
        model: the trained network.
        summary: the content of summary.json; empty for a run that was not written.
        classes: names of the classes.
        memory: what the network remembers of its graph.
        result, notes, remarks: how training went, and what the recipe says of it; of a run that was just
            trained, for others see `summary`.
    """

    folder: Path | None
    config: Settings
    source: dict[str, Any]
    fingerprint: str | None
    model: torch.nn.Module
    summary: dict[str, Any]
    classes: list[str]
    memory: Memory
    result: FitResult | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    _prepared: tuple[Data | GraphStore | None, Inputs] | None = field(default=None, repr=False)

    def path(self, name: str) -> Path:
        """Return the path of a file of the run.

        Raises:
            ValueError: the run was not written.
        """
        if self.folder is None:
            raise ValueError("this run was trained without a folder; give `train` one to keep its files")
        return self.folder / name

    def inputs(self, data: Data | GraphStore | None) -> Inputs:
        """Return what the network takes from a graph; for None, from the one it has just been trained on.

        Raises:
            ValueError: the graph's features are not those the network was trained on.
        """
        if self._prepared is None or self._prepared[0] is not data:
            if data is None:
                raise ValueError("give a graph: this run does not hold the one it was trained on")
            self._prepared = (data, work_of(self.config).inputs(data, self.config, memory=self.memory))
        return self._prepared[1]

    @property
    def treatment(self) -> Treatment | None:
        """What was done to the columns of the node table, to be done to another one."""
        stored = self.memory.state.get("treatment")
        return None if stored is None else Treatment.from_dict(stored)

    @property
    def task(self) -> Task:
        """What is predicted."""
        return stored_task(self.memory.state.get("task"), len(self.classes))

    def predict(self, data: Data | GraphStore | None) -> Predictions:
        """Predict the nodes of a graph with the features of the one trained on; for None see `inputs`."""
        return work_of(self.config).predict(self.model, self.inputs(data), self.task)

    def explain(self, data: Data) -> Explained:
        """Say what the predictions for the nodes of a graph rest on."""
        return work_of(self.config).explain(self.model, self.inputs(data), self.task)

    def is_about(self, data: Data) -> bool:
        """Whether edges, features, known labels and split are those that the run was trained on."""
        if data.y is None or data.get("val_mask") is None or not bool(data.val_mask.any()):
            return False
        return Problem(self.inputs(data), known_labels(data)).fingerprint() == self.fingerprint


def train(
    data: Data | GraphStore | None,
    config: Settings,
    out: str | os.PathLike[str] | None = None,
    *,
    source: dict[str, Any] | None = None,
    problem: Problem | None = None,
    resume: bool = False,
    progress: Callable[[float], Any] | None = None,
    callbacks: Sequence[Callback] = (),
) -> Run:
    """Train as a configuration says; every way to train in this package is a call of this function.

    With `out` the run leaves a folder. Nothing is written before the graph and the settings have passed every
    check. Of several processes that train together (see `mcn.train.processes`) each calls this function; the
    first one writes.

    Args:
        data: the graph; one on disk is trained on in mini-batches. With a `problem` and without `out` it may
            be None: then nothing here could read a test label.
        config: the settings of a recipe.
        out: folder of the run, made if it is not there; one with a run in it is refused unless `resume`.
        source: where the data came from (plain values), to find it again.
        problem: `data` prepared for `config`, if that was done already; the seed does not matter to it.
        resume: go on from the last checkpoint; a finished run is returned as it is.
        progress: told how far the run is, between 0 and 1.
        callbacks: told of every epoch, besides those that write the run's files.

    Raises:
        ValueError: the graph cannot be trained on, the folder holds another run, or a file is damaged.
    """
    if data is None and (problem is None or out is not None):
        raise ValueError("training without a graph needs a problem, and leaves no folder")
    data = usable_data(data)
    folder = None if out is None else Path(out)
    writes = folder is not None and team().leads
    if folder is not None and writes:
        check_free(folder, resume)
    if problem is None:
        assert data is not None
        problem = prepare(data, config)
    config = config.settled(problem)
    told: list[Callback] = list(callbacks)
    if progress is not None:
        told.append(lambda training, _epoch: progress(training.progress))
    if folder is None:
        trainer = work_of(config).trainer(problem, config)
        return _trained(None, data, trainer, fit(trainer, told), source or {}, None)
    settings = _settings(config, source or {}, problem.fingerprint())
    if team().from_first((folder / SUMMARY).exists):
        if writes:
            check_same(folder, settings)
            tidy(folder)
        return replace(load_run(folder), _prepared=(data, problem.inputs))
    trainer = work_of(config).trainer(problem, config)
    with alone_in(folder, resume) if writes else nullcontext():
        if writes and (folder / CONFIG).exists():
            check_same(folder, settings)
            if (folder / SUMMARY).exists():  # it was finished while this process prepared
                return load_run(folder)
        if writes:
            _write_settings(folder, settings)
        if isinstance(trainer, Trainer):
            trainer.hold_out(config.seed)  # what is claimed afterwards rests on nodes that chose no epoch
        _go_on(trainer, folder / LAST)
        if writes:
            told = [JSONLines(folder / METRICS, trainer.epoch), Checkpoints(folder / LAST), *told]
        result = fit(trainer, told)
        run = _trained(folder, data, trainer, result, settings["source"], settings["data"])
        if writes and data is not None:
            _write_results(run, folder, data, trainer, settings)
    return run


def _trained(
    folder: Path | None,
    data: Data | GraphStore | None,
    trainer: Training,
    result: FitResult,
    source: dict[str, Any],
    fingerprint: str | None,
) -> Run:
    """Make the run of a trainer that has finished."""
    problem = trainer.problem
    classes = class_names(data) or [str(number) for number in range(problem.num_classes)]
    found = trainer.held_out_probabilities()
    if found is not None:  # nodes that chose no epoch may choose a threshold
        task = problem.task.with_threshold(found[0], problem.val_labels.numpy(), trainer.config.metric)
        problem = replace(problem, known=problem.known._replace(task=task))
    return Run(
        folder,
        trainer.config,
        source,
        fingerprint,
        trainer.model,
        {},
        classes,
        problem.memory(data),
        result,
        trainer.notes(),
        trainer.remarks(),
        (data, problem.inputs),
    )


def _write_results(
    run: Run, folder: Path, data: Data | GraphStore, trainer: Training, settings: dict[str, Any]
) -> None:
    """Write what a finished run leaves; the summary last, as its presence says that the run is finished."""
    config, result, problem, task = run.config, run.result, trainer.problem, run.task
    found = trainer.held_out_probabilities()
    assert result is not None
    assert found is not None
    held_out = task.evidence(found[0], problem.val_labels.numpy(), found[1])
    predictions = run.predict(data)
    outputs = predictions.probabilities
    on_validation = found[0] if trainer.learned_from_validation else outputs[problem.val]
    if isinstance(data, GraphStore):
        data = node_data(data)
    _save_model(run, folder, settings)
    write_predictions(folder / PREDICTIONS, data, predictions)
    test = scores_on_test(data, outputs, task)
    summary: dict[str, Any] = {
        "task": task.kind,
        "val_accuracy": result.val_accuracy,
        "test_accuracy": None if test is None else test.get("accuracy"),
        "metric": config.metric,
        "scores": {
            "train": task.all_scores(outputs[problem.train], problem.train_labels.numpy()),
            "val": task.all_scores(on_validation, problem.val_labels.numpy()),
            "test": test,
        },
        "held_out": held_out.to_dict(),
        "threshold": task.to_dict().get("threshold"),
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "seconds": result.seconds,
        "protocol": protocol(data, config),
        "motif_share": predictions.shares(),
        "candidate_share": predictions.candidate_shares(),
        "versions": versions(),
        **run.notes,
    }
    simple = simple_scores(data, config.metric, problem.known)
    summary["alone"] = {"guess": simple.guess, "features": simple.features, "graph": simple.graph}
    summary["remarks"] = [
        *run.remarks,
        *result_remarks(problem, outputs, summary, simple, config.max_epochs, held_out, run.classes),
        *graph_remarks(data, problem.known),
    ]
    write_text(folder / SUMMARY, json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    (folder / LAST).unlink(missing_ok=True)
    run.summary = summary


def _save_model(run: Run, folder: Path, settings: dict[str, Any]) -> None:
    state = {
        "in_channels": run.memory.in_channels,
        "classes": run.classes,
        "feature_names": run.memory.feature_names,
        "settings": settings_digest(settings),
        **run.memory.state,
    }
    save_tensors(folder / MODEL, dict(run.model.state_dict()), state)


def save_run(run: Run, out: str | os.PathLike[str], epochs: Sequence[Epoch] = ()) -> Run:
    """Write a run that was trained without a folder: all that is needed to predict with it.

    Predictions and scores of its graph are not in the folder: `mcn predict` makes them.

    Raises:
        ValueError: the folder holds a run already.
    """
    folder, config, result = Path(out), run.config, run.result
    assert result is not None
    check_free(folder)
    settings = _settings(config, run.source, run.fingerprint)
    summary = {
        "task": run.task.kind,
        "val_accuracy": result.val_accuracy,
        "test_accuracy": None,
        "metric": config.metric,
        "threshold": run.task.to_dict().get("threshold"),
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "seconds": result.seconds,
        "protocol": config.protocol,
        "versions": versions(),
        **run.notes,
        "remarks": run.remarks,
    }
    with alone_in(folder):
        _write_settings(folder, settings)
        log = JSONLines(folder / METRICS)
        for epoch in epochs:
            log.write(epoch)
        _save_model(run, folder, settings)
        write_text(folder / SUMMARY, json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    return replace(run, folder=folder, summary=summary)


def _settings(config: Settings, source: dict[str, Any], fingerprint: str | None) -> dict[str, Any]:
    """Return what a run's file of settings states."""
    return {
        "mcn": __version__,
        "recipe": config.recipe,
        "source": source,
        "data": fingerprint,
        "config": config.to_dict(),
    }


def _write_settings(folder: Path, settings: dict[str, Any]) -> None:
    write_text(folder / CONFIG, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))


def load_run(folder: str | os.PathLike[str]) -> Run:
    """Read a finished run.

    Raises:
        ValueError: there is no run, it is not finished, or its files do not fit together.
    """
    folder = Path(folder)
    check_finished(folder)
    settings, config = read_settings(folder)
    path = folder / MODEL
    tensors, state = load_tensors(path)
    if state.pop("settings", None) != settings_digest(settings):
        raise ValueError(
            f"{folder / CONFIG}: not the settings that {MODEL} was trained with; the file was changed "
            "or belongs to another run"
        )
    model, classes, memory = stored_network(config, tensors, state, path)
    summary, source = read_json(folder / SUMMARY), settings["source"]
    return Run(folder, config, source, settings.get("data"), model, summary, classes, memory)


def protocol(data: Data, config: Settings) -> str:
    """One line on how the numbers of a run came about."""
    sizes = [int(data[f"{part}_mask"].sum()) for part in ("train", "val", "test")]
    return (
        f"{sizes[0]} training, {sizes[1]} validation, {sizes[2]} test nodes; {config.protocol}; "
        "test labels read once, after training"
    )


def versions() -> dict[str, str]:
    """Return the versions of the packages that decide the numbers of a run."""
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


def _go_on(trainer: Training, path: Path) -> None:
    """Go on from a checkpoint, if the first process has one."""
    stored = team().from_first(lambda: load_tensors(path) if path.exists() else None)
    if stored is None:
        return
    tensors, state = stored
    with reading(path, "not a checkpoint of this run"):
        if trainer.model is not None:  # the recipe auto has none before it is done
            load_weights(trainer.model, below("model.", tensors), path)
        trainer.load(tensors, state)
