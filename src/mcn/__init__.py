"""Motif convolutional networks.

Everything public is importable from here; each name is loaded when it is first used, so that
``import mcn`` and the command line start fast.
"""

from __future__ import annotations

from mcn._lazy import lazy

__version__ = "0.4.0"

_HOME = {
    "load_dataset": "mcn.data",
    "load_graph": "mcn.data",
    "GraphStore": "mcn.store",
    "EDGE_ORBITS": "mcn.motifs",
    "NODE_ORBITS": "mcn.motifs",
    "GRAPHLETS": "mcn.motifs",
    "ARC_ORBITS": "mcn.motifs",
    "DIRECTED_NODE_ORBITS": "mcn.motifs",
    "DIRECTED_GRAPHLETS": "mcn.motifs",
    "count_motifs": "mcn.motifs",
    "MotifCounts": "mcn.motifs",
    "DirectedCounts": "mcn.motifs",
    "AddMotifs": "mcn.motifs",
    "motif_significance": "mcn.motifs",
    "motif_clusters": "mcn.motifs",
    "MotifStack": "mcn.matrices",
    "apply_psi": "mcn.matrices",
    "stack_size": "mcn.matrices",
    "MCNConv": "mcn.nn",
    "MCN": "mcn.nn",
    "MCNClassifier": "mcn.train",
    "AutoClassifier": "mcn.train",
    "ViewsClassifier": "mcn.train",
    "load": "mcn.train",
    "cross_validate": "mcn.train",
}
_MODULES = ("data", "store", "motifs", "matrices", "nn", "train", "baselines", "experiments", "viz")

__all__ = ["__version__", *_HOME]
__getattr__, __dir__ = lazy(__name__, _HOME, _MODULES)
