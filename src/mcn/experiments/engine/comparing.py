"""Several methods on one graph, over several seeds, by one protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from torch_geometric.data import Data

from mcn._names import did_you_mean
from mcn.baselines.registry import TrainedMethod, check_methods, find_method
from mcn.data.checks import given_weights
from mcn.data.limits import told
from mcn.experiments.engine.cells import result_row
from mcn.experiments.engine.ledger import Ledger
from mcn.experiments.engine.runner import run_units
from mcn.experiments.engine.source import Source, in_memory
from mcn.experiments.engine.unit import Unit
from mcn.motifs import MotifCounts
from mcn.train.recipes import RECIPES, all_settings
from mcn.train.settings import declared


def compare(
    graph: Data | Source,
    methods: Iterable[str],
    seeds: Sequence[int] = (0,),
    *,
    dataset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    counts: MotifCounts | None = None,
    ledger: Ledger | None = None,
    jobs: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> list[dict[str, Any]]:
    """Run methods on the same split with the same seeds, and return a row for each (see `result_row`).

    Rows after the first have the paired difference to the first.

    Args:
        graph: a `Data`, whose runs are done in this process, or a `Source`.
        methods: names of `mcn.baselines.METHODS`.
        seeds: one run of every method for each.
        dataset: with a `Data`, the data set whose presets apply.
        settings: changes to the configuration of the methods that have one; each takes those it knows.
        counts: with a `Data`, its motif counts if they are known.
        ledger, jobs: see `run_units`.
        progress: told how far it is, between 0 and 1.

    Raises:
        ValueError: an unknown method or setting, a package that is not installed, or a graph that cannot be
            trained on.
    """
    names = check_methods(methods)
    if isinstance(graph, Source):
        source = graph
    else:
        source, jobs = in_memory(graph, dataset, counts), 1
    if given_weights(graph) is not None if isinstance(graph, Data) else "weights" in dict(source.options):
        for name in names:
            find_method(name).check_weights()
    known = {name: known_settings(name, settings or {}) for name in names}
    units = [Unit(source, name, known[name], seed) for name in names for seed in seeds]

    def report(done: int, of: int) -> None:
        if progress is not None:
            progress(done / of if of else 1.0)

    done = run_units(units, ledger, jobs=jobs, progress=report)
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(names):
        own = done[place * len(seeds) : (place + 1) * len(seeds)]
        rows.append(result_row(name, own, rows[0] if rows else None))
    return rows


def known_settings(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the given settings that a method has.

    Raises:
        ValueError: no recipe has one of them; says which was probably meant.
    """
    everywhere = all_settings()
    for name in settings:
        if name not in everywhere:
            raise ValueError(f"unknown setting {told(name)}{did_you_mean(name, everywhere)}")
    found = find_method(method)
    own = declared(RECIPES[found.recipe].config) if isinstance(found, TrainedMethod) else {}
    return {name: value for name, value in settings.items() if name in own}
