"""How much each setting mattered in a search."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from mcn.experiments._proposals import import_optuna, label
from mcn.experiments.space import Range, Space


def importances(
    space: Space, tried: Sequence[tuple[Mapping[str, Any], float]], seed: int = 0
) -> dict[str, float]:
    """The share of the variation among trials that each setting explains (fANOVA), largest first.

    Args:
        space: what was searched.
        tried: settings and validation accuracy of the trials that did not fail; repeated ones count once.
        seed: of the forest that fANOVA grows.

    Raises:
        ValueError: Optuna or scikit-learn is not installed, or the trials do not differ.
    """
    optuna = import_optuna("the importance of settings")
    distinct = {label(dict(settings)): (settings, value) for settings, value in tried}
    if len({value for _, value in distinct.values()}) < 2:
        raise ValueError("the trials do not differ in validation accuracy, so no setting can matter")
    names = {
        name: domain
        for name, domain in space.settings.items()
        if isinstance(domain, Range) or len(domain) > 1
    }
    distributions = {name: _distribution(optuna, domain) for name, domain in names.items()}
    study = optuna.create_study(direction="maximize")
    for settings, value in distinct.values():
        params = {
            name: settings[name] if isinstance(domain, Range) else label(settings[name])
            for name, domain in names.items()
        }
        study.add_trial(optuna.create_trial(params=params, distributions=distributions, value=value))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # experimental in some releases of Optuna
        try:
            evaluator = optuna.importance.FanovaImportanceEvaluator(seed=seed)
        except ImportError:
            raise ValueError(
                "the importance of settings needs scikit-learn: pip install 'mcn[search]'"
            ) from None
        found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in found.items()}


def _distribution(optuna: Any, domain: tuple[Any, ...] | Range) -> Any:
    if isinstance(domain, tuple):
        return optuna.distributions.CategoricalDistribution([label(value) for value in domain])
    if domain.whole:
        return optuna.distributions.IntDistribution(domain.low, domain.high, log=domain.log)
    return optuna.distributions.FloatDistribution(domain.low, domain.high, log=domain.log)
