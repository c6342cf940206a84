"""A run on disk: a folder with everything needed to resume it, predict with it and explain it."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
import yaml

from graphmotifs._files import write_text
from graphmotifs._messages import brief
from mcn import __version__
from mcn._names import data_words
from mcn.data.checks import usable_data
from mcn.data.limits import reading
from mcn.data.treatment import Treatment
from mcn.store import GraphStore, node_data
from mcn.train import folder as files
from mcn.train.callbacks import Checkpoints, JSONLines
from mcn.train.checkpoint import load_tensors, load_weights, save_tensors, stored_network
from mcn.train.loop import Callback, Epoch, FitResult, Trainer, Training, below, fit
from mcn.train.predictions import Explained, Predictions, scores_on_test, write_predictions
from mcn.train.problem import Inputs, Memory, Problem, class_names, graph_changes, known_labels, prepare
from mcn.train.processes import team
from mcn.train.recipes import work_of
from mcn.train.remarks import graph_remarks, result_remarks, simple_scores
from mcn.train.settings import Settings
from mcn.train.tasks import Task, stored_task
from mcn.train.treated import treated_graph

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

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a finished run from its folder; `mcn.load_run` reads the same as an estimator.

        Raises:
            ValueError: there is no run, it is not finished, or its files do not fit together.
        """
        folder = Path(folder)
        files.check_finished(folder)
        settings, config = files.read_settings(folder)
        path = folder / files.MODEL
        tensors, state = load_tensors(path)
        if state.pop("settings", None) != files.settings_digest(settings):
            raise ValueError(
                f"{folder / files.CONFIG}: not the settings that {files.MODEL} was trained with; "
                "the file was changed or belongs to another run"
            )
        model, classes, memory = stored_network(config, tensors, state, path)
        summary = files.read_summary(folder, tensors)
        return cls(folder, config, settings["source"], settings.get("data"), model, summary, classes, memory)

    def path(self, name: str) -> Path:
        """Return the path of a file of the run, checked if the run's summary knows what the file held.

        Raises:
            ValueError: the run was not written, or the file was changed since.
        """
        if self.folder is None:
            raise ValueError("this run was trained without a folder; give `train` one to keep its files")
        files.check_file(self.folder / name, self.summary)
        return self.folder / name

    def inputs(self, data: Data | GraphStore | None) -> Inputs:
        """Return what the network takes from a graph; for None, from the one it has just been trained on.

        Raises:
            ValueError: the graph's features are not those the network was trained on.
        """
        if self._prepared is None or self._prepared[0] is not data:
            if data is None:
                raise ValueError("give a graph: this run does not hold the one it was trained on")
            graph = treated_graph(data, self.config, self.memory)
            self._prepared = (data, work_of(self.config).inputs(graph, self.config, memory=self.memory))
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

    def is_about(self, data: Data | GraphStore) -> bool:
        """Whether edges, features, known labels and split are those that the run was trained on."""
        return not self.changes(data)

    def changes(self, data: Data | GraphStore) -> str:
        """Say how a graph differs from the one the run was trained on; empty if it does not."""
        try:
            with warnings.catch_warnings(action="ignore"):  # training has told them
                problem = Problem(self.inputs(data), known_labels(data))
        except ValueError as error:
            return brief(error)
        if problem.fingerprint() == self.fingerprint:
            return ""
        before, unknown = self.summary.get("graph"), "edges, features, labels or split differ"
        return (before and graph_changes(before, problem.facts, self.source)) or unknown

    def check_graph(self, data: Data | GraphStore) -> None:
        """Refuse a graph that is not the one the run was trained on; say how it differs."""
        if changes := self.changes(data):
            given = {name: self.source[name] for name in ("graph", "nodes") if self.source.get(name)}
            advice = f"give {' '.join(data_words(given))} to take it as it is now" if given else "train anew"
            raise ValueError(
                f"{self.folder}: the graph is no longer the one the run was trained on: {changes}; {advice}"
            )


