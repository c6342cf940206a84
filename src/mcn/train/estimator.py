"""What the estimators share: parameters in the manner of scikit-learn, predictions, the score."""

from __future__ import annotations

import difflib
import inspect
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.train.evaluate import Predictions, accuracy_on_test
from mcn.train.fit import BaseTrainer, Epoch, fit
from mcn.train.problem import class_names
from mcn.train.table import in_classes


class NodeClassifier(ABC):
    """The common part of `mcn.MCNClassifier` and `mcn.ViewsClassifier`."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments this estimator was made with."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change some of the arguments."""
        for name, value in params.items():
            if name not in self._names():
                near = difflib.get_close_matches(name, self._names(), n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(self._names())}"
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; {hint}")
            setattr(self, name, value)
        return self

    def _train(self, trainer: BaseTrainer, data: Data, num_classes: int, num_features: int) -> None:
        """Train, and keep what an estimator says of itself afterwards."""
        history: list[Epoch] = []
        result = fit(trainer, [lambda _trainer, epoch: history.append(epoch)])
        self.config_, self.model_ = trainer.config, trainer.model
        self.history_, self.best_epoch_, self.val_accuracy_ = history, result.best_epoch, result.val_accuracy
        names = class_names(data)
        self.classes_ = np.arange(num_classes) if names is None else np.asarray(names)
        self.n_features_in_ = num_features
        self.feature_names_ = getattr(data, "feature_names", None)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise ValueError(f"this {type(self).__name__} is not fitted yet; call fit(data) first")

    @abstractmethod
    def predictions(self, data: Data) -> Predictions:
        """Probabilities and choices for the nodes of `data`: the training graph, grown or another one."""

    def predict_proba(self, data: Data) -> NDArray[np.float32]:
        """Float32 [N, classes]: class probabilities of every node."""
        return self.predictions(data).probabilities

    def predict(self, data: Data) -> NDArray[Any]:
        """The class number of every node, as in `data.y` of the graph trained on."""
        return self.predictions(data).labels

    def score(self, data: Data) -> float:
        """Accuracy on the nodes of `data.test_mask`; classes that have names are compared by name."""
        if data.y is None or data.get("test_mask") is None:
            raise ValueError("data.y or data.test_mask is missing: there is nothing to score")
        labels = self.predict(data)
        named = self.classes_.dtype.kind == "U" and class_names(data) is not None
        known = in_classes(data, [str(name) for name in self.classes_]) if named else data
        accuracy = accuracy_on_test(known, labels)
        if accuracy is None:
            raise ValueError("data.test_mask is empty: there is nothing to score")
        return accuracy

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = {k: v for k, v in self.get_params().items() if v != defaults[k].default}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"
