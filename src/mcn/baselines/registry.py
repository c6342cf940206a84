"""The registry of methods: recipes, special cases of them, and baselines, each under one name."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn._names import one_of
from mcn.baselines.task import Scorer, Task, published, task_from_data
from mcn.data.checks import given_weights
from mcn.motifs import MotifCounts
from mcn.train.loop import fit
from mcn.train.presets import dataset_config
from mcn.train.problem import Problem, prepare
from mcn.train.recipes import RECIPES, work_of
from mcn.train.settings import Settings

_PACKAGES = {"sklearn": "scikit-learn"}  # by the name they are imported by, where that is another one


ABILITIES = ("probabilities", "new nodes", "explain")
"""What a method may do: give probabilities, predict nodes of another graph, say what that rests on."""


class Outcome(NamedTuple):
    """What a run of a method gives.

    scores: a number per node and class, [N, C]. val_accuracy: a fraction. val_loss, epochs: None where a
    method has none. seconds: the time it took. choosing: what a recipe found that choosing per node is worth
    (`choosing` of a run's summary), where it looked.
    """

    scores: NDArray[np.floating[Any]]
    val_accuracy: float
    val_loss: float | None
    epochs: int | None
    seconds: float
    choosing: Mapping[str, Any] | None = None

    @property
    def labels(self) -> NDArray[np.int64]:
        """The class with the largest score, [N]."""
        return np.asarray(self.scores.argmax(1), np.int64)


@dataclass(frozen=True)
class Method(ABC):
    """A method: how it is configured, how a graph is prepared for it, and how it is run.

    Attributes:
        name: what users call it.
        title: one sentence.
        needs: packages that a plain installation does not bring.
    """

    name: str
    title: str
    needs: tuple[str, ...] = ()

    trained: ClassVar[bool] = False
    """Whether it is a network of a recipe: it has settings, and leaves a run on disk."""

    @property
    def can(self) -> tuple[str, ...]:
        """What it can do beyond classifying the nodes it is given: some of `ABILITIES`."""
        return ABILITIES

    @property
    def ledger_name(self) -> str:
        """What the keys of a ledger call it."""
        return self.name

    def published(self, dataset: str | None) -> Mapping[str, Any]:
        """Return what is set for a data set by name and cannot be changed; it decides a run as well."""
        return {}

    @abstractmethod
    def configure(
        self, dataset: str | None, settings: Mapping[str, Any], last: Mapping[str, Any]
    ) -> Settings | None:
        """Return the complete configuration; None for a method without settings.

        Args:
            dataset: a data set by name, whose preset the configuration starts from.
            settings: changes to the preset; the method's own changes come after them.
            last: changes that have the last word.

        Raises:
            ValueError: a setting is not known, or a value is not allowed.
        """

    @abstractmethod
    def prepare(
        self, data: Data, dataset: str | None, config: Settings | None, counts: MotifCounts | None
    ) -> Any:
        """Make a graph ready; the same for every seed."""

    @abstractmethod
    def run(self, prepared: Any, config: Settings | None, seed: int) -> Outcome:
        """Run it once; test labels are out of its reach."""

    def check_weights(self) -> None:  # noqa: B027 (most methods have nothing to refuse)
        """Refuse a graph with edge weights, if they would be ignored.

        Raises:
            ValueError: names the method.
        """

    def check_installed(self) -> None:
        """Refuse to run without the packages it needs.

        Raises:
            ValueError: names them, and how to install them.
        """
        missing = [_PACKAGES.get(name, name) for name in self.needs if find_spec(name) is None]
        if missing:
            raise ValueError(f"{self.name} needs {' and '.join(missing)}: pip install 'mcn[baselines]'")


@dataclass(frozen=True)
class TrainedMethod(Method):
    """A recipe, or a special case of one.

    Attributes:
        recipe: its name.
        changes: what makes the special case.
        former: what keys in a ledger call it, if not by its name.
    """

    recipe: str = "mcn"
    changes: Mapping[str, Any] = field(default_factory=dict)
    former: str = ""
    trained: ClassVar[bool] = True

    @property
    def ledger_name(self) -> str:
        """Its name, or the name it had in 0.1.0, where the recipe paper was mcn with another rule."""
        return self.former or self.name

    def configure(
        self, dataset: str | None, settings: Mapping[str, Any], last: Mapping[str, Any]
    ) -> Settings | None:
        """Start from the data set's preset of the recipe."""
        current = RECIPES[self.recipe].config.current_names
        base = dataset_config(self.recipe, dataset, **current(dict(settings)))
        return base.replace(**self.changes).replace(**current(dict(last)))

    def prepare(
        self, data: Data, dataset: str | None, config: Settings | None, counts: MotifCounts | None
    ) -> Problem:
        """Make the recipe's inputs."""
        assert config is not None
        return prepare(data, config, counts)

    def run(self, prepared: Problem, config: Settings | None, seed: int) -> Outcome:
        """Train, and predict all nodes."""
        assert config is not None
        own = config.replace(seed=seed)
        trainer = work_of(own).trainer(prepared, own)
        result = fit(trainer)
        scores = work_of(own).predict(trainer.model, prepared.inputs).probabilities
        found = (scores, result.val_accuracy, result.val_loss, result.epochs, result.seconds)
        return Outcome(*found, trainer.notes().get("choosing"))


@dataclass(frozen=True)
class ScoredMethod(Method):
    """A baseline: a function from a task and a seed to scores; `graph` says whether it looks at the edges."""

    function: Scorer | None = None
    probabilities: bool = True
    graph: bool = True

    @property
    def can(self) -> tuple[str, ...]:
        """Give probabilities, or nothing."""
        return ABILITIES[:1] if self.probabilities else ()

    def published(self, dataset: str | None) -> Mapping[str, Any]:
        """Return what the paper behind it, or a search on validation nodes, found for the data set."""
        return published(self.name, dataset)

    def configure(
        self, dataset: str | None, settings: Mapping[str, Any], last: Mapping[str, Any]
    ) -> Settings | None:
        """Refuse any setting."""
        if settings or last:
            raise ValueError(f"the baseline {self.name!r} has no settings, got { ({**settings, **last}) }")
        return None

    def prepare(
        self, data: Data, dataset: str | None, config: Settings | None, counts: MotifCounts | None
    ) -> Task:
        """Make the task."""
        if given_weights(data) is not None:
            self.check_weights()
        return task_from_data(data, dataset, counts)

    def check_weights(self) -> None:
        """Refuse edge weights, which no baseline that looks at edges uses."""
        if self.graph:
            raise ValueError(
                f"the baseline {self.name!r} does not use edge weights; leave them out (data.edge_weight, "
                "--weights), or compare mcn, gat, gcn, mlp and views"
            )

    def run(self, prepared: Task, config: Settings | None, seed: int) -> Outcome:
        """Score all nodes.

        Raises:
            ValueError: what the function returned are not scores.
        """
        assert self.function is not None
        began = time.perf_counter()
        scores = np.asarray(self.function(prepared, seed))
        seconds = time.perf_counter() - began
        expected = (prepared.num_nodes, prepared.num_classes)
        if scores.shape != expected:
            raise ValueError(f"{self.name!r} returned scores of shape {scores.shape}; expected {expected}")
        if not np.isfinite(scores).all():
            raise ValueError(f"{self.name!r} returned scores that are not finite; expected numbers")
        return Outcome(scores, prepared.val_accuracy(scores), None, None, seconds)


METHODS: dict[str, Method] = {}
"""Every method by its name; `register` adds to it."""
FORMER = {"mcn-paper": "paper"}
"""Names of 0.1.0 that are still understood."""


def add(method: Method) -> None:
    """Enter a method.

    Raises:
        ValueError: the name is taken.
    """
    if method.name in METHODS:
        raise ValueError(f"a method {method.name!r} is registered already; choose another name")
    METHODS[method.name] = method


def register(
    name: str, *, needs: tuple[str, ...] = (), probabilities: bool = True, graph: bool = True
) -> Callable[[Scorer], Scorer]:
    """Enter a method under a name: ``@register("mine")`` above a function ``(task, seed) -> scores``.

    Its title is the first line of the function's docstring.

    Args:
        needs: packages that a plain installation does not bring.
        probabilities: whether the scores of a node are probabilities, not just larger for likelier classes.
        graph: whether it looks at the edges; such a baseline refuses a graph with edge weights.

    Raises:
        ValueError: the name is taken.
    """

    def enter(function: Scorer) -> Scorer:
        title = (function.__doc__ or "").strip().partition("\n")[0]
        add(ScoredMethod(name, title, needs, function, probabilities, graph))
        return function

    return enter


def find_method(name: str, what: str = "method") -> Method:
    """Return the method of this name; `what` is how an error calls it.

    Raises:
        ValueError: there is none; says which name was probably meant.
    """
    name = FORMER.get(name, name)
    one_of(what, name, METHODS)
    return METHODS[name]


def check_methods(names: Iterable[str], what: str = "methods") -> list[str]:
    """Return the names of methods that can be run here, each once.

    Raises:
        ValueError: none is given, one is not known, or its packages are not installed.
    """
    found = list(dict.fromkeys(find_method(name, what).name for name in names))
    if not found:
        raise ValueError(f"{what} names no method; there are {', '.join(METHODS)}")
    for name in found:
        METHODS[name].check_installed()
    return found
