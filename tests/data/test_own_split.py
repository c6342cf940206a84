from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import mcn
from mcn.data.node_table import RawTable
from mcn.data.splits import SplitRequest, find_parts


def _load(tmp_path: Path, header: str, rows: list[str], **options: Any) -> Data:
    (tmp_path / "e.csv").write_text("0,1\n")
    lines = [f"{place},{row}" for place, row in enumerate(rows)]
    (tmp_path / "n.csv").write_text("\n".join([f"id,{header}", *lines]) + "\n")
    return mcn.load_graph(tmp_path / "e.csv", tmp_path / "n.csv", **options)


def _sizes(data: Data) -> list[int]:
    return [int(mask.sum()) for mask in (data.train_mask, data.val_mask, data.test_mask)]


ROWS = [f"{'ab'[row % 2]}" for row in range(100)]


def test_rules(tmp_path: Path) -> None:
    assert _sizes(_load(tmp_path, "label", ROWS, split="80/10/10")) == [80, 10, 10]
    some = _load(tmp_path, "label", ROWS, split="20-per-class")
    assert _sizes(some) == [40, 30, 30]
    assert some.report[-1].endswith(
        "(up to 20 per class for training, at most half a class; the rest halved)"
    )
    assert _sizes(_load(tmp_path, "label", ROWS, split="5-per-class")) == [10, 45, 45]


def test_few_labels_keep_twenty_per_class(tmp_path: Path) -> None:
    few = [label if place < 49 else "" for place, label in enumerate(ROWS)]
    assert "per class for training" in _load(tmp_path, "label", few).report[-1]
    many = [label if place < 50 else "" for place, label in enumerate(ROWS)]
    assert _sizes(_load(tmp_path, "label", many)) == [30, 10, 10]
    rare = [str(place // 4) for place in range(100)]  # four nodes per class
    assert "per class for training" in _load(tmp_path, "label", rare).report[-1]


def test_whether_chance_decided_is_known(tmp_path: Path) -> None:
    """Parts that somebody decided on, or that a time or a group tells apart, must not be mixed later."""
    parts = [f"{label},{['train', 'train', 'val', 'test'][place % 4]}" for place, label in enumerate(ROWS)]
    years = [f"{label},{2000 + place}" for place, label in enumerate(ROWS)]
    assert _load(tmp_path, "label", ROWS).split_at_random
    assert _load(tmp_path, "label", ROWS, folds=4).split_at_random
    assert _load(tmp_path, "label,split", parts, split="20-per-class").split_at_random
    assert _load(tmp_path, "label,split", parts, split="60/20/20").split_at_random
    assert not _load(tmp_path, "label,split", parts).split_at_random
    assert not _load(tmp_path, "label,mine", parts, split="mine").split_at_random
    assert not _load(tmp_path, "label,year", years, split_by="year").split_at_random


def test_large_graphs_are_capped() -> None:
    raw = RawTable("n.csv", ["id"], [], [])
    y = np.arange(100_000) % 4
    parts, origin = find_parts(SplitRequest(), raw, y, [])
    assert np.bincount(parts).tolist() == [80_000, 10_000, 10_000]
    assert "at most 10,000 for validation and for testing, the others for training" in origin
    assert np.bincount(find_parts(SplitRequest("60/20/20"), raw, y, [])[0]).tolist() == [
        60_000,
        20_000,
        20_000,
    ]


def test_several_columns(tmp_path: Path) -> None:
    rows = ["a,train,val,1", "b,val,train,2", "a,test,test,3", "b,train,train,4"]
    data = _load(tmp_path, "label,s0,s1,f", rows, split=["s0", "s1"], split_index=1)
    assert data.train_mask.tolist() == [False, True, False, True]
    assert data.feature_names == ["f"]
    assert data.report[-1].endswith("from the node table, column 's1' (number 1 of 2)")
    with pytest.raises(ValueError, match="split_index 2: the split columns are numbered from 0 to 1"):
        _load(tmp_path, "label,s0,s1,f", rows, split=["s0", "s1"], split_index=2)
    with pytest.raises(ValueError, match=r"n\.csv: no split column 's2'"):
        _load(tmp_path, "label,s0,s1,f", rows, split=["s0", "s2"])


def test_a_split_column_is_no_feature_of_a_drawn_split(tmp_path: Path) -> None:
    rows = [f"{label},train,{place}" for place, label in enumerate(ROWS)]
    data = _load(tmp_path, "label,split,f", rows, split="60/20/20")
    assert data.feature_names == ["f"]
    assert _sizes(data) == [60, 20, 20]


def test_folds(tmp_path: Path) -> None:
    tested = sum(_load(tmp_path, "label", ROWS, folds=4, split_index=i).test_mask.int() for i in range(4))
    assert torch.equal(tested, torch.ones(100, dtype=torch.int32))
    data = _load(tmp_path, "label", ROWS, folds=4, split_index=3)
    assert _sizes(data)[2] == 25
    assert _sizes(data)[1] in (14, 15, 16)
    assert "fold 3 of 4 (from 0), every class spread evenly, drawn with seed 0" in data.report[-1]


def test_time(tmp_path: Path) -> None:
    rows = [f"{label},{2000 + place // 10}" for place, label in enumerate(ROWS)]
    data = _load(tmp_path, "label,year", rows, split_by="year")
    assert _sizes(data) == [60, 20, 20]
    assert bool(data.train_mask[:60].all() & data.test_mask[80:].all())
    assert data.report[-1].endswith(
        "by column 'year': the largest values (from 2008) for testing, those before for validation"
    )
    assert data.x.shape[1] == 32  # the year is no feature
    dates = [f"{label},2024-0{1 + place // 20}-03" for place, label in enumerate(ROWS)]
    assert "(from 2024-05-03)" in _load(tmp_path, "label,day", dates, split_by="day").report[-1]
    with pytest.raises(ValueError, match=r"n\.csv, line 3: '\?' in column 'day', by which nodes are divided"):
        _load(tmp_path, "label,day", [dates[0], "a,?", *dates[2:]], split_by="day")
    with pytest.raises(ValueError, match=r"n\.csv: no split_by column 'dy'; did you mean 'day'"):
        _load(tmp_path, "label,day", dates, split_by="dy")


def test_groups(tmp_path: Path) -> None:
    rows = [f"{label},team {place // 5}" for place, label in enumerate(ROWS)]
    data = _load(tmp_path, "label,team", rows, split_by="team")
    assert _sizes(data) == [60, 20, 20]
    assert data.report[-1].endswith("by column 'team': 20 groups, none of them cut, drawn with seed 0")
    for mask in (data.train_mask, data.val_mask, data.test_mask):
        assert set(mask.reshape(20, 5).sum(dim=1).tolist()) <= {0, 5}


@pytest.mark.parametrize(
    "options, message",
    [
        ({"split": "60/20/20", "folds": 3}, "give one of split, split_by and folds, not split and folds"),
        ({"split": "60/20/30"}, "split '60/20/30': expected three positive percentages that sum to 100"),
        ({"split": "90/10/0"}, "expected three positive percentages"),
        ({"split": []}, "split must name at least one column"),
        ({"folds": 1}, "folds must be at least 2, got 1"),
        ({"folds": 3, "split_index": 3}, "split_index 3: there are 3 folds, from 0 to 2"),
        ({"split_index": -1}, "split_index must not be negative, got -1"),
        ({"split_index": "x"}, "split_index must be an integer"),
        ({"scaling": "rwo"}, "scaling must be one of auto, raw, rows, unit, standard, got 'rwo'"),
    ],
)
def test_wrong_use(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        _load(tmp_path, "label", ROWS, **options)
