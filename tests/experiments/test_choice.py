"""The study of choosing: its rows on a small graph, and the table in the docs made from the kept ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from mcn.experiments.choice import others, study
from mcn.experiments.choice.auto import auto_table
from mcn.experiments.choice.beside import beside
from mcn.experiments.choice.others import COMPETITORS, run_other
from mcn.experiments.choice.published import PUBLISHED, published_table
from mcn.experiments.choice.report import filled_page, tables
from mcn.experiments.paper.report_markdown import markdown
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


def test_splits_drawn_anew(data_root: Path) -> None:
    given, drawn, other = (
        study.load_split(name, split, data_root)
        for name, split in (("texas", 0), ("texas-drawn", 0), ("texas-drawn", 1))
    )
    masks = ("train_mask", "val_mask", "test_mask")
    assert torch.equal(given.y, drawn.y)
    assert drawn.report[1] == "split: 48/32/20, stratified by class, drawn with seed 0"
    assert sum(drawn[mask].int() for mask in masks).tolist() == [1] * 183
    for mask in masks:
        assert abs(int(given[mask].sum()) - int(drawn[mask].sum())) <= 2
        assert not torch.equal(drawn[mask], given[mask])
        assert not torch.equal(drawn[mask], other[mask])
    public, new = (study.load_split(name, 0, data_root) for name in ("citeseer", "citeseer-drawn"))
    assert [int(new[mask].sum()) for mask in masks] == [120, 500, 1000]
    assert [int(public[mask].sum()) for mask in masks] == [120, 500, 1000]
    assert torch.bincount(new.y[new.train_mask]).tolist() == [20] * 6
    assert not torch.equal(new.train_mask, public.train_mask)
    assert new.report[1] == "split: 20 per class, 500 for validation, 1000 for testing, drawn with seed 0"


@pytest.mark.parametrize("row", ["link", "paper", "gated"])
def test_a_row_beside_the_rule(row: str) -> None:
    changes = {} if row == "link" else {"max_epochs": 5}
    found = run_other(small_graph(), "mine", row, 0, **changes)
    assert found["row"] == row
    assert 0 <= found["test"] <= 1
    assert 0 <= found["held_out"] <= 1
    assert found["seconds"] > 0
    assert found["epochs"] == (None if row == "link" else 5)


def test_competitors_may_divide_words_as_their_authors_do(monkeypatch: pytest.MonkeyPatch) -> None:
    data, tried = small_graph(), []
    run = others._run

    def noted(*given: Any) -> Any:
        tried.append(given[0].scaling)
        return run(*given)

    monkeypatch.setattr(others, "_run", noted)
    data.scaling = "unit"
    found = run_other(data, "mine", "graphsage", 0)
    assert tried == ["rows", "unit"]
    assert data.scaling == "unit"
    data.scaling = "rows"
    alone = run_other(data, "mine", "graphsage", 0)
    run_other(data, "mine", "gated", 0, max_epochs=2)
    assert tried[2:] == ["rows", "rows"]
    assert found["held_out"] >= alone["held_out"]


def test_other_rows_are_run_separately(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of the rule that are there stay, a row that is there is not run again, the order is one."""
    asked: list[int] = []

    def split(name: str, number: int, root: object) -> object:
        asked.append(number)
        return small_graph(number)

    monkeypatch.setattr(study, "load_split", split)
    kept = [_row("texas", split, "rule", 0.5) for split in (0, 1)]
    out = tmp_path / "rows.csv"
    study.write_rows(out, kept)
    study.choice_study(out, ["texas"], 1, methods=["link"])
    rows = study.choice_study(out, ["texas"], 2, methods=["link"])
    assert asked == [0, 1]
    assert [(row["split"], row["row"]) for row in study.read_rows(out)] == [
        *(("0", "rule"), ("1", "rule"), ("0", "link"), ("1", "link"))
    ]
    assert rows[0]["test"] == "0.5"


def _row(name: str, split: int, row: str, test: float, seconds: float = 1.0) -> dict[str, object]:
    return {"set": name, "split": split, "row": row, "test": test, "seconds": seconds, "note": ""}


