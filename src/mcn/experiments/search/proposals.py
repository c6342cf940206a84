"""What to try next, and what mattered: a grid or Optuna's TPE, and the importance of settings."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from mcn.experiments.search.space import Range, Space

_MOST = 1_000_000
_FEW = 8  # values that a setting may have whatever the number of trials


class Grid:
    """Every combination once, in an order that the seed decides: a part of the grid is a fair sample."""

    def __init__(self, space: Space, seed: int) -> None:
        for name, domain in space.settings.items():
            if isinstance(domain, Range):
                raise ValueError(f"space {space.name}: {name} is a range; a grid needs a list of values")
        size = space.size or 0
        if size > _MOST:
            raise ValueError(
                f"space {space.name}: {size:,} combinations are too many for a grid (at most {_MOST:,}); "
                "use the sampler 'tpe', or a smaller space"
            )
        self._settings: Mapping[str, Any] = space.settings
        order = list(range(size))
        random.Random(seed).shuffle(order)  # noqa: S311 - no secret
        self._left = iter(order)

    def ask(self, number: int) -> list[dict[str, Any]]:
        """The next combinations, fewer when nothing is left."""
        sizes = [len(domain) for domain in self._settings.values()]
        places = (np.unravel_index(index, sizes) for index in islice(self._left, number))
        return [
            {name: domain[i] for (name, domain), i in zip(self._settings.items(), place, strict=True)}
            for place in places
        ]

    def tell(self, values: Sequence[float | None]) -> None:
        """A grid does not learn."""


class TPE:
    """Optuna's estimator, asked for several trials before it is told of any."""

    def __init__(self, space: Space, seed: int) -> None:
        self._optuna = import_optuna("the sampler 'tpe' (unlike 'grid')")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some releases call options experimental
            sampler = self._optuna.samplers.TPESampler(seed=seed)
        self._study = self._optuna.create_study(direction="maximize", sampler=sampler)
        self._space = space
        self._distributions = {n: _distribution(self._optuna, d) for n, d in space.settings.items()}
        self._open: list[Any] = []

    def ask(self, number: int) -> list[dict[str, Any]]:
        """Settings that look promising, given all that was told."""
        self._open = [self._study.ask(self._distributions) for _ in range(number)]
        return [
            {
                name: trial.params[name] if isinstance(domain, Range) else json.loads(trial.params[name])
                for name, domain in self._space.settings.items()
            }
            for trial in self._open
        ]

    def tell(self, values: Sequence[float | None]) -> None:
        """Learn the figures; failed trials are left out of account."""
        for trial, value in zip(self._open, values, strict=True):
            if value is None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            else:
                self._study.tell(trial, value)
        self._open = []


def import_optuna(what: str) -> Any:
    """Optuna, silent; or one line that `what` needs it, and how to get it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import optuna
    except ImportError:
        raise ValueError(f"{what} needs Optuna: pip install 'mcn[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def importances(space: Space, tried: Sequence[tuple[Mapping[str, Any], float]]) -> dict[str, float]:
    """The share of the variation among trials that each setting explains by itself (fANOVA), largest first.

    Where every combination was tried, that is the variance of the means by value over the variance of all:
    nothing has to be modelled. Otherwise a random forest fills in what was not tried. `tried` has settings
    and validation accuracy of the trials that did not fail; repeated ones count once.
    """
    distinct = {json.dumps(dict(settings)): (settings, value) for settings, value in tried}
    if len({value for _, value in distinct.values()}) < 2:
        raise ValueError("the trials do not differ in validation accuracy, so no setting can matter")
    names = {
        n: domain for n, domain in space.settings.items() if isinstance(domain, Range) or len(domain) > 1
    }
    if len(distinct) == space.size:
        return _main_effects(names, list(distinct.values()))
    for name, domain in names.items():
        if isinstance(domain, tuple) and len(domain) > max(_FEW, len(distinct) // 4):
            raise ValueError(
                f"{name} has {len(domain)} values, too many for {len(distinct)} trials to say what mattered"
            )
    optuna = import_optuna("the importance of settings")
    distributions = {name: _distribution(optuna, domain) for name, domain in names.items()}
    study = optuna.create_study(direction="maximize")
    for settings, value in distinct.values():
        params = {
            name: settings[name] if isinstance(domain, Range) else json.dumps(settings[name])
            for name, domain in names.items()
        }
        study.add_trial(optuna.create_trial(params=params, distributions=distributions, value=value))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # experimental in some releases of Optuna
        # A tree's cost grows with the square of its leaves: 64 trees of 465 trials took minutes.
        trees = min(64, max(8, 4000 // len(distinct)))
        evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=trees, seed=0)
        found = optuna.importance.get_param_importances(study, evaluator=evaluator, normalize=False)
    return {name: float(share) for name, share in found.items()}


def _main_effects(names: Iterable[str], tried: Sequence[tuple[Mapping[str, Any], float]]) -> dict[str, float]:
    scores = np.array([value for _, value in tried])
    found = {}
    for name in names:
        groups: dict[str, list[float]] = {}
        for settings, value in tried:
            groups.setdefault(json.dumps(settings[name]), []).append(value)
        found[name] = float(np.var([np.mean(group) for group in groups.values()]) / np.var(scores))
    return dict(sorted(found.items(), key=lambda item: -item[1]))


SAMPLERS: dict[str, type[TPE | Grid]] = {"tpe": TPE, "grid": Grid}
"""The same seed and the same figures give the same proposals."""


def _distribution(optuna: Any, domain: tuple[Any, ...] | Range) -> Any:
    if isinstance(domain, tuple):
        # By their JSON: Optuna's categories cannot be lists.
        return optuna.distributions.CategoricalDistribution([json.dumps(value) for value in domain])
    if domain.whole:
        return optuna.distributions.IntDistribution(domain.low, domain.high, log=domain.log)
    return optuna.distributions.FloatDistribution(domain.low, domain.high, log=domain.log)
