"""Reading graphs: data sets by name, files of one's own, generated graphs; checking and splitting them.

Each name is loaded when it is first used: the motif engine needs `simple_graph`, but not torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy

if TYPE_CHECKING:
    from mcn.data.checks import check_data as check_data
    from mcn.data.files import DatasetNotFound as DatasetNotFound
    from mcn.data.generators import barabasi_albert as barabasi_albert
    from mcn.data.generators import erdos_renyi as erdos_renyi
    from mcn.data.generators import powerlaw_cluster as powerlaw_cluster
    from mcn.data.generators import rmat as rmat
    from mcn.data.graph import load_graph as load_graph
    from mcn.data.registry import DatasetInfo as DatasetInfo
    from mcn.data.registry import datasets as datasets
    from mcn.data.registry import load_dataset as load_dataset
    from mcn.data.simple import SimpleGraph as SimpleGraph
    from mcn.data.simple import simple_graph as simple_graph
    from mcn.data.sparse import feature_csr as feature_csr
    from mcn.data.sparse import feature_tensor as feature_tensor
    from mcn.data.splits import random_split as random_split
    from mcn.data.streams import PlantedGraph as PlantedGraph
    from mcn.data.streams import rmat_stream as rmat_stream
    from mcn.data.structure import degree_features as degree_features
    from mcn.data.structure import wl_features as wl_features
    from mcn.data.ties import strong_ties as strong_ties
    from mcn.data.treatment import Treatment as Treatment

_HOME = {
    "DatasetInfo": ".registry",
    "DatasetNotFound": ".files",
    "PlantedGraph": ".streams",
    "SimpleGraph": ".simple",
    "Treatment": ".treatment",
    "barabasi_albert": ".generators",
    "check_data": ".checks",
    "datasets": ".registry",
    "degree_features": ".structure",
    "erdos_renyi": ".generators",
    "feature_csr": ".sparse",
    "feature_tensor": ".sparse",
    "load_dataset": ".registry",
    "load_graph": ".graph",
    "powerlaw_cluster": ".generators",
    "random_split": ".splits",
    "rmat": ".generators",
    "rmat_stream": ".streams",
    "simple_graph": ".simple",
    "strong_ties": ".ties",
    "wl_features": ".structure",
}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
