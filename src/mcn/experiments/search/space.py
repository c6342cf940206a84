"""Search spaces: which settings may take which values, one YAML file each.

A file has `settings`, and optionally `description`, `recipe`, `fixed` and `datasets`:

- `recipe`: what is searched, `mcn` if not given; every trial starts from its preset for the data set.
- `settings`: a setting of the recipe to the values it may take: a list; for motifs also
  ``{subsets: [names]}``, all their non-empty subsets; for numbers also ``{low: …, high: …, log: true}``.
- `fixed`: settings that are the same in every trial.
- `datasets`: settings that are fixed for a data set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

from graphmotifs._messages import one_of, told
from mcn._yaml import find, names
from mcn.matrices import PSI_NAMES
from mcn.motifs import graphlet_of
from mcn.motifs.neighbourhoods import directed_neighbourhood
from mcn.train.recipes import find_recipe
from mcn.train.settings import declared

_FIELDS = ("description", "recipe", "fixed", "datasets", "settings")
_PACKAGE, _FOLDER = "mcn.experiments.search", "spaces"
_MOST = 12  # motifs to take subsets of: 4,095 of them


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`; whole ones if both are; `log` spreads them over the magnitudes."""

    low: float
    high: float
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether only integers are meant."""
        return isinstance(self.low, int) and isinstance(self.high, int)


@dataclass(frozen=True)
class Space:
    """What to search: `settings` of a recipe vary, each over its values (a tuple) or a `Range`.

    `fixed` settings are the same in every trial, and so are those of `datasets`, by data set.
    """

    name: str
    description: str
    settings: Mapping[str, tuple[Any, ...] | Range]
    fixed: Mapping[str, Any]
    datasets: Mapping[str, Mapping[str, Any]]
    recipe: str = "mcn"

    @property
    def size(self) -> int | None:
        """How many combinations there are; None with a range."""
        domains = list(self.settings.values())
        lists = [domain for domain in domains if isinstance(domain, tuple)]
        return prod(map(len, lists)) if len(lists) == len(domains) else None

    def base(self, dataset: str | None) -> dict[str, Any]:
        """What every trial on a data set has."""
        return {**self.fixed, **self.datasets.get(dataset or "", {})}


def spaces() -> list[str]:
    """The names of the spaces that come with the package."""
    return names(_PACKAGE, _FOLDER)


def load_space(name_or_path: str | os.PathLike[str]) -> Space:
    """A space by its name, or from a YAML file; every value in it is checked."""
    return _parse(*find("space", _PACKAGE, _FOLDER, name_or_path))


def _parse(name: str, where: str, given: Any) -> Space:
    values = _mapping(where, "the file", given)
    unknown = [key for key in values if key not in _FIELDS]
    if unknown:
        raise ValueError(f"space {where}: unknown entry {told(unknown[0])}; expected {', '.join(_FIELDS)}")
    recipe = values.get("recipe", "mcn")
    find_recipe(recipe, f"space {where}: recipe")
    settings = _mapping(where, "settings", values.get("settings"))
    if not settings:
        raise ValueError(f"space {where}: settings must name at least one setting")
    space = Space(
        name,
        str(values.get("description") or ""),
        {setting: _domain(where, setting, domain) for setting, domain in settings.items()},
        _mapping(where, "fixed", values.get("fixed")),
        {
            dataset: _mapping(where, f"datasets.{dataset}", own)
            for dataset, own in _mapping(where, "datasets", values.get("datasets")).items()
        },
        recipe,
    )
    _check(where, space)
    return space


def _mapping(where: str, what: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        raise ValueError(f"space {where}: {what} must be a mapping of names to values, got {told(given)}")
    return given


def _domain(where: str, setting: str, given: Any) -> tuple[Any, ...] | Range:
    if isinstance(given, list) and given:
        return tuple(given)
    if isinstance(given, dict) and given.keys() == {"subsets"} and setting == "motifs":
        return _subsets(where, given["subsets"])
    if isinstance(given, dict) and {"low", "high"} <= given.keys() <= {"low", "high", "log"}:
        span = Range(given["low"], given["high"], bool(given.get("log", False)))
        numbers = all(type(end) in (int, float) for end in (span.low, span.high))
        if not numbers or not span.low < span.high or (span.log and span.low <= 0):
            raise ValueError(
                f"space {where}: {setting} must go from a number to a larger one, "
                f"above 0 with log, got {told(given)}"
            )
        return span
    raise ValueError(
        f"space {where}: {setting} must be a list of values, {{low: …, high: …}}, or for motifs "
        f"{{subsets: […]}}, got {told(given)}"
    )


def _subsets(where: str, names: Any) -> tuple[list[str], ...]:
    """All non-empty subsets, small ones first, each in the order of the list."""
    if not isinstance(names, list) or not 1 <= len(names) <= _MOST or len(set(map(str, names))) < len(names):
        raise ValueError(f"space {where}: subsets must list 1 to {_MOST} different motifs, got {told(names)}")
    sizes = range(1, len(names) + 1)
    return tuple(list(subset) for size in sizes for subset in combinations(names, size))


def _check(where: str, space: Space) -> None:
    """Make sure that every setting is one of the recipe, and every value one it accepts."""
    for setting in space.settings:
        one_of(f"space {where}: a setting", setting, declared(find_recipe(space.recipe).config))
        if setting == "seed":
            raise ValueError(f"space {where}: the seed is not a setting to search; `seeds` runs several")
        if any(setting in held for held in (space.fixed, *space.datasets.values())):
            raise ValueError(f"space {where}: {setting} is both fixed and searched")
    fixed = [{**space.fixed, **own} for own in ({}, *space.datasets.values())]
    tried = [
        {**space.fixed, setting: value}
        for setting, domain in space.settings.items()
        for value in (domain if isinstance(domain, tuple) else (domain.low, domain.high))
    ]
    try:
        for settings in (*fixed, *tried):
            config = find_recipe(space.recipe).config.from_dict(settings)
            if "psi" in settings:
                one_of("psi", settings["psi"], PSI_NAMES)
            for motif in config.motifs:
                is_view = "=" in motif  # such as order=4
                if motif != "self" and not is_view and not directed_neighbourhood(motif):
                    graphlet_of(motif)
    except (ValueError, TypeError) as error:
        raise ValueError(f"space {where}: {error}") from None
