"""The neighbourhood that one motif and step would give every node, with its weights and coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcn.matrices import Rows


@dataclass(frozen=True)
class Neighbourhood:
    """Rows of Ψ(A_t^k) for all nodes, the node itself included, heaviest entries first.

    indptr, indices: CSR over all nodes. weights: the entries of Ψ(A_t^k).
    coefficients: one array per layer: what the layer would multiply each neighbour by, mean over heads.
    total: how long each row was before only its heaviest entries were kept.
    members: bool [M, 2], per edge (u, v) of the graph: whether v is in u's whole row, and u in v's.
    """

    motif: str
    step: int
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    coefficients: list[NDArray[np.float32]]
    total: NDArray[np.int64]
    members: NDArray[np.bool_]

    def row(self, node: int) -> slice:
        """Where the entries of a node are."""
        return slice(int(self.indptr[node]), int(self.indptr[node + 1]))

    def keep(self, most: int) -> Neighbourhood:
        """At most `most` entries per row."""
        within = np.arange(len(self.indices)) - np.repeat(self.indptr[:-1], np.diff(self.indptr)) < most
        return Neighbourhood(
            self.motif,
            self.step,
            _pointers(np.minimum(np.diff(self.indptr), most)),
            self.indices[within],
            self.weights[within],
            [each[within] for each in self.coefficients],
            self.total,
            self.members,
        )


def neighbourhood(
    motif: str,
    step: int,
    rows: Rows,
    coefficients: list[NDArray[np.float32]],
    edges: NDArray[np.int64],
    most: int,
) -> Neighbourhood:
    """The rows with each one's entries in order: the node itself, then by the last layer's coefficient."""
    lengths = np.diff(rows.indptr)
    target = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((rows.indices, -coefficients[-1], rows.indices != target, target))
    ordered = Neighbourhood(
        motif,
        step,
        rows.indptr,
        rows.indices[order],
        rows.values[order],
        [each[order] for each in coefficients],
        lengths,
        _members(target, rows, edges),
    )
    return ordered.keep(most)


def _members(target: NDArray[np.int64], rows: Rows, edges: NDArray[np.int64]) -> NDArray[np.bool_]:
    size = len(rows.indptr) - 1
    keys = np.sort(target * size + rows.indices)
    wanted = np.stack([edges[:, 0] * size + edges[:, 1], edges[:, 1] * size + edges[:, 0]], 1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray(keys[place] == wanted, np.bool_)


def _pointers(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
