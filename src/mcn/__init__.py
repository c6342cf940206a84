"""Motif convolutional networks.

Everything public is importable from here; each name is loaded when it is first used, so that
``import mcn`` and the command line start fast.
"""

from __future__ import annotations

from mcn._lazy import lazy

__version__ = "0.4.0"

_NAMES = {
    "mcn.data": ("load_dataset", "load_graph"),
    "mcn.store": ("GraphStore",),
    "mcn.motifs": (
        *("EDGE_ORBITS", "NODE_ORBITS", "GRAPHLETS"),
        *("ARC_ORBITS", "DIRECTED_NODE_ORBITS", "DIRECTED_GRAPHLETS"),
        *("count_motifs", "MotifCounts", "DirectedCounts", "AddMotifs"),
        *("motif_significance", "motif_clusters"),
    ),
    "mcn.matrices": ("MotifStack", "apply_psi", "stack_size"),
    "mcn.nn": ("MCNConv", "MCN"),
    "mcn.train": (
        *("MCNClassifier", "PaperClassifier", "ViewsClassifier", "TreesClassifier", "AutoClassifier"),
        *("MCNRegressor", "PaperRegressor", "ViewsRegressor", "TreesRegressor", "AutoRegressor"),
        "cross_validate",
    ),
    "mcn.train.estimator": ("load_run", "load"),  # load: the older name of load_run, for one version
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}
_MODULES = ("data", "store", "motifs", "matrices", "nn", "train", "experiments", "viz", "paper")

__all__ = ["__version__", *_HOME]
__getattr__, __dir__ = lazy(__name__, _HOME, _MODULES)
