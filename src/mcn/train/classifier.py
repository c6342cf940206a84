"""`MCNClassifier`: the network in the manner of scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.motifs import count_motifs
from mcn.train.config import Config
from mcn.train.evaluate import Predictions, predict, accuracy_on_test
from mcn.train.fit import Epoch, Trainer, build_model, fit
from mcn.train.problem import features, motif_stack, prepare


class MCNClassifier:
    """Node classification with a motif convolutional network.

    Arguments are those of `mcn.train.Config`, with `random_state` for its seed; `get_params`,
    `set_params` and `sklearn.base.clone` work as usual.

    Attributes after `fit`:
        classes_: the class numbers, or `data.classes` where the data names them.
        model_, stack_: the trained `mcn.MCN` and the training graph's `mcn.MotifStack`.
        motif_choice_: names of the motif each node chose, [N, layers]; step_choice_: its step size.
        history_: the scores of every epoch. best_epoch_, val_accuracy_: of the weights that were kept.

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
        hidden: int = Config.hidden,
        heads: int = Config.heads,
        output_heads: int = Config.output_heads,
        num_layers: int = Config.num_layers,
        dropout: float = Config.dropout,
        self_attention: bool = Config.self_attention,
        motif_attention: bool = Config.motif_attention,
        prior: str = Config.prior,
        attention: str = Config.attention,
        epsilon: float = Config.epsilon,
        advantage: str = Config.advantage,
        policy_weight: float = Config.policy_weight,
        policy_grad: bool = Config.policy_grad,
        policy_lr: float | None = Config.policy_lr,
        policy_decay: float | None = Config.policy_decay,
        init_bias: float = Config.init_bias,
        consistency: float = Config.consistency,
        ramp: int = Config.ramp,
        temperature: float = Config.temperature,
        lr: float = Config.lr,
        weight_decay: float = Config.weight_decay,
        max_epochs: int = Config.max_epochs,
        patience: int = Config.patience,
        stopping: str = Config.stopping,
        normalize: bool = Config.normalize,
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
                raise ValueError(f"MCNClassifier has no parameter {name!r}; it has {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def fit(self, data: Data) -> MCNClassifier:
        """Train on the nodes of `data.train_mask`, stopping by those of `data.val_mask`."""
        params = self.get_params()
        config = Config(**{k: v for k, v in params.items() if k != "random_state"}, seed=self.random_state)  # type: ignore[attr-defined]
        problem = prepare(data, config)
        trainer = Trainer(build_model(problem, config), problem, config)
        history: list[Epoch] = []
        result = fit(trainer, [lambda _trainer, epoch: history.append(epoch)])
        self.config_, self.model_, self.stack_ = config, trainer.model, problem.stack
        self.history_, self.best_epoch_, self.val_accuracy_ = history, result.best_epoch, result.val_accuracy
        self.classes_ = np.asarray(getattr(data, "classes", None) or np.arange(problem.num_classes))
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
        check_features(data, self.n_features_in_, self.feature_names_)
        counts = count_motifs(data.edge_index, data.num_nodes)
        stack = motif_stack(data, self.config_, counts, self.stack_.count_scale)
        return predict(self.model_, features(data.x, self.config_.normalize), stack)

    def predict_proba(self, data: Data) -> NDArray[np.float32]:
        """Float32 [N, classes]: class probabilities of every node."""
        return self.predictions(data).probabilities

    def predict(self, data: Data) -> NDArray[Any]:
        """The class of every node, as in `data.y`."""
        return self.predictions(data).labels

    def score(self, data: Data) -> float:
        """Accuracy on the nodes of `data.test_mask`."""
        accuracy = accuracy_on_test(data, self.predict(data))
        if accuracy is None:
            raise ValueError("data.test_mask is empty: there is nothing to score")
        return accuracy

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = {k: v for k, v in self.get_params().items() if v != defaults[k].default}
        return f"MCNClassifier({', '.join(f'{k}={v!r}' for k, v in changed.items())})"


def check_features(data: Data, width: int, names: list[str] | None) -> None:
    """Refuse a graph whose features are not those a network was trained on."""
    if data.x is None or data.x.dim() != 2 or data.x.shape[0] != data.num_nodes:
        shape = None if data.x is None else list(data.x.shape)
        raise ValueError(f"data.x has shape {shape}; expected [{data.num_nodes}, {width}]")
    own = getattr(data, "feature_names", None)
    if names is not None and own is not None and list(own) != list(names):
        missing, extra = [n for n in names if n not in own], [n for n in own if n not in names]
        detail = f"missing {missing[:5]}, not known {extra[:5]}" if missing or extra else "in another order"
        raise ValueError(f"the features are not those the network was trained on: {detail}")
    if data.x.shape[1] != width:
        raise ValueError(f"data.x has {data.x.shape[1]} features, but the network was trained on {width}")
    values = data.x if data.x.layout == torch.strided else data.x.values()
    if not torch.isfinite(values).all():
        raise ValueError("data.x holds values that are not finite")
