"""The recipes in the manner of scikit-learn: `MCNClassifier`, `AutoClassifier` and `ViewsClassifier`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import os
import re
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray

from graphmotifs._messages import did_you_mean, one_of
from mcn.data.checks import renumbered, usable_data
from mcn.data.limits import reading
from mcn.store import GraphStore, as_data
from mcn.train.callbacks import Lines
from mcn.train.folder import MODEL, SUMMARY
from mcn.train.loop import Callback, Epoch, FitResult
from mcn.train.predictions import Predictions, in_classes, score_on_test
from mcn.train.problem import Inputs, class_names
from mcn.train.recipes import RECIPES, Recipe, work_of
from mcn.train.run import Run, load_run, save_run, train
from mcn.train.settings import Setting, Settings, declared
from mcn.train.treated import treated_graph
from mcn.train.trees.columns import own_names, table_columns

if TYPE_CHECKING:
    from torch_geometric.data import Data

_WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")


class NodeClassifier:
    """Node classification by a recipe: the common part of the estimators.

    The parameters of a subclass are the settings of its recipe, with `random_state` for the seed;
    `get_params`, `set_params` and `sklearn.base.clone` work as usual.
    """

    recipe: ClassVar[Recipe]

    def __init_subclass__(cls, recipe: str, **rest: Any) -> None:
        """Give the estimator of a recipe the recipe's settings as its parameters."""
        super().__init_subclass__(**rest)
        cls.recipe = RECIPES[recipe]

        def __init__(self: NodeClassifier, **params: Any) -> None:
            signature = inspect.signature(type(self).__init__)
            bound = signature.bind(self, **params)  # an unknown name is a TypeError, as for any function
            bound.apply_defaults()
            for name, value in list(bound.arguments.items())[1:]:
                setattr(self, name, value)

        own = [_parameter(one) for one in declared(cls.recipe.config).values()]
        self_ = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        __init__.__signature__ = inspect.Signature([self_, *own])  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[assignment]
        if cls.__doc__:
            cls.__doc__ += _parameters_text(cls.recipe)

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters this estimator was made with."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change some of the parameters."""
        known = self._names()
        for name, value in params.items():
            if name not in known:
                hint = did_you_mean(name, known) or f"; it has {', '.join(known)}"
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}{hint}")
            setattr(self, name, value)
        return self

    def fit(
        self, data: Data | GraphStore, *, callbacks: Sequence[Callback] = (), verbose: bool = False
    ) -> Self:
        """Train on the nodes of `data.train_mask`, stopping by those of `data.val_mask`.

        Args:
            data: the graph. It needs no test mask; labels may be any numbers from 0 on, and -1 for none.
            callbacks: called with (training, epoch) after every epoch, such as `mcn.train.TensorBoard`.
            verbose: print the scores of every tenth epoch.

        Raises:
            ValueError: says what of `data` or of the parameters cannot be trained with.
        """
        params = self.get_params()
        config = self.recipe.config(seed=_drawn_seed(params.pop("random_state")), **params)
        data = treated_graph(usable_data(_readable(data, config)), config)
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
        self.n_features_in_, self.feature_names_in_, state = run.memory
        self.feature_names_ = self.feature_names_in_  # the older name
        self.treatment_ = run.treatment
        numbered = run.classes == list(map(str, range(len(run.classes))))
        self._named = bool((state.get("labels") or {"named": not numbered})["named"])
        for name in ("classes_", "feature_importances_", "feature_importances_names_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if self.task_.has_probabilities:
            whole = self.task_.kind == "classes" and all(map(_WHOLE_NUMBER.fullmatch, run.classes))
            self.classes_ = np.asarray(run.classes).astype(np.int64 if whole else str)

    def _look_back(self, run: Run, data: Data | GraphStore) -> None:
        """Keep what a recipe has to say of the graph it was trained on."""

    def save(self, folder: str | os.PathLike[str]) -> Self:
        """Write a folder that `mcn.load`, `mcn predict` and `mcn view` read; nothing in it can run code.

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
        graph = treated_graph(usable_data(_readable(data, self.config_)), self.config_, self._memory)
        return work_of(self.config_).inputs(graph, self.config_, memory=self._memory)

    def predict_proba(self, data: Data | GraphStore) -> NDArray[np.float32]:
        """Return float32 [N, classes]: class probabilities of every node, or those of a yes to every target.

        Raises:
            ValueError: the target is a number.
        """
        predictions = self.predictions(data)
        if not self.task_.has_probabilities:
            raise ValueError("a numeric target has no probabilities; call predict")
        return predictions.probabilities

    def predict(self, data: Data | GraphStore) -> NDArray[Any]:
        """Return what is predicted of every node: a value of `classes_`, as scikit-learn's classifiers do.

        Of a numeric target it is the number; of several targets 1 or 0 for each, [N, targets]. The columns of
        `data.columns` are treated as those of the graph trained on were, found by their names.

        Raises:
            ValueError: a column that training had is missing, or `data.x` cannot be what training had.
        """
        labels = self.predictions(data).labels
        return np.asarray(self.classes_[labels] if self.task_.kind == "classes" else labels)

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
        """Return `data` with its labels numbered as the classes of this estimator."""
        self._check_fitted()
        data = as_data(data)
        if data.y is None or data.get("test_mask") is None:
            raise ValueError("data.y or data.test_mask is missing: there is nothing to score")
        if self.task_.kind != "classes" or (self._named and class_names(data) is None):
            return data
        data = copy.copy(data)
        data.y = data.y.reshape(-1)  # OGB has labels [N, 1]
        if self._named:
            return in_classes(data, self._run.classes)
        data.y = renumbered(data.y, torch.from_numpy(self.classes_))
        return data

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(data) first")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this is a classifier, whose labels come with the graph."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(pairwise=_OneGraph()),  # type: ignore[arg-type, unused-ignore]
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = {k: v for k, v in self.get_params().items() if v != defaults[k].default}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"


class _OneGraph:
    """Scikit-learn asks whether an input is `pairwise` just before it would cut it into samples."""

    def __bool__(self) -> bool:
        raise ValueError(
            "a graph cannot be cut into samples: instead of GridSearchCV and its kin use `mcn search` or "
            "mcn.cross_validate, or fit once for each of sklearn.model_selection.ParameterGrid and compare "
            "val_accuracy_"
        )


def _readable(data: Data | GraphStore, config: Settings) -> Data | GraphStore:
    """Leave a graph on disk where it is if it is to be read in mini-batches; else load it."""
    return data if getattr(config, "batch_size", None) is not None else as_data(data)


def _drawn_seed(random_state: Any) -> Any:
    """Return the seed that a `random_state` stands for; as in scikit-learn, None draws one."""
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31 - 1))
    return random_state


def _name(one: Setting) -> str:
    """Return what scikit-learn calls a setting."""
    return "random_state" if one.name == "seed" else one.name


def _parameter(one: Setting) -> inspect.Parameter:
    return inspect.Parameter(_name(one), inspect.Parameter.KEYWORD_ONLY, default=one.default)


def _parameters_text(recipe: Recipe) -> str:
    own = declared(recipe.config).values()
    lines = "".join(f"        {_name(one)}: {one.sentence} Default: {one.default!r}.\n" for one in own)
    drawn = "        random_state may also be None (a fresh seed, kept in config_) or a generator of NumPy.\n"
    return f"\n    Parameters:\n{lines}{drawn}"


class MCNClassifier(NodeClassifier, recipe="mcn"):
    """Node classification with a motif convolutional network, whose nodes choose what they listen to.

    Attributes after `fit`:
        classes_: the values that `predict` returns, in the order of the columns of `predict_proba`: the names
            in `data.classes` where there are some (numbers where all are whole numbers), else the numbers in
            `data.y`; of several targets their names. A numeric target has none. task_: what is predicted.
        model_, stack_: the trained `mcn.MCN` and the training graph's `mcn.MotifStack`.
        motif_choice_: names of the motif each node chose, [N, layers]; step_choice_: its step size.
        history_: the scores of every epoch (`mcn.train.Epoch`).
        best_epoch_, val_accuracy_: of the weights that were kept.
        n_features_in_, feature_names_in_: the features that the network takes; treatment_: how they are made
            of `data.columns` of any graph, learned from the training nodes (None: of no table).

    >>> import mcn
    >>> data = mcn.load_dataset("karate")
    >>> clf = mcn.MCNClassifier(lr=0.02, max_epochs=100, random_state=0).fit(data)
    >>> clf.predict(data)[[0, 33]].tolist(), clf.motif_choice_.shape
    (['Mr. Hi', 'Officer'], (34, 2))
    >>> round(clf.val_accuracy_, 2), round(clf.score(data), 2)
    (1.0, 0.93)
    """

    def _look_back(self, run: Run, data: Data | GraphStore) -> None:
        predictions = run.predict(data)
        self.stack_ = getattr(run.inputs(data), "stack", None)  # a graph on disk has none
        self.motif_choice_: NDArray[Any] = np.asarray(predictions.motifs)[predictions.motif]
        self.step_choice_ = predictions.step


class AutoClassifier(NodeClassifier, recipe="auto"):
    """Node classification by the best of several networks: what `mcn train` does on a graph of one's own.

    Attributes after `fit`:
        candidates_: how the candidates did on held-out validation nodes, the best first: one dict each.
        winner_: the name of the best one for the whole graph.
        remarks_: what predicts (one candidate, a blend, or a candidate per node), in sentences.
        feature_importances_, feature_importances_names_: where trees predict, the share of every column of
            their table in what their splits gained, and the names of these columns.
        model_: the trained candidates.
        classes_, task_, history_, best_epoch_, val_accuracy_, n_features_in_, feature_names_in_, treatment_:
            as of `MCNClassifier`.

    >>> import mcn
    >>> data = mcn.load_dataset("karate")
    >>> clf = mcn.AutoClassifier(candidates=("mlp", "gcn"), repeats=1, max_epochs=20).fit(data)
    >>> clf.winner_, clf.predict(data).shape
    ('gcn', (34,))
    """

    def candidate_probabilities(self, data: Data | GraphStore) -> dict[str, NDArray[np.float32]]:
        """Return what every candidate would predict by itself, by its name: see `predict_proba`."""
        self._check_fitted()
        alone: Any = copy.copy(self.model_)
        inputs, found = self._inputs(data), {}
        for name in alone.names:
            alone.mode, alone.winner = "one", name
            found[name] = work_of(self.config_).predict(alone, inputs, self.task_).probabilities
        return found

    def _take(self, run: Run, notes: dict[str, Any], remarks: list[str]) -> None:
        super()._take(run, notes, remarks)
        self.candidates_: list[dict[str, Any]] = notes["candidates"]
        self.winner_, self.remarks_ = str(notes["choosing"]["winner"]), remarks
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


class ViewsClassifier(NodeClassifier, recipe="views"):
    """Node classification with motif views: a perceptron on features mixed along motif random walks.

    Attributes after `fit`:
        model_: the trained `mcn.nn.MotifViews`.
        classes_, task_, history_, best_epoch_, val_accuracy_, n_features_in_, feature_names_in_, treatment_:
            as of `MCNClassifier`.

    >>> import mcn
    >>> data = mcn.load_dataset("karate")
    >>> clf = mcn.ViewsClassifier(walk_length=3, max_neighbours=8, max_epochs=10, random_state=0).fit(data)
    >>> clf.predict_proba(data).shape, round(clf.score(data), 2)
    ((34, 2), 0.87)
    """


_ESTIMATORS: dict[str, type[NodeClassifier]] = {
    each.recipe.name: each for each in (MCNClassifier, AutoClassifier, ViewsClassifier)
}


def load(folder: str | os.PathLike[str]) -> NodeClassifier:
    """Read a fitted estimator from a folder: one that was saved, or a finished run of `mcn train`.

    It predicts what it did before, bit for bit. What `fit` says of the graph itself (`motif_choice_`,
    `step_choice_`, `stack_`, `history_`) is not there.

    Raises:
        ValueError: there is no finished run, its files do not fit together, or its recipe has no estimator.
    """
    run = load_run(folder)
    kind = _ESTIMATORS.get(run.config.recipe)
    if kind is None:
        raise ValueError(
            f"{folder}: a run of the recipe {run.config.recipe}, which has no estimator; read it with "
            "mcn.train.load_run, and call its predict"
        )
    params = {name: value for name, value in dataclasses.asdict(run.config).items() if name != "seed"}
    clf = kind(**params)
    clf.set_params(random_state=run.config.seed)
    with reading(folder, f"{MODEL} and {SUMMARY} are not those of a fitted estimator"):
        figures = [run.summary[name] for name in ("epochs", "best_epoch", "val_accuracy", "seconds")]
        epochs, best_epoch, accuracy, seconds = figures
        result = FitResult(epochs, best_epoch, accuracy, math.nan, math.nan, seconds)
        clf._take(dataclasses.replace(run, result=result), run.summary, run.summary["remarks"])
    return clf


def cross_validate(
    clf: NodeClassifier,
    data: Data,
    splits: Iterable[tuple[Any, Any, Any]] | None = None,
    metric: str | None = None,
) -> dict[str, Any]:
    """Fit a clone of an estimator on every split of a graph, and score it on that split's test nodes.

    Args:
        clf: what to fit; it is not changed.
        data: the graph. Without `splits` its three masks have shape [N, splits], as PyG's sets have them.
        splits: masks (train, val, test), each bool [N].
        metric: see `NodeClassifier.score`.

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
