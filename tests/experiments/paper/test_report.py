"""The report of made-up runs whose ranks, means and differences are known."""

from __future__ import annotations

import json

import pytest

from mcn.experiments.engine.cells import Cell
from mcn.experiments.paper.compared import lines, pairs
from mcn.experiments.paper.document import Grid, Strong
from mcn.experiments.paper.plan import TABLES, Entry, plan
from mcn.experiments.paper.report import dataset_grid, summary_grid, table_report
from mcn.experiments.paper.report_html import html
from mcn.experiments.paper.report_markdown import markdown
from mcn.experiments.paper.report_words import Circumstances, duration
from mcn.experiments.paper.reproduce import results

TABLE2, TABLE3 = TABLES["table2"], TABLES["table3"]
METHODS = ["majority", "monet", "gcn", "gat", "mcn-paper", "mcn"]
HOW = Circumstances(
    "mcn reproduce table2 --seeds 2", (0, 1), {"cora": "140 training"}, {"mcn": "1.2"}, 2, 61.0
)


def runs(*test: float) -> Cell:
    return Cell(dict(enumerate(test)), dict(enumerate(test)), 2.0)


@pytest.fixture
def entries() -> list[Entry]:
    found = plan(TABLE2, [0, 1], methods=METHODS, datasets=["cora", "citeseer"])
    return [
        Entry(
            e.dataset, e.method, e.units, "1 of 2 runs" if e.method == "monet" and e.dataset == "cora" else ""
        )
        for e in found
    ]


@pytest.fixture
def cells() -> dict[tuple[str, str], Cell | None]:
    return {
        ("cora", "majority"): runs(30.0, 30.0),
        ("cora", "monet"): runs(81.0),
        ("cora", "gcn"): runs(81.0, 81.0),
        ("cora", "gat"): runs(82.0, 84.0),
        ("cora", "mcn-paper"): runs(90.0, 90.0),
        ("cora", "mcn"): runs(83.0, 86.0),
        ("citeseer", "majority"): runs(18.0, 18.0),
        ("citeseer", "monet"): runs(70.0, 71.0),
        ("citeseer", "gcn"): runs(69.0, 70.0),
        ("citeseer", "gat"): None,
        ("citeseer", "mcn-paper"): runs(60.0, 61.0),
        ("citeseer", "mcn"): runs(72.0, 73.0),
    }


def test_ranks_and_average_ranks_by_hand(entries: list[Entry], cells: dict) -> None:
    found = lines(TABLE2.paper, entries, cells)
    assert {line.method: line.rank for line in found["cora"]} == {
        **{"majority": None, "monet": 3.5, "gcn": 3.5, "gat": 2.0},
        **{"mcn-paper": None, "mcn": 1.0},
    }
    assert [line.rank for line in found["citeseer"]] == [None, 2.0, 3.0, None, None, 1.0]
    grid = summary_grid(TABLE2.paper, found, cells)
    assert grid.header == ["method", "cora", "citeseer", "avg. rank", "paper's avg. rank"]
    assert grid.rows == [
        ["majority", "30.0 ± 0.0", "18.0 ± 0.0", "–", "–"],
        ["monet", "81.0* (3.5)", "70.5 ± 0.7 (2)", "2.8", "3.5"],
        ["gcn", "81.0 ± 0.0 (3.5)", "69.5 ± 0.7 (3)", "3.2", "3.0"],
        ["gat", "83.0 ± 1.4 (2)", "–", "2.0", "2.0"],
        ["mcn-paper", "90.0 ± 0.0", "60.5 ± 0.7", "–", "–"],
        ["mcn", "84.5 ± 2.1 (1)", "72.5 ± 0.7 (1)", "1.0", "1.0"],
    ]
    strong = [cell for row in grid.rows for cell in row if isinstance(cell, Strong)]
    assert strong == ["90.0 ± 0.0", "72.5 ± 0.7 (1)"]


