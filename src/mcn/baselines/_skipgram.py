"""Skip-gram with negative sampling over random walks, by gensim."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mcn.baselines._walks import Neighbours, walks
from mcn.baselines.task import Task

WALKS, LENGTH = 10, 40


def skip_gram(
    task: Task, seed: int, dimensions: int, window: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Vectors of the nodes and of the nodes as contexts, [N, dimensions] each.

    From 10 walks of 40 nodes from every node.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise ValueError("this baseline needs gensim: pip install 'mcn[baselines]'") from None
    rng, graph = np.random.default_rng(seed), Neighbours.of(task)
    every = np.arange(task.num_nodes)
    paths = np.concatenate([walks(graph, rng.permutation(every), LENGTH - 1, rng) for _ in range(WALKS)])
    words = every.astype(str)
    model = Word2Vec(
        [words[path].tolist() for path in paths],
        vector_size=dimensions,
        window=window,
        sg=1,
        negative=5,
        sample=0,
        min_count=1,
        epochs=1,
        workers=1,  # several would make the result depend on their timing
        seed=seed % 2**32,
    )
    place = np.array([model.wv.key_to_index[word] for word in words.tolist()])
    return model.wv.vectors[place], model.syn1neg[place]
