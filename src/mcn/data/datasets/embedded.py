"""The sets that need no file: generated collaborations, in which nodes differ in whom they can trust, and
Zachary's karate club."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mcn.data.datasets import NodeSet

if TYPE_CHECKING:
    from scipy import sparse
    from torch_geometric.data import Data

Adjacency = list[set[int]]
_CLIQUES = 2  # that a node with strong ties sits in
_CLIQUE_SIZE = 3, 5  # smallest and largest; leftovers of a class are added to its last cliques
_WEAK_TIES = 6.0  # mean number of weak ties of a node with strong ties, to nodes of the same kind
_REDRAW = 0.7  # chance that a weak tie inside one class is drawn again
_OPEN_TIES = 3.0  # mean number of ties of a node without strong ties, to nodes of the same kind
_TRIES = 10_000


def strong_ties(
    seed: int = 0,
    *,
    num_nodes: int = 2000,
    num_classes: int = 5,
    strong_share: float = 0.65,
    open_inside: float = 0.9,
    num_words: int = 300,
    words_per_node: int = 10,
    own_words: float = 0.2,
    train_per_class: int = 20,
    val: int = 500,
    test: int = 1000,
    dense: bool = False,
) -> Data:
    """A collaboration graph as in the paper's figure 2: strong ties, weak ties, nodes without strong ones.

    Two kinds of nodes live side by side. Most sit in small cliques of their own class (strong ties,
    closed triangles) and also have weak ties that mostly lead to other classes. The others have no clique;
    their few ties are open and mostly stay inside the class. So triangles serve the first kind, edges the
    second, and no single motif serves both. A weak or open tie never closes a triangle: `data.strong`
    is exactly the set of nodes in a triangle. The seed decides classes, ties, words and the split.

    Args:
        num_nodes, num_classes: nodes, spread evenly over the classes.
        strong_share: share of every class that has strong ties.
        open_inside: share of the ties of the other nodes that stay inside their class.
        num_words: size of the vocabulary; each class owns an equal part of it.
        words_per_node: distinct words of each node (binary features).
        own_words: chance that a word is drawn from the words of the node's own class.
        train_per_class, val, test: training nodes of each class, validation and test nodes.
        dense: features as a dense tensor.
    """
    import torch

    if num_classes < 2:
        raise ValueError(f"num_classes must be at least 2, got {num_classes}")
    if not 0 <= strong_share <= 1:
        raise ValueError(f"strong_share must be between 0 and 1, got {strong_share}")
    own = num_words // num_classes
    if words_per_node > own:
        raise ValueError(
            f"words_per_node={words_per_node} exceeds the {own} words of a class; raise num_words"
        )
    smallest = round(strong_share * (num_nodes // num_classes))
    if 0 < smallest < _CLIQUE_SIZE[1]:
        raise ValueError(
            f"only {smallest} nodes of a class have strong ties, too few for cliques; raise num_nodes"
        )
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(num_nodes) % num_classes)
    strong = np.zeros(num_nodes, np.bool_)
    for label in range(num_classes):
        members = rng.permutation(np.flatnonzero(y == label))
        strong[members[: round(strong_share * len(members))]] = True

    around: Adjacency = [set() for _ in range(num_nodes)]
    for label in range(num_classes):
        members = np.flatnonzero(strong & (y == label))
        for _ in range(_CLIQUES):
            _add_cliques(around, rng, members)

    _add_ties(around, rng, y, np.flatnonzero(strong), _WEAK_TIES)
    _add_ties(around, rng, y, np.flatnonzero(~strong), _OPEN_TIES, open_inside)

    pairs = [(u, v) for u, row in enumerate(around) for v in row if u < v]
    edges = np.array(pairs, np.int64).reshape(-1, 2).T
    words = _draw_words(rng, y, num_classes, num_words, words_per_node, own_words)
    from mcn.data.splits import random_split  # here, because karate's edges alone need no splits

    masks = random_split(y, train_per_class=train_per_class, val=val, test=test, seed=seed)
    return NodeSet(words, y, edges, masks, more={"strong": torch.from_numpy(strong)}).to_data(dense)


def _add_cliques(around: Adjacency, rng: np.random.Generator, members: NDArray[np.int64]) -> None:
    """Cut the shuffled members into cliques; a leftover too small for one is spread over the last cliques."""
    cliques: list[list[int]] = []
    queue = rng.permutation(members).tolist()
    while len(queue) >= _CLIQUE_SIZE[0]:
        size = int(rng.integers(_CLIQUE_SIZE[0], _CLIQUE_SIZE[1] + 1))
        cliques.append(queue[:size])
        del queue[:size]
    for place, node in enumerate(queue):
        cliques[-1 - place % len(cliques)].append(node)
    for clique in cliques:
        for u in clique:
            around[u].update(v for v in clique if v != u)


def _add_ties(
    around: Adjacency,
    rng: np.random.Generator,
    y: NDArray[np.int64],
    nodes: NDArray[np.int64],
    mean: float,
    inside: float | None = None,
) -> None:
    """Tie nodes at random, a share `inside` of the ties within a class; None: those are drawn once more."""
    count = round(len(nodes) * mean / 2)
    for _ in range(count):
        wanted = None if inside is None else rng.random() < inside
        for _ in range(_TRIES):
            u, v = (int(nodes[i]) for i in rng.integers(0, len(nodes), 2))
            same = bool(y[u] == y[v])
            fits = same == wanted if wanted is not None else not same or rng.random() >= _REDRAW
            if fits and _stays_open(around, u, v):
                around[u].add(v)
                around[v].add(u)
                break
        else:
            raise ValueError(f"no room for {count} ties among {len(nodes)} nodes; raise num_nodes")


def _stays_open(around: Adjacency, u: int, v: int) -> bool:
    return u != v and v not in around[u] and around[u].isdisjoint(around[v])


def _draw_words(
    rng: np.random.Generator, y: NDArray[np.int64], classes: int, words: int, per_node: int, own: float
) -> sparse.csr_array[np.float32]:
    vocabulary = np.arange(words)
    columns = []
    for label in y:
        mine = vocabulary[vocabulary % classes == label]
        chosen = rng.choice(mine, rng.binomial(per_node, own), replace=False)
        others = np.setdiff1d(vocabulary, chosen, assume_unique=True)
        columns.append(np.concatenate([chosen, rng.choice(others, per_node - len(chosen), replace=False)]))
    n = len(y)
    shape = (n, words)
    indptr = np.arange(n + 1) * per_node
    from scipy import sparse

    return sparse.csr_array((np.ones(n * per_node, np.float32), np.concatenate(columns), indptr), shape=shape)


# Neighbours with a larger number, node by node (Zachary 1977, figure 3; members numbered from 0).
_NEIGHBOURS: dict[int, tuple[int, ...]] = {
    0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31),
    1: (2, 3, 7, 13, 17, 19, 21, 30),
    2: (3, 7, 8, 9, 13, 27, 28, 32),
    3: (7, 12, 13),
    4: (6, 10),
    5: (6, 10, 16),
    6: (16,),
    8: (30, 32, 33),
    9: (33,),
    13: (33,),
    14: (32, 33),
    15: (32, 33),
    18: (32, 33),
    19: (33,),
    20: (32, 33),
    22: (32, 33),
    23: (25, 27, 29, 32, 33),
    24: (25, 27, 31),
    25: (31,),
    26: (29, 33),
    27: (33,),
    28: (31, 33),
    29: (32, 33),
    30: (32, 33),
    31: (32, 33),
    32: (33,),
}
# Members who went with the instructor; the others stayed with the officers.
_MR_HI = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21)


def karate(seed: int) -> NodeSet:
    """Zachary's karate club: 34 members, 78 ties, the two factions as classes.

    A member's features are its identity (one-hot). Two members of each faction are drawn for training,
    the others are halved into validation and test.
    """
    y = np.array([0 if member in _MR_HI else 1 for member in range(34)])
    from scipy import sparse

    from mcn.data.splits import draw_parts

    parts = draw_parts(y, 2, seed=seed)
    pairs = [(u, v) for u, row in _NEIGHBOURS.items() for v in row]
    x, edges = sparse.identity(34, format="csr"), np.array(pairs, np.int64).T
    more = {"classes": ["Mr. Hi", "Officer"]}
    return NodeSet(x, y, edges, [parts == part for part in range(3)], more=more)
