"""The special cases of MCN (tab:gen), as changes to its configuration."""

from __future__ import annotations

from typing import Any

_ONE_MOTIF: dict[str, Any] = {
    "steps": 1,
    "psi": "unweighted",
    "scope": "edges",
    "add_edges": False,
    "motif_attention": False,
}
_ALONE = {"attention": "gated", "gate": False, "init_bias": 0.0}
_PLAIN = {**_ALONE, "consistency": 0.0}
_GCN = {"self_attention": False, "heads": 1, "output_heads": 1, "dropout": 0.5, "lr": 0.01}

CHANGES: dict[str, dict[str, Any]] = {
    "gat": {"motifs": ("edge",), "self_attention": True, **_ONE_MOTIF, **_PLAIN},
    "gcn": {"motifs": ("edge",), "hidden": 16, **_GCN, **_ONE_MOTIF, **_PLAIN},
    "mlp": {"motifs": ("self",), "hidden": 64, **_GCN, **_ONE_MOTIF, **_PLAIN},
    "gat-consistency": {"motifs": ("edge",), "self_attention": True, **_ONE_MOTIF, **_ALONE},
    "gcn-consistency": {"motifs": ("edge",), "hidden": 16, **_GCN, **_ONE_MOTIF, **_ALONE},
}
"""Each keeps the protocol of the data set's preset. GAT also keeps its architecture; GCN has the width,
dropout and learning rate of its reference; an MLP is a network whose nodes have no neighbours. Those with
consistency keep the data set's setting of it, so that what is left between them and MCN is the choice."""
PAPER_CHANGES: dict[str, dict[str, Any]] = {
    "gat-paper": {"motifs": ("edge",), "self_attention": True, **_ONE_MOTIF},
    "gcn-paper": {"motifs": ("edge",), "self_attention": False, "heads": 1, "output_heads": 1, **_ONE_MOTIF},
}
"""The same networks with the paper's settings: width, dropout, learning rate and L2 are those of its MCN."""
TITLES = {
    "gat": "graph attention network (Veličković et al. 2018): the edge motif, one step, self-attention",
    "gcn": "graph convolutional network (Kipf and Welling 2017): the edge motif, one step, no attention",
    "mlp": "two layers on the node's own features",
    "gat-consistency": "GAT with two passes that have to agree, where MCN's preset for the data set has that",
    "gcn-consistency": "GCN with two passes that have to agree, where MCN's preset for the data set has that",
}
