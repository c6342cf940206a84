"""Treatment of feature columns belongs to the model: `fit` learns it, every prediction applies it."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from mcn.data.node_columns import check_sum_of
from mcn.data.sparse import as_tensor, thin_or_dense
from mcn.data.treatment import Treatment, fit_treatment, unusual_cells
from mcn.store import GraphStore, node_data
from mcn.train.settings import Settings

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.train.problem import Memory


def treated_graph(graph: Any, config: Settings, memory: Memory | None = None) -> Any:
    """Return a graph whose `x` is what a network takes, made of `data.columns` by the network's treatment.

    Without `memory` the network is about to be trained, and the treatment is learned from the rows of
    `data.train_mask`. `data.treatment` says how `x` was made; where it is the wanted treatment already, `x`
    is used as it is. So is the `x` of a graph without columns, and one that was changed since it was made
    of them: a network that is trained on it has no treatment.

    Args:
        graph: a `Data`, or a `GraphStore` with treated features; anything else is returned as it is.
        config: whether the graph's own features are used.
        memory: of a trained network.

    Raises:
        ValueError: a column is missing, or `x` was treated in another way than the features trained on.
    """
    from torch_geometric.data import Data

    if not isinstance(graph, Data | GraphStore) or getattr(config, "features", "given") == "motifs":
        return graph
    packed = isinstance(graph, GraphStore)
    about: Any = node_data(graph) if packed else graph
    stated, columns = about.get("treatment"), about.get("columns")
    is_whole = columns is not None and columns.made_from(graph.x)
    if memory is None:
        if is_whole:
            train = about.get("train_mask")
            usable = isinstance(train, torch.Tensor) and train.dtype == torch.bool and bool(train.any())
            return _treat(graph, fit_treatment(columns, train.numpy())[0]) if usable else graph
        return graph if columns is None or len(columns.numbers) != graph.num_nodes else _as_given(graph)
    stored = memory.state.get("treatment")
    learned = None if stored is None else Treatment.from_dict(stored)
    if stated == learned:
        return graph
    if learned is None:
        if is_whole:
            warnings.warn(
                "the network was trained on data.x as it was given, not on columns of a table; data.x, which "
                "columns were made into by training nodes of this graph, is used as it is",
                stacklevel=3,
            )
        return graph
    if is_whole:
        return _treat(graph, learned, say=True)
    where = graph.path if packed else "data.x"
    raise ValueError(
        f"{where}: features that were not treated as those trained on (scaled by their own training nodes, "
        "say); give the files that they came from: mcn.load_graph keeps their columns. If they "
        "were treated as in training, say so by data.treatment = clf.treatment_"
    )


def _treat(graph: Data, treatment: Treatment, say: bool = False) -> Data:
    """Return a graph with features made of its columns; `say` warns of categories new to training."""
    if graph.get("treatment") == treatment or not treatment.columns:
        return graph
    values, notes = treatment.apply(graph.columns)
    for note in unusual_cells(notes, missing=False) if say else ():
        warnings.warn(note, stacklevel=4)
    treated = copy.copy(graph)
    treated.x = as_tensor(thin_or_dense(values, dense=False))
    treated.treatment, treated.scaling = treatment, treatment.scaling
    treated.feature_names = treatment.feature_names
    made = check_sum_of(treated.x, treated.x.layout != torch.strided)
    treated.columns = replace(graph.columns, made=made)
    return treated


def _as_given(graph: Data) -> Data:
    """Return a graph without what is said of how its features were made, as they were changed since."""
    bare = copy.copy(graph)
    bare.columns = bare.treatment = None
    if len(graph.get("feature_names") or ()) != graph.x.shape[1]:
        bare.feature_names = None
    return bare
