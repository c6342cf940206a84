"""Searches that are kept with the project, and the tables made from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcn.experiments.paper.document import Grid
from mcn.experiments.search.kept import compact, read_searches, search_blocks, write_searches


def found(dataset: str = "dd7", space: str = "dd-gcn") -> dict[str, Any]:
    """What `search.json` has of four trials, one of them failed, and of a second rung."""
    values = [(0.5, 0.1, 0.2), (0.5, 0.001, 0.4), (0.2, 0.1, 0.3), (0.2, 0.001, None)]
    trials = [
        {
            "number": i,
            "rung": 0,
            "settings": {"dropout": drop, "lr": lr},
            "val_accuracy": score,
            "val_loss": 1.0,
            "error": None if score is not None else "too large",
        }
        for i, (drop, lr, score) in enumerate(values)
    ]
    trials.append({**trials[1], "rung": 1, "val_accuracy": 0.456789})
    run = {"version": "9.9", "config": {"much": "more"}, "val_accuracy": 0.3}
    final = [{**run, "seed": 3, "key": "a", "test_accuracy": 0.10}]
    final.append({**run, "seed": 4, "key": "b", "test_accuracy": 0.14})
    return {
        **{"dataset": dataset, "space": space, "protocol": "as always", "importances": {"lr": 0.75}},
        **{"best": trials[-1], "trials": trials, "final": final, "config": {}, "note": None},
    }


def test_tables_by_hand() -> None:
    """Means: dropout 0.5 over .2 and .4, the failed trial not counted; test 12 ± sqrt(8), the paper's GCN."""
    winners, _, shares, values = search_blocks([compact(found())])
    assert isinstance(winners, Grid)
    assert isinstance(shares, Grid)
    assert isinstance(values, Grid)
    winner = ("dd7, dd-gcn", "4", "1", "dropout 0.5; lr 0.001", "45.7", "12.0 ± 2.8 (2)", "12.4")
    assert winners.rows == [winner]
    assert shares.rows == [("dd7, dd-gcn", "75%")]
    assert values.header == ("dd-gcn", "dd7")
    assert values.rows == [
        ["dropout: 0.2", "30.0 (1)"],
        ["dropout: 0.5", "30.0 ± 10.0 (2)"],
        ["lr: 0.001", "40.0 (1)"],
        ["lr: 0.1", "25.0 ± 5.0 (2)"],
    ]


def test_a_later_search_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "search.jsonl"
    first, other, again = (compact(found(*names)) for names in ((), ("dd6",), ()))
    again["protocol"] = "better"
    write_searches(path, [first, other])
    write_searches(path, [*read_searches(path), again])
    assert read_searches(path) == [other, again]
    assert "config" not in path.read_text()


def test_a_search_that_answers_to_no_row_of_the_paper() -> None:
    with pytest.raises(KeyError, match="quick"):
        search_blocks([compact(found(space="quick"))])
