"""The runs in docs/results, and the pages that are made from them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from mcn.experiments.paper.evidence import path_of, read_kept
from mcn.experiments.paper.page import filled
from mcn.experiments.paper.plan import TABLES
from mcn.experiments.quoted import with_figures, without_source
from tests.conftest import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results"
PAGES = ("README.md", "docs/reproduction.md", "docs/beyond.md", "docs/search.md")
EVERY_PAGE = (
    "README.md",
    *(f"docs/{page.relative_to(RESULTS.parent)}" for page in RESULTS.parent.rglob("*.md")),
)
_GUIDES = ("choosing", "large-graphs", "your-own-graph")
NOT_KEPT = ("docs/attention.md", *(f"docs/guide/{name}.md" for name in _GUIDES))
"""Pages with measurements whose runs were not kept: they say so."""


@pytest.mark.parametrize("name", PAGES)
def test_tables_of_the_pages_are_those_of_the_runs(name: str) -> None:
    """After new runs: python docs/make_results.py."""
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    assert "<!-- results " in text
    assert filled(text, RESULTS) == text


@pytest.mark.parametrize("name", PAGES)
def test_a_number_that_no_run_gave_is_noticed(name: str) -> None:
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    inside = re.search(r"(?s)<!-- results .*?<!-- end of results", text)
    assert inside
    number = re.search(r"\d\.\d ±|± \d\.\d|\d+ runs", inside[0])
    assert number
    changed = inside[0].replace(number[0], number[0].replace(re.findall(r"\d", number[0])[0], "x"), 1)
    assert filled(text.replace(inside[0], changed), RESULTS) == text


@pytest.mark.parametrize("name", sorted(EVERY_PAGE))
def test_figures_of_the_sentences_are_those_of_the_runs(name: str) -> None:
    """After new runs: python docs/make_results.py, and then read the sentences again."""
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    assert with_figures(text, RESULTS) == text
    if name in NOT_KEPT:
        assert re.search(r"runs [a-z ]*were not kept", text)
    else:
        assert without_source(text) == []


@pytest.mark.parametrize("table", TABLES)
def test_every_run_is_one_of_the_table(table: str) -> None:
    runs, own = read_kept(path_of(RESULTS, table)), TABLES[table]
    assert len({(run.dataset, run.method, run.seed) for run in runs}) == len(runs)
    assert len({run.key for run in runs}) == len(runs)
    for run in runs:
        assert run.dataset in own.paper.datasets
        assert run.method in own.methods
        assert 0 <= run.seed - own.first_seed < own.seeds


@pytest.mark.parametrize("table", ["table2", "table3", "beyond"])
def test_every_cell_has_all_its_runs(table: str) -> None:
    runs, own = read_kept(path_of(RESULTS, table)), TABLES[table]
    found = Counter((run.dataset, run.method) for run in runs)
    assert found == {(dataset, method): own.seeds for dataset in own.paper.datasets for method in own.methods}


def test_parts_that_are_not_known(tmp_path: Path) -> None:
    for name in ("table9", "table2 twice"):
        page = f"<!-- results {name} -->\nold\n<!-- end of results {name} -->"
        with pytest.raises(ValueError, match=f"results {name}: expected table2, table3, beyond"):
            filled(page, tmp_path)
    assert filled("# A page\n", tmp_path) == "# A page\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("figure4", "The favourite of the 333 nodes in layer 1 is"),
        ("figure4-pairs", "The favourite of these nodes is"),
    ],
)
def test_the_favourites_of_figure_4_are_those_of_its_runs(name: str, words: str) -> None:
    """The correlations are figures of sentences."""
    kept = json.loads((RESULTS / f"{name}.json").read_text())
    page = (REPOSITORY / "docs" / "reproduction.md").read_text()
    first = Counter(max(run["share"], key=run["share"].get) for run in kept["runs"])
    said = f"{words} 4-path in {first['4-path']} runs, the edge in {first['edge']} and the triangle in"
    assert f"{said} {first['triangle']}" in page
