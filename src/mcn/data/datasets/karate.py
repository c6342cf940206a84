"""Zachary's karate club, small enough to be part of the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mcn.data.csr_graph import SimpleGraph, simple_graph

if TYPE_CHECKING:
    from torch_geometric.data import Data

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


def karate_graph() -> SimpleGraph:
    """The members and their ties alone."""
    pairs = [(u, v) for u, row in _NEIGHBOURS.items() for v in row]
    return simple_graph(list(zip(*pairs, strict=True)), 34)


def load_karate(*, dense: bool = False, seed: int = 0) -> Data:
    """Zachary's karate club: 34 members, 78 ties, the two factions as classes.

    A member's features are its identity (one-hot). Two members of each faction are drawn for training,
    the others are halved into validation and test.
    """
    from scipy import sparse

    from mcn.data.datasets import make_data
    from mcn.data.splits import random_split

    y = np.array([0 if member in _MR_HI else 1 for member in range(34)])
    masks = random_split(y, train_per_class=2, seed=seed)
    data = make_data(sparse.identity(34, format="csr"), y, karate_graph().edge_index, masks, dense=dense)
    data.classes = ["Mr. Hi", "Officer"]
    return data
