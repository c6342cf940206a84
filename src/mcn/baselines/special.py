"""The recipes as methods, and the special cases of MCN (tab:gen) as changes to its configuration."""

from __future__ import annotations

from typing import Any

from mcn.baselines.registry import TrainedMethod, add
from mcn.train.recipes import RECIPES

_ONE_MOTIF = {"steps": 1, "psi": "unweighted", "scope": "edges", "add_edges": False, "motif_attention": False}
_PLAIN = {"gate": False, "consistency": 0.0, "init_bias": 0.0}
_GCN = {"self_attention": False, "heads": 1, "output_heads": 1, "dropout": 0.5, "lr": 0.01}

CHANGES: dict[str, dict[str, Any]] = {
    "gat": {"motifs": ("edge",), "self_attention": True, **_ONE_MOTIF, **_PLAIN},
    "gcn": {"motifs": ("edge",), "hidden": 16, **_GCN, **_ONE_MOTIF, **_PLAIN},
    "mlp": {"motifs": ("self",), "hidden": 64, **_GCN, **_ONE_MOTIF, **_PLAIN},
}
"""Each keeps the protocol of the data set's preset. GAT also keeps its architecture; GCN has the width,
dropout and learning rate of its reference; an MLP is a network whose nodes have no neighbours."""
PAPER_CHANGES: dict[str, dict[str, Any]] = {
    "gat-paper": {"motifs": ("edge",), "self_attention": True, **_ONE_MOTIF},
    "gcn-paper": {"motifs": ("edge",), "self_attention": False, "heads": 1, "output_heads": 1, **_ONE_MOTIF},
}
"""The same networks with the paper's settings: width, dropout, learning rate and L2 are those of its MCN."""
_TITLES = {
    "gat": "graph attention network (Veličković et al. 2018): the edge motif, one step, self-attention",
    "gcn": "graph convolutional network (Kipf and Welling 2017): the edge motif, one step, no attention",
    "mlp": "two layers on the node's own features",
}

for _name, _recipe in RECIPES.items():
    # In 0.1.0 the recipe paper ran as mcn with another rule of attention.
    add(TrainedMethod(_name, _recipe.title, (), _name, {}, "mcn" if _name == "paper" else ""))
for _name, _changes in CHANGES.items():
    add(TrainedMethod(_name, _TITLES[_name], (), "mcn", _changes))
for _name, _changes in PAPER_CHANGES.items():
    _title = f"{_TITLES[_name.removesuffix('-paper')]}; with the paper's settings for MCN"
    add(TrainedMethod(_name, _title, (), "paper", _changes))
