"""The recipes in the manner of scikit-learn: a classifier and a regressor of each.

`MCNClassifier` and `MCNRegressor` train by the recipe mcn, `PaperClassifier` and `PaperRegressor` by paper,
and so on with views, trees and auto. Their parameters are in `mcn.train.signatures`.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import os
import re
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._messages import one_of
from mcn.data.checks import renumbered, usable_data
from mcn.data.limits import reading
from mcn.data.targets import target_kind
from mcn.store import GraphStore, as_data
from mcn.train.callbacks import Lines
from mcn.train.folder import MODEL, SUMMARY
from mcn.train.loop import Callback, Epoch, FitResult
from mcn.train.parameters import Parameters
from mcn.train.predictions import Predictions, in_classes, score_on_test
from mcn.train.problem import Inputs, Memory, class_names
from mcn.train.recipes import work_of
from mcn.train.run import Run, save_run, train
from mcn.train.settings import Settings
from mcn.train.signatures import (
    AutoParameters,
    MCNParameters,
    PaperParameters,
    TreesParameters,
    ViewsParameters,
)
from mcn.train.treated import treated_graph
from mcn.train.trees.columns import own_names, table_columns

if TYPE_CHECKING:
    from torch_geometric.data import Data

_WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")
_HELD = {
    "classes": ("classes", ", or data.y.float() if they are numbers"),
    "regression": ("numbers", ", or whole numbers in data.y if they are classes"),
    "multilabel": ("several yes/no targets", ""),
}
"""Targets by their kind, as an estimator of another kind calls them, and what else can be done there."""


class NodeEstimator(Parameters):
    """What the classifiers and the regressors of all recipes share.

    Attributes:
        task_: what is predicted.
        model_: the trained network.
        history_: the scores of every epoch (`mcn.train.Epoch`).
        best_epoch_, val_accuracy_: of the weights that were kept.
        n_features_in_, feature_names_in_: the features that the network takes.
        treatment_: how these are made of `data.columns` of any graph, learned from the training nodes (None:
            of no table).
        config_: the settings, with the seed.
    """

    _estimator_type: ClassVar[str]

    def fit(
        self, data: Data | GraphStore, *, callbacks: Sequence[Callback] = (), verbose: bool = False
    ) -> Self:
        """Train on the nodes of `data.train_mask`, stopping by those of `data.val_mask`.

        Args:
            data: the graph. It needs no test mask; labels may be any numbers from 0 on, and -1 for none.
            callbacks: called with (training, epoch) after every epoch, such as `mcn.train.TensorBoard`.
            verbose: print the scores of every tenth epoch.

        Raises:
            ValueError: says what of `data` or of the parameters cannot be trained with; a classifier needs
                classes or several yes/no targets, a regressor a number per node.
        """
        self._check_target(data)
        params = self.get_params()
        config = self.recipe.config(seed=_drawn_seed(params.pop("random_state")), **params)
        data = self._treated(data, config)
        history: list[Epoch] = []
        told: list[Callback] = [lambda _training, epoch: history.append(epoch), *callbacks]
        run = train(data, config, callbacks=[*told, Lines()] if verbose else told)
        assert run.result is not None
        named = getattr(data, "class_numbers", None) is None and class_names(data) is not None
        run.memory.state["labels"] = {"named": named}
        self.history_ = history
        self._take(run, run.notes, run.remarks)
        self._look_back(run, data)
        self._run = dataclasses.replace(run, _prepared=None)  # which holds the graph
        return self

    def _take(self, run: Run, notes: dict[str, Any], remarks: list[str]) -> None:
        """Take over a run that was just trained, or read from a folder."""
        assert run.result is not None
        self._run = run
        self.config_, self.model_, self.task_, self._memory = run.config, run.model, run.task, run.memory
        self.best_epoch_, self.val_accuracy_ = run.result.best_epoch, run.result.val_accuracy
        self.n_features_in_, self.feature_names_in_, _ = run.memory
        self.feature_names_ = self.feature_names_in_  # the older name
        self.treatment_ = run.treatment

    def _look_back(self, run: Run, data: Data | GraphStore) -> None:
        """Keep what a recipe has to say of the graph it was trained on."""

    def save(self, folder: str | os.PathLike[str]) -> Self:
        """Write a folder that `mcn.load_run`, `mcn predict` and `mcn view` read; nothing in it can run code.

        Raises:
            ValueError: the folder holds a run already.
        """
        self._check_fitted()
        save_run(self._run, folder, self.history_)
        return self

    def predictions(self, data: Data | GraphStore) -> Predictions:
        """Return probabilities and choices for the nodes of `data`: the training graph or another one."""
        self._check_fitted()
        return work_of(self.config_).predict(self.model_, self._inputs(data), self.task_)

    def _inputs(self, data: Data | GraphStore) -> Inputs:
        """Return what the network takes from a graph."""
        graph = self._treated(data, self.config_, self._memory)
        return work_of(self.config_).inputs(graph, self.config_, memory=self._memory)

    def _treated(self, data: Any, config: Settings, memory: Memory | None = None) -> Any:
        """Return a graph with the features that the network takes.

        A graph on disk stays there if it is read in mini-batches; otherwise it is loaded.
        """
        in_memory = data if getattr(config, "batch_size", None) is not None else as_data(data)
        return treated_graph(usable_data(in_memory), config, memory)

    def _check_target(self, data: Any) -> None:
        """Refuse classes where a number is predicted, and the other way round; name the class to use."""
        y: Any = getattr(data, "y", None)
        if not hasattr(y, "ndim"):
            return  # `train` says what is missing
        kind, regresses = target_kind(y), self._estimator_type == "regressor"
        if (kind == "regression") == regresses:
            return
        other = _ESTIMATORS[self.recipe.name, "classifier" if regresses else "regressor"].__name__
        held, otherwise = _HELD[kind]
        raise ValueError(
            f"{type(self).__name__} predicts {'numbers' if regresses else 'classes'}, but data.y holds "
            f"{held} ({y.dtype}): use mcn.{other}{otherwise}"
        )

    def predict(self, data: Data | GraphStore) -> NDArray[Any]:
        """Return what is predicted of every node.

        The columns of `data.columns` are treated as those of the graph trained on were, found by their names.

        Raises:
            ValueError: a column that training had is missing, or `data.x` cannot be what training had.
        """
        return np.asarray(self.predictions(data).labels)

    def score(self, data: Data | GraphStore, metric: str | None = None) -> float:
        """Return a metric on the nodes of `data.test_mask`; named classes are compared by name.

        Args:
            data: the graph trained on, or another one.
            metric: one of `mcn.train.metrics.METRICS` that the task has. Greater is better, but for log-loss,
                mae and mse. By default accuracy, r2 of a numeric target, macro-ap of several targets.

        Raises:
            ValueError: there are no labelled test nodes, or the metric is not defined on them.
        """
        known = self._labelled(data)
        metric = self.task_.usual if metric is None else metric
        one_of("metric", metric, self.task_.metrics)
        return score_on_test(known, self.predictions(data).probabilities, self.task_, metric)

    def _labelled(self, data: Data | GraphStore) -> Data:
        """Return `data` with its targets as the network has them."""
        self._check_fitted()
        data = as_data(data)
        if data.y is None or data.get("test_mask") is None:
            raise ValueError("data.y or data.test_mask is missing: there is nothing to score")
        return data

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(data) first")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what this is, and that its targets come with the graph."""
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        regresses = self._estimator_type == "regressor"
        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=False),
            classifier_tags=None if regresses else ClassifierTags(),
            regressor_tags=RegressorTags() if regresses else None,
            input_tags=InputTags(pairwise=_OneGraph()),  # type: ignore[arg-type, unused-ignore]
        )


