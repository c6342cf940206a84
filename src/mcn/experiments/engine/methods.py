"""The registry of methods: recipes, special cases of recipes, and baselines, each under one name.

The classic baselines of the paper stand in `mcn.paper.baselines`, which registers them when it is imported.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from graphmotifs._messages import one_of
from mcn._composition import check_composition
from mcn.data import given_weights, simple_graph
from mcn.motifs import MotifCounts
from mcn.train import RECIPES, Problem, prepare, train
from mcn.train.features import node_features
from mcn.train.mcn.config import CHANGES, PAPER_CHANGES, TITLES
from mcn.train.presets import dataset_config
from mcn.train.problem import known_labels
from mcn.train.settings import Settings

Values = Mapping[str, Any]
ABILITIES = ("probabilities", "new nodes", "explain")
"""What a method may do: give probabilities, predict nodes of another graph, say what that rests on."""


@dataclass(frozen=True, eq=False)
class GraphInputs:
    """The `inputs` of a baseline's problem.

    x: float32 [N, F], dense or sparse CSR, made ready as for a network (`mcn.train.features`): of counts of
    words the absolute values of each row sum to one.
    edge_index: int64 [2, 2M], both directions of every edge, no self-loops, no repetitions.
    dataset: name of the data set, for methods whose reference settings differ between them; or None.
    """

    x: torch.Tensor
    edge_index: NDArray[np.int64]
    dataset: str | None = None

    @property
    def num_nodes(self) -> int:
        """N."""
        return int(self.x.shape[0])

    @property
    def in_channels(self) -> int:
        """F."""
        return int(self.x.shape[1])


Scorer = Callable[[Problem, int], NDArray[np.float32]]
"""A baseline: a problem with `GraphInputs` and a seed in, a score per node and class [N, C] out."""


def graph_problem(data: Data, dataset: str | None = None, counts: MotifCounts | None = None) -> Problem:
    """Check a graph and make a baseline's problem of it; test labels are not in it.

    `dataset` is its name ("cora", "citeseer" …), if it has one; `counts` are its motif counts, if known.
    """
    known = known_labels(data)
    edges = simple_graph(data.edge_index, data.num_nodes).edge_index
    x = node_features(data, counts=counts).x
    return Problem(GraphInputs(x, edges, dataset), known)


def val_accuracy(problem: Problem, scores: NDArray[np.floating[Any]]) -> float:
    """Return the share of the validation nodes whose class has the largest score."""
    return float((scores[problem.val].argmax(1) == problem.val_labels.numpy()).mean())


class Outcome(NamedTuple):
    """What a run of a method gives.

    scores: a number per node and class, [N, C]. val_accuracy: a fraction. val_loss, epochs: None where a
    method has none. seconds: the time it took.
    """

    scores: NDArray[np.floating[Any]]
    val_accuracy: float
    val_loss: float | None
    epochs: int | None
    seconds: float


@dataclass(frozen=True)
class Method(ABC):
    """A method: what users call it, one sentence on it, how a graph is prepared for it, how it is run."""

    name: str
    title: str

    trained: ClassVar[bool] = False
    """Whether it is a network of a recipe: it has settings, and leaves a run on disk."""

    @property
    def can(self) -> tuple[str, ...]:
        """What it can do beyond classifying the nodes it is given: some of `ABILITIES`."""
        return ABILITIES

    @abstractmethod
    def configure(self, dataset: str | None, settings: Values, overrides: Values) -> Settings | None:
        """Return the complete configuration; None for a method without settings.

        It starts from the preset of the data set. `settings` change that, the method's own changes come after
        them, and `overrides` have the last word.
        """

    @abstractmethod
    def prepare(
        self, data: Data, dataset: str | None, config: Settings | None, counts: MotifCounts | None
    ) -> Problem:
        """Make a graph ready; the same for every seed."""

    @abstractmethod
    def run(self, problem: Problem, config: Settings | None, seed: int) -> Outcome:
        """Run it once; test labels are out of its reach."""

    def check_weights(self) -> None:  # noqa: B027 (most methods have nothing to refuse)
        """Refuse a graph with edge weights, if they would be ignored."""


@dataclass(frozen=True)
class TrainedMethod(Method):
    """A recipe, or a special case of one, which some `changes` of settings make."""

    recipe: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    trained: ClassVar[bool] = True

    def configure(self, dataset: str | None, settings: Values, overrides: Values) -> Settings | None:
        """Start from the data set's preset of the recipe."""
        base = dataset_config(self.recipe, dataset, **settings)
        return base.replace(**self.changes).replace(**overrides)

    def prepare(
        self, data: Data, dataset: str | None, config: Settings | None, counts: MotifCounts | None
    ) -> Problem:
        """Make the recipe's inputs."""
        assert config is not None
        return prepare(data, config, counts)

    def run(self, problem: Problem, config: Settings | None, seed: int) -> Outcome:
        """Train, and predict all nodes."""
        assert config is not None
        trained = train(None, config.replace(seed=seed), problem=problem)
        scores, result = trained.predict(None).probabilities, trained.result
        assert result is not None
        assert result.val_accuracy is not None
        return Outcome(scores, result.val_accuracy, result.val_loss, result.epochs, result.seconds)


