"""What a page holds of a run: plain values for its texts and charts, arrays for its graph, its command."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcn._names import data_words
from mcn.data.limits import read_bytes, reading
from mcn.train.metrics import METRICS, calibration
from mcn.train.presets import dataset_config, default_recipe
from mcn.train.run import Run
from mcn.train.settings import Setting, Settings, declared
from mcn.viz.explanation import Explanation, Neighbourhood, Predictor, labelled_parts, numbers_within

_MOST_ENTRIES = 300_000  # of all neighbourhoods together; about 1.5 MB of the page
_MOST_PER_NODE = (30, 20, 12, 8, 5)
_LOSSES, _SCORES = ("train_loss", "val_loss"), ("train_accuracy", "val_accuracy", "val_score")


def plain_values(explanation: Explanation) -> dict[str, Any]:
    """The names, counts and charts of an explanation, of all its nodes."""
    bins, by_degree = choices_by_degree(explanation)
    return {
        "kind": explanation.kind,
        "predictor": {**asdict(explanation.predictor), "sentence": explanation.predictor.sentence},
        "whole": {"nodes": explanation.num_nodes, "edges": len(explanation.edges)},
        "metric_words": METRICS,
        "classes": explanation.classes,
        "target": explanation.shown.target,
        "note": explanation.shown.note,
        "numeric": explanation.shown.numbers is not None,
        "details": explanation.details,
        "motifs": list(explanation.motifs),
        "steps": explanation.steps,
        "layers": explanation.motif.shape[1],
        "shown_layers": len(explanation.options[0].coefficients),
        "chooses": [probabilities is not None for probabilities in explanation.motif_probs],
        "self_attention": explanation.self_attention,
        "confusion": confusion(explanation),
        "calibration": calibrations(explanation),
        "by_class": choices_by_class(explanation),
        "degree_bins": bins,
        "by_degree": by_degree,
    }


def part_of(
    explanation: Explanation, nodes: NDArray[np.int64]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Everything per node and edge of a part of the graph: its numbers and names, and arrays."""
    edges = numbers_within(nodes, explanation.num_nodes)[explanation.edges]
    inside = np.asarray((edges >= 0).all(axis=1))
    kept, options = trimmed([option.part(nodes, inside) for option in explanation.options])
    ids = [explanation.ids[node] for node in nodes.tolist()]
    values = {"nodes": len(nodes), "edges": int(inside.sum()), "ids": ids, "kept": kept}
    shown = explanation.shown
    arrays: dict[str, NDArray[Any]] = {
        "edges": edges[inside].astype(np.int32),
        "degree": explanation.degree[nodes].astype(np.uint32),
        "truth": explanation.truth[nodes].astype(np.int32),
        "predicted": explanation.predicted[nodes].astype(np.int32),
        "split": explanation.split[nodes].astype(np.uint8),
        "alternative_class": shown.predicted[1:, nodes].astype(np.uint16).ravel(),
    }
    if shown.probabilities is not None:
        own = np.take_along_axis(shown.probabilities[1:, nodes], shown.predicted[1:, nodes, None], 2)
        arrays["probabilities"] = _fraction(shown.probabilities[0, nodes])
        arrays["alternative_probability"] = _fraction(own)
    if shown.numbers is not None:
        arrays["true_number"] = shown.numbers[0][nodes].astype(np.float32)
        arrays["number"], *others = shown.numbers[1][:, nodes].astype(np.float32)
        arrays["alternative_number"] = np.concatenate(others)
    for layer in range(explanation.motif.shape[1]):
        arrays[f"motif_{layer}"] = explanation.motif[nodes, layer].astype(np.uint8)
        arrays[f"step_{layer}"] = explanation.step[nodes, layer].astype(np.uint8)
        selectors = {"f": explanation.motif_probs[layer], "g": explanation.step_probs[layer]}
        for name, probabilities in selectors.items():
            if probabilities is not None:
                arrays[f"{name}_{layer}"] = _fraction(probabilities[nodes])
    return values, arrays | option_arrays(options)


