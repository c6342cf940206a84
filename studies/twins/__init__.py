"""Twins: labels pass between nodes whose surroundings match, however far apart they are.

Not in the paper; an idea of this project for its DD graphs. A protein that is made of several near copies of
one chain has a contact graph with as many near copies of one part, and corresponding nodes, twins, are of the
same kind. Message passing cannot use that: twins are far apart. This method looks for them by alignment: it
takes pairs of nodes with alike motif counts, extends them to matched parts of the graph, and lets every
matched pair vote by how well its part matched. A node then gets the classes of its labelled twins.

It needs near copies. In a graph without them the pairs it finds are chance, and so are their votes, which the
validation accuracy then shows. Features are not used.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mcn.experiments import register
from mcn.train import Problem
from studies.rows import Study, plain
from studies.twins.matrix import twin_matrix

MOST_NODES = 10_000
"""Larger graphs are refused: similarities are kept for all pairs of nodes."""
GAIN, MOST_VOTE = 4.0, 0.95
"""A labelled twin of strength N gives ``min(GAIN * N, MOST_VOTE)`` votes."""

_BYTES = 12  # per pair of nodes: two float32 similarities and one int32 number of a candidate


@register("twins")
def twins(problem: Problem, seed: int) -> NDArray[np.float32]:
    """The classes of the labelled twins of every node, as far as it has some; else the class shares.

    Only training labels vote; validation labels give the class shares. Nothing is random in it. Twins depend
    on the edges alone and are kept for the last two graphs, so that further splits cost little.

    Raises:
        ValueError: the graph is too large, or has nodes with too many neighbours.
    """
    n = problem.inputs.num_nodes
    if n > MOST_NODES:
        raise ValueError(
            f"twins compares all pairs of nodes: {n:,} nodes need more than {_BYTES * n * n / 1e9:,.1f} GB; "
            f"expected at most {MOST_NODES:,} nodes. Use another baseline, or a part of the graph"
        )
    share = np.bincount(problem.val_labels.numpy(), minlength=problem.num_classes) + 1.0
    return posterior(_of_edges(problem.inputs.edge_index.tobytes(), n), problem, share / share.sum())


def posterior(twin: Any, problem: Problem, prior: NDArray[np.float64]) -> NDArray[np.float32]:
    """Class probabilities [N, C]: ``p = (1 - e^-s) V / s + e^-s prior``, s the sum of the votes V of a node.

    ``V = min(GAIN N[:, train], MOST_VOTE) Y``: many strong twins decide alone, none leaves the prior.
    """
    strength = GAIN * twin[:, problem.train]
    strength.data = np.minimum(strength.data, MOST_VOTE)
    vote = strength @ np.eye(problem.num_classes)[problem.train_labels.numpy()]
    total = vote.sum(1, keepdims=True)
    trust = -np.expm1(-total)
    share = np.divide(vote, total, out=np.zeros_like(vote), where=total > 0)
    return np.asarray(trust * share + (1 - trust) * prior, np.float32)


@lru_cache(maxsize=2)
def _of_edges(edges: bytes, num_nodes: int) -> Any:
    """The twin matrix of the graph with these edges, the bytes of an int64 array [2, 2M]."""
    row, column = np.frombuffer(edges, np.int64).reshape(2, -1)
    return twin_matrix(sp.csr_array((np.ones(len(row)), (row, column)), shape=(num_nodes, num_nodes)))


STUDY = Study(
    Path(__file__).parent,
    {name: plain(name) for name in ("majority", "twins")},
    ("dd6", "dd7"),
    range(10),
    (("twins", "majority"),),
)
