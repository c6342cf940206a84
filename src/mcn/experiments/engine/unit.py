"""A unit of work: one method on one graph with one seed, its key, and running it."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mcn import __version__
from mcn._composition import check_composition
from mcn.experiments.engine.methods import Method, find_method
from mcn.experiments.engine.source import Graph, Source, load
from mcn.train import Problem
from mcn.train.predictions import scores_on_test
from mcn.train.settings import Settings

FORMAT = 2
"""Part of every key: raised when the same settings come to mean another computation."""
_MOST = 2  # prepared problems kept: seeds of one configuration follow each other, and stacks can be large


@dataclass(frozen=True)
class Unit:
    """One run. Equal units have equal keys, so that none is ever run twice.

    Attributes:
        source: the graph.
        method: a name of `mcn.paper.baselines.METHODS`.
        settings: changes to the data set's preset; the method's own changes come after them. A baseline has
            none.
        seed: decides everything random; for dd6 and dd7 also the draw of the split.
        test: whether the test labels are read, once, after training; otherwise `test_accuracy` is None.
        overrides: changes that have the last word, after those of the method: {"hidden": 32} makes a GCN of
            32 units.
    """

    source: Source
    method: str = "mcn"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    test: bool = True
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("settings", "overrides"):
            values = _plain(name, getattr(self, name))
            if "seed" in values:
                raise ValueError(f"{name} must not hold a seed, got {values}; a unit has its own")
            object.__setattr__(self, name, values)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise ValueError(f"seed must be an integer of at least 0, got {self.seed!r}")
        object.__setattr__(self, "seed", int(self.seed))
        self.config()  # an unknown method or an impossible setting is said here, not in a worker

    def __hash__(self) -> int:
        return hash(
            (self.source, self.method, _canonical([self.settings, self.overrides]), self.seed, self.test)
        )

    def config(self) -> Settings | None:
        """Return the complete configuration; None for a baseline."""
        found = find_method(self.method).configure(self.source.dataset, self.settings, self.overrides)
        return None if found is None else found.replace(seed=self.seed)

    def key(self) -> str:
        """Return the SHA-256 of all that decides the result: complete configuration, seed, data, `FORMAT`.

        A changed default changes the configuration, and with it the key. Loads the graph, once per process.
        """
        config = self.config()
        what = {
            "format": FORMAT,
            "method": self.method,
            "dataset": self.source.dataset,
            "data": load(self.source, self.seed).fingerprint,
            "config": None if config is None else config.to_dict(),
            "seed": self.seed,
            "test": self.test,
        }
        return hashlib.sha256(_canonical(what).encode()).hexdigest()


def run_unit(unit: Unit) -> dict[str, Any]:
    """Run a unit, and return its row for the ledger.

    key, dataset, method, settings, seed, test, val_accuracy, val_loss, test_accuracy (None unless
    `unit.test`), epochs, seconds, version, error (None), config, metrics (every metric of
    `mcn.train.metrics` on validation and test nodes). Accuracies are fractions. A baseline has no val_loss,
    epochs and config.
    """
    graph, config, method = load(unit.source, unit.seed), unit.config(), find_method(unit.method)
    problem = _problem(unit, method, graph, config)
    outcome = method.run(problem, config, unit.seed)
    test = scores_on_test(graph.data, outcome.scores, problem.task) if unit.test else None
    val = problem.task.all_scores(outcome.scores[problem.val], problem.val_labels.numpy())
    return blank_row(unit) | {
        "val_accuracy": outcome.val_accuracy,
        "val_loss": outcome.val_loss,
        "test_accuracy": None if test is None else test["accuracy"],
        "metrics": {"val": val, "test": test},
        "epochs": outcome.epochs,
        "seconds": outcome.seconds,
    }


def blank_row(unit: Unit) -> dict[str, Any]:
    """Return the row of a unit without its figures."""
    config = unit.config()
    figures = ("val_accuracy", "val_loss", "test_accuracy", "epochs", "seconds")
    return {
        "key": unit.key(),
        "dataset": unit.source.title,
        "method": unit.method,
        "settings": {**unit.settings, **unit.overrides},
        "seed": unit.seed,
        "test": unit.test,
        **dict.fromkeys(figures),
        "version": __version__,
        "error": None,
        "config": None if config is None else config.to_dict(),
        "metrics": None,
    }


_problems: OrderedDict[tuple[Any, ...], Problem] = OrderedDict()


def _problem(unit: Unit, method: Method, graph: Graph, config: Settings | None) -> Problem:
    """Return the graph prepared for a method and configuration; the same for all its seeds."""
    # Baselines share their problem; a network's depends on its configuration.
    what = (type(method), unit.source.dataset) if config is None else config.replace(seed=0)
    key = (graph.fingerprint, what)
    if key not in _problems:
        while len(_problems) >= _MOST:
            _problems.popitem(last=False)
        problem = method.prepare(graph.data, unit.source.dataset, config, graph.counts)
        other = problem.task.kind != "classes" and f"the task {problem.task.kind}"
        compared = {"methods for comparison": f"a comparison of methods ({unit.method})"}
        check_composition({"numbers or several targets": other, **compared})
        _problems[key] = problem
    _problems.move_to_end(key)
    return _problems[key]


def _plain(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy as it would be after it was written to JSON and read again: tuples become lists."""
    try:
        plain: dict[str, Any] = json.loads(_canonical(dict(values)))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be plain values (numbers, text, lists), got {values!r} ({error})"
        ) from None
    return plain


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