def test_differences_and_noise_by_hand(entries: list[Entry], cells: dict) -> None:
    grid = dataset_grid(lines(TABLE2.paper, entries, cells)["cora"])
    shown = {row[0]: list(row) for row in grid.rows}
    assert shown["majority"][1:3] == ["–", "–"]
    assert shown["majority"][6:8] == ["–", "–"]
    # One run: a difference, but no word on noise.
    assert shown["monet"][1:] == ["81.7", "3", "81.0*", "1", "3.5", "-0.7", "–", "81.0", "2.0"]
    # No deviation, ours or the paper's: any difference beyond rounding is one.
    assert shown["gcn"][1:8] == ["81.5", "4", "81.0 ± 0.0", "2", "3.5", "-0.5", "no"]
    assert shown["gat"][1:8] == ["83.0 ± 0.7", "2", "83.0 ± 1.4", "2", "2", "+0.0", "yes"]
    # The paper's MCN row stands beside both of ours; 2·sqrt(0.4²/15) = 0.2 is less than 6.5.
    assert shown["mcn-paper"][1:8] == ["83.5 ± 0.4", "–", "90.0 ± 0.0", "2", "–", "+6.5", "no"]
    # 2·sqrt(4.5/2 + 0.4²/15) = 3.0
    assert shown["mcn"][1:8] == ["83.5 ± 0.4", "1", "84.5 ± 2.1", "2", "1", "+1.0", "yes"]


def test_pairs(cells: dict) -> None:
    found = {(p.first, p.second, p.dataset): p.gap for p in pairs(cells, ["cora", "citeseer"])}
    assert ("mcn", "gat", "citeseer") not in found
    gap = found["mcn", "gat", "cora"]  # 1 and 2
    assert (gap.mean, gap.error, gap.pairs) == (pytest.approx(1.5), pytest.approx(0.5), 2)


def test_the_whole_report(entries: list[Entry], cells: dict) -> None:
    blocks = table_report(TABLE2, entries, cells, HOW)
    text = markdown(blocks)
    assert text.startswith("# Table 2: accuracy on citation graphs (tab:acc)\n")
    assert "| mcn − gat, cora | +1.50 ± 0.50 | 2 |" in text
    assert "mcn on cora: motifs = edge+triangle, steps = 1, psi = unweighted, attention = gated" in text
    assert r"- \* monet on cora: 1 of 2 runs." in text
    assert "monet on citeseer: the paper has no value" in text
    assert "except for gcn 3.2 instead of 3.0, gat 2.2 instead of 2.0" in text
    assert "```\nmcn reproduce table2 --seeds 2\n```" in text
    assert "Time: 42.0 s in all runs together; 61.0 s for this call, on a machine with 2 cores." in text
    page = html(blocks)
    assert page.count("<table>") == sum(isinstance(block, Grid) for block in blocks) == 4
    assert "<strong>90.0 ± 0.0</strong>" in page


def test_table3_says_how_far_above_the_largest_class_the_paper_is() -> None:
    entries = plan(TABLE3, [0], methods=["majority"])
    text = markdown(table_report(TABLE3, entries, {("dd6", "majority"): runs(10.0)}, HOW))
    assert "12.4 on dd6 is 1.6 points above 10.8; 13.1 on dd7 is 1.7 points above 11.4" in text
    assert "| method | dd6 | dd7 | avg. rank |" in text
    assert "Paired differences" not in text


def test_results_are_plain(entries: list[Entry], cells: dict) -> None:
    found = json.loads(json.dumps(results(TABLE2, entries, cells, HOW), allow_nan=False))
    rows = {(row["dataset"], row["method"]): row for row in found["rows"]}
    assert len(rows) == 12
    assert rows["cora", "mcn"]["mean"] == 84.5
    assert rows["cora", "mcn"]["difference"] == pytest.approx(1.0)
    assert rows["cora", "mcn"]["within_noise"] is True
    assert rows["cora", "mcn"]["test"] == {"0": 83.0, "1": 86.0}
    assert rows["citeseer", "gat"]["mean"] is None
    assert (rows["citeseer", "gat"]["runs"], rows["citeseer", "gat"]["paper"]) == (0, 72.5)
    assert found["average_rank"]["gat"] == 2.0
    assert found["paired"][0] == {
        **{"dataset": "cora", "first": "mcn", "second": "gat"},
        **{"mean": 1.5, "error": pytest.approx(0.5), "pairs": 2},
    }


@pytest.mark.parametrize(("seconds", "text"), [(3.14, "3.1 s"), (600, "10.0 min"), (9000, "2.5 h")])
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text
