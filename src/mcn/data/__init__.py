"""Reading graphs: data sets by name, files of one's own, objects; checking and splitting them.

Each name is loaded when it is first used: counting motifs needs `load_edges`, but not torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy

if TYPE_CHECKING:
    from graphmotifs.graph import SimpleGraph as SimpleGraph
    from graphmotifs.graph import simple_graph as simple_graph
    from mcn.data.checks import check_data as check_data
    from mcn.data.checks import given_weights as given_weights
    from mcn.data.checks import weight_matrix as weight_matrix
    from mcn.data.datasets import DatasetInfo as DatasetInfo
    from mcn.data.datasets import DatasetNotFound as DatasetNotFound
    from mcn.data.datasets import list_datasets as list_datasets
    from mcn.data.datasets import load_dataset as load_dataset
    from mcn.data.datasets import load_dataset_edges as load_dataset_edges
    from mcn.data.datasets.embedded import strong_ties as strong_ties
    from mcn.data.edge_files import load_edges as load_edges
    from mcn.data.edge_list import GraphEdges as GraphEdges
    from mcn.data.graph import load_graph as load_graph
    from mcn.data.sparse import feature_csr as feature_csr
    from mcn.data.sparse import feature_tensor as feature_tensor
    from mcn.data.splits import random_split as random_split
    from mcn.data.structure_features import degree_features as degree_features
    from mcn.data.structure_features import wl_features as wl_features
    from mcn.data.treatment import Treatment as Treatment

_NAMES = {
    ".checks": ("check_data", "given_weights", "weight_matrix"),
    ".datasets": ("DatasetInfo", "DatasetNotFound", "list_datasets", "load_dataset", "load_dataset_edges"),
    ".datasets.embedded": ("strong_ties",),
    ".edge_files": ("load_edges",),
    ".edge_list": ("GraphEdges",),
    ".graph": ("load_graph",),
    ".sparse": ("feature_csr", "feature_tensor"),
    ".structure_features": ("degree_features", "wl_features"),
    ".splits": ("random_split",),
    ".treatment": ("Treatment",),
    "graphmotifs.graph": ("SimpleGraph", "simple_graph"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
