"""Which runs fill a table: a method and a data set, the units to run, and a word where some are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcn._names import did_you_mean, one_of
from mcn.experiments.engine.source import Source
from mcn.experiments.engine.unit import Unit
from mcn.experiments.paper.reported import BEYOND, CONTROLS, TABLE2, TABLE3, PaperTable
from mcn.train.metrics import METRICS
from mcn.train.presets import dataset_config
from mcn.train.views.config import ViewsConfig

QUICK_SEEDS = 2
_SLOW = {("dd6", "twins"): 1, ("dd7", "twins"): 1, ("pubmed", "grand"): 0, ("cora", "grand"): 0}
"""Runs in a quick table: half a minute to two minutes each."""
# Seconds of CPU on Cora, and how much longer the other data sets take: roughly.
_COST = {"majority": 0.1, "lp": 0.2, "mlp": 1, "manireg": 1.5, "ica": 1.5, "gcn-ensemble": 1.5, "gcn": 3}
_COST |= {"planetoid": 10, "mcn": 22, "mcn-paper": 10, "gat": 16, "gcn-consistency": 11, "grand": 100}
_COST |= {"gat-consistency": 23}
_COST |= {"gcn-ensemble-6": 4, "gcn-ensemble-10": 8, "gcn-ensemble-15": 12}
_SIZE = {"citeseer": 0.7, "pubmed": 2, "dd6": 2}


@dataclass(frozen=True)
class Table:
    """A table to reproduce: the paper's, the methods in the order of the report, the usual number of runs."""

    name: str
    paper: PaperTable
    methods: tuple[str, ...]
    seeds: int
    first_seed: int = 0


VIEWS = {
    "views-edge": ["edge"],
    "views-random": ["edge", "random=1", "random=2"],
    "views-walks": ["edge", "shorter", "longer"],
    "views-2": ["edge", "triangle"],
    "views": ["edge", "triangle", "4-cycle"],
    "views-5": ["edge", "triangle", "4-cycle", "2-star", "4-clique"],
}
"""What each row with motif views draws from; the first three have no motifs in them, to compare with."""
ADVANTAGES = {"mcn-paper-mean": "mean", "mcn-paper-learned": "learned"}
"""Rows with the paper's rule and an advantage in the place of the reward."""
TABLES = {
    "table2": Table(
        "table2",
        TABLE2,
        (
            "majority",
            *(name for name in TABLE2.rows if name not in ("gcn", "gat", "mcn")),
            *("gcn-ensemble", "gcn", "gcn-consistency", "gat", "gat-consistency", "mcn-paper", "mcn"),
        ),
        15,
    ),
    "table3": Table(
        "table3",
        TABLE3,
        ("majority", "gcn-paper", "gat-paper", "mcn-paper", "mlp", "gcn", "gat", "mcn", "twins"),
        10,
    ),
    "beyond": Table(
        "beyond", BEYOND, ("gat", "gat-consistency", "mcn-paper", "mcn", "grand", *VIEWS), 30, first_seed=200
    ),
    "controls": Table(
        "controls",
        CONTROLS,
        (
            *("gcn", "gcn-ensemble", "gcn-ensemble-6", "gcn-ensemble-10", "gcn-ensemble-15"),
            *("gat", "mcn-paper", *ADVANTAGES),
        ),
        15,
    ),
}


def by_metric(table: Table, metric: str) -> Table:
    """The same table with another figure in its cells; the paper has no values of it.

    Raises:
        ValueError: an unknown metric.
    """
    one_of("metric", metric, METRICS)
    if metric == "accuracy":
        return table
    title = f"{table.name}: {metric} of the same runs"
    return replace(table, paper=replace(table.paper, title=title, score=f"test {metric}", rows={}))


@dataclass(frozen=True)
class Entry:
    """A cell of a table: its units, and why there are fewer than asked for, if so."""

    dataset: str
    method: str
    units: tuple[Unit, ...]
    note: str = ""

    @property
    def cost(self) -> float:
        """About how long one unit takes, relative to others: for the time left, not for any result."""
        return _COST.get(self.method, 5) * _SIZE.get(self.dataset, 1)


def plan(
    table: Table,
    seeds: Sequence[int],
    *,
    methods: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
    quick: bool = False,
    data_root: str | Path | None = None,
) -> list[Entry]:
    """The cells of a table, data set by data set, with one unit per seed.

    `mcn` has the data set's preset, `mcn-paper` is the recipe paper. On DD, `mlp`, `gcn` and `gat` share
    `mcn`'s preset (features, class priors, width), `gcn-paper` and `gat-paper` that of `mcn-paper`; the seed
    decides the draw as well.
    With `quick` the methods that take minutes on a data set get one run or none.

    Raises:
        ValueError: a method or data set that is not in the table.
    """
    chosen = _chosen("methods", methods, table.methods)
    root = None if data_root is None else str(data_root)
    entries = []
    for dataset in _chosen("datasets", datasets, table.paper.datasets):
        for method in chosen:
            run = list(seeds)[: _SLOW.get((dataset, method)) if quick else None]
            units = tuple(unit_for(Source(dataset, data_root=root), method, seed) for seed in run)
            entries.append(Entry(dataset, method, units, _shortened(len(run), len(seeds))))
    return entries


def unit_for(source: Source, method: str, seed: int) -> Unit:
    """Return the run of a method of a table, test labels read after training."""
    dataset = str(source.dataset)
    if method in ADVANTAGES:
        return Unit(source, "mcn", _paper_rule(dataset) | {"advantage": ADVANTAGES[method]}, seed)
    if method in VIEWS:
        return Unit(source, "views", {"motifs": _views(method, dataset)}, seed)
    if dataset in TABLE3.datasets and method in ("mlp", "gcn", "gat"):
        # As wide as MCN: the method itself would bring its usual width.
        config = dataset_config("mcn", dataset)
        return Unit(source, method, {}, seed, own={"hidden": config.hidden})
    return Unit(source, method, {}, seed)


def _paper_rule(dataset: str) -> dict[str, Any]:
    """Return what turns the preset of `mcn` into the paper's; the recipe `paper` itself has no advantage."""
    paper, ours = (dataset_config(recipe, dataset).to_dict() for recipe in ("paper", "mcn"))
    return {name: value for name, value in paper.items() if value != ours.get(name, value)}


def _views(method: str, dataset: str) -> list[str]:
    """Return the names of a row's views.

    Shorter and longer walks have the chance to stop doubled and halved, or else the length.
    """
    config = dataset_config("views", dataset)
    assert isinstance(config, ViewsConfig)
    length, stop = config.walk_length, config.stop_probability
    if stop is None:
        other = {"shorter": f"order={max(1, length // 2)}", "longer": f"order={2 * length}"}
    else:
        other = {"shorter": f"alpha={min(2 * stop, 0.9):g}", "longer": f"alpha={stop / 2:g}"}
    return [other.get(name, name) for name in VIEWS[method]]


def _shortened(run: int, asked: int) -> str:
    if run == asked:
        return ""
    return f"{run} of {asked} runs in a quick run" if run else "not run in a quick run"


def _chosen(what: str, given: Iterable[str] | None, known: tuple[str, ...]) -> list[str]:
    """The given names in the order of the table."""
    if given is None:
        return list(known)
    names = list(given)
    if not names:
        raise ValueError(f"{what}: none given; there are {', '.join(known)}")
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"{what}: expected some of {', '.join(known)}, got {name!r}{hint}")
    return [name for name in known if name in names]