class _OneGraph:
    """Scikit-learn asks whether an input is `pairwise` just before it would cut it into samples."""

    def __bool__(self) -> bool:
        raise ValueError(
            "a graph cannot be cut into samples: instead of GridSearchCV and its kin use `mcn search` or "
            "mcn.cross_validate, or fit once for each of sklearn.model_selection.ParameterGrid and compare "
            "val_accuracy_"
        )


def _drawn_seed(random_state: Any) -> Any:
    """Return the seed that a `random_state` stands for; as in scikit-learn, None draws one."""
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31 - 1))
    return random_state


class NodeClassifier(NodeEstimator):
    """What the classifiers of all recipes share: classes with names, and their probabilities.

    Attributes:
        classes_: the values that `predict` returns, in the order of the columns of `predict_proba`: the names
            in `data.classes` where there are some (numbers where all are whole numbers), else the numbers in
            `data.y`; of several targets their names.
    """

    _estimator_type = "classifier"

    def _take(self, run: Run, notes: dict[str, Any], remarks: list[str]) -> None:
        super()._take(run, notes, remarks)
        numbered = run.classes == list(map(str, range(len(run.classes))))
        self._named = bool((run.memory.state.get("labels") or {"named": not numbered})["named"])
        whole = self.task_.kind == "classes" and all(map(_WHOLE_NUMBER.fullmatch, run.classes))
        self.classes_ = np.asarray(run.classes).astype(np.int64 if whole else str)

    def predict_proba(self, data: Data | GraphStore) -> NDArray[np.float32]:
        """Return every node's probability of each class, or of a yes to each target, float32 [N, classes]."""
        return self.predictions(data).probabilities

    def predict(self, data: Data | GraphStore) -> NDArray[Any]:
        """Return a value of `classes_` for every node; of several targets 1 or 0 for each, [N, targets].

        The columns of `data.columns` are treated as those of the graph trained on were, found by their names.

        Raises:
            ValueError: a column that training had is missing, or `data.x` cannot be what training had.
        """
        labels = super().predict(data)
        return np.asarray(self.classes_[labels]) if self.task_.kind == "classes" else labels

    def _labelled(self, data: Data | GraphStore) -> Data:
        """Return `data` with its labels numbered as the classes of this estimator."""
        data = super()._labelled(data)
        if self.task_.kind != "classes" or (self._named and class_names(data) is None):
            return data
        data = copy.copy(data)
        data.y = data.y.reshape(-1)  # OGB has labels [N, 1]
        if self._named:
            return in_classes(data, self._run.classes)
        data.y = renumbered(data.y, torch.from_numpy(self.classes_))
        return data


