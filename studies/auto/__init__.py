"""`auto` beside what a data scientist would try first: boosted trees by hand, deep networks of PyG.

One run of `auto` gives its own row and one for every candidate alone; where chance drew the split it learns
from validation nodes too. `auto-train` learns from training nodes alone, as the peers do: their settings and
epochs are chosen on validation nodes. Test nodes are read once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, SAGEConv

import mcn
from mcn.data import feature_csr
from studies.choice import load_split

SETS = ("texas", "wisconsin", "chameleon-filtered", "actor", "minesweeper", "amazon-photo", "airports-usa")
CITATION = ("cora-drawn", "citeseer-drawn", "pubmed-drawn")
METRIC = {"minesweeper": "roc-auc"}
"""As published; accuracy elsewhere."""
FIRST = {"amazon-photo": 10, "airports-usa": 10}
"""The first split, where they are drawn: those of the study of choices."""
TREES: tuple[dict[str, Any], ...] = (
    {"learning_rate": 0.1},
    {"learning_rate": 0.05, "max_leaf_nodes": 15, "min_samples_leaf": 5},
    {"learning_rate": 0.05, "max_leaf_nodes": 31, "l2_regularization": 10.0, "max_features": 0.3},
)
_WIDE, _ROUNDS = 200, 300
Outputs = NDArray[np.float64]


def rows_of(name: str, split: int, methods: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the results of methods on one split; of `auto` also those of its candidates."""
    data, metric = load_split(name, split), METRIC.get(name, "accuracy")
    test = data.test_mask.numpy()

    def row(method: str, outputs: NDArray[Any], seconds: float) -> dict[str, Any]:
        value = score(metric, outputs[test], data.y.numpy()[test])
        return {"dataset": name, "method": method, "seed": split, "test": value, "seconds": seconds}

    for method in methods:
        began = time.process_time()
        if method in PEERS:
            yield row(method, PEERS[method](data, metric), time.process_time() - began)
            continue
        clf = mcn.AutoClassifier(random_state=split, cross_fit=method == "auto").fit(data)
        yield row(method, clf.predict_proba(data), time.process_time() - began)
        if method != "auto":
            continue
        seconds = {one["candidate"]: one["seconds_per_run"] * one["runs"] for one in clf.candidates_}
        for candidate, outputs in clf.candidate_probabilities(data).items():
            yield row(candidate, outputs, seconds[candidate])


def score(metric: str, outputs: NDArray[Any], labels: NDArray[np.int64]) -> float:
    """Return ROC-AUC or accuracy, as scikit-learn has them."""
    if metric == "roc-auc":
        return float(roc_auc_score(labels, outputs[:, 1]))
    return float(accuracy_score(labels, outputs.argmax(1)))


def own_columns(data: Data) -> NDArray[np.float32]:
    """Return a node's columns; more than 200 are reduced to 64 by a truncated SVD."""
    x = feature_csr(data.x).astype(np.float32)
    if x.shape[1] > _WIDE:
        return np.asarray(TruncatedSVD(64, random_state=0).fit_transform(x), np.float32)
    return np.asarray(x.toarray())


def with_means(data: Data) -> NDArray[np.float32]:
    """Return a node's columns, their means over neighbours of one and two steps, and the degree."""
    own = own_columns(data)
    edges = torch.sparse_coo_tensor(
        data.edge_index, torch.ones(data.edge_index.shape[1]), (data.num_nodes, data.num_nodes)
    ).coalesce()
    degree = torch.sparse.sum(edges, 1).to_dense()[:, None]
    one = torch.sparse.mm(edges, torch.from_numpy(own)) / degree.clamp_min(1)
    two = torch.sparse.mm(edges, one) / degree.clamp_min(1)
    return np.hstack([own, one.numpy(), two.numpy(), degree.numpy()])


def trees(columns: Callable[[Data], NDArray[np.float32]]) -> Callable[[Data, str], Outputs]:
    """Return scikit-learn's boosted trees on some columns: of three settings, the best on validation."""

    def fitted(data: Data, metric: str) -> Outputs:
        table, y = columns(data), data.y.numpy()
        train, val = data.train_mask.numpy(), data.val_mask.numpy()
        best, found = -np.inf, np.zeros((len(y), int(y.max()) + 1))
        for settings in TREES:
            model = HistGradientBoostingClassifier(
                **settings, max_iter=_ROUNDS, early_stopping=False, random_state=0
            ).fit(table[train], y[train])
            for number, p in enumerate(model.staged_predict_proba(table[val])):
                wide = np.zeros((len(p), found.shape[1]))
                wide[:, model.classes_] = p
                value = score(metric, wide, y[val])
                if value > best:
                    best, kept, rounds = value, model, number
        for number, p in enumerate(kept.staged_predict_proba(table)):
            if number == rounds:
                found[:, kept.classes_] = p
        return found

    return fitted


class DeepNetwork(torch.nn.Module):
    """A network of PyG's layers with batch normalisation and residual connections (Luo et al. 2024)."""

    def __init__(self, kind: Any, width: int, classes: int, layers: int, dropout: float) -> None:
        super().__init__()
        hidden = 64
        self.first, self.last = torch.nn.Linear(width, hidden), torch.nn.Linear(hidden, classes)
        self.convs = torch.nn.ModuleList([kind(hidden, hidden) for _ in range(layers)])
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm1d(hidden) for _ in range(layers)])
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        h = self.dropout(self.first(x)).relu()
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = h + self.dropout(norm(conv(h, edge_index)).relu())
        return self.last(h)  # type: ignore[no-any-return]


def deep(kind: Any, layers: int, seconds: float = 300.0) -> Callable[[Data, str], Outputs]:
    """Return the training of such a network: Adam, lr 0.01, the best epoch on validation nodes."""

    def fitted(data: Data, metric: str) -> Outputs:
        torch.manual_seed(0)
        x = (data.x if data.x.layout == torch.strided else data.x.to_dense()).float()
        many = int(data.train_mask.sum()) >= 1000
        network = DeepNetwork(kind, x.shape[1], int(data.y.max()) + 1, layers, 0.2 if many else 0.5)
        adam = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=0.0 if many else 5e-4)
        best, kept, waited, began = -np.inf, np.zeros(0), 0, time.process_time()
        while waited < 100 and time.process_time() - began < seconds:
            network.train()
            adam.zero_grad()
            logits = network(x, data.edge_index)[data.train_mask]
            torch.nn.functional.cross_entropy(logits, data.y[data.train_mask]).backward()  # type: ignore[no-untyped-call]
            adam.step()
            network.eval()
            with torch.no_grad():
                p = network(x, data.edge_index).softmax(1).double().numpy()
            val = data.val_mask.numpy()
            value, waited = score(metric, p[val], data.y.numpy()[val]), waited + 1
            if value > best:
                best, kept, waited = value, p, 0
        return np.asarray(kept)

    return fitted


PEERS: dict[str, Callable[[Data, str], Outputs]] = {
    "sklearn-x": trees(own_columns),
    "sklearn-means": trees(with_means),
    "pyg-gcn": deep(GCNConv, 6),
    "pyg-sage": deep(SAGEConv, 6),
}
"""Methods beside `auto`: boosted trees on a node's columns and its neighbours' means; deep networks."""