load_run = Run.load
"""The older name of `Run.load`, until the next version; `mcn.load_run` returns an estimator."""


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
    data = treated_graph(usable_data(data), config)
    folder = None if out is None else Path(out)
    writes = folder is not None and team().leads
    if folder is not None and writes:
        files.check_free(folder, resume)
    if problem is None:
        assert data is not None
        problem = prepare(data, config)
    config = config.settled(problem)
    told: list[Callback] = list(callbacks)
    if progress is not None:
        told.append(lambda training, _epoch: progress(training.progress))
    if folder is None:
        trainer = work_of(config).trainer(problem, config)
        run = _trained(None, data, trainer, fit(trainer, told), source or {}, None)
        if data is not None and not isinstance(trainer, Trainer):  # a selection holds nodes out by itself
            run.remarks = _judge(run, data, trainer)[1]["remarks"]
        return run
    settings = _settings(config, source or {}, problem.fingerprint())
    if team().from_first((folder / files.SUMMARY).exists):
        if writes:
            files.check_same(folder, settings)
            files.tidy(folder)
        return replace(Run.load(folder), _prepared=(data, problem.inputs))
    trainer = work_of(config).trainer(problem, config)
    with files.alone_in(folder, resume) if writes else nullcontext():
        if writes and (folder / files.CONFIG).exists():
            files.check_same(folder, settings)
            if (folder / files.SUMMARY).exists():  # it was finished while this process prepared
                return Run.load(folder)
        if writes:
            _write_settings(folder, settings)
        if isinstance(trainer, Trainer):
            trainer.hold_out(config.seed)  # what is claimed afterwards rests on nodes that chose no epoch
        _go_on(trainer, folder / files.LAST)
        if writes:
            told = [JSONLines(folder / files.METRICS, trainer.epoch), Checkpoints(folder / files.LAST), *told]
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
    classes = class_names(data)
    if classes is None or len(classes) != problem.num_classes:  # a number has replaced the named classes
        classes = [str(number) for number in range(problem.num_classes)]
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


def _judge(run: Run, data: Data | GraphStore, trainer: Training) -> tuple[Predictions, dict[str, Any]]:
    """Return the predictions of a finished run, with their scores and remarks; no test label is read."""
    config, problem, task = run.config, trainer.problem, run.task
    found = trainer.held_out_probabilities()
    assert found is not None
    held_out = task.evidence(found[0], problem.val_labels.numpy(), found[1])
    predictions = run.predict(data)
    outputs = predictions.probabilities
    on_validation = found[0] if trainer.learned_from_validation else outputs[problem.val]
    if isinstance(data, GraphStore):
        data = node_data(data)
    simple = simple_scores(data, config.metric, problem.known)
    summary = _outcome(run) | {
        "scores": {
            "train": task.all_scores(outputs[problem.train], problem.train_labels.numpy()),
            "val": task.all_scores(on_validation, problem.val_labels.numpy()),
        },
        "held_out": held_out.to_dict(),
        "alone": {"guess": simple.guess, "features": simple.features, "graph": simple.graph},
    }
    summary["remarks"] = [
        *run.remarks,
        *result_remarks(problem, outputs, summary, simple, config.max_epochs, held_out, run.classes),
        *graph_remarks(data, problem.known),
    ]
    return predictions, summary


def _write_results(
    run: Run, folder: Path, data: Data | GraphStore, trainer: Training, settings: dict[str, Any]
) -> None:
    """Write what a finished run leaves; the summary last, as its presence says that the run is finished."""
    predictions, summary = _judge(run, data, trainer)
    if isinstance(data, GraphStore):
        data = node_data(data)
    _save_model(run, folder, settings)
    write_predictions(folder / files.PREDICTIONS, data, predictions)
    test = scores_on_test(data, predictions.probabilities, run.task)
    summary["scores"]["test"] = test
    summary |= {
        "graph": trainer.problem.facts,
        "test_accuracy": None if test is None else test.get("accuracy"),
        "protocol": protocol(data, run.config),
        "motif_share": predictions.shares(),
    }
    run.summary = files.write_summary(folder, summary, run.model.state_dict())
    run.remarks = run.summary["remarks"]
    (folder / files.LAST).unlink(missing_ok=True)


def _outcome(run: Run) -> dict[str, Any]:
    """Return what the summary of every run states, whether or not predictions were written beside it."""
    result = run.result
    assert result is not None
    return {
        "task": run.task.kind,
        "val_accuracy": result.val_accuracy,
        "test_accuracy": None,
        "metric": run.config.metric,
        "scores": {},
        "alone": {},
        "threshold": run.task.to_dict().get("threshold"),
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "seconds": result.seconds,
        "protocol": run.config.protocol,
        "versions": versions(),
        **run.notes,
        "remarks": run.remarks,
    }


def _save_model(run: Run, folder: Path, settings: dict[str, Any]) -> None:
    state = {
        "in_channels": run.memory.in_channels,
        "classes": run.classes,
        "feature_names": run.memory.feature_names,
        "settings": files.settings_digest(settings),
        **run.memory.state,
    }
    save_tensors(folder / files.MODEL, dict(run.model.state_dict()), state)


def save_run(run: Run, out: str | os.PathLike[str], epochs: Sequence[Epoch] = ()) -> Run:
    """Write a run that was trained without a folder: all that is needed to predict with it.

    Predictions and scores of its graph are not in the folder: `mcn predict` makes them.

    Raises:
        ValueError: the folder holds a run already.
    """
    folder = Path(out)
    files.check_free(folder)
    settings = _settings(run.config, run.source, run.fingerprint)
    with files.alone_in(folder):
        _write_settings(folder, settings)
        log = JSONLines(folder / files.METRICS)
        for epoch in epochs:
            log.write(epoch)
        _save_model(run, folder, settings)
        summary = files.write_summary(folder, _outcome(run), run.model.state_dict())
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
    write_text(folder / files.CONFIG, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))


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
