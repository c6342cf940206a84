"""A run on disk: a folder with everything needed to resume it, predict with it and explain it."""

from __future__ import annotations

import csv
import io
import json
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch_geometric.data import Data

from mcn import __version__
from mcn._files import atomic_write
from mcn.motifs import MotifCounts
from mcn.nn import MCN
from mcn.train.callbacks import Checkpoints, Fraction, JSONLines
from mcn.train.checkpoint import load_tensors, save_tensors
from mcn.train.classifier import check_features
from mcn.train.config import Config
from mcn.train.evaluate import Predictions, predict, accuracy_on_test
from mcn.train.fit import Callback, Trainer, build_model, fit, make_network
from mcn.train.problem import Problem, features, motif_stack, prepare

CONFIG, METRICS, MODEL, LAST = "config.yaml", "metrics.jsonl", "model.safetensors", "last.safetensors"
PREDICTIONS, SUMMARY = "predictions.csv", "summary.json"


@dataclass(frozen=True)
class Run:
    """A finished run, read back from its folder."""

    config: Config
    source: dict[str, Any]
    model: MCN
    summary: dict[str, Any]
    count_scale: np.ndarray[Any, np.dtype[np.float64]]
    classes: list[str]
    feature_names: list[str] | None

    def predict(self, data: Data) -> Predictions:
        """Predict the nodes of a graph with the same features as the one trained on."""
        check_features(data, self.model.in_channels, self.feature_names)
        stack = motif_stack(data, self.config, None, self.count_scale)
        return predict(self.model, features(data.x, self.config.normalize), stack)


