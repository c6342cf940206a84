"""Write the results of the pages from the runs in `docs/results`: `python docs/make_results.py`.

After new runs (`mcn reproduce table2 --out FOLDER`), copy FOLDER/table2.csv to docs/results, then this. A
page has lines ``<!-- results NAME -->`` and ``<!-- end of results NAME -->``; what is between them is made here.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mcn.experiments.paper import TABLES, read_table, summary_table
from mcn.experiments.paper.report import table_report

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
PAGES = ("README.md", "docs/reproduction.md")
HEADLINE = ("gcn", "gat", "gat-consistency", "mcn-paper", "mcn")
"""The rows of table 2 that the first page shows."""
_PART = re.compile(r"(?ms)^<!-- results ([a-z0-9 ]+) -->\n.*?^<!-- end of results \1 -->$")


def filled(page: str, folder: Path = RESULTS) -> str:
    """Return a page with its parts made anew from the runs of a folder."""

    def part(found: re.Match[str]) -> str:
        return (
            f"<!-- results {found[1]} -->\n\n{_made(found[1], folder)}\n\n<!-- end of results {found[1]} -->"
        )

    return _PART.sub(part, page)


def _made(name: str, folder: Path) -> str:
    if name == "headline":
        results = read_table("table2", folder)
        rows = [row for row in results["rows"] if row["method"] in HEADLINE]
        return _table_only(results | {"rows": rows})
    if name not in TABLES:
        raise ValueError(f"results {name}: expected headline, {' or '.join(TABLES)}")
    report = table_report(read_table(name, folder), "")
    body = report[report.index("\n\n") : report.index("\n\n## How to read this")].strip()
    return re.sub(r"(?m)^## ", "### ", body)


def _table_only(results: dict[str, Any]) -> str:
    """The summary without ranks, which are among all methods."""
    text = summary_table(results | {"rows": [row | {"rank": None} for row in results["rows"]]})
    return "\n".join("|".join(line.split("|")[:-3]) + "|" for line in text.splitlines())


def draw(folder: Path = RESULTS) -> None:
    """Draw the pictures of the tables."""
    sys.path.insert(0, str(ROOT))
    from studies.pictures import draw_runs
    from studies.rows import read_runs

    for name, table in TABLES.items():
        paper = {
            (dataset, row): table.value(dataset, row) for dataset in table.datasets for row in table.rows
        }
        draw_runs(read_runs(folder / f"{name}.csv"), ROOT / "docs" / "img" / f"{name}.png", paper)


if __name__ == "__main__":
    for name in PAGES:
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
    draw()
