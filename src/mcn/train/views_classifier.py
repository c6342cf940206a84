"""`ViewsClassifier`: motif views in the manner of scikit-learn."""

from __future__ import annotations

from torch_geometric.data import Data

from mcn.motifs import count_motifs
from mcn.train.estimator import NodeClassifier
from mcn.train.evaluate import Predictions
from mcn.train.features import check_features, features
from mcn.train.views_config import ViewsConfig
from mcn.train.views_fit import predict_views, views_trainer
from mcn.train.views_problem import held_sparse, prepare_views, rows_of


class ViewsClassifier(NodeClassifier):
    """Node classification with motif views, see docs/views.md.

    Arguments are those of `mcn.train.ViewsConfig`, with `random_state` for its seed; `get_params`,
    `set_params` and `sklearn.base.clone` work as usual.

    Attributes after `fit`:
        classes_: the class numbers, or `data.classes` where the data names them.
        model_: the trained `mcn.nn.MotifViews`.
        history_: the scores of every epoch (`mcn.train.Epoch`).
        best_epoch_, val_accuracy_: of the weights that were kept.
        n_features_in_, feature_names_: what `predict` expects to find in a graph.

    >>> import mcn
    >>> data = mcn.load_dataset("karate")
    >>> clf = mcn.ViewsClassifier(order=3, top=8, max_epochs=3, random_state=0).fit(data)
    >>> clf.predict_proba(data).shape
    (34, 2)
    """

    def __init__(
        self,
        motifs: tuple[str, ...] = ViewsConfig.motifs,
        *,
        order: int = ViewsConfig.order,
        alpha: float | None = ViewsConfig.alpha,
        top: int = ViewsConfig.top,
        tolerance: float = ViewsConfig.tolerance,
        symmetric: bool = ViewsConfig.symmetric,
        scope: str = ViewsConfig.scope,
        lost: float = ViewsConfig.lost,
        smooth: bool = ViewsConfig.smooth,
        hidden: int = ViewsConfig.hidden,
        num_layers: int = ViewsConfig.num_layers,
        input_dropout: float = ViewsConfig.input_dropout,
        dropout: float = ViewsConfig.dropout,
        batch_norm: bool = ViewsConfig.batch_norm,
        row_norm: bool = ViewsConfig.row_norm,
        whole: bool = ViewsConfig.whole,
        batch: int = ViewsConfig.batch,
        unlabelled: int = ViewsConfig.unlabelled,
        passes: int = ViewsConfig.passes,
        consistency: float = ViewsConfig.consistency,
        ramp: int = ViewsConfig.ramp,
        temperature: float = ViewsConfig.temperature,
        sure: float = ViewsConfig.sure,
        lr: float = ViewsConfig.lr,
        weight_decay: float = ViewsConfig.weight_decay,
        clip: float = ViewsConfig.clip,
        average: float = ViewsConfig.average,
        every: int = ViewsConfig.every,
        max_epochs: int = ViewsConfig.max_epochs,
        patience: int = ViewsConfig.patience,
        stopping: str = ViewsConfig.stopping,
        normalize: bool = ViewsConfig.normalize,
        random_state: int = ViewsConfig.seed,
    ) -> None:
        values = locals()
        for name in self._names():
            setattr(self, name, values[name])

    def fit(self, data: Data) -> ViewsClassifier:
        """Train on the nodes of `data.train_mask`, stopping by those of `data.val_mask`.

        Raises:
            ValueError: says what of `data` or of the parameters cannot be trained with.
        """
        params = self.get_params()
        config = ViewsConfig(seed=params.pop("random_state"), **params)
        problem = prepare_views(data, config)
        self._train(views_trainer(problem, config), data, problem.num_classes, problem.x.shape[1])
        return self

    def predictions(self, data: Data) -> Predictions:
        """Probabilities for the nodes of `data`: the training graph, grown or another one."""
        self._check_fitted()
        check_features(data, self.n_features_in_, self.feature_names_)
        rows = rows_of(count_motifs(data.edge_index, data.num_nodes), self.config_)
        return predict_views(self.model_, held_sparse(features(data.x, self.config_.normalize)), rows)
