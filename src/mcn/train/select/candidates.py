"""The candidates: each is a recipe with settings, under a name."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcn.motifs.neighbourhoods import directed_neighbourhood
from mcn.train.mcn.config import CHANGES
from mcn.train.recipes import find_recipe
from mcn.train.settings import Settings

if TYPE_CHECKING:
    from mcn.train.select.config import AutoConfig

USUAL: dict[str, dict[str, Any]] = {
    "mcn": {"max_epochs": 1000},
    "views": {"max_epochs": 100, "patience": 30},
    "trees": {},
}
"""Settings of each recipe's candidates, before those that the user gave."""
_LINEAR_VIEWS: dict[str, Any] = {
    **{"walk_length": 6, "stop_probability": 0.5, "max_neighbours": 16, "symmetric": False},
    **{"num_layers": 1, "input_dropout": 0.2, "batch_norm": True, "row_norm": True},
    **{"labelled_batch": 5, "consistency": 1.0, "min_confidence": 2.0, "weight_decay": 0.01},
    **{"clip_gradient": 0.1, "ema_decay": 0.95, "max_epochs": 300, "patience": 100, "stopping": "accuracy"},
}
"""Views without a hidden layer: GRAND+'s settings for graphs of many nodes with few features and labels."""
_FIXED: dict[str, Any] = {"lr": 0.01, "patience": 50}
"""Of networks with one neighbourhood for all nodes; learning to choose takes smaller steps and longer."""
_OWN = ("hidden", "num_layers", "dropout", "lr", "weight_decay")
"""Settings that a special case has values of its own for; given ones go before those."""
_SUM: dict[str, Any] = {**CHANGES["gcn"], "hidden": 64}
_SPECIAL: dict[str, dict[str, Any]] = {
    "mlp": CHANGES["mlp"],
    "counts": {**CHANGES["mlp"], "features": "motifs"},
    "gcn": _SUM,
    "sage": {**_SUM, "self_weights": True},
    "gat": CHANGES["gat-consistency"],
}
"""Networks with one neighbourhood for all nodes, as changes to the settings of mcn."""
_DEEP: dict[str, Any] = {
    **{name: value for name, value in _SUM.items() if name != "motifs"},
    "self_weights": True,
    "norm": "batch",
    "max_epochs": 2000,
    "patience": 100,
    "stopping": "loss",
}
DEEP: dict[str, dict[str, Any]] = {
    "sage-3": {"motifs": ("edge",), "num_layers": 3},
    "sage-8": {"motifs": ("edge",), "num_layers": 8},
    "mcn-3": {"num_layers": 3, "motif_attention": True, "gate": True},
    "dir-sage": {"motifs": ("out", "in"), "num_layers": 2, "sum_motifs": True},
    "dir-sage-3": {"motifs": ("out", "in"), "num_layers": 3, "sum_motifs": True},
}
"""Deeper networks of sums with weights of their own for a node and batch normalisation, as changes to those:
their number of layers; that nodes choose in one of them; and that others have weights of their own for the
nodes that a node points to and for those that point to it (as in Dir-GNN, Rossi et al. 2023)."""
MANY_LABELS = 1000
"""Training nodes from which on deeper networks need little dropout and no L2."""
_MANY: dict[str, Any] = {"dropout": 0.2, "weight_decay": 0.0}
_FEW: dict[str, Any] = {"dropout": 0.5, "weight_decay": 5e-4}
_TREES: dict[str, tuple[str, ...]] = {
    **{"trees": ("edge",), "motif-trees": ("edge", "triangle")},
    "dir-trees": ("edge", "in", "out"),
}
_OF_TREES = ("motifs", "scope", "features", "stopping", "metric", "class_weight", "max_epochs", "patience")
"""Settings that mean the same to trees as to networks: given ones go to both."""


@dataclass(frozen=True)
class Candidate:
    """A network to be tried: its name, and the settings of its recipe."""

    name: str
    config: Settings

    def seeded(self, seed: int) -> Candidate:
        """Return the same candidate with another seed."""
        return dataclasses.replace(self, config=self.config.replace(seed=seed))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `from_dict` reads."""
        return {"name": self.name, "recipe": self.config.recipe, "settings": self.config.to_dict()}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Candidate:
        """Make a candidate of plain values.

        Raises:
            ValueError: the recipe or a setting is not known, or a value is not allowed.
        """
        return cls(str(stored["name"]), find_recipe(stored["recipe"]).config.from_dict(stored["settings"]))


def candidates_of(config: AutoConfig, labels: int, most_dropout: float = 1.0) -> tuple[Candidate, ...]:
    """Return the candidates of a selection with so many training labels, in the order they are tried in.

    `most_dropout` is what suits the task (`Task.most_dropout`); dropout that the user gave is not changed.

    The node's features alone (mlp), its motif counts alone (counts), boosted trees on the node's and its
    neighbours' columns (trees), on those of its triangles and its motif counts too (motif-trees), the sum
    over neighbours (gcn), the same with weights of its own for the node (sage), attention over the neighbours
    (gat), of a motif the sum (triangle-sum) and attention (triangle), the network whose nodes choose (mcn),
    deeper networks (sage-3, sage-8, mcn-3), and motif views, with a hidden layer (views) and without
    (linear-views). Where direction is used: trees that know in- and out-neighbours apart (dir-trees), sums
    over both (dir-sage, dir-sage-3), and a network whose nodes choose between them and all neighbours
    (mcn-dir).
    """
    left_out = ["counts"] if config.features == "motifs" else []  # then mlp is counts already
    if any(map(directed_neighbourhood, config.motifs or ())):
        left_out += ["views", "linear-views"]  # which have undirected motifs alone
    names = [name for name in config.candidates if name not in left_out]
    found = [Candidate(name, _config_of(name, config, labels)) for name in names]
    if config.dropout is not None:
        return tuple(found)
    return tuple(
        dataclasses.replace(one, config=one.config.replace(dropout=min(one.config.dropout, most_dropout)))
        for one in found
    )


def _config_of(name: str, config: AutoConfig, labels: int) -> Settings:
    if name in ("mcn", "views"):
        return config.given_to(name)
    if name == "linear-views":
        return find_recipe("views").config.from_dict(_LINEAR_VIEWS | config.given("views"))
    if name == "mcn-dir":  # what nodes hear before they choose is not what they hear in mcn
        return config.given_to("mcn").replace(motifs=("out", "in", "edge"))
    if name in _TREES:
        given = {key: value for key, value in config.given("trees").items() if key in _OF_TREES}
        return find_recipe("trees").config.from_dict({"motifs": _TREES[name], **given})
    given = config.given("mcn")
    if name in DEEP:
        regularised = _MANY if labels >= MANY_LABELS else _FEW
        deep = {**_DEEP, **regularised, **DEEP[name]}
        first = {key: given[key] for key in (*_OWN, "max_epochs", "patience", "stopping") if key in given}
        return find_recipe("mcn").config.from_dict(given).replace(**deep | first)
    given.pop("motifs", None)
    base = find_recipe("mcn").config.from_dict(USUAL["mcn"] | _FIXED | given)
    changes = _SPECIAL.get(name)
    if changes is None:
        motif = name.removesuffix("-sum")
        changes = {**(_SUM if name.endswith("-sum") else CHANGES["gat-consistency"]), "motifs": (motif,)}
        changes.pop("scope")  # a motif may join nodes without an edge
    return base.replace(**changes).replace(**{key: given[key] for key in _OWN if key in given})
