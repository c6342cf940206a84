"""`MCNClassifier`: the network in the manner of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.train.config import Config
from mcn.train.estimator import NodeClassifier
from mcn.train.evaluate import Predictions, predict
from mcn.train.features import check_features, inputs
from mcn.train.fit import Trainer, build_model
from mcn.train.problem import motif_stack, prepare


class MCNClassifier(NodeClassifier):
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

    def fit(self, data: Data) -> MCNClassifier:
        """Train on the nodes of `data.train_mask`, stopping by those of `data.val_mask`.

        Raises:
            ValueError: says what of `data` or of the parameters cannot be trained with.
        """
        params = self.get_params()
        config = Config(seed=params.pop("random_state"), **params)
        problem = prepare(data, config)
        trainer = Trainer(build_model(problem, config), problem, config)
        self._train(trainer, data, problem.num_classes, problem.x.shape[1])
        self.stack_ = problem.stack
        own = predict(self.model_, problem.x, problem.stack)
        self.motif_choice_: NDArray[Any] = np.asarray(config.motifs)[own.motif]
        self.step_choice_ = own.step
        return self

    def predictions(self, data: Data) -> Predictions:
        """Probabilities and choices for the nodes of `data`: the training graph, grown or another one."""
        self._check_fitted()
        if self.config_.features == "given":
            check_features(data, self.n_features_in_, self.feature_names_)
        stack = motif_stack(data, self.config_, None, self.stack_.count_scale)
        return predict(self.model_, inputs(data, stack, self.config_), stack)
