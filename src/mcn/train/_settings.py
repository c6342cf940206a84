"""What every kind of configuration has: motif names, checks of single settings, plain values."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

Checks = tuple[tuple[Callable[[str, Any], Any], tuple[str, ...]], ...]
"""Which check serves which settings."""
STOPPING = ("gat", "accuracy", "loss")


@dataclass(frozen=True)
class Settings:
    """The base of `Config` and `ViewsConfig`; the fields are theirs."""

    def _take(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_motifs(self, what: str) -> None:
        """Make a tuple of the names; `what` they are is for the error."""
        given: Any = getattr(self, "motifs")  # noqa: B009 (a field of the subclasses)
        if not isinstance(given, str | Sequence) or not all(isinstance(name, str) for name in given):
            raise ValueError(f"motifs must be a list of names, got {given!r}")
        motifs = (given,) if isinstance(given, str) else tuple(given)
        self._take("motifs", motifs)
        if not motifs:
            raise ValueError(f"motifs must name at least one {what}")

    def _check_each(self, checks: Checks, optional: tuple[str, ...] = ()) -> None:
        """Check settings one by one; an optional one may be None."""
        for check, names in checks:
            for name in names:
                if getattr(self, name) is not None or name not in optional:
                    self._take(name, check(name, getattr(self, name)))

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> Self:
        """Build from plain values, as read from YAML; an unknown name is an error."""
        known = [f.name for f in fields(cls)]
        for name in settings:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"unknown setting {name!r}{hint}")
        return cls(**settings)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for YAML and JSON."""
        values = asdict(self)
        return values | {"motifs": list(values["motifs"])}

    def but(self, **changes: Any) -> Self:
        """The same settings with some changed."""
        return replace(self, **changes)


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a value that is not among those allowed, and say which was probably meant."""
    if value not in allowed:
        near = difflib.get_close_matches(str(value), allowed, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}{hint}")
