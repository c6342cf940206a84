"""Write the tables of README.md and docs/reproduction.md from the kept runs: `python docs/make_tables.py`.

A generated block stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``. The runs are in
`docs/results`, those of motif views in `studies/beyond`: one line each, as `mcn reproduce` writes them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mcn.paper import TABLES

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
VIEWS = ROOT / "studies" / "beyond" / "results.csv"
PAGES = (ROOT / "README.md", ROOT / "docs" / "reproduction.md")
PAIRS = (("mcn", "gat"), ("mcn", "gat-consistency"), ("mcn-paper", "gat"), ("mcn", "gcn"))
TITLES = {"gcn": "GCN", "gat": "GAT", "mcn-paper": "MCN, the paper's rule", "mcn": "MCN"}
"""Rows of the README's table, as they are called there."""


class Runs:
    """The test accuracies of a file of runs in percent: by data set and method, each by its seed."""

    def __init__(self, path: Path) -> None:
        self.scores: dict[tuple[str, str], dict[int, float]] = {}
        self.versions: set[str] = set()
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                by_seed = self.scores.setdefault((row["dataset"], row["method"]), {})
                by_seed[int(row["seed"])] = 100 * float(row["test_accuracy"])
                self.versions.add(row["version"])

    @property
    def version(self) -> str:
        """The versions of mcn that made the runs."""
        return " and ".join(sorted(self.versions))

    def cell(self, dataset: str, method: str) -> str:
        """Mean ± sample standard deviation; a dash where there is no run."""
        scores = list(self.scores.get((dataset, method), {}).values())
        return f"{np.mean(scores):.1f} ± {np.std(scores, ddof=1):.1f}" if len(scores) > 1 else "–"

    def difference(self, dataset: str, first: str, second: str) -> str:
        """Mean difference over the seeds that both have ± its standard error."""
        one, other = self.scores[dataset, first], self.scores[dataset, second]
        gaps = np.array([one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())])
        return f"{gaps.mean():+.2f} ± {gaps.std(ddof=1) / len(gaps) ** 0.5:.2f}"


def markdown(header: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """A Markdown table whose columns after the first are right-aligned."""
    header = list(header)
    head, *body = (f"| {' | '.join(row)} |" for row in (header, *lines))
    return "\n".join([head, f"|---|{'---:|' * (len(header) - 1)}", *body])


def results() -> str:
    """The README's table: the paper's networks, and motif views."""
    table2, ties, views = Runs(RESULTS / "table2.csv"), Runs(RESULTS / "strong-ties.csv"), Runs(VIEWS)
    citation = TABLES["table2"].datasets
    lines = [
        [title, *(table2.cell(name, method) for name in citation), ties.cell("strong-ties", method)]
        for method, title in TITLES.items()
    ]
    lines.append(["motif views", *(views.cell(name, "views") for name in citation), "–"])
    seeds, more = len(table2.scores["cora", "mcn"]), len(views.scores["cora", "views"])
    graphs = len(ties.scores["strong-ties", "mcn"])
    caption = (
        f"Test accuracy in percent, mean ± standard deviation: {seeds} seeds on the public splits of the\n"
        f"citation graphs (version {table2.version}; motif views: {more} seeds, {views.version}), {graphs} "
        f"generated graphs for strong-ties\n({ties.version}). Settings and epochs are chosen on validation "
        "nodes."
    )
    return f"{caption}\n\n{markdown(['network', 'Cora', 'Citeseer', 'Pubmed', 'strong-ties'], lines)}"


def table(name: str) -> str:
    """A table of the paper: our runs, and the paper's value beside them."""
    paper, runs = TABLES[name], Runs(RESULTS / f"{name}.csv")
    lines = []
    for method in paper.rows:
        line = [method]
        for dataset in paper.datasets:
            value = paper.value(dataset, method)
            line += [runs.cell(dataset, method), "–" if value is None else f"{value:.1f}"]
        lines.append(line)
    header = ["method", *(cell for dataset in paper.datasets for cell in (dataset, "paper"))]
    made_by = (
        f"{paper.seeds} runs of each, by version {runs.version} of mcn; all are in docs/results/{name}.csv."
    )
    return f"{markdown(header, lines)}\n\n{made_by}"


def paired(name: str) -> str:
    """Differences of methods with the same seed."""
    paper, runs = TABLES[name], Runs(RESULTS / f"{name}.csv")
    lines = [
        [f"{a} − {b}", *(runs.difference(dataset, a, b) for dataset in paper.datasets)]
        for a, b in PAIRS
        if {a, b} <= set(paper.rows)
    ]
    return markdown(["points, by pairs of equal seed", *paper.datasets], lines)


def blocks() -> dict[str, str]:
    """The content of every generated block by its name."""
    made = {"results": results()}
    for name in TABLES:
        made |= {name: table(name), f"{name} paired": paired(name)}
    return made


def filled(text: str, made: dict[str, str]) -> str:
    """Return a page with the content of its blocks.

    Raises:
        KeyError: a block of the page has a name that nothing is made for.
    """
    block = re.compile(r"<!-- begin ([\w ]+) -->\n.*?<!-- end \1 -->", re.DOTALL)
    return block.sub(
        lambda found: f"<!-- begin {found[1]} -->\n{made[found[1]]}\n<!-- end {found[1]} -->", text
    )


def main() -> None:
    """Fill the blocks of both pages."""
    made = blocks()
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), made), encoding="utf-8")


if __name__ == "__main__":
    main()
