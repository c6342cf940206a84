"""The task as SciPy matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcn.baselines.task import Task
from mcn.data import feature_csr


def adjacency(task: Task) -> Any:
    """A: CSR float64 [N, N], symmetric, ones."""
    row, column = task.edge_index
    ones = np.ones(len(row))
    return sp.csr_array((ones, (row, column)), shape=(task.num_nodes, task.num_nodes))


def symmetric(matrix: Any) -> Any:
    """D^-1/2 M D^-1/2, D the row sums of M; an empty row stays empty."""
    degree = np.asarray(matrix.sum(1)).ravel()
    root = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return sp.csr_array(sp.diags_array(root) @ matrix @ sp.diags_array(root))


def row_means(matrix: Any) -> Any:
    """D^-1 M, D the row sums of M: averages over what a row has; an empty row stays empty."""
    degree = np.asarray(matrix.sum(1)).ravel()
    share = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    return sp.csr_array(sp.diags_array(share) @ matrix)


def with_loops(task: Task) -> Any:
    """A + I: CSR float64 [N, N]."""
    return sp.csr_array(adjacency(task) + sp.eye_array(task.num_nodes))


def unit_features(task: Task) -> Any:
    """Features as CSR float64 with rows of Euclidean length 1 (rows of zeros stay)."""
    x: Any = feature_csr(task.x).astype(np.float64)
    length = np.sqrt(np.asarray((x * x).sum(1)).ravel())
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return sp.csr_array(sp.diags_array(scale) @ x)


def one_hot(labels: NDArray[np.int64], num_classes: int) -> NDArray[np.float64]:
    """A row per label with a 1 in its column; a row of zeros for -1."""
    return np.asarray(labels[:, None] == np.arange(num_classes), np.float64)