def test_rows_of_two_files_are_merged() -> None:
    old = [_row("cora", 0, "rule", 0.1), _row("texas", 1, "rule", 0.2), _row("texas", 0, "linkx", 0.3)]
    new = [_row("texas", 1, "rule", 0.4), _row("texas", 0, "graphsage", 0.5)]
    found = [(row["set"], row["row"], row["test"]) for row in study.merged(old, new)]
    assert found == [
        *(("texas", "rule", 0.4), ("cora", "rule", 0.1)),
        *(("texas", "graphsage", 0.5), ("texas", "linkx", 0.3)),
    ]


def test_medians_are_over_what_all_share() -> None:
    """By hand: one set with two shared splits, two with one, one that no competitor ran."""
    figures: dict[str, dict[str, dict[int, float]]] = {
        "a": {"rule": {0: 60.0, 1: 70.0, 2: 0.0}, **{row: {0: 50.0, 1: 52.0} for row in COMPETITORS}},
        "b": {"rule": {0: 80.0}, **{row: {0: 85.0, 1: 0.0} for row in COMPETITORS}},
        "c": {"rule": {0: 90.0}, **{row: {0: 88.0} for row in COMPETITORS}},
        "d": {"rule": {0: 10.0}},
    }
    figures["b"]["linkx"] = {0: 87.0}
    seconds = {"a": (1.0, 3.0), "b": (5.0, 5.0), "c": (1.0, 1.0)}
    rows = [_row(name, k, "linkx", 0.5, s) for name, both in seconds.items() for k, s in enumerate(both)]
    text = markdown(beside(rows, figures))
    assert "Median over the 3 sets that all of them were run on: the rule 80.0, graphsage 85.0" in text
    assert text.strip().endswith("less that of the best of them, linkx: -7.0.")
    lines = text.splitlines()
    assert "| a | 2 | 51.0 | 51.0 | 51.0 | 51.0 | 51.0 | – | – |" in lines
    assert "| seconds per run |  | – | – | – | 2.0 | – | – | – |" in lines
    assert "| a | +14.0 ± 4.0 | +14.0 ± 4.0 | +14.0 ± 4.0 | +14.0 ± 4.0 | +14.0 ± 4.0 | – | – |" in lines
    assert not any(line.startswith("| d |") for line in lines)
    assert beside([], {"d": figures["d"]}) == []


@pytest.mark.parametrize("name", ["choice.md", "baselines.md"])
def test_the_page_says_what_the_kept_runs_say(name: str) -> None:
    """After new runs: python docs/make_results.py."""
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    rows = study.read_rows(ROOT / "docs" / "results" / "choice.csv")
    assert filled_page(page, rows) == page
    changed = re.sub("(<!-- (choice|published|auto) -->)", r"\1 anything else", page)
    assert changed != page
    assert filled_page(changed, rows) == page
    assert rows == study.merged(rows)
    with pytest.raises(ValueError, match="has no <!-- choice -->"):
        filled_page("# Another page\n", rows)


def test_published_values_beside_ours() -> None:
    """Only sets with given splits, whose numbers mean the same everywhere, can be compared."""
    rows = [_row("texas", split, "linkx", test) for split, test in enumerate((0.7, 0.8))]
    text = published_table(rows)
    assert "| linkx | texas | 74.6 ± 8.4 | Lim et al. 2021 | 75.0 ± 7.1 | 2 |" in text
    assert "| linkx | actor | 36.1 ± 1.6 | Lim et al. 2021 | – | 0 |" in text
    assert not {name for _, name in PUBLISHED} & set(study.FIRST)


def test_auto_beside_the_best_of_three() -> None:
    own = {"mlp": (0.5, 0.7), "gcn": (0.6, 0.5), "gat": (0.1, 0.2), "auto": (0.65, 0.75)}
    rows = [
        _row("texas", split, name, test) | {"note": f"clock={10 + split}.0" if name == "auto" else ""}
        for name, both in own.items()
        for split, test in enumerate(both)
    ]
    rows.append(_row("texas", 2, "mlp", 0.0))  # a split that auto was not run on
    assert "| texas | 2 | 60.0 | 55.0 | 15.0 | 70.0 | +10.0 ± 5.0 (mlp) | 10–11 |" in auto_table(rows)