def option_arrays(options: list[Neighbourhood]) -> dict[str, NDArray[Any]]:
    """The neighbourhood of every motif and step."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, option in enumerate(options):
        arrays[f"pointers_{number}"] = option.indptr.astype(np.uint32)
        arrays[f"neighbours_{number}"] = option.indices.astype(np.uint32)
        arrays[f"weights_{number}"] = option.weights
        arrays[f"members_{number}"] = option.members.astype(np.uint8).ravel()
        arrays[f"total_{number}"] = option.total.astype(np.uint32)
        layers = ("first", "last")[-len(option.coefficients) :]
        for layer, values in zip(layers, option.coefficients, strict=True):
            scale = max(1.0, float(values.max(initial=0.0)))  # above 1 only where no softmax comes last
            arrays[f"{layer}_scale_{number}"] = np.array([scale], np.float32)
            arrays[f"{layer}_{number}"] = _fraction(values / np.float32(scale))
    return arrays


def trimmed(
    options: list[Neighbourhood], most_entries: int = _MOST_ENTRIES
) -> tuple[int, list[Neighbourhood]]:
    """The options with as many neighbours per node as the page has room for, and how many that is."""
    lengths = np.concatenate([np.diff(option.indptr) for option in options])
    for most in _MOST_PER_NODE:
        if int(np.minimum(lengths, most).sum()) <= most_entries:
            break
    return most, [option.keep(most) for option in options]


def confusion(explanation: Explanation) -> dict[str, list[list[int]]]:
    """Count, per part of the labelled nodes, those of each class (row) by predicted class (column)."""
    size = len(explanation.classes)
    return {
        part: _crossed(explanation.truth[nodes], explanation.predicted[nodes], size, size)
        for part, nodes in labelled_parts(explanation.truth, explanation.split)
    }


def calibrations(explanation: Explanation) -> dict[str, dict[str, Any]]:
    """Return, per part of the labelled nodes, how often predictions of a given confidence are right.

    The values are those of `mcn.train.metrics.Calibration`; nothing where there are no probabilities.
    """
    sure, truth, predicted = explanation.shown.probabilities, explanation.truth, explanation.predicted
    curves = {
        part: calibration(sure[0][nodes], truth[nodes], predicted[nodes])
        for part, nodes in labelled_parts(truth, explanation.split)
        if sure is not None
    }
    return {part: {**asdict(curve), "error": curve.error} for part, curve in curves.items()}


def choices_by_class(explanation: Explanation) -> list[list[list[int]]]:
    """Per choice of a node and true class: how many nodes took each option."""
    return _choices_by(explanation, explanation.truth, len(explanation.classes))


def choices_by_degree(explanation: Explanation) -> tuple[list[str], list[list[list[int]]]]:
    """Names of the degree bins (0, 1, 2, 3–4, 5–8, …), and per choice and bin how many took each option."""
    degree = explanation.degree
    bounds = [0, 1, 2]
    while bounds[-1] < degree.max(initial=0):
        bounds.append(bounds[-1] * 2)
    bins = np.searchsorted(bounds, degree)
    names = ["0", "1", "2", *(f"{low + 1}–{high}" for low, high in pairwise(bounds[2:]))]
    used, bins = np.unique(bins, return_inverse=True)
    return [names[b] for b in used], _choices_by(explanation, bins, len(used))


def _choices_by(explanation: Explanation, group: NDArray[np.int64], groups: int) -> list[list[list[int]]]:
    """Count the options, per choice of a node, in every group of nodes; a node in group -1 does not count."""
    inside, options = group >= 0, len(explanation.options)
    return [_crossed(group[inside], option[inside], groups, options) for option in explanation.chosen.T]


def training_curves(path: Path, predictor: Predictor, summary: dict[str, Any]) -> dict[str, Any] | None:
    """Scores by epoch of the network that predicts, from a run's log of epochs (metrics.jsonl) and summary.

    Of several networks that predict it is the one with the largest share that has epochs; of several runs of
    a candidate the first.

    Returns:
        network: whose curves they are. kept: the epoch whose weights it has, None if that is not known.
        epoch: from 1. All of `_LOSSES` and `_SCORES`: None where a value is not finite, or not there.
        Or None altogether where nothing was logged of what predicts.

    Raises:
        ValueError: a line is not JSON, or lacks a score.
    """
    logs = _read_log(path)
    for network in predictor.shares:
        candidate = None if predictor.mode == "network" else network
        numbers = [number for name, number in logs if name == candidate]
        if numbers:
            epochs, *columns = zip(*logs[candidate, min(numbers)], strict=True)
            runs = summary.get("candidate_runs", [summary])
            kept = [run["best_epoch"] for run in runs if run.get("candidate") == candidate]
            curves = {
                name: [value if math.isfinite(value) else None for value in column]
                for name, column in zip((*_LOSSES, *_SCORES), columns, strict=True)
            }
            since_one = [epoch - epochs[0] + 1 for epoch in epochs]
            return {"network": network, "kept": kept[0] if kept else None, "epoch": since_one, **curves}
    return None


def _read_log(path: Path) -> dict[tuple[str | None, int], list[list[float]]]:
    """The epoch and scores of every line, by candidate (None for a single network) and number of its run."""
    with reading(path, "not a log of epochs"):
        lines = read_bytes(path).decode().splitlines() if path.is_file() else []
    logs: dict[tuple[str | None, int], list[list[float]]] = {}
    for number, line in enumerate(lines, 1):
        with reading(f"{path}, line {number}", "not the scores of an epoch"):
            row: dict[str, Any] = json.loads(line)
            values = [*(row[name] for name in _LOSSES), *(row.get(name, math.nan) for name in _SCORES)]
            scores = [int(float(row["epoch"])), *(float(f"{float(value):.6g}") for value in values)]
            key = None if row.get("candidate") is None else str(row["candidate"]), int(row.get("run", 0))
        logs.setdefault(key, []).append(scores)
    return logs


def _crossed(row: NDArray[np.int64], column: NDArray[np.int64], rows: int, columns: int) -> list[list[int]]:
    counts = np.bincount(row * columns + column, minlength=rows * columns)
    table: list[list[int]] = counts.reshape(rows, columns).tolist()
    return table


def _fraction(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Numbers between 0 and 1 in 16 bits."""
    return np.rint(np.clip(values, 0.0, 1.0) * 65535).astype(np.uint16).ravel()