class NodeRegressor(NodeEstimator):
    """What the regressors of all recipes share: `predict` returns a float32 per node, `score` is R²."""

    _estimator_type = "regressor"


class _Choosing(NodeEstimator):
    """An estimator whose network is an `mcn.MCN`: its nodes chose what they listen to.

    Attributes:
        stack_: the training graph's `mcn.MotifStack`; a graph on disk has none.
        motif_choice_: names of the motif each node chose, [N, layers].
        step_choice_: the step size each node chose, [N, layers].
    """

    def _look_back(self, run: Run, data: Data | GraphStore) -> None:
        predictions = run.predict(data)
        self.stack_ = getattr(run.inputs(data), "stack", None)
        self.motif_choice_: NDArray[Any] = np.asarray(predictions.motifs)[predictions.motif]
        self.step_choice_ = predictions.step


class _Selecting(NodeEstimator):
    """An estimator that trained several candidates.

    Attributes:
        candidates_: how the candidates did on held-out validation nodes, the best first: one dict each.
        winner_: the name of the best one for the whole graph.
        remarks_: what predicts (one candidate, or a blend), in sentences.
        feature_importances_, feature_importances_names_: where trees predict, the share of every column of
            their table in what their splits gained, and the names of these columns.
    """

    def candidate_predictions(self, data: Data | GraphStore) -> dict[str, Predictions]:
        """Return what every candidate would predict by itself, by its name: see `predictions`."""
        self._check_fitted()
        alone: Any = copy.copy(self.model_)
        inputs, by_name = self._inputs(data), {}
        for name in alone.names:
            alone.mode, alone.winner = "one", name
            by_name[name] = work_of(self.config_).predict(alone, inputs, self.task_)
        return by_name

    def _take(self, run: Run, notes: dict[str, Any], remarks: list[str]) -> None:
        super()._take(run, notes, remarks)
        self.candidates_: list[dict[str, Any]] = notes["candidates"]
        self.winner_, self.remarks_ = str(notes["choosing"]["winner"]), remarks
        for name in ("feature_importances_", "feature_importances_names_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        model: Any = self.model_
        for number in model.predicting:
            config, runs = model.candidates[number].config, model.runs_of(number)
            if config.recipe == "trees":
                given = run.memory.state["inputs"][model.names[number]]["state"]["given"]
                names = self.feature_names_in_ or [f"column {column}" for column in range(given)]
                own, gains = own_names(names[:given], runs[0].projection), sum(each.gain for each in runs)
                columns = table_columns(config, own, bool(runs[0].projection.numel()), config.motifs)
                self.feature_importances_: NDArray[np.float64] = (
                    gains / gains.sum().clamp(min=1e-300)
                ).numpy()
                self.feature_importances_names_ = np.asarray([name for name, _ in columns])
                break


class MCNClassifier(MCNParameters, _Choosing, NodeClassifier):
    """Node classification with a motif convolutional network, whose nodes choose what they listen to.

    Example:
        >>> import mcn
        >>> data = mcn.load_dataset("karate")
        >>> clf = mcn.MCNClassifier(lr=0.02, max_epochs=100, random_state=0).fit(data)
        >>> clf.predict(data)[[0, 33]].tolist(), clf.motif_choice_.shape
        (['Mr. Hi', 'Officer'], (34, 2))
        >>> round(clf.val_accuracy_, 2), round(clf.score(data), 2)
        (1.0, 0.93)
    """


class MCNRegressor(MCNParameters, _Choosing, NodeRegressor):
    """A number per node by a motif convolutional network, whose nodes choose what they listen to.

    Example:
        >>> import mcn
        >>> from torch_geometric.utils import degree
        >>> data = mcn.load_dataset("karate")
        >>> data.y = degree(data.edge_index[0])
        >>> data.train_mask, data.val_mask, data.test_mask = mcn.data.random_split(data.y)
        >>> reg = mcn.MCNRegressor(features="motifs", lr=0.02, dropout=0.1, max_epochs=200).fit(data)
        >>> reg.predict(data).shape, round(reg.score(data), 1)  # R²
        ((34,), 0.5)
    """


class PaperClassifier(PaperParameters, _Choosing, NodeClassifier):
    """Node classification with the network of `MCNClassifier`, trained by the paper's rule and settings.

    Example:
        >>> import mcn
        >>> data = mcn.load_dataset("karate")
        >>> clf = mcn.PaperClassifier(lr=0.02, max_epochs=100, random_state=0).fit(data)
        >>> round(clf.val_accuracy_, 2), round(clf.score(data), 2)
        (1.0, 0.87)
    """


class PaperRegressor(PaperParameters, _Choosing, NodeRegressor):
    """A number per node by the network of `MCNRegressor`, trained by the paper's rule and settings.

    Example:
        >>> import mcn
        >>> from torch_geometric.utils import degree
        >>> data = mcn.load_dataset("karate")
        >>> data.y = degree(data.edge_index[0])
        >>> data.train_mask, data.val_mask, data.test_mask = mcn.data.random_split(data.y)
        >>> reg = mcn.PaperRegressor(self_attention=False, lr=0.02, max_epochs=200).fit(data)
        >>> reg.predict(data).shape, round(reg.score(data), 1)  # R²
        ((34,), 0.8)
    """


class ViewsClassifier(ViewsParameters, NodeClassifier):
    """Node classification with motif views: a perceptron on features mixed along motif random walks.

    Its `model_` is an `mcn.nn.MotifViews`.

    Example:
        >>> import mcn
        >>> data = mcn.load_dataset("karate")
        >>> clf = mcn.ViewsClassifier(walk_length=3, max_neighbours=8, max_epochs=10).fit(data)
        >>> clf.predict_proba(data).shape, round(clf.score(data), 2)
        ((34, 2), 0.87)
    """


class ViewsRegressor(ViewsParameters, NodeRegressor):
    """A number per node by motif views: a perceptron on features mixed along motif random walks.

    Its `model_` is an `mcn.nn.MotifViews`.

    Example:
        >>> import mcn
        >>> from torch_geometric.utils import degree
        >>> data = mcn.load_dataset("karate")
        >>> data.y = degree(data.edge_index[0])
        >>> data.train_mask, data.val_mask, data.test_mask = mcn.data.random_split(data.y)
        >>> reg = mcn.ViewsRegressor(features="motifs", walk_length=1, dropout=0.1, max_epochs=100).fit(data)
        >>> reg.predict(data).shape, round(reg.score(data), 1)  # R²
        ((34,), 0.3)
    """


class TreesClassifier(TreesParameters, NodeClassifier):
    """Node classification with boosted trees on the columns of a node, of its motif neighbours, and counts.

    Example:
        >>> import mcn
        >>> data = mcn.load_dataset("karate")
        >>> clf = mcn.TreesClassifier(smallest_leaf=1, random_state=0).fit(data)
        >>> clf.predict_proba(data).shape, round(clf.score(data), 2)
        ((34, 2), 0.93)
    """


class TreesRegressor(TreesParameters, NodeRegressor):
    """A number per node by boosted trees on its columns, those of its motif neighbours, and motif counts.

    Example:
        >>> import mcn
        >>> from torch_geometric.utils import degree
        >>> data = mcn.load_dataset("karate")
        >>> data.y = degree(data.edge_index[0])
        >>> data.train_mask, data.val_mask, data.test_mask = mcn.data.random_split(data.y)
        >>> reg = mcn.TreesRegressor(max_epochs=50).fit(data)
        >>> reg.predict(data).shape, round(reg.score(data), 1)  # R²
        ((34,), 0.9)
    """


class AutoClassifier(AutoParameters, _Selecting, NodeClassifier):
    """Node classification by the best of several networks: what `mcn train` does on a graph of one's own.

    Its `model_` holds the trained candidates.

    Example:
        >>> import mcn
        >>> data = mcn.load_dataset("karate")
        >>> clf = mcn.AutoClassifier(candidates=("mlp", "gcn"), repeats=1, max_epochs=20).fit(data)
        >>> clf.winner_, clf.predict(data).shape
        ('gcn', (34,))
    """

    def candidate_probabilities(self, data: Data | GraphStore) -> dict[str, NDArray[np.float32]]:
        """Return the probabilities that every candidate would predict by itself: see `predict_proba`."""
        return {name: each.probabilities for name, each in self.candidate_predictions(data).items()}


class AutoRegressor(AutoParameters, _Selecting, NodeRegressor):
    """A number per node by the best of several networks: what `mcn train` does on a graph of one's own.

    Its `model_` holds the trained candidates.

    Example:
        >>> import mcn
        >>> from torch_geometric.utils import degree
        >>> data = mcn.load_dataset("karate")
        >>> data.y = degree(data.edge_index[0])
        >>> data.train_mask, data.val_mask, data.test_mask = mcn.data.random_split(data.y)
        >>> reg = mcn.AutoRegressor(candidates=("mlp", "counts"), repeats=1, max_epochs=100).fit(data)
        >>> reg.winner_, round(reg.score(data), 1)  # R²
        ('counts', 0.9)
    """


_ESTIMATORS: dict[tuple[str, str], type[NodeEstimator]] = {
    (each.recipe.name, each._estimator_type): each
    for each in (
        *(MCNClassifier, PaperClassifier, ViewsClassifier, TreesClassifier, AutoClassifier),
        *(MCNRegressor, PaperRegressor, ViewsRegressor, TreesRegressor, AutoRegressor),
    )
}


def load_run(folder: str | os.PathLike[str]) -> NodeEstimator:
    """Read the fitted estimator of a folder: one that was saved, or a finished run of `mcn train`.

    It predicts what it did before, bit for bit. What `fit` says of the graph itself (`motif_choice_`,
    `step_choice_`, `stack_`, `history_`) is not there. `mcn.train.Run.load` reads the same folder as a run,
    with its settings, scores and files.

    Raises:
        ValueError: there is no finished run, or its files do not fit together.
    """
    run = Run.load(folder)
    kind = "classifier" if run.task.has_probabilities else "regressor"
    params = {name: value for name, value in dataclasses.asdict(run.config).items() if name != "seed"}
    estimator = _ESTIMATORS[run.config.recipe, kind](**params)
    estimator.set_params(random_state=run.config.seed)
    with reading(folder, f"{MODEL} and {SUMMARY} are not those of a fitted estimator"):
        figures = [run.summary[name] for name in ("epochs", "best_epoch", "val_accuracy", "seconds")]
        epochs, best_epoch, accuracy, seconds = figures
        result = FitResult(epochs, best_epoch, accuracy, math.nan, math.nan, seconds)
        estimator._take(dataclasses.replace(run, result=result), run.summary, run.summary["remarks"])
    return estimator


load = load_run
"""The older name of `load_run`, until the next version."""


def cross_validate(
    clf: NodeEstimator,
    data: Data,
    splits: Iterable[tuple[Any, Any, Any]] | None = None,
    metric: str | None = None,
) -> dict[str, Any]:
    """Fit a clone of an estimator on every split of a graph, and score it on that split's test nodes.

    Args:
        clf: what to fit; it is not changed.
        data: the graph. Without `splits` its three masks have shape [N, splits], as PyG's sets have them.
        splits: masks (train, val, test), each bool [N].
        metric: see `NodeEstimator.score`.

    Returns:
        By name, a list with an entry per split: "test_score", "val_accuracy", "fit_time" in seconds, and
        "estimator", the fitted clones.

    Raises:
        ValueError: a split cannot be trained on, or the masks are no splits.

    >>> import mcn
    >>> data = mcn.load_dataset("karate")
    >>> masks = (data.train_mask, data.val_mask, data.test_mask)
    >>> clf = mcn.MCNClassifier(max_epochs=20, random_state=0)
    >>> len(mcn.cross_validate(clf, data, [masks, masks])["test_score"])
    2
    """
    from sklearn.base import clone
    from torch_geometric.data import Data as Graph

    if not isinstance(data, Graph):
        raise ValueError(f"data is a {type(data).__name__}; expected one graph, a torch_geometric.data.Data")
    if splits is None:
        masks = [data.get(f"{part}_mask") for part in ("train", "val", "test")]
        if any(mask is None or mask.dim() != 2 for mask in masks):
            raise ValueError("give splits, or masks of shape [N, splits] in data")
        splits = zip(*(mask.unbind(1) for mask in masks), strict=True)
    found: dict[str, Any] = {"test_score": [], "val_accuracy": [], "fit_time": [], "estimator": []}
    for number, split in enumerate(splits):
        if isinstance(split, Graph) or len(split) != 3:
            raise ValueError(
                f"splits, entry {number}: a {type(split).__name__}; expected three masks (train, val, test), "
                "each bool [N], of the one graph"
            )
        part = copy.copy(data)
        part.train_mask, part.val_mask, part.test_mask = map(torch.as_tensor, split)
        began = time.perf_counter()
        fitted = clone(clf).fit(part)
        found["fit_time"].append(time.perf_counter() - began)
        found["test_score"].append(fitted.score(part, metric))
        found["val_accuracy"].append(fitted.val_accuracy_)
        found["estimator"].append(fitted)
    return found
