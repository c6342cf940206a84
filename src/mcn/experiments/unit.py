"""A unit of work: one method on one graph with one seed, its key, and running it."""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mcn import __version__
from mcn.baselines import BASELINES, scores, task_from_data
from mcn.experiments.source import Graph, Source, load
from mcn.train import (
    METHODS,
    Config,
    Problem,
    accuracy_on_test,
    configure,
    dataset_config,
    fit,
    recipe_config,
)
from mcn.train._settings import one_of
from mcn.train.recipes import AnyConfig, make_trainer, predict_trained, prepare_any
from mcn.train.views_problem import ViewsProblem

VIEWS = "views"
"""The method that is trained with motif views (recipe "views")."""
FORMAT = 1
"""Part of every key: raised when the same settings come to mean another computation."""
_MOST = 2  # prepared problems kept: seeds of one configuration follow each other, and stacks can be large


@dataclass(frozen=True)
class Unit:
    """One run. Equal units have equal keys, so that none is ever run twice.

    Attributes:
        source: the graph.
        method: one of `mcn.train.METHODS` (a network, trained by `mcn.train.fit`), "views" (trained with
            motif views), else one of `mcn.baselines.BASELINES`. gat, gcn and mlp are in both: they run as
            networks, so that they share the trainer and the settings.
        settings: changes to the data set's configuration; the method's own changes come after them, as in
            `mcn.train.compare`. A baseline has none.
        seed: decides everything random; for dd6 and dd7 also the draw of the split.
        test: whether the test labels are read, once, after training; otherwise `test_accuracy` is None.
        own: changes that have the last word, after those of the method: {"hidden": 32} makes a GCN of 32
            units.
    """

    source: Source
    method: str = "mcn"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    test: bool = True
    own: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("settings", "own"):
            object.__setattr__(self, name, _plain(name, getattr(self, name)))
            if "seed" in getattr(self, name):
                raise ValueError(
                    f"{name} must not hold a seed, got {getattr(self, name)}; a unit has its own"
                )
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise ValueError(f"seed must be an integer of at least 0, got {self.seed!r}")
        object.__setattr__(self, "seed", int(self.seed))
        one_of("method", self.method, tuple(sorted({*METHODS, VIEWS, *BASELINES})))
        self.config()  # an impossible setting is said here, not in a worker

    def __hash__(self) -> int:
        return hash((self.source, self.method, _canonical([self.settings, self.own]), self.seed, self.test))

    def config(self) -> AnyConfig | None:
        """The complete configuration of a network; None for a baseline."""
        if self.method == VIEWS:
            changes = {**self.settings, **self.own, "seed": self.seed}
            return recipe_config("views", self.source.dataset, **changes)
        if self.method not in METHODS:
            if self.settings or self.own:
                given = {**self.settings, **self.own}
                raise ValueError(f"the baseline {self.method!r} has no settings, got {given}")
            return None
        Config.from_dict({**self.settings, **self.own})  # names an unknown setting
        base = dataset_config(self.source.dataset, **self.settings)
        return configure(self.method, base).but(**{**self.own, "seed": self.seed})

    def key(self) -> str:
        """SHA-256 of all that decides the result: complete configuration, seed, data, `FORMAT`.

        A changed default changes the configuration, and with it the key. Loads the graph, once per process.
        """
        config = self.config()
        return hashlib.sha256(
            _canonical(
                {
                    "format": FORMAT,
                    "method": self.method,
                    "dataset": self.source.dataset,
                    "data": load(self.source, self.seed).fingerprint,
                    "config": None if config is None else config.to_dict(),
                    "seed": self.seed,
                    "test": self.test,
                }
            ).encode()
        ).hexdigest()


def run_unit(unit: Unit) -> dict[str, Any]:
    """Run it; the row for the ledger.

    key, dataset, method, settings, seed, test, val_accuracy, val_loss, test_accuracy (None unless
    `unit.test`), epochs, seconds, version, error (None), config. Accuracies are fractions. A baseline has no
    val_loss, epochs and config.

    Raises:
        ValueError: the graph cannot be trained on, or the settings do not fit it.
    """
    graph = load(unit.source, unit.seed)
    config = unit.config()
    figures = _baseline(unit, graph) if config is None else _network(unit, graph, config)
    return blank_row(unit) | figures


def blank_row(unit: Unit) -> dict[str, Any]:
    """The row of a unit without its figures."""
    config = unit.config()
    return {
        "key": unit.key(),
        "dataset": unit.source.title,
        "method": unit.method,
        "settings": {**unit.settings, **unit.own},
        "seed": unit.seed,
        "test": unit.test,
        "val_accuracy": None,
        "val_loss": None,
        "test_accuracy": None,
        "epochs": None,
        "seconds": None,
        "version": __version__,
        "error": None,
        "config": None if config is None else config.to_dict(),
    }


def _network(unit: Unit, graph: Graph, config: AnyConfig) -> dict[str, Any]:
    problem = _problem(graph, config)
    trainer = make_trainer(problem, config)
    result = fit(trainer)
    test = None
    if unit.test:
        test = accuracy_on_test(graph.data, predict_trained(trainer).labels)
    return {
        "val_accuracy": result.val_accuracy,
        "val_loss": result.val_loss,
        "test_accuracy": test,
        "epochs": result.epochs,
        "seconds": result.seconds,
    }


def _baseline(unit: Unit, graph: Graph) -> dict[str, Any]:
    task = task_from_data(graph.data, unit.source.dataset)
    began = time.perf_counter()
    own = scores(unit.method, task, unit.seed)
    seconds = time.perf_counter() - began
    labels = np.asarray(own.argmax(1), np.int64)
    return {
        "val_accuracy": task.val_accuracy(own),
        "test_accuracy": accuracy_on_test(graph.data, labels) if unit.test else None,
        "seconds": seconds,
    }


_problems: OrderedDict[tuple[str, AnyConfig], Problem | ViewsProblem] = OrderedDict()


def _problem(graph: Graph, config: AnyConfig) -> Problem | ViewsProblem:
    """The graph prepared for a configuration; the same for all its seeds."""
    key = (graph.fingerprint, config.but(seed=0))
    if key not in _problems:
        while len(_problems) >= _MOST:
            _problems.popitem(last=False)
        _problems[key] = prepare_any(graph.data, config, graph.counts)
    _problems.move_to_end(key)
    return _problems[key]


def _plain(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that is what it will be after a way through JSON: lists for tuples."""
    try:
        plain: dict[str, Any] = json.loads(_canonical(dict(values)))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be plain values (numbers, text, lists), got {values!r} ({error})"
        ) from None
    return plain


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
