"""Write the tables of the pages from the runs in `docs/results`: `python docs/make_results.py`.

After new runs: `mcn reproduce table2 --out FOLDER --resume --results docs/results`, then this.
"""

from __future__ import annotations

from pathlib import Path

from mcn.experiments.paper.page import filled

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
PAGES = ("README.md", "docs/reproduction.md", "docs/beyond.md")


def main() -> None:
    """Every part of every page."""
    for name in PAGES:
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")


if __name__ == "__main__":
    main()
