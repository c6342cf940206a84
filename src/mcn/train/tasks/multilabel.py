"""Several yes/no targets per node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.data.targets import known_targets
from mcn.train.metrics import score
from mcn.train.tasks.task import Boosted, Displayed, Float, Task

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.train.problem import Known

_LEAST = 1e-7  # the smallest probability that a loss or a score is taken of
_FEW = 5


@dataclass(frozen=True)
class Multilabel(Task):
    """Several yes/no targets per node, each with a probability of its own."""

    outputs: int
    kind: ClassVar[str] = "multilabel"
    title: ClassVar[str] = "{0:,} yes/no targets"
    usual: ClassVar[str] = "macro-ap"
    guess_name: ClassVar[str] = "the share of yes"
    alike: ClassVar[tuple[str, str]] = ("correlation of neighbours", "r2")

    def loss(
        self,
        scores: torch.Tensor,
        targets: torch.Tensor,
        weights: torch.Tensor | None = None,
        reduction: str = "mean",
    ) -> torch.Tensor:
        """Return the cross-entropy of a yes or no, mean over the targets of a node."""
        wanted = targets.to(scores.dtype)
        each = torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted, reduction="none").mean(1)
        return each if reduction == "none" else each.sum() if reduction == "sum" else each.mean()

    def right(self, scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the share of a node's targets that are right."""
        return ((scores > 0) == (targets > 0.5)).to(scores.dtype).mean(1)

    def outputs_of(self, scores: torch.Tensor) -> torch.Tensor:
        """Return the probabilities of a yes."""
        return scores.sigmoid()

    def scores_of(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return their logits."""
        return torch.logit(outputs, _LEAST)

    def boosted(self, targets: NDArray[Any]) -> list[Boosted]:
        """Return a model for every target that is not always the same."""
        columns = enumerate((targets > 0.5).astype(np.int64).T)
        return [Boosted(own, [i]) for i, own in columns if own.min() < own.max()]

    def start(self, targets: NDArray[Any]) -> Float:
        """Return the scores of how often each is a yes."""
        return self.scores_of(torch.from_numpy(self.guess(targets))).numpy()

    def decide(self, outputs: NDArray[Any]) -> NDArray[Any]:
        """Return 1 for a yes and 0 for a no."""
        return (outputs >= 0.5).astype(np.int64)

    def losses(self, outputs: NDArray[Any], targets: NDArray[Any]) -> Float:
        """Return the mean log-loss over the targets of every node."""
        p = np.clip(outputs.astype(np.float64), _LEAST, 1 - _LEAST)
        return np.asarray(-np.log(np.where(targets > 0.5, p, 1 - p)).mean(-1))

    def truth(self, targets: NDArray[Any]) -> Float:
        """Return 1 for a yes and 0 for a no."""
        return np.asarray(targets, np.float64)

    def guess(self, targets: NDArray[Any]) -> Float:
        """Return how often each is a yes."""
        return np.asarray(targets.mean(0, dtype=np.float64))

    def valid(self, outputs: Float) -> Float:
        """Return probabilities between 0 and 1."""
        return np.clip(outputs, 0.0, 1.0)

    def graph_remarks(self, data: Data, known: Known, name: Callable[[int], str]) -> list[str]:
        """Name the targets that few training or validation nodes have, or lack."""
        said = []
        for part, nodes in (("training", known.train), ("validation", known.val)):
            yes = known.labels.numpy()[nodes].sum(0)
            few = np.flatnonzero(np.minimum(yes, len(nodes) - yes) < _FEW).tolist()
            if few:
                named = ", ".join(f"{name(i)} ({int(yes[i])} yes of {len(nodes)})" for i in few[:5])
                said.append(f"targets with few {part} nodes of one kind: {named}; their scores mean little")
        return said

    def described(self, targets: NDArray[Any], names: list[str] | None) -> dict[str, float]:
        """Return the share of nodes with a yes, for every target."""
        called = names or [str(i) for i in range(self.outputs)]
        return dict(zip(called, self.guess(targets).tolist(), strict=True))

    def by_features(self, fit: Any, targets: NDArray[Any], predict: Any) -> Float:
        """Predict every target by logistic regression."""
        from sklearn.linear_model import LogisticRegression

        found = np.tile(self.guess(targets), (predict.shape[0], 1))
        for i, own in enumerate(targets.T):
            if 0 < own.sum() < len(own):
                model = LogisticRegression(max_iter=200, tol=1e-3).fit(fit, own > 0.5)
                found[:, i] = model.predict_proba(predict)[:, 1]
        return found

    def displayed(self, outputs: Any, targets: Any, names: list[str], train: Any, target: Any) -> Displayed:
        """Show one of the targets as no and yes."""
        place = names.index(target) if target in names else 0
        yes, shown = outputs[..., place], names[place]
        note = f"Shown is {shown}, one of {len(names)} targets; mcn view RUN --target NAME shows another."
        truth = np.where(known_targets(targets), targets[:, place], -1).astype(np.int64)
        return Displayed(shown, note, ["no", "yes"], truth, self.decide(yes), np.stack([1 - yes, yes], -1))

    def details(self, outputs: Any, targets: Any, names: list[str]) -> dict[str, Any]:
        """Return the share of yes, average precision and ROC-AUC of every target."""
        rows = []
        for name, own, yes in zip(names, outputs.T[..., None], targets.T[..., None], strict=True):
            areas = (score(metric, own, yes) for metric in ("macro-ap", "macro-auc"))
            rows.append([name, float(yes.mean()), *areas])
        return {"targets": rows}

    def cells(
        self, outputs: NDArray[Any], target: Any, names: list[str] | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return, for every target, what is true and predicted, and the probability of a yes."""
        called = names or [str(i) for i in range(len(outputs))]
        true = ["" if np.isnan(value) else int(value) for value in np.ravel(target)]
        said = self.decide(outputs).tolist()
        first = {f"true_{each}": value for each, value in zip(called, true, strict=True)}
        first |= {f"predicted_{each}": value for each, value in zip(called, said, strict=True)}
        shown = np.round(outputs.astype(np.float64), 4).tolist()
        return first, {f"p_{each}": value for each, value in zip(called, shown, strict=True)}
