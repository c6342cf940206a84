"""The classic baselines of the paper's table 2, and what they are built of.

Importing this package registers every baseline in `mcn.experiments.METHODS`, beside the recipes and their
special cases. `Network`, `InputLinear`, `FixedProduct` and `train_scores` build further networks.
"""

from __future__ import annotations

import importlib

from mcn.experiments.engine.methods import METHODS as METHODS
from mcn.paper.baselines.matrices import adjacency, symmetric
from mcn.paper.baselines.networks import FixedProduct, InputLinear, Network, train_scores

for _name in ("lp", "deepwalk", "manireg", "semiemb", "ica", "planetoid", "chebyshev", "monet"):
    importlib.import_module(f"mcn.paper.baselines.{_name}")  # registers the methods in that module

__all__ = [
    "FixedProduct",
    "InputLinear",
    "Network",
    "adjacency",
    "symmetric",
    "train_scores",
]
