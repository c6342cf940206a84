"""What the networks here are made of, layers over fixed sparse matrices; their trainer in the one loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from mcn.nn import linear
from mcn.nn._parallel import one_torch_thread
from mcn.nn._rng import torch_key
from mcn.nn.features import SparseFeatures, is_sparse, sparse_features
from mcn.nn.sparse_linear import propagate
from mcn.train import Problem, fit
from mcn.train.loop import Scores, Trainer
from mcn.train.settings import Settings

LR, DECAY, DROPOUT, HIDDEN = 0.01, 5e-4, 0.5, 16
"""GCN's reference: Adam, L2 on the first layer alone, dropout before each layer, hidden width."""

MAX_EPOCHS, PATIENCE = 400, 100


class InputLinear(torch.nn.Module):
    """``dropout(X) W`` for the features of a graph, dense or sparse; only stored values are visited."""

    def __init__(self, x: torch.Tensor, out_channels: int, dropout: float = 0.0) -> None:
        super().__init__()
        self._x: torch.Tensor | SparseFeatures = sparse_features(x) if is_sparse(x) else x
        self._dropout = dropout
        self.weight = torch.nn.Parameter(torch.empty(x.shape[1], out_channels))
        torch.nn.init.xavier_uniform_(self.weight)

    def rows(self, nodes: NDArray[np.int64] | None) -> torch.Tensor | SparseFeatures:
        """The features of some nodes, for `forward`; of all of them for None."""
        if nodes is None:
            return self._x
        if isinstance(self._x, torch.Tensor):
            return self._x[torch.from_numpy(nodes)]
        return SparseFeatures(*self._x.rows.take(nodes), self._x.shape[1])

    def forward(self, x: torch.Tensor | SparseFeatures | None = None) -> torch.Tensor:
        """All rows, or those that `rows` gave."""
        x = self._x if x is None else x
        p = self._dropout if self.training else 0.0
        if isinstance(x, torch.Tensor):
            return torch.nn.functional.dropout(x, p) @ self.weight
        return propagate(self.weight, x, p, torch_key() if p else 0)


class FixedProduct:
    """``M z`` for a constant sparse M and a dense z that may need a gradient."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = sp.csr_array(matrix, dtype=np.float32)
        self._held = SparseFeatures(
            self.matrix.indptr.astype(np.int64),
            self.matrix.indices.astype(np.int32),
            self.matrix.data,
            self.matrix.shape[1],
        )

    def __call__(self, z: torch.Tensor) -> torch.Tensor:
        """The product."""
        return propagate(z, self._held)


def dropout(x: torch.Tensor, p: float, training: bool) -> torch.Tensor:
    """`torch.nn.functional.dropout` by this package's kernel, which needs a fraction of its time."""
    return linear.dropout(x, p, torch_key()) if training else x


class KernelLoss(torch.autograd.Function):
    """A loss whose kernel makes the gradients in the same pass: no rows are gathered, none scattered.

    ``KernelLoss.apply(kernel, pairs, *tensors)`` calls ``kernel(*tensors, *pairs, *gradients)`` with arrays;
    it returns the loss, and adds to the gradients, which are zeros in the shape of the tensors.
    """

    @staticmethod
    def forward(
        ctx: Any, kernel: Callable[..., float], pairs: tuple[Any, ...], *tensors: torch.Tensor
    ) -> Any:
        """Compute the loss and what its backward pass needs."""
        arrays = [tensor.detach().contiguous().numpy() for tensor in tensors]
        gradients = [np.zeros_like(array) for array in arrays]
        value = kernel(*arrays, *(pair.numpy() for pair in pairs), *gradients)
        ctx.gradients = [torch.from_numpy(gradient) for gradient in gradients]
        return tensors[0].new_tensor(value)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Scale the gradients."""
        return None, None, *(gradient * grads[0] for gradient in ctx.gradients)


class Network(torch.nn.Module):
    """A network over a fixed graph: its `forward` gives the logits of all nodes.

    One that can compute some nodes for less overrides `at`; one with a further loss overrides `loss`.
    """

    def at(self, nodes: NDArray[np.int64] | None) -> Callable[[], torch.Tensor]:
        """Return a function that gives the logits of these nodes, of all for None, with today's weights."""
        rows = slice(None) if nodes is None else torch.from_numpy(nodes)
        return lambda: self()[rows]

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the loss of a training step from the logits of the training nodes and their classes."""
        return torch.nn.functional.cross_entropy(logits, labels)


def gcn_optimizer(network: Any) -> torch.optim.Optimizer:
    """Adam as in GCN's reference: L2 on the parameters of the layer `first` only."""
    first = list(network.first.parameters())
    inside = {id(parameter) for parameter in first}
    rest = [parameter for parameter in network.parameters() if id(parameter) not in inside]
    groups: list[dict[str, Any]] = [{"params": first, "weight_decay": DECAY}, {"params": rest}]
    return torch.optim.Adam(groups, lr=LR, fused=True)


class NetworkTrainer(Trainer):
    """Training of a `Network`: a step over the training nodes, then a look at the validation nodes.

    A step computes what the training nodes need, validation what the validation nodes need; all nodes are
    computed once, at the end, into `probabilities` [N, C].
    """

    def __init__(
        self, network: Network, problem: Problem, config: Settings, optimizer: torch.optim.Optimizer
    ) -> None:
        self._adam = optimizer
        self._labels = problem.train_labels
        self._of_train, self._of_val, self._of_all = map(network.at, (problem.train, problem.val, None))
        self.probabilities: NDArray[np.float32] = np.empty((0, 0), np.float32)
        super().__init__(network, problem, config)

    def _make_optimizer(self) -> torch.optim.Optimizer:
        return self._adam

    def _learn(self) -> tuple[float, float]:
        self.optimizer.zero_grad(set_to_none=True)
        logits = self._of_train()
        loss = self.model.loss(logits, self._labels)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach()), float((logits.detach().argmax(-1) == self._labels).float().mean())

    @torch.no_grad()
    def _validate(self) -> Scores:
        return self._judge(self._of_val())

    def final_scores(self) -> Scores:
        """Predict all nodes with the weights that the model has now; score the validation nodes."""
        logits = self._of_all()
        self.probabilities = logits.softmax(1).numpy()
        return self._judge(logits[torch.from_numpy(self.problem.val)])


def train_scores(
    make_network: Callable[[], Network],
    problem: Problem,
    seed: int,
    *,
    optimizer: Callable[[Any], torch.optim.Optimizer] = gcn_optimizer,
    max_epochs: int = MAX_EPOCHS,
    patience: int = PATIENCE,
    stopping: str = "gat",
) -> NDArray[np.float32]:
    """Build and train a network; class probabilities of all nodes at the epoch that validation chose.

    `make_network` is called once, with torch's random numbers decided by `seed`; those of the caller are left
    as they were. `stopping` names one of the rules of `mcn.train`.
    """
    config = Settings(max_epochs=max_epochs, patience=patience, stopping=stopping, seed=seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        with one_torch_thread():  # a network may be trained a little while it is made
            network = make_network()
        trainer = NetworkTrainer(network, problem, config, optimizer(network))
        fit(trainer)
    return trainer.probabilities
