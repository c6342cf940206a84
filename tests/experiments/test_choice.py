"""The study of choosing: its rows on a small graph, and the table in the docs made from the kept ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcn.experiments.choice import study
from mcn.experiments.choice.report import tables
from tests.train.graphs import small_graph

ROOT = Path(__file__).resolve().parents[2]


def test_rows_of_a_split() -> None:
    rows = {row["row"]: row for row in study.run_split(small_graph(), 0, max_epochs=12)}
    assert {"mlp", "gat", "triangle", "pick", "nodes", "mixture", "control", "rule"} <= set(rows)
    winner = rows["rule"]["note"].split(" by ")[1]
    assert rows["pick"]["test"] == rows[winner]["test"]
    if rows["rule"]["note"].startswith("graph"):
        assert rows["rule"]["test"] == rows["pick"]["test"]
    best = max(
        row["held_out"] for row in rows.values() if row["held_out"] is not None and row["row"] != "refit"
    )
    assert rows[winner]["held_out"] == best


@pytest.mark.slow
def test_a_study_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def split(name: str, number: int, root: object) -> object:
        asked.append(number)
        return small_graph(number)

    monkeypatch.setattr(study, "load_split", split)
    first = study.choice_study(tmp_path / "rows.csv", ["texas"], 1)
    again = study.choice_study(tmp_path / "rows.csv", ["texas"], 2)
    assert asked == [0, 1]
    assert [row["row"] for row in again][: len(first)] == [row["row"] for row in first]
    assert tables(again).count("| texas |") == 2


def test_the_page_says_what_the_kept_runs_say() -> None:
    page = (ROOT / "docs" / "choice.md").read_text(encoding="utf-8")
    between = page.split("<!-- choice -->\n")[1].split("<!-- end of choice -->")[0]
    rows = study.read_rows(ROOT / "docs" / "results" / "choice.csv")
    assert between.strip() == tables(rows).strip()
