"""A run on disk: a folder with everything needed to resume it, predict with it and explain it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn import __version__
from mcn._files import atomic_write
from mcn.matrices import MotifStack, PageRankRows
from mcn.motifs import MotifCounts, count_motifs
from mcn.nn import MCN, MotifViews
from mcn.nn.features import SparseFeatures
from mcn.train.callbacks import Checkpoints, Fraction, JSONLines
from mcn.train.checkpoint import load_tensors, load_weights, save_tensors
from mcn.train.config import Config
from mcn.train.evaluate import Predictions, accuracy_on_test, predict
from mcn.train.features import check_features, features, inputs
from mcn.train.fit import BaseTrainer, Callback, FitResult, fit
from mcn.train.problem import Problem, class_names, motif_stack
from mcn.train.recipes import (
    AnyConfig,
    config_from,
    make_trainer,
    network_of,
    predict_trained,
    prepare_any,
    recipe_of,
)
from mcn.train.table import predictions_csv
from mcn.train.views_config import ViewsConfig
from mcn.train.views_fit import predict_views
from mcn.train.views_problem import ViewsProblem, held_sparse, rows_of

CONFIG, METRICS, MODEL, LAST = "config.yaml", "metrics.jsonl", "model.safetensors", "last.safetensors"
PREDICTIONS, SUMMARY = "predictions.csv", "summary.json"


@dataclass(frozen=True)
class Run:
    """A finished run, read back from its folder."""

    config: AnyConfig
    source: dict[str, Any]
    model: MCN | MotifViews
    summary: dict[str, Any]
    count_scale: NDArray[np.float64]
    classes: list[str]
    feature_names: list[str] | None

    def predict(self, data: Data) -> Predictions:
        """Predict the nodes of a graph with the same features as the one trained on."""
        if isinstance(self.model, MotifViews):
            return predict_views(self.model, *self.views_of(data))
        return predict(self.model, *self.inputs_of(data))

    def inputs_of(self, data: Data) -> tuple[torch.Tensor, MotifStack]:
        """What an `mcn.MCN` takes: the features of a graph and its motif stack.

        Raises:
            ValueError: the graph's features are not those the network was trained on.
        """
        assert isinstance(self.config, Config)
        if self.config.features == "given":
            check_features(data, self.model.in_channels, self.feature_names)
        stack = motif_stack(data, self.config, None, self.count_scale)
        return inputs(data, stack, self.config), stack

    def views_of(self, data: Data) -> tuple[SparseFeatures, PageRankRows]:
        """What an `mcn.nn.MotifViews` is fed from: the features of a graph and the rows that mix them.

        Raises:
            ValueError: the graph's features are not those the network was trained on.
        """
        assert isinstance(self.config, ViewsConfig)
        check_features(data, self.model.in_channels, self.feature_names)
        rows = rows_of(count_motifs(data.edge_index, data.num_nodes), self.config)
        return held_sparse(features(data.x, self.config.normalize)), rows


def train_run(
    folder: str | os.PathLike[str],
    data: Data,
    config: AnyConfig,
    source: dict[str, Any],
    *,
    counts: MotifCounts | None = None,
    resume: bool = False,
    progress: Callable[[float], Any] | None = None,
    callbacks: tuple[Callback, ...] = (),
) -> dict[str, Any]:
    """Train into `folder` and return the summary.

    Nothing is written before the graph and the settings have passed every check.

    Args:
        folder: made if it is not there; a folder with a run in it is refused unless `resume`.
        source: where the data came from (plain values), to find it again.
        counts: the motif counts of `data`, if they are known already.
        resume: go on from the last checkpoint; a finished run is returned as it is.
        progress: told how far the run is, between 0 and 1.
        callbacks: told of every epoch, besides those that write the run's files.

    Raises:
        ValueError: the graph cannot be trained on, the folder holds another run, or a file is damaged.
    """
    folder = Path(folder)
    check_free(folder, resume)
    problem = prepare_any(data, config, counts)
    settings = {
        "mcn": __version__,
        "recipe": recipe_of(config),
        "source": source,
        "data": problem.fingerprint(),
        "config": config.to_dict(),
    }
    if (folder / CONFIG).exists():
        _check_same(folder, settings)
        if (folder / SUMMARY).exists():
            return read_json(folder / SUMMARY)
    trainer = make_trainer(problem, config)
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
    return _finish(folder, data, config, problem, trainer, result)


def _finish(
    folder: Path,
    data: Data,
    config: AnyConfig,
    problem: Problem | ViewsProblem,
    trainer: BaseTrainer,
    result: FitResult,
) -> dict[str, Any]:
    """Write what a finished run leaves; the summary last, as its presence says that the run is finished."""
    own = predict_trained(trainer)
    save_tensors(folder / MODEL, dict(trainer.model.state_dict()), _model_state(problem, data))
    _write(folder / PREDICTIONS, predictions_csv(data, own, config.motifs))
    summary = {
        "val_accuracy": result.val_accuracy,
        "test_accuracy": accuracy_on_test(data, own.labels),
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "seconds": result.seconds,
        "protocol": protocol(data, config),
        "motif_share": _shares(own, config),
        "versions": versions(),
    }
    _write(folder / SUMMARY, json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    (folder / LAST).unlink(missing_ok=True)
    return summary


def load_run(folder: str | os.PathLike[str]) -> Run:
    """Read a finished run.

    Raises:
        ValueError: there is no run, it is not finished, or its files do not fit together.
    """
    folder = Path(folder)
    for name in (CONFIG, SUMMARY, MODEL):
        if not (folder / name).is_file():
            raise ValueError(f"{folder}: no finished run here, {name} is missing{_hint(folder, name)}")
    settings = _read_settings(folder)
    try:
        config = config_from(settings["config"], settings.get("recipe", "mcn"))
        source = dict(settings["source"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / CONFIG}: not the settings of a run ({error})") from None
    tensors, state = load_tensors(folder / MODEL)
    missing = sorted({"in_channels", "classes", "feature_names", "count_scale"} - set(state))
    if missing:
        raise ValueError(f"{folder / MODEL}: not the model of a finished run; it does not state {missing[0]}")
    model = network_of(int(state["in_channels"]), len(state["classes"]), config)
    load_weights(model, tensors, folder / MODEL)
    model.eval()
    scale = np.asarray(state["count_scale"], np.float64)
    summary = read_json(folder / SUMMARY)
    return Run(config, source, model, summary, scale, state["classes"], state["feature_names"])


def check_free(folder: Path, resume: bool = False) -> None:
    """Refuse a folder that holds a run already, unless it is to be resumed."""
    if (folder / CONFIG).exists() and not resume:
        raise ValueError(f"{folder} already holds a run; choose another --out, or go on with --resume")


def protocol(data: Data, config: AnyConfig) -> str:
    """One line on how the numbers of a run came about."""
    sizes = [int(data[f"{part}_mask"].sum()) for part in ("train", "val", "test")]
    rule = {
        "gat": "validation accuracy and loss",
        "accuracy": "validation accuracy",
        "loss": "validation loss",
    }
    return (
        f"{sizes[0]} training, {sizes[1]} validation, {sizes[2]} test nodes; weights kept by "
        f"{rule[config.stopping]}, patience {config.patience}{_unit(config)}; "
        "test labels read once, after training"
    )


def _unit(config: AnyConfig) -> str:
    return f" × {config.every} steps" if isinstance(config, ViewsConfig) else ""


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


def _model_state(problem: Problem | ViewsProblem, data: Data) -> dict[str, Any]:
    feature_names = getattr(data, "feature_names", None)
    return {
        "in_channels": int(problem.x.shape[1]),
        "classes": class_names(data) or [str(number) for number in range(problem.num_classes)],
        "feature_names": None if feature_names is None else [str(name) for name in feature_names],
        "count_scale": problem.stack.count_scale.tolist() if isinstance(problem, Problem) else [],
    }


def _shares(own: Predictions, config: AnyConfig) -> list[dict[str, float]]:
    """Per layer: the share of the nodes that chose each motif and step; nothing where none choose."""
    if isinstance(config, ViewsConfig):
        return []
    return [
        {
            f"{motif}, {step} step{'s' if step > 1 else ''}": float(((t == i) & (k == step)).mean())
            for i, motif in enumerate(config.motifs)
            for step in range(1, config.steps + 1)
        }
        for t, k in zip(own.motif.T, own.step.T, strict=True)
    ]


def _hint(folder: Path, name: str) -> str:
    if name != CONFIG:
        return " (interrupted? go on with mcn train … --resume)"
    inside = sorted(path.parent.name for path in folder.glob(f"*/{CONFIG}"))
    return f" (there are runs in it: {', '.join(inside[:5])})" if inside else ""


def _load_into(trainer: BaseTrainer, path: Path) -> None:
    tensors, state = load_tensors(path)
    own = {name[len("model.") :]: value for name, value in tensors.items() if name.startswith("model.")}
    load_weights(trainer.model, own, path)
    trainer.load(tensors, state)


def _check_same(folder: Path, settings: dict[str, Any]) -> None:
    before = _read_settings(folder)
    for part in ("source", "config"):
        old, new = before.get(part) or {}, settings[part]
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


def _read_settings(folder: Path) -> dict[str, Any]:
    try:
        settings = yaml.safe_load((folder / CONFIG).read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{folder / CONFIG}: not YAML ({error})") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{folder / CONFIG}: not the settings of a run")
    return settings


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())
