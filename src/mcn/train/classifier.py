"""`MCNClassifier`: the network in the manner of scikit-learn."""

from __future__ import annotations

import difflib
import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.train.config import Config
from mcn.train.evaluate import Predictions, accuracy_on_test, predict
from mcn.train.features import check_features, inputs
from mcn.train.fit import Epoch, Trainer, build_model, fit
from mcn.train.problem import class_names, motif_stack, prepare
from mcn.train.table import in_classes


class MCNClassifier:
    """Node classification with a motif convolutional network.

    Arguments are those of `mcn.train.Config`, with `random_state` for its seed; `get_params`,
    `set_params` and `sklearn.base.clone` work as usual.

    Attributes after `fit`:
        classes_: the class numbers, or `data.classes` where the data names them.
        model_, stack_: the trained `mcn.MCN` and the training graph's `mcn.MotifStack`.
        motif_choice_: names of the motif each node chose, [N, layers]; step_choice_: its step size.
        history_: the scores of every epoch (`mcn.train.Epoch`).
        best_epoch_, val_accuracy_: of the weights that were kept.
        n_features_in_, feature_names_: what `predict` expects to find in a graph.

    >>> import mcn
    >>> data = mcn.load_dataset("karate")
    >>> clf = mcn.MCNClassifier(max_epochs=5, random_state=0).fit(data)
    >>> clf.predict(data).shape, clf.motif_choice_.shape
    ((34,), (34, 2))
    """

    def __init__(
        self,
        motifs: tuple[str, ...] = Config.motifs,
        steps: int = Config.steps,
        psi: str = Config.psi,
        *,
        scope: str = Config.scope,
        add_edges: bool = Config.add_edges,
        materialize: bool = Config.materialize,
        hidden: int = Config.hidden,
        heads: int = Config.heads,
        output_heads: int = Config.output_heads,
        num_layers: int = Config.num_layers,
        dropout: float = Config.dropout,
        self_attention: bool = Config.self_attention,
        motif_attention: bool = Config.motif_attention,
        prior: str = Config.prior,
        attention: str = Config.attention,
        epsilon: float | None = Config.epsilon,
        advantage: str | None = Config.advantage,
        policy_weight: float = Config.policy_weight,
        policy_grad: bool = Config.policy_grad,
        policy_lr: float | None = Config.policy_lr,
        policy_decay: float | None = Config.policy_decay,
        init_bias: float = Config.init_bias,
        gate: bool | None = Config.gate,
        consistency: float | None = Config.consistency,
        ramp: int = Config.ramp,
        temperature: float = Config.temperature,
        lr: float = Config.lr,
        weight_decay: float = Config.weight_decay,
        max_epochs: int = Config.max_epochs,
        patience: int = Config.patience,
        stopping: str = Config.stopping,
        features: str = Config.features,
        normalize: bool = Config.normalize,
        priors: str = Config.priors,
        random_state: int = Config.seed,
    ) -> None:
        values = locals()
        for name in self._names():
            setattr(self, name, values[name])

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments this estimator was made with."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> MCNClassifier:
        """Change some of the arguments."""
        for name, value in params.items():
            if name not in self._names():
                near = difflib.get_close_matches(name, self._names(), n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(self._names())}"
                raise ValueError(f"MCNClassifier has no parameter {name!r}; {hint}")
            setattr(self, name, value)
        return self

    def fit(self, data: Data) -> MCNClassifier:
        """Train on the nodes of `data.train_mask`, stopping by those of `data.val_mask`.

        Raises:
            ValueError: says what of `data` or of the parameters cannot be trained with.
        """
        params = self.get_params()
        config = Config(seed=params.pop("random_state"), **params)
        problem = prepare(data, config)
        trainer = Trainer(build_model(problem, config), problem, config)
        history: list[Epoch] = []
        result = fit(trainer, [lambda _trainer, epoch: history.append(epoch)])
        self.config_, self.model_, self.stack_ = config, trainer.model, problem.stack
        self.history_, self.best_epoch_, self.val_accuracy_ = history, result.best_epoch, result.val_accuracy
        names = class_names(data)
        self.classes_ = np.arange(problem.num_classes) if names is None else np.asarray(names)
        self.n_features_in_ = problem.x.shape[1]
        self.feature_names_ = getattr(data, "feature_names", None)
        own = predict(self.model_, problem.x, problem.stack)
        self.motif_choice_: NDArray[Any] = np.asarray(config.motifs)[own.motif]
        self.step_choice_ = own.step
        return self

    def predictions(self, data: Data) -> Predictions:
        """Probabilities and choices for the nodes of `data`: the training graph, grown or another one."""
        if not hasattr(self, "model_"):
            raise ValueError("this MCNClassifier is not fitted yet; call fit(data) first")
        if self.config_.features == "given":
            check_features(data, self.n_features_in_, self.feature_names_)
        stack = motif_stack(data, self.config_, None, self.stack_.count_scale)
        return predict(self.model_, inputs(data, stack, self.config_), stack)

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
        return f"MCNClassifier({', '.join(f'{k}={v!r}' for k, v in changed.items())})"