def train_run(
    folder: Path,
    data: Data,
    config: Config,
    source: dict[str, Any],
    *,
    counts: MotifCounts | None = None,
    resume: bool = False,
    progress: Callable[[float], Any] | None = None,
    callbacks: tuple[Callback, ...] = (),
) -> dict[str, Any]:
    """Train into `folder` and return the summary.

    Args:
        folder: made if it is not there; a folder with a run in it is refused unless `resume`.
        source: where the data came from (plain values), to find it again.
        resume: go on from the last checkpoint; a finished run is returned as it is.
    """
    settings = {"mcn": __version__, "source": source, "config": config.to_dict()}
    if (folder / CONFIG).exists():
        if not resume:
            raise ValueError(f"{folder} already holds a run; choose another --out, or go on with --resume")
        _check_same(folder, settings)
        if (folder / SUMMARY).exists():
            return _read_json(folder / SUMMARY)
    folder.mkdir(parents=True, exist_ok=True)
    problem = prepare(data, config, counts)
    trainer = Trainer(build_model(problem, config), problem, config)
    _write(folder / CONFIG, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
    if resume and (folder / LAST).exists():
        _load_into(trainer, folder / LAST)
    notes: list[Callback] = [JSONLines(folder / METRICS, trainer.epoch), Checkpoints(folder / LAST), *callbacks]
    try:
        result = fit(trainer, [*notes, Fraction(progress)] if progress else notes)
    except KeyboardInterrupt:
        # The epoch under way may be half done: what the last checkpoint holds is what a resume starts from.
        raise KeyboardInterrupt(f"interrupted after epoch {trainer.epoch}") from None

    own = predict(trainer.model, problem.x, problem.stack)
    save_tensors(folder / MODEL, dict(trainer.model.state_dict()), _model_state(problem, data, source))
    _write(folder / PREDICTIONS, predictions_csv(data, own, config.motifs))
    accuracy = accuracy_on_test(data, own.labels)
    summary = {
        "val_accuracy": result.val_accuracy,
        "test_accuracy": accuracy,
        "epochs": result.epochs,
        "best_epoch": result.best_epoch,
        "seconds": result.seconds,
        "protocol": protocol(data, config),
        "motif_share": _shares(own, config),
        "versions": versions(),
    }
    _write(folder / SUMMARY, json.dumps(summary, indent=2, ensure_ascii=False))
    (folder / LAST).unlink(missing_ok=True)
    return summary


def load_run(folder: Path) -> Run:
    """Read a finished run.

    Raises:
        ValueError: there is no run, it is not finished, or its files do not fit together.
    """
    for name in (CONFIG, SUMMARY, MODEL):
        if not (folder / name).is_file():
            unfinished = " (interrupted? go on with mcn train --resume)" if name != CONFIG else ""
            raise ValueError(f"{folder}: no finished run here, {name} is missing{unfinished}")
    try:
        settings = yaml.safe_load((folder / CONFIG).read_text())
        config, source = Config.from_dict(settings["config"]), dict(settings["source"])
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise ValueError(f"{folder / CONFIG}: not the settings of a run ({error})") from None
    tensors, state = load_tensors(folder / MODEL)
    model = make_network(int(state["in_channels"]), len(state["classes"]), config)
    load_weights(model, tensors, folder / MODEL)
    model.eval()
    scale = np.asarray(state["count_scale"], np.float64)
    return Run(
        config, source, model, _read_json(folder / SUMMARY), scale, state["classes"], state["feature_names"]
    )


def load_weights(model: torch.nn.Module, tensors: dict[str, torch.Tensor], path: Path) -> None:
    """Put weights into a model, or say that they belong to another architecture."""
    own = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    given = {name: tuple(value.shape) for name, value in tensors.items()}
    if own != given:
        odd = next(name for name in sorted(own.keys() | given.keys()) if own.get(name) != given.get(name))
        raise ValueError(
            f"{path}: weights of another architecture; {odd} has shape {given.get(odd)} in the file "
            f"and {own.get(odd)} in the network"
        )
    model.load_state_dict(tensors)


def predictions_csv(data: Data, own: Predictions, motifs: tuple[str, ...]) -> str:
    """The table of predictions: node, split, true, predicted, probability, motif and step of each layer."""
    ids = getattr(data, "node_ids", None)
    names = getattr(data, "classes", None)
    split = np.full(data.num_nodes, "", dtype="<U5")
    for part in ("train", "val", "test"):
        mask = data.get(f"{part}_mask")
        if mask is not None:
            split[mask.numpy()] = part
    truth = np.full(data.num_nodes, -1) if data.y is None else data.y.numpy()
    layers = range(1, own.motif.shape[1] + 1)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    choices = [name for layer in layers for name in (f"motif_{layer}", f"step_{layer}")]
    table.writerow(["node", "split", "true", "predicted", "probability", *choices])
    for i, label in enumerate(own.labels):
        row = [i if ids is None else ids[i], split[i]]
        row += ["" if c < 0 else (names[c] if names else c) for c in (truth[i], label)]
        row.append(f"{own.probabilities[i, label]:.4f}")
        for t, k in zip(own.motif[i], own.step[i], strict=True):
            row += [motifs[t], k]
        table.writerow(row)
    return text.getvalue()


def protocol(data: Data, config: Config) -> str:
    """One line on how the numbers of a run came about."""
    sizes = [int(data[f"{part}_mask"].sum()) for part in ("train", "val", "test")]
    rule = {"gat": "validation accuracy and loss", "accuracy": "validation accuracy", "loss": "validation loss"}
    return (
        f"{sizes[0]} training, {sizes[1]} validation, {sizes[2]} test nodes; weights kept by "
        f"{rule[config.stopping]}, patience {config.patience}; test labels read once, after training"
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
        "command": " ".join(["mcn", *sys.argv[1:]]),
    }


def _model_state(problem: Problem, data: Data, source: dict[str, Any]) -> dict[str, Any]:
    names = getattr(data, "classes", None)
    feature_names = getattr(data, "feature_names", None)
    return {
        "in_channels": int(problem.x.shape[1]),
        "classes": [str(c) for c in (names or range(problem.num_classes))],
        "feature_names": None if feature_names is None else [str(name) for name in feature_names],
        "count_scale": problem.stack.count_scale.tolist(),
    }


def _shares(own: Predictions, config: Config) -> list[dict[str, float]]:
    """Per layer: the share of the nodes that chose each motif and step."""
    layers = []
    for t, k in zip(own.motif.T, own.step.T, strict=True):
        layers.append(
            {
                f"{motif}, {step} step{'s' if step > 1 else ''}": float(((t == i) & (k == step)).mean())
                for i, motif in enumerate(config.motifs)
                for step in range(1, config.steps + 1)
            }
        )
    return layers


def _load_into(trainer: Trainer, path: Path) -> None:
    tensors, state = load_tensors(path)
    own = {name[len("model.") :]: value for name, value in tensors.items() if name.startswith("model.")}
    load_weights(trainer.model, own, path)
    trainer.load(tensors, state)


def _check_same(folder: Path, settings: dict[str, Any]) -> None:
    before = yaml.safe_load((folder / CONFIG).read_text())
    for part in ("source", "config"):
        old, new = before.get(part, {}), settings[part]
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                raise ValueError(
                    f"{folder}: the run there was started with {name} = {old.get(name)!r}, "
                    f"now it is {new.get(name)!r}; resume with the same settings"
                )


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not JSON, or truncated ({error})") from None
    return content
