"""Tables 2 and 3 of the paper: what they say, and which runs fill them again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmotifs._messages import one_of
from mcn.experiments.engine.source import Source
from mcn.experiments.engine.unit import Unit
from mcn.paper import baselines as _register_baselines  # noqa: F401 - tables run them by name
from mcn.train.presets import dataset_config


@dataclass(frozen=True)
class PaperRow:
    """A method's line: percent per data set (None where the paper has a dash), spread and runs if known."""

    mean: tuple[float | None, ...]
    std: tuple[float, ...] | None = None
    runs: int | None = None
    avg_rank: float | None = None


@dataclass(frozen=True)
class Table:
    """A table of the paper, with the paper's lines by method, and what we run for it.

    `rows` are what we run, in the order of the report, each with so many `seeds`; some are not in the paper.
    """

    name: str
    label: str
    title: str
    score: str
    datasets: tuple[str, ...]
    paper: dict[str, PaperRow]
    rows: tuple[str, ...]
    seeds: int

    def value(self, dataset: str, row: str) -> float | None:
        """The paper's mean in percent; None where it has none."""
        line = self.paper.get(SAME_AS.get(row, row))
        return None if line is None else line.mean[self.datasets.index(dataset)]

    def spread(self, dataset: str, row: str) -> tuple[float, int] | None:
        """The paper's standard deviation and number of runs, where it states both."""
        line = self.paper.get(SAME_AS.get(row, row))
        if line is None or line.std is None or line.runs is None:
            return None
        return line.std[self.datasets.index(dataset)], line.runs


SAME_AS = {"gcn-paper": "gcn", "gat-paper": "gat", "mcn-paper": "mcn"}
"""Rows of ours that answer to a row of the paper under another name."""
METHOD_OF_ROW = {"mcn-paper": "paper"}
"""Rows that the registry of methods has under another name."""
LARGEST_CLASS = {"dd6": 10.8, "dd7": 11.4}
"""Share of the largest class outside the training part (15 of each class), in percent: what always guessing
it scores on validation and test nodes together, whatever the draw."""

TABLE2 = Table(
    "table2",
    "tab:acc",
    "Table 2: accuracy on citation graphs",
    "test accuracy",
    ("cora", "citeseer", "pubmed"),
    {
        "deepwalk": PaperRow((67.2, 43.2, 65.3), avg_rank=10.3),
        "mlp": PaperRow((55.1, 46.5, 71.4), avg_rank=10.0),
        "lp": PaperRow((68.0, 45.3, 63.0), avg_rank=10.0),
        "manireg": PaperRow((59.5, 60.1, 70.7), avg_rank=9.0),
        "semiemb": PaperRow((59.0, 59.6, 71.7), avg_rank=9.0),
        "ica": PaperRow((75.1, 69.1, 73.9), avg_rank=6.3),
        "planetoid": PaperRow((75.7, 64.7, 77.2), avg_rank=5.7),
        "chebyshev": PaperRow((81.2, 69.8, 74.4), avg_rank=5.0),
        "monet": PaperRow((81.7, None, 78.8), avg_rank=3.5),
        "gcn": PaperRow((81.5, 70.3, 79.0), avg_rank=3.0),
        # Copied from GAT's paper, whose deviations are over 100 runs.
        "gat": PaperRow((83.0, 72.5, 79.0), (0.7, 0.7, 0.3), 100, avg_rank=2.0),
        "mcn": PaperRow((83.5, 73.3, 79.3), (0.4, 0.7, 0.3), 15, avg_rank=1.0),
    },
    (
        *("majority", "deepwalk", "mlp", "lp", "manireg", "semiemb", "ica", "planetoid", "chebyshev"),
        *("monet", "gcn", "gcn-consistency", "gat", "gat-consistency", "mcn-paper", "mcn"),
    ),
    15,
)
TABLE3 = Table(
    "table3",
    "tab:DD",
    "Table 3: Micro-F1 on DD-6 and DD-7",
    "test Micro-F1 (with one label per node: accuracy)",
    ("dd6", "dd7"),
    {
        "gcn": PaperRow((11.9, 12.4), (0.6, 0.8), 10),
        "gat": PaperRow((11.8, 11.8), (0.5, 1.1), 10),
        "mcn": PaperRow((12.4, 13.1), (0.5, 0.9), 10),
    },
    ("majority", "gcn-paper", "gat-paper", "mcn-paper", "mlp", "gcn", "gat", "mcn"),
    10,
)
TABLES = {table.name: table for table in (TABLE2, TABLE3)}


@dataclass(frozen=True)
class PlannedRow:
    """The runs of one row of a table on one data set."""

    dataset: str
    row: str
    units: tuple[Unit, ...]


def plan(
    table: Table,
    seeds: Sequence[int] | None = None,
    *,
    rows: Iterable[str] | None = None,
    datasets: Iterable[str] | None = None,
    data_root: str | os.PathLike[str] | None = None,
) -> list[PlannedRow]:
    """The runs of a table, data set by data set, with one unit per seed; by default all of them.

    `mcn` has the data set's preset, `mcn-paper` is the recipe paper. On DD, `mlp`, `gcn` and `gat` share
    `mcn`'s preset (features, class priors, width), `gcn-paper` and `gat-paper` that of `mcn-paper`; the seed
    decides the draw as well.
    """
    chosen_rows = _chosen("methods", rows, table.rows)
    root = None if data_root is None else os.fspath(data_root)
    numbers = range(table.seeds) if seeds is None else seeds
    sources = [Source(name, data_root=root) for name in _chosen("datasets", datasets, table.datasets)]
    return [
        PlannedRow(source.title, row, tuple(unit_for(source, row, seed) for seed in numbers))
        for source in sources
        for row in chosen_rows
    ]


def unit_for(source: Source, row: str, seed: int) -> Unit:
    """Return a run of a row, test labels read after training."""
    method = METHOD_OF_ROW.get(row, row)
    if source.dataset in TABLE3.datasets and row in ("mlp", "gcn", "gat"):
        # As wide as MCN: the method itself would bring its usual width.
        width = dataset_config("mcn", source.dataset).hidden
        return Unit(source, method, {}, seed, overrides={"hidden": width})
    return Unit(source, method, {}, seed)


def _chosen(what: str, given: Iterable[str] | None, known: tuple[str, ...]) -> list[str]:
    """The given names in the order of the table."""
    if given is None:
        return list(known)
    names = list(given)
    if not names:
        raise ValueError(f"{what}: none given; there are {', '.join(known)}")
    for name in names:
        one_of(what, name, known)
    return [name for name in known if name in names]
