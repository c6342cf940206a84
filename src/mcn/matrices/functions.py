"""Ψ as functions from a sparse matrix to a sparse matrix (eq:k1–eq:k5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mcn.matrices.adjacencies import check_magnitude, check_matrix, lay_below
from mcn.matrices.compute import compute_roots, compute_rows
from mcn.matrices.psi import psi_code


def apply_psi(A: Any, psi: str) -> csr_array:
    """Ã = Ψ(A), in float64.

    Args:
        A: square matrix [N, N] with finite values ≥ 0 (SciPy sparse or dense). Its diagonal is kept.
        psi: ``unweighted`` (eq:k1), ``row-max`` (eq:k2), ``transition`` (eq:k3), ``laplacian`` (eq:k4) or
            ``symmetric`` (eq:k5).

    Raises:
        ValueError: A is not such a matrix, or its row sums are beyond what float64 holds.

    A row of A without entries becomes a self-loop of weight 1, whatever the Ψ.

    >>> apply_psi([[0, 2, 1], [2, 0, 0], [1, 0, 0]], "transition").toarray().tolist()
    [[0.4, 0.4, 0.2], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    """
    code = psi_code(psi)
    adj = lay_below({"A": check_matrix(A, "A")})
    check_magnitude(adj, psi, 1, single=False)
    n = adj.num_nodes
    everything, first = np.arange(n), np.zeros(n, np.int64)
    roots = compute_roots(adj, code, 1, None)
    indptr, indices, values = compute_rows(adj, code, 1, roots, everything, first, np.float64, None)
    return csr_array((values, indices, indptr), shape=(n, n))


def unweighted(A: Any) -> csr_array:
    """eq:k1, Ã_ij = 1 where A_ij > 0 or i = j."""
    return apply_psi(A, "unweighted")


def row_max(A: Any) -> csr_array:
    """eq:k2, Ã = A + M with M_ii = max_j A_ij."""
    return apply_psi(A, "row-max")


def transition(A: Any) -> csr_array:
    """eq:k3, Ã = D⁻¹ (A + M), D the row sums of A + M: every row sums to 1."""
    return apply_psi(A, "transition")


def laplacian(A: Any) -> csr_array:
    """eq:k4, Ã = D + A, D the row sums of A."""
    return apply_psi(A, "laplacian")


def symmetric(A: Any) -> csr_array:
    """eq:k5, Ã = D^-½ (A + M) D^-½, D the row sums of A + M."""
    return apply_psi(A, "symmetric")
