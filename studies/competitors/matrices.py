"""Matrices of a graph that several of these methods use."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mcn.paper.baselines import adjacency
from mcn.train import Problem


def with_self(problem: Problem) -> Any:
    """A + I: CSR float64 [N, N]."""
    return sp.csr_array(adjacency(problem) + sp.eye_array(problem.inputs.num_nodes))


def row_means(matrix: Any) -> Any:
    """D^-1 M, D the row sums of M: averages over what a row has; an empty row stays empty."""
    degree = np.asarray(matrix.sum(1)).ravel()
    share = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    return sp.csr_array(sp.diags_array(share) @ matrix)