def train_command(run: Run) -> str:
    """Return the `mcn train …` of a run, with every setting that differs from what it would use by itself."""
    words, dataset = ["mcn", "train"], run.source.get("dataset")
    for name in ("dataset", "graph", "nodes"):
        if run.source.get(name) is not None:
            words += [f"--{name}", str(run.source[name])]
    words += data_words({k: v for k, v in run.source.items() if k not in ("dataset", "graph", "nodes")})
    recipe = run.config.recipe
    if recipe != default_recipe(dataset):
        words += ["--recipe", recipe]
    if run.config.motifs is not None:
        words += ["--motifs", ",".join(run.config.motifs)]
    usual = dataset_config(recipe, dataset).replace(motifs=run.config.motifs, seed=run.config.seed)
    settings = declared(type(run.config))
    for name, value in _changes(usual, run.config).items():
        words += _option(settings[name], value)
    return shlex.join([*words, "--seed", str(run.config.seed)])


def _changes(usual: Settings, config: Settings) -> dict[str, object]:
    """Return the changes that make `config` of `usual`, none of which can be left out."""
    changes: dict[str, object] = {}
    while (so_far := usual.replace(**changes)) != config:  # a rule of attention brings other settings along
        wanted = {name: getattr(config, name) for name in declared(type(config))}
        changes |= {name: value for name, value in wanted.items() if value != getattr(so_far, name)}
    for name in reversed(list(changes)):
        fewer = {other: value for other, value in changes.items() if other != name}
        changes = fewer if _gives(usual, fewer, config) else changes
    return changes


def _gives(usual: Settings, changes: dict[str, object], config: Settings) -> bool:
    try:
        return usual.replace(**changes) == config
    except ValueError:  # some settings only go together
        return False


def _option(setting: Setting, value: object) -> list[str]:
    """Return the words that set a setting on the command line."""
    if setting.option is None:
        return ["--set", f"{setting.name}={setting.show(value)}"]
    if setting.kind is bool:
        yes, no = setting.option.split("/")
        return [f"--{yes if value else no}"]
    return [f"--{setting.option}", setting.show(value)]
