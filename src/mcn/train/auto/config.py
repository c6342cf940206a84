"""The settings of trying several candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mcn.train.mcn.config import MCNConfig
from mcn.train.mcn.special import CHANGES
from mcn.train.settings import Settings, at_least, declared, names, positive, setting
from mcn.train.views.config import ViewsConfig

_USUAL: dict[str, Any] = {"lr": 0.01, "patience": 50, "max_epochs": 1000}
CANDIDATES: dict[str, tuple[type[Settings], dict[str, Any]]] = {
    "mlp": (MCNConfig, {**_USUAL, **CHANGES["mlp"]}),
    "gcn": (MCNConfig, {**_USUAL, **CHANGES["gcn"], "hidden": 64}),
    "gat": (MCNConfig, {**_USUAL, **CHANGES["gat"]}),
    "mcn": (MCNConfig, _USUAL),
    "views": (ViewsConfig, {"max_epochs": 100, "patience": 30}),
}
"""What may be tried, cheapest first: the class of its settings, and what differs from its defaults."""


def _candidates(name: str, value: Any) -> tuple[str, ...]:
    found = names(name, value)
    for each in found:
        if each not in CANDIDATES:
            raise ValueError(f"{name} must be some of {', '.join(CANDIDATES)}, got {each!r}")
    if len(set(found)) < len(found):
        raise ValueError(f"{name} must differ, got {', '.join(found)}")
    return found


@dataclass(frozen=True, kw_only=True)
class AutoConfig(Settings):
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
        tuple(CANDIDATES),
        f"What is tried, separated by commas: {', '.join(CANDIDATES)}.",
        _candidates,
        option="candidates",
        since="0.2.0",
    )
    minutes: float = setting(
        5.0, "Budget of training time for all candidates together.", positive, option="minutes", since="0.2.0"
    )
    repeats: int = setting(
        3,
        "Runs of each candidate, with seeds of their own, as far as the time allows.",
        at_least(1),
        since="0.2.0",
    )

    @property
    def protocol(self) -> str:
        """Say how the winner is chosen."""
        runs = "one run" if self.repeats == 1 else f"up to {self.repeats} runs"
        return (
            f"the best of {', '.join(self.candidates)} by mean validation {self.metric}, {runs} each within "
            f"{self.minutes:g} minutes of training"
        )

    def candidate(self, name: str, repeat: int = 0) -> Settings:
        """Return the configuration of a candidate's run."""
        kind, changes = CANDIDATES[name]
        own = declared(kind)
        given = {
            one.name: getattr(self, one.name)
            for one in declared(Settings).values()
            if one.name in own and one.name != "seed" and getattr(self, one.name) is not None
        }
        special = {key for key in CHANGES.get(name, {}) if key in ("motifs", "scope")}  # what makes it one
        given = {key: value for key, value in given.items() if key not in special}
        return kind(**{**changes, **given, "seed": self.seed * 1000 + repeat})
