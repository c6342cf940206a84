"""Manifold regularisation (Belkin, Niyogi and Sindhwani 2006): Laplacian-regularised least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg

from mcn.experiments.engine.methods import register
from mcn.paper.baselines.matrices import adjacency, best_scores, one_hot, symmetric, unit_features
from mcn.train import Problem

RIDGES = (0.01, 0.1, 1.0)
SMOOTHS = (0.001, 0.01, 0.1, 1.0)


@register("manireg", probabilities=False)
def manireg(problem: Problem, seed: int) -> NDArray[np.float32]:
    """Linear least squares on the features, smooth along the edges; both weights chosen on validation."""
    x = unit_features(problem)
    laplacian = sp.eye_array(problem.inputs.num_nodes, format="csr") - symmetric(adjacency(problem))
    targets = one_hot(problem.train_labels.numpy(), problem.num_classes) - 1 / problem.num_classes
    candidates = (
        x @ laplacian_least_squares(x, laplacian, problem.train, targets, ridge, smooth)
        for ridge in RIDGES
        for smooth in SMOOTHS
    )
    return best_scores(candidates, problem)


def laplacian_least_squares(
    x: Any,
    laplacian: Any,
    rows: NDArray[np.int64],
    targets: NDArray[np.float64],
    ridge: float,
    smooth: float,
) -> NDArray[np.float64]:
    """W [F, C] that minimises ``‖X_rows W - Y‖² + ridge ‖W‖² + smooth · tr(Wᵀ Xᵀ L X W)``.

    By conjugate gradients: neither Xᵀ L X nor its inverse is formed.
    """
    labelled, columns = x[rows], x.shape[1]
    xt, labelled_t = sp.csr_array(x.T), sp.csr_array(labelled.T)

    def apply(w: NDArray[np.float64]) -> NDArray[np.float64]:
        fit = labelled_t @ (labelled @ w)
        out: NDArray[np.float64] = fit + ridge * w + smooth * (xt @ (laplacian @ (x @ w)))
        return out

    system: Any = LinearOperator((columns, columns), matvec=apply, dtype=np.float64)
    right = labelled_t @ targets
    return np.stack([cg(system, right[:, c], rtol=1e-6)[0] for c in range(targets.shape[1])], axis=1)
