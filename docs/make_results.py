"""Write tables and figures of the pages from the runs in `docs/results`: `python docs/make_results.py`.

After new runs: `mcn reproduce table2 --out FOLDER --resume --results docs/results`, then this. Rows of
`mcn reproduce choice --out FOLDER` are merged by set, split and row, new ones taking the place of old ones:
`python docs/make_results.py FOLDER/rows.csv`. The `search.json` of `mcn search --out FOLDER` is added in the
same way, in place of an earlier search of the same space and data set.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mcn.experiments.choice.report import filled_page
from mcn.experiments.choice.study import merged, read_rows, write_rows
from mcn.experiments.paper.page import filled
from mcn.experiments.quoted import with_figures
from mcn.experiments.search.kept import FILE, compact, read_searches, write_searches
from mcn.viz import draw_gain

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
PAGES = ("README.md", "docs/reproduction.md", "docs/beyond.md", "docs/search.md")
CHOICE, CHOICE_PAGES = RESULTS / "choice.csv", ("docs/choice.md", "docs/baselines.md")


def main(more: list[str]) -> None:
    """Every part and figure of every page, after what further files have was added: rows and searches."""
    found = [compact(json.loads(Path(file).read_text("utf-8"))) for file in more if file.endswith(".json")]
    write_searches(RESULTS / FILE, [*read_searches(RESULTS / FILE), *found])
    tables = [Path(file) for file in more if not file.endswith(".json")]
    rows = merged(*(read_rows(file) for file in (CHOICE, *tables)))
    write_rows(CHOICE, rows)
    for name in CHOICE_PAGES:
        page = ROOT / name
        page.write_text(filled_page(page.read_text(encoding="utf-8"), rows), encoding="utf-8")
    draw_gain(rows, ROOT / "docs" / "img" / "choice.png")
    for name in PAGES:
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        page.write_text(with_figures(page.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
