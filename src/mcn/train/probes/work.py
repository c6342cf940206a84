"""Probes at work: the recipe `auto`, and the recipe `mcn` with the rule of attention `probed`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.motifs import MotifCounts, count_motifs
from mcn.nn import MCN
from mcn.train.explained import Explained, Option
from mcn.train.mcn.work import refit_options
from mcn.train.predictions import Predictions
from mcn.train.probes.choose import Float, as_logits, tempered
from mcn.train.probes.inputs import ProbesInputs
from mcn.train.probes.network import BLEND, GRAPH, REFIT, Chosen, empty
from mcn.train.probes.plan import by_layer, options_of
from mcn.train.probes.trainer import ProbesTrainer
from mcn.train.problem import Memory, Problem
from mcn.train.recipes import work_of


def inputs(
    data: Data, config: Any, counts: MotifCounts | None = None, memory: Memory | None = None
) -> ProbesInputs:
    """Hold the graph; what the candidates take of it is made when they need it.

    Raises:
        ValueError: the graph lies on disk, or its features are not those of `memory`.
    """
    if not isinstance(data, Data):
        raise ValueError(
            "attention probed needs the graph in memory; for one on disk choose attention gated or paper, or "
            "load it with to_data()"
        )
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    found = ProbesInputs(data, counts, config.shared(), memory)
    if memory is not None:
        found.whole  # noqa: B018  checks the features against those of the graph trained on
    return found


def network(in_channels: int, num_classes: int, config: Any, memory: Memory | None = None) -> Chosen:
    """Make the networks of a finished run, to load their weights."""
    assert memory is not None
    return empty(memory.state.get("chosen"), memory.state.get("widths"), num_classes)


def trainer(problem: Problem, config: Any) -> ProbesTrainer:
    """Start with the first candidate."""
    return ProbesTrainer(None, problem, config)


def predict(model: Chosen, inputs: ProbesInputs) -> Predictions:
    """Predict all nodes by what the run decided, with calibrated probabilities."""
    layers, names = _layers(model), tuple(each.name for each in model.probes)
    if model.decision.mode == GRAPH and model.probes[model.winner].option is None:
        own = _predict(model, inputs, model.winner)
        return Predictions(_probabilities(model, model.winner, own), own.motif, own.step, own.motifs)
    if model.decision.mode == BLEND:
        probabilities = _blended(model, inputs)
        motif = np.full((len(probabilities), layers), int(model.shares.argmax()))  # the same for all
        return Predictions(probabilities, motif, np.ones_like(motif), names)
    choice = model.choices(inputs.node_state)
    if model.decision.mode == REFIT:
        number = _numbers(model, choice)
        probabilities = _probabilities(model, -1, _refitted(model, inputs, number))
        listened = np.stack([np.broadcast_to(each, len(choice)) for each in _by_layer(model, number)], 1)
        motif, step = np.divmod(listened, inputs.stack.steps)
        return Predictions(probabilities, motif, step + 1, inputs.stack.motifs, inputs.stack.steps)
    used = np.unique(choice).tolist()
    each = {number: _probabilities(model, number, _predict(model, inputs, number)) for number in used}
    probabilities = np.empty_like(each[used[0]])
    for number, theirs in each.items():
        probabilities[choice == number] = theirs[choice == number]
    motif = np.broadcast_to(choice[:, None], (len(choice), layers))
    return Predictions(probabilities, motif, np.ones_like(motif), names)


def explain(model: Chosen, inputs: ProbesInputs) -> Explained:
    """Say what each node chose, and what it would have been predicted as by every other candidate."""
    winner = model.probes[model.winner]
    if model.decision.mode == GRAPH and winner.option is None:
        shown = work_of(winner.config).explain(_first(model, model.winner), inputs.of(winner))
        return dataclasses.replace(shown, predictions=predict(model, inputs))
    own = predict(model, inputs)
    layers = own.motif.shape[1]
    sure: NDArray[np.float32] | None = None
    if model.decision.mode == BLEND:
        sure = np.broadcast_to(model.shares.numpy().astype(np.float32), (len(own.labels), len(model.probes)))
    elif model.decision.mode != GRAPH:
        sure = _sureness(model, inputs.node_state)
    if model.decision.mode == REFIT:
        refit = _first(model, -1)
        whole = inputs.whole
        numbers = _numbers(model, model.choices(inputs.node_state))
        listened = _by_layer(model, numbers)
        tried = refit_options(refit, whole, listened)
        assert sure is not None
        count = whole.stack.num_motifs * whole.stack.steps
        by_motif = _by_option(sure, _numbers(model, np.arange(len(model.probes))), count)
        by_motif = by_motif.reshape(len(sure), whole.stack.num_motifs, -1).sum(2)
        attention = bool(refit.convs[0].self_attention)
        sureness = [by_motif if np.ndim(each) else None for each in listened]  # None: the same for all
        return Explained("choices", own, whole.stack.steps, attention, sureness, [None] * layers, tried)
    attention = bool(winner.config.to_dict()["self_attention"])
    options = _options(model, inputs)
    return Explained("candidates", own, 1, attention, [sure] * layers, [None] * layers, options)


def _options(model: Chosen, inputs: ProbesInputs) -> Iterator[Option]:
    """Yield every candidate as an option: its rows, its coefficients, its own predictions."""
    for number, probe in enumerate(model.probes):
        # Of several runs, and of motif views, the first one is shown.
        first = next(work_of(probe.config).explain(_first(model, number), inputs.of(probe)).options)
        probabilities = _probabilities(model, number, _predict(model, inputs, number))
        coefficients = [first.coefficients[0], first.coefficients[-1]][: _layers(model)]
        yield Option(probe.name, 1, first.rows, coefficients, probabilities)


def _numbers(model: Chosen, choice: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the options in the shared stack of candidates, for the refitted network."""
    assert model.decision.refit is not None
    return np.asarray(options_of(model.probes, model.decision.refit)[choice])