@dataclass(frozen=True)
class ScoredMethod(Method):
    """A baseline: a function from a problem and a seed to scores; `graph`: whether it looks at the edges."""

    function: Scorer
    probabilities: bool = True
    graph: bool = True

    @property
    def can(self) -> tuple[str, ...]:
        """Give probabilities, or nothing."""
        return ABILITIES[:1] if self.probabilities else ()

    def configure(self, dataset: str | None, settings: Values, overrides: Values) -> Settings | None:
        """Refuse any setting."""
        if settings or overrides:
            raise ValueError(
                f"the baseline {self.name!r} has no settings, got { ({**settings, **overrides}) }"
            )
        return None

    def prepare(
        self, data: Data, dataset: str | None, config: Settings | None, counts: MotifCounts | None
    ) -> Problem:
        """Make the plain graph's problem, see `graph_problem`."""
        if given_weights(data) is not None:
            self.check_weights()
        return graph_problem(data, dataset, counts)

    def check_weights(self) -> None:
        """Refuse edge weights, which no baseline that looks at edges uses."""
        baseline = self.graph and f"the baseline {self.name!r}"
        check_composition({"edge weights": "a graph with edge weights", "baselines on edges": baseline})

    def run(self, problem: Problem, config: Settings | None, seed: int) -> Outcome:
        """Score all nodes, and look that they are scores."""
        began = time.perf_counter()
        scores = np.asarray(self.function(problem, seed))
        seconds = time.perf_counter() - began
        expected = (problem.inputs.num_nodes, problem.num_classes)
        if scores.shape != expected:
            raise ValueError(f"{self.name!r} returned scores of shape {scores.shape}; expected {expected}")
        if not np.isfinite(scores).all():
            raise ValueError(f"{self.name!r} returned scores that are not finite; expected numbers")
        return Outcome(scores, val_accuracy(problem, scores), None, None, seconds)


METHODS: dict[str, Method] = {}
"""Every method by its name; `register` adds to it."""


def add(method: Method) -> None:
    """Enter a method under a name that is not taken."""
    if method.name in METHODS:
        raise ValueError(f"a method {method.name!r} is registered already; choose another name")
    METHODS[method.name] = method


def register(name: str, *, probabilities: bool = True, graph: bool = True) -> Callable[[Scorer], Scorer]:
    """Enter a method under a name: ``@register("mine")`` above a function ``(problem, seed) -> scores``.

    `problem` is an `mcn.train.Problem` with `GraphInputs`: x, edge_index, the data set's name. The method's
    title is the first line of the function's docstring.

    Args:
        probabilities: whether the scores of a node are probabilities, not just larger for likelier classes.
        graph: whether it looks at the edges; such a baseline refuses a graph with edge weights.
    """

    def enter(function: Scorer) -> Scorer:
        title = (function.__doc__ or "").strip().partition("\n")[0]
        add(ScoredMethod(name, title, function, probabilities, graph))
        return function

    return enter


def find_method(name: str, what: str = "method") -> Method:
    """Return the method of this name, or say which was probably meant; `what` is how an error calls it."""
    if name not in METHODS and "mcn.paper.baselines" not in sys.modules:
        more = "; import mcn.paper.baselines first for the classic baselines of the paper"
        raise ValueError(f"{what} names {name!r}; there are {', '.join(METHODS)}{more}")
    one_of(what, name, METHODS)
    return METHODS[name]


def check_methods(names: Iterable[str], what: str = "methods") -> list[str]:
    """Return the given names of methods, each once; there must be one at least, and all must be known."""
    known = list({name: find_method(name, what) for name in names})
    if not known:
        raise ValueError(f"{what} names no method; there are {', '.join(METHODS)}")
    return known


for _name, _recipe in RECIPES.items():
    add(TrainedMethod(_name, _recipe.title, _name, _recipe.config.compared))
for _name, _changes in CHANGES.items():
    add(TrainedMethod(_name, TITLES[_name], "mcn", _changes))
for _name, _changes in PAPER_CHANGES.items():
    _title = f"{TITLES[_name.removesuffix('-paper')]}; with the paper's settings for MCN"
    add(TrainedMethod(_name, _title, "paper", _changes))
