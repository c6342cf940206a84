"""The candidates: each is a recipe with settings, under a name."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcn.train.mcn.config import CHANGES
from mcn.train.recipes import find_recipe
from mcn.train.settings import Settings

if TYPE_CHECKING:
    from mcn.train.select.config import AutoConfig

USUAL: dict[str, dict[str, Any]] = {
    "mcn": {"max_epochs": 1000},
    "views": {"max_epochs": 100, "patience": 30},
}
"""Settings of each recipe's candidates, before those that the user gave."""
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


def candidates_of(config: AutoConfig) -> tuple[Candidate, ...]:
    """Return the candidates of a selection, in the order in which they are tried.

    The node's features alone (mlp), its motif counts alone (counts), the sum over neighbours (gcn), the same
    with weights of its own for the node (sage), attention over the neighbours (gat), of a motif the sum
    (triangle-sum) and attention (triangle), the network whose nodes choose (mcn), and motif views (views).
    """
    counts_are_all = config.features == "motifs"  # then mlp is counts already
    names = [name for name in config.candidates if not (name == "counts" and counts_are_all)]
    return tuple(Candidate(name, _config_of(name, config)) for name in names)


def _config_of(name: str, config: AutoConfig) -> Settings:
    if name in ("mcn", "views"):
        return config.given_to(name)
    given = config.given("mcn")
    given.pop("motifs", None)
    base = find_recipe("mcn").config.from_dict(USUAL["mcn"] | _FIXED | given)
    changes = _SPECIAL.get(name)
    if changes is None:
        motif = name.removesuffix("-sum")
        changes = {**(_SUM if name.endswith("-sum") else CHANGES["gat-consistency"]), "motifs": (motif,)}
        changes.pop("scope")  # a motif may join nodes without an edge
    return base.replace(**changes).replace(**{key: given[key] for key in _OWN if key in given})
