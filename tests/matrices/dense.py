"""The paper's formulas on dense matrices, written as they stand, and small random graphs to try them on."""

import numpy as np
from hypothesis import strategies as st


def dense_psi(P: np.ndarray, psi: str) -> np.ndarray:
    n = len(P)
    eye = np.eye(n)
    M = np.diag(P.max(axis=1, initial=0))
    empty = P.sum(axis=1) == 0
    D = (P + M).sum(axis=1) + empty
    columns = (P + M).sum(axis=0) + empty  # equal to D where P is symmetric
    columns[columns == 0] = 1
    result = {
        "unweighted": ((P > 0) | (eye > 0)).astype(float),
        "row-max": P + M,
        "transition": np.diag(1 / D) @ (P + M),
        "laplacian": np.diag(P.sum(axis=1)) + P,
        "symmetric": np.diag(D**-0.5) @ (P + M) @ np.diag(columns**-0.5),
    }[psi]
    result[empty] = eye[empty]
    return result


def dense_power(A: np.ndarray, k: int) -> np.ndarray:
    return np.linalg.matrix_power(A.astype(np.float64), k)


def random_adjacency(n: int, p: float, seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < p, 1)
    return (upper | upper.T).astype(np.int64)


def triangles(A: np.ndarray) -> np.ndarray:
    F = A.astype(np.float64)  # fast, and exact for counts this small
    return A * (F @ F).astype(np.int64)


def rows_to_dense(rows, num_src: int) -> np.ndarray:
    """Dense form of `Rows`; on the way, that they are what they promise."""
    indptr, indices, values = rows
    assert (indptr.dtype, indices.dtype, values.dtype) == (np.int64, np.int32, np.float32)
    assert all(a.flags.c_contiguous for a in rows)
    dense = np.zeros((indptr.size - 1, num_src), np.float32)
    for r in range(indptr.size - 1):
        columns = indices[indptr[r] : indptr[r + 1]]
        assert (np.diff(columns) > 0).all()
        dense[r, columns] = values[indptr[r] : indptr[r + 1]]
    return dense


@st.composite
def adjacencies(draw, min_nodes: int = 1, max_nodes: int = 14) -> np.ndarray:
    """Adjacency matrices of simple graphs; isolated nodes and empty graphs included."""
    n = draw(st.integers(min_nodes, max_nodes))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    A = np.zeros((n, n), np.int64)
    for i, j in draw(st.lists(pairs, max_size=3 * n)):
        if i != j:
            A[i, j] = A[j, i] = 1
    return A


def edge_index(A: np.ndarray) -> np.ndarray:
    return np.array(np.nonzero(A))
