"""The settings of trying several candidates."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from mcn.train.batched import BatchedSettings
from mcn.train.mcn.config import MCNConfig
from mcn.train.settings import Settings, at_least, declared, names, positive, setting
from mcn.train.views.config import ViewsConfig

if TYPE_CHECKING:
    from mcn.train.probes.plan import Plan

CANDIDATES = ("mlp", "counts", "gcn", "sage", "gat", "triangle-sum", "triangle", "views")
"""What is tried unless told otherwise, cheap ones first."""
_USUAL: dict[str, Any] = {"lr": 0.01, "patience": 50, "max_epochs": 1000}
_NETWORK_SETTINGS = {"hidden", "num_layers", "dropout", "lr", "weight_decay"}
"""What gcn and mlp have values of their own for, or share; given ones go before those."""
_NETWORKS = {"mlp", "counts", "gcn", "sage", "gat", "views"}
_VIEWS: dict[str, Any] = {"max_epochs": 100, "patience": 30}


def _candidates(name: str, value: Any) -> tuple[str, ...]:
    from mcn.motifs.catalogue import MOTIFS  # here, because options are listed without it

    found = names(name, value)
    for each in found:
        if each not in _NETWORKS and (each == "edge" or each.removesuffix("-sum") not in MOTIFS):
            known = ", ".join(sorted(_NETWORKS))
            raise ValueError(f"{name} must be some of {known}, a motif or a motif with -sum, got {each!r}")
    if len(set(found)) < len(found):
        raise ValueError(f"{name} must differ, got {', '.join(found)}")
    return found


@dataclass(frozen=True, kw_only=True)
class AutoConfig(BatchedSettings):
    """Settings of a choice among candidates.

    A setting of the networks that is None is left to each candidate; one that is given goes to all candidates
    that have it.
    """

    recipe: ClassVar[str] = "auto"

    motifs: tuple[str, ...] | None = None  # type: ignore[assignment]
    scope: str | None = None  # type: ignore[assignment]
    hidden: int | None = None  # type: ignore[assignment]
    num_layers: int | None = None  # type: ignore[assignment]
    dropout: float | None = None  # type: ignore[assignment]
    lr: float | None = None  # type: ignore[assignment]
    weight_decay: float | None = None  # type: ignore[assignment]
    consistency: float | None = None
    consistency_ramp: int | None = None  # type: ignore[assignment]
    temperature: float | None = None  # type: ignore[assignment]
    max_epochs: int | None = None  # type: ignore[assignment]
    patience: int | None = None  # type: ignore[assignment]
    stopping: str | None = None  # type: ignore[assignment]
    candidates: tuple[str, ...] = setting(
        CANDIDATES,
        "What is tried, separated by commas: mlp (features alone), counts (motif counts alone), gcn, sage, "
        "gat, views, and attention over a motif (triangle) or its sum (triangle-sum).",
        _candidates,
        option="candidates",
        since="0.2.0",
    )
    minutes: float = setting(
        5.0, "Budget of training time for all candidates together.", positive, option="minutes", since="0.2.0"
    )
    repeats: int = setting(
        3,
        "Runs of each candidate, with seeds of their own, as far as the time allows; they predict together. "
        "Where chance drew the split, further ones on parts that are dealt out anew help to choose. "
        "A candidate that is clearly behind sits out.",
        at_least(1, 1000),
        since="0.2.0",
    )

    neighbours: tuple[int, ...] | None = None  # type: ignore[assignment]

    def _agree(self) -> None:
        if self.batch_size is None:
            return
        if self.candidates == CANDIDATES:
            object.__setattr__(self, "candidates", tuple(each for each in CANDIDATES if each != "sage"))
        if "sage" in self.candidates:
            raise ValueError("batch_size needs candidates without sage: mini-batches do not have it yet")
        self.shared()

    @property
    def protocol(self) -> str:
        """Say how the winner is chosen."""
        runs = (
            "one run each"
            if self.repeats == 1
            else f"up to {self.repeats} runs each, which predict together,"
        )
        return (
            f"the best of {', '.join(self.candidates)} by mean {self.metric} on held-out validation nodes, "
            f"{runs} within {self.minutes:g} minutes of training"
        )

    def shared(self) -> MCNConfig:
        """Return the settings of the stack that the candidates share: the node alone is its first motif."""
        own = self._given(MCNConfig)
        motifs = own.pop("motifs", MCNConfig.motifs)
        named = {name.removesuffix("-sum") for name in self.candidates} - _NETWORKS
        wanted = ("self", *dict.fromkeys(("edge", *motifs, *sorted(named))))
        return MCNConfig(**{**_USUAL, **own, "motifs": wanted})

    def plan(self) -> Plan:
        """Return the candidates and their budget."""
        from mcn.train.probes.plan import Plan, Probe, probes_of

        shared = self.shared()
        own = {name: value for name, value in self._given(MCNConfig).items() if name in _NETWORK_SETTINGS}
        known = {
            each.name: dataclasses.replace(each, config=each.config.replace(**own))
            for each in probes_of(shared)
        }
        known["views"] = Probe("views", ViewsConfig(**{**_VIEWS, **self._given(ViewsConfig)}))
        probes = tuple(known[name] for name in self.candidates)
        return Plan(probes, shared.motifs, shared.steps, self.repeats, self.minutes)

    def _given(self, kind: type[Settings]) -> dict[str, Any]:
        """Return the settings that were given and that a kind of candidate has."""
        return {
            one.name: getattr(self, one.name)
            for one in declared(BatchedSettings).values()
            if one.name in declared(kind) and one.name != "seed" and getattr(self, one.name) is not None
        }
