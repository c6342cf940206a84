"""What there is to explain of a network of motif views: what each node hears in each view, and from whom."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn.matrices import Rows
from mcn.nn import MotifViews
from mcn.train import Run
from mcn.train.views_fit import predict_views
from mcn.viz.neighbours import neighbourhood


def view_parts(run: Run, data: Data, edges: NDArray[np.int64], keep: int) -> dict[str, Any]:
    """The fields of an `Explanation` that depend on the network: one option per view, nothing chosen."""
    assert isinstance(run.model, MotifViews)
    x, rows = run.views_of(data)
    options, alternatives = [], []
    for view, name in enumerate(run.config.motifs):
        matrix = rows.matrix(view)
        matrix.sort_indices()
        own = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
        total = np.repeat(np.asarray(matrix.sum(1)).ravel(), np.diff(own.indptr))
        shares = np.asarray(matrix.data / total, np.float32)
        options.append(neighbourhood(name, 1, own, [shares], edges, keep))
        alternatives.append(predict_views(run.model, x, rows.only(view)).probabilities)
    none = np.empty((rows.num_nodes, 0), np.int64)
    return {
        "kind": "views",
        "steps": 1,
        "self_attention": False,
        "probabilities": run.predict(data).probabilities,
        "motif": none,
        "step": none,
        "motif_probs": [],
        "step_probs": [],
        "options": options,
        "alternatives": np.stack(alternatives),
    }