def _by_layer(model: Chosen, numbers: NDArray[np.int64]) -> list[Any]:
    """Return what nodes listen to in each layer of the refitted network: one option for all, or their own."""
    refit: Any = model.decision.refit
    return by_layer(refit, numbers, refit.config.num_layers)


def _layers(model: Chosen) -> int:
    firsts = (_first(model, number) for number in range(len(model.networks)))
    return next((net.num_layers for net in firsts if isinstance(net, MCN)), 0)


def _first(model: Chosen, number: int) -> Any:
    """Return the network of a candidate's first run."""
    runs: Any = model.networks[number]
    return runs[0]


def _predict(model: Chosen, inputs: ProbesInputs, number: int) -> Predictions:
    """Predict by a candidate: by the mean probabilities of its runs."""
    probe, runs = model.probes[number], model.networks[number]
    assert isinstance(runs, torch.nn.ModuleList)
    each = [work_of(probe.config).predict(net, inputs.of(probe)) for net in runs]
    mean = np.mean([own.probabilities for own in each], axis=0, dtype=np.float64)
    return dataclasses.replace(each[0], probabilities=np.asarray(mean, np.float32))


def _refitted(model: Chosen, inputs: ProbesInputs, options: NDArray[np.int64]) -> Predictions:
    refit = model.decision.refit
    assert refit is not None
    return work_of(refit.config).predict(_first(model, -1), inputs.chosen(refit, options))


def _probabilities(model: Chosen, number: int, own: Predictions) -> NDArray[np.float32]:
    logits = as_logits(own.probabilities)
    return tempered(logits, float(model.temperatures[number])).astype(np.float32)


def _blended(model: Chosen, inputs: ProbesInputs) -> NDArray[np.float32]:
    shares = [(number, share) for number, share in enumerate(model.shares.tolist()) if share]
    parts = [
        share * _probabilities(model, number, _predict(model, inputs, number)) for number, share in shares
    ]
    return np.asarray(sum(parts), np.float32)


def _sureness(model: Chosen, state: Float) -> NDArray[np.float32]:
    """Return how the predicted rewards of a node compare: their softmax in units of a tenth."""
    return tempered(model.chooser.predicted(state), 0.1).astype(np.float32)


def _by_option(sure: NDArray[np.float32], options: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    found = np.zeros((len(sure), count), np.float32)
    for column, option in enumerate(options):
        found[:, option] += sure[:, column]
    return found
