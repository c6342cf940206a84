"""Methods behind one interface: recipes, their special cases, and the other methods of the paper's table 2.

`register` adds a method of one's own; the layers and `train_scores` are what the networks here are made of.
"""

from __future__ import annotations

import importlib

from mcn.baselines.inputs import GraphInputs, adjacency, graph_problem, symmetric, val_accuracy
from mcn.baselines.networks import FixedProduct, InputLinear, Network, train_scores
from mcn.baselines.registry import METHODS, Method, check_methods, find_method, register

for _name in ("lp", "deepwalk", "manireg", "semiemb", "ica", "planetoid", "chebyshev", "monet"):
    importlib.import_module(f"mcn.baselines.{_name}")  # which registers its methods

__all__ = [
    "METHODS",
    "FixedProduct",
    "GraphInputs",
    "InputLinear",
    "Method",
    "Network",
    "adjacency",
    "check_methods",
    "find_method",
    "graph_problem",
    "register",
    "symmetric",
    "train_scores",
    "val_accuracy",
]
