"""What the recipe `auto` does: inputs of every candidate, selection, predictions, explanation."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mcn._composition import check_composition
from mcn.motifs import MotifCounts, count_motifs
from mcn.train.predictions import Explained, Option, Predictions
from mcn.train.problem import Memory, Problem, stack_counts
from mcn.train.recipes import work_of
from mcn.train.select.candidates import Candidate, candidates_of
from mcn.train.select.config import AutoConfig
from mcn.train.select.judge import BLEND
from mcn.train.select.network import Selected, empty_selected, memory_of
from mcn.train.select.selection import Selection
from mcn.train.tasks import Task

if TYPE_CHECKING:
    from torch_geometric.data import Data

_INPUT_SETTINGS = (
    *("motifs", "steps", "psi", "scope", "add_edges", "features", "materialize", "batch_size"),
    *("walk_length", "stop_probability", "max_neighbours", "tolerance", "symmetric", "components"),
)
"""Settings that decide the inputs: candidates that agree on them share the inputs."""


@dataclass(eq=False)
class SelectionInputs:
    """A graph, from which the inputs of each candidate are made when they are first needed.

    model: the trained candidates, once there are any; `state` is what they remember of the graph.
    """

    data: Data
    counts: MotifCounts
    first: Candidate
    memory: Memory | None = None
    model: Selected | None = None
    _made: dict[Any, Any] = field(default_factory=dict)

    @property
    def in_channels(self) -> int:
        """Number of input features of the first candidate."""
        return int(self.of(self.first).in_channels)

    @cached_property
    def edges_digest(self) -> str:
        """The SHA-256 of the edges: labels nearby are known on the graph that was trained on alone."""
        return hashlib.sha256(np.ascontiguousarray(self.counts.pairs).tobytes()).hexdigest()

    def of(self, candidate: Candidate) -> Any:
        """Return the inputs of a candidate: the same for all its seeds, and for candidates that agree."""
        settings = candidate.config.to_dict()
        decisive = [(name, str(settings[name])) for name in _INPUT_SETTINGS if name in settings]
        key = (candidate.config.recipe, candidate.name if self.memory else "", *decisive)
        if key not in self._made:
            memory = self.memory
            if memory is not None:
                memory = memory_of(candidate.name, memory.state["inputs"], memory.feature_names)
            work = work_of(candidate.config)
            self._made[key] = work.inputs(self.data, candidate.config, self.counts, memory)
        return self._made[key]

    def state(self) -> dict[str, Any]:
        """Return the decision, the candidates with their settings, and what their inputs remember."""
        assert self.model is not None
        remembered = {
            candidate.name: {"in_channels": own.in_channels, "state": own.state()}
            for candidate in self.model.candidates
            for own in [self.of(candidate)]
        }
        return {"selected": self.model.to_dict(), "inputs": remembered}

    def facts(self) -> dict[str, Any]:
        """Return the sizes and check sums of the graph."""
        facts: dict[str, Any] = self.of(self.first).facts()
        return facts


def inputs(
    data: Data, config: AutoConfig, counts: MotifCounts | None = None, memory: Memory | None = None
) -> SelectionInputs:
    """Hold the graph; what the candidates take of it is made when they need it.

    Raises:
        ValueError: the graph lies on disk, or its features are not those of `memory`.
    """
    from torch_geometric.data import Data

    if not isinstance(data, Data):
        check_composition(
            {"a packed graph": f"a {type(data).__name__}", "model selection": "the recipe auto"}
        )
    if counts is None:
        counts = count_motifs(data.edge_index, data.num_nodes)
    candidates = candidates_of(config, 0)
    for candidate in candidates:
        stack_counts(data, counts, candidate.config.motifs)  # says now if one needs direction
    made = SelectionInputs(data, counts, candidates[0], memory)
    if memory is not None:
        made.of(made.first)  # checks the features against those of the graph trained on
    return made


def network(in_channels: int, num_classes: int, config: AutoConfig, memory: Memory | None = None) -> Selected:
    """Make the networks of a finished run, to load their weights."""
    assert memory is not None
    return empty_selected(memory.state.get("selected"), memory.state.get("inputs"), num_classes)


def trainer(problem: Problem, config: AutoConfig) -> Selection:
    """Start with the first candidate."""
    return Selection(problem, config)


def predict(model: Selected, inputs: SelectionInputs, task: Task) -> Predictions:
    """Predict all nodes by what the run decided, with calibrated probabilities."""
    if model.mode != BLEND:
        alone = _predicted(model, inputs, model.names.index(model.winner), task)
        return dataclasses.replace(alone, candidate=model.winner)
    blended: Any = sum(
        share * _predicted(model, inputs, number, task).probabilities
        for number, share in enumerate(model.shares.tolist())
        if share
    )
    none: NDArray[np.int64] = np.empty((len(blended), 0), np.int64)
    return Predictions(blended.astype(np.float32), none, none, candidate=BLEND, task=task)


def _predicted(model: Selected, inputs: SelectionInputs, number: int, task: Task) -> Predictions:
    """Predict by a candidate: by the mean of its runs, with what labels nearby add, calibrated."""
    candidate, temperature = model.candidates[number], float(model.temperatures[number])
    work, own = work_of(candidate.config), inputs.of(candidate)
    runs = [work.predict(network, own, task) for network in model.runs_of(number)]
    mean: Any = np.mean([run.probabilities for run in runs], axis=0, dtype=np.float64)
    added = model.added(number, inputs.edges_digest)
    mean = mean if added is None else task.valid(mean + added)
    return dataclasses.replace(runs[0], probabilities=task.calibrated(mean, temperature).astype(np.float32))


def explain(model: Selected, inputs: SelectionInputs, task: Task) -> Explained:
    """Say what predicts each node, and what it would have been predicted as by every other candidate.

    Where one network predicts all nodes, its own explanation is the answer.
    """
    predictions = predict(model, inputs, task)
    if model.mode != BLEND:
        number = model.names.index(model.winner)
        candidate = model.candidates[number]
        shown = work_of(candidate.config).explain(model.runs_of(number)[0], inputs.of(candidate), task)
        return dataclasses.replace(shown, predictions=predictions)
    return Explained("candidates", predictions, 1, False, [], [], _options(model, inputs, task))


def _options(model: Selected, inputs: SelectionInputs, task: Task) -> Iterator[Option]:
    """Yield every candidate as an option: its rows, its coefficients, its own predictions."""
    for number, candidate in enumerate(model.candidates):
        # Of several runs, and of several neighbourhoods, the first one is shown.
        network = model.runs_of(number)[0]
        first = next(work_of(candidate.config).explain(network, inputs.of(candidate), task).options)
        probabilities = _predicted(model, inputs, number, task).probabilities
        yield Option(candidate.name, 1, first.rows, first.coefficients[-1:], probabilities)
