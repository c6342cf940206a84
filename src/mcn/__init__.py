"""Motif convolutional networks.

Everything public is importable from here; each name is loaded when it is first used, so that
``import mcn`` and the command line start fast.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "load_dataset": "mcn.data",
    "load_graph": "mcn.data",
    "EDGE_ORBITS": "mcn.motifs",
    "NODE_ORBITS": "mcn.motifs",
    "GRAPHLETS": "mcn.motifs",
    "count_motifs": "mcn.motifs",
    "MotifCounts": "mcn.motifs",
    "AddMotifs": "mcn.motifs",
    "MotifStack": "mcn.matrices",
    "apply_psi": "mcn.matrices",
    "stack_size": "mcn.matrices",
    "MCNConv": "mcn.nn",
    "MCN": "mcn.nn",
    "MCNClassifier": "mcn.train",
    "ViewsClassifier": "mcn.train",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mcn' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
