"""What is done to feature columns: fitted on training nodes, described, stored and repeated."""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mcn
from mcn.data import Treatment
from tests.conftest import refuses

CELLS = st.sampled_from(["", "NA", "?", "1", "0", "2.5", "-3e2", "7"])


def _fit(columns: dict[str, list[str]], train: Any = None, scaling: str = "auto") -> tuple[Any, Any, Any]:
    """The treatment of the columns of a node table, the features, and the report on them."""
    size = len(next(iter(columns.values())))
    table = {
        "id": [str(row) for row in range(size)],
        "label": ["ab"[row % 2] for row in range(size)],
        "split": ["train" if train is None or row in train else "test" for row in range(size)],
        **columns,
    }
    rows = [",".join(row) for row in zip(*table.values(), strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        edges, nodes = Path(folder) / "e.csv", Path(folder) / "n.csv"
        edges.write_text("0,1\n" if size > 1 else "0,0\n")
        nodes.write_text("\n".join([",".join(table), *rows]))
        data = mcn.load_graph(edges, nodes, scaling=scaling, dense=True)
        kinds = ("features:", "columns left out", "missing values", "column '")
        report = [line.replace(f"{folder}/", "") for line in data.report if line.startswith(kinds)]
        return data.treatment, data.x.numpy(), report


def test_each_kind_has_its_treatment() -> None:
    treatment, values, notes = _fit(
        {
            "age": ["10", "20", "30", "40"],
            "member": ["yes", "no", "No", "TRUE"],
            "flag": ["0", "1", "1", "0"],
            "colour": ["red", "blue", "red", "green"],
        }
    )
    assert treatment.feature_names == ["age", "member", "flag", "colour=blue", "colour=green", "colour=red"]
    deviation = np.std([10, 20, 30, 40])
    np.testing.assert_allclose(values[:, 0], (np.array([10, 20, 30, 40]) - 25) / deviation, rtol=1e-6)
    assert values[:, 1].tolist() == [1, 0, 0, 1]
    assert values[:, 2].tolist() == [0, 1, 1, 0]  # as it is, though a number
    assert values[:, 3:].tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert treatment.scaling == "raw"
    assert notes == [
        "features: 4 columns of the node table, made into 6: 1 of text, one column per category; "
        "1 of true and false; numbers standardised (mean and deviation of the training nodes)"
    ]


def test_missing_values_are_filled_marked_and_counted() -> None:
    columns = {
        "age": ["10", "", "30", "nan"],
        "colour": ["red", "?", "blue", "red"],
        "member": ["yes", "no", "yes", "NA"],
    }
    treatment, values, notes = _fit(columns, train=[0, 1, 2], scaling="raw")
    names = ["age", "age missing", "colour=blue", "colour=red", "colour missing", "member"]
    assert treatment.feature_names == names
    assert values.tolist() == [
        [10, 0, 0, 1, 0, 1],
        [20, 1, 0, 0, 1, 0],
        [30, 0, 1, 0, 0, 1],
        [20, 1, 0, 1, 0, np.float32(2 / 3)],  # no training node misses a member: filled, not marked
    ]
    assert notes[1:] == [
        "missing values: 4 cells in 3 columns (age 2, colour 1, member 1), filled with the mean of the "
        "training nodes (numbers) or zeros (text); 2 columns added that mark them"
    ]


def test_fitting_sees_training_nodes_only() -> None:
    """A leak is planted: extreme values, new categories, other kinds of gaps outside the training nodes."""
    clean = {
        "age": ["1", "2", "3", "4", "5"],
        "colour": ["red", "blue", "red", "red", "blue"],
        **{f"w{column}": ["0", "1", "3", "1", "0"] for column in range(10)},
    }
    planted = {name: list(cells) for name, cells in clean.items()}
    planted["age"][3:] = ["1e30", ""]
    planted["colour"][3:] = ["mauve", "?"]
    planted["w0"][3:] = ["-0.5", "1e9"]
    for scaling in ("auto", "raw", "rows", "unit", "standard"):
        for names in (list(clean), ["age", "colour"], [f"w{column}" for column in range(10)]):
            tables = [{name: table[name] for name in names} for table in (clean, planted)]
            (one, x, _), (other, z, notes) = (_fit(table, [0, 1, 2], scaling) for table in tables)
            assert one == other
            np.testing.assert_array_equal(x[:3], z[:3])
    assert "colour=mauve" not in other.feature_names
    _, _, notes = _fit(planted, [0, 1, 2])
    assert notes[-1] == (
        "column 'colour': 1 cells with a category that no training node has, all zeros "
        "(for instance 'mauve', n.csv, line 5)"
    )


def test_counts_of_words_are_left_for_training_to_divide() -> None:
    words = {f"w{column}": [str((row * column) % 3) for row in range(6)] for column in range(10)}
    treatment, values, (note,) = _fit(words)
    assert treatment.scaling == "rows"
    assert values[:, 1].tolist() == [0, 1, 2, 0, 1, 2]
    divided = "numbers left as they are, each row divided by its sum in training"
    assert note.endswith(f"{divided}, as they look like counts of words")
    mostly_zero = {f"w{c}": ["0.5" if row == c % 5 else "0" for row in range(5)] for c in range(10)}
    assert _fit(mostly_zero)[0].scaling == "rows"
    texts = {"colour": ["red", "blue"] * 3}, {"member": ["yes", "no"] * 3}
    for odd in ({"w3": ["-1"] * 6}, {"w3": ["0.5"] * 6}, *texts):
        assert _fit(words | odd)[0].scaling == "raw"
    assert _fit({name: words[name] for name in list(words)[:9]})[0].scaling == "raw"
    assert _fit(words, scaling="standard")[0].scaling == "raw"
    for scaling in ("rows", "unit"):
        assert _fit({"age": ["1", "2"]}, scaling=scaling)[0].scaling == scaling
    long = {f"w{column}": [str((row * column) % 3) for row in range(30)] for column in range(90)}
    treatment, _, (note,) = _fit(long)
    assert treatment.scaling == "unit"
    assert "each row divided by its length in training, as they" in note
    assert _fit(long, [0, 1])[0].scaling == "rows"  # two of thirty nodes to learn from


def test_columns_that_are_left_out() -> None:
    names, towns = [f"n{row}" for row in range(100)], [f"t{row % 50}" for row in range(100)]
    treatment, _, notes = _fit({"name": names, "town": towns, "none": ["", "?"] * 50})
    assert [column.name for column in treatment.columns] == ["town"]
    assert notes[:2] == [
        "columns left out, as they hold more than 50 different texts: name",
        "columns left out, as no training node has a value: none",
    ]


@pytest.mark.parametrize(
    "cells, message",
    [
        (["30", "old"], "line 3: 'old' in feature column 'f'; expected a finite number"),
        (["30", "inf"], "line 3: 'inf' in feature column 'f'; expected a finite number"),
        (["30", "1e300"], "line 3: '1e300' in feature column 'f'; expected a finite number"),
        (["3", "3_0", "4"], "line 3: '3_0' in feature column 'f'; expected a finite number"),
        (["0", f"{'1' * 100_000}x"], "line 3: '1{79}…' in feature column 'f'"),
        (["", "2024-01-31"], "line 3: '2024-01-31' in feature column 'f' is a date; leave it out with drop="),
        (["2024-01-31T10:20:00Z", "2024-02-01"], "line 2: .* is a date; .*split_by"),
    ],
)
def test_cells_that_cannot_be(cells: list[str], message: str) -> None:
    refuses(rf"n\.csv, {message}", _fit, {"f": cells})


def test_a_stored_treatment_does_the_same(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("1,2\n2,3\n3,4\n")
    rows = ["1,a,train,10,red,yes", "2,b,train,30,blue,no", "3,a,val,,red,no", "4,b,test,9,,yes"]
    nodes = "\n".join(["id,label,split,age,colour,member", *rows])
    (tmp_path / "n.csv").write_text(nodes)
    data = mcn.load_graph(tmp_path / "e.csv", tmp_path / "n.csv")
    stored = Treatment.from_dict(json.loads(json.dumps(data.treatment.to_dict())))
    assert stored == data.treatment
    rows = ["1,no,green,50,x", "2,yes,red,20,y", "3,,blue,,z", "4,no,red,1,z\n"]
    (tmp_path / "m.csv").write_text("\n".join(["id,member,colour,age,extra", *rows]))
    again = mcn.load_graph(tmp_path / "e.csv", tmp_path / "m.csv", treatment=stored)
    assert again.feature_names == data.feature_names == ["age", "colour=blue", "colour=red", "member"]
    assert again.scaling == data.scaling == "raw"
    np.testing.assert_allclose(again.x, [[3, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0.5], [-1.9, 0, 1, 0]])
    (note,) = [line for line in again.report if "category that no training node has" in line]
    assert "m.csv, line 2" in note
    (tmp_path / "e.csv").write_text("1,2\n")
    for text, message in {
        "member,colour\n1,no,red\n2,no,red": r"m\.csv: no feature column 'age', which training had",
        "member,colour,Age\n1,no,red,3\n2,no,red,3": r"no feature column 'age'.*did you mean 'Age'",
        "member,colour,age\n1,no,red,3\n2,no,red,old": r"m\.csv, line 3: 'old' in feature column 'age'",
        "member,colour,age\n1,maybe,red,3\n2,no,red,3": r"m\.csv, line 2: 'maybe' in feature column 'member'",
    }.items():
        (tmp_path / "m.csv").write_text(f"id,{text}\n")
        refuses(message, mcn.load_graph, tmp_path / "e.csv", tmp_path / "m.csv", treatment=stored)
    both, files = {"treatment": stored, "features": ["age"]}, (tmp_path / "e.csv", tmp_path / "n.csv")
    refuses("give features or treatment, not both", mcn.load_graph, *files, **both)
    message = r"trained on columns of a node table \(.*\), but there is no node table"
    refuses(message, mcn.load_graph, tmp_path / "e.csv", treatment=stored)


@given(st.lists(CELLS, min_size=1, max_size=12), st.sampled_from(["auto", "raw", "rows", "standard"]))
def test_what_comes_out_is_finite_and_survives_json(cells: list[str], scaling: str) -> None:
    treatment, values, _ = _fit({"a": cells, "b": [f"x{cell}" for cell in cells]}, scaling=scaling)
    assert np.isfinite(values).all()
    assert values.shape == (len(cells), len(treatment.feature_names))
    assert Treatment.from_dict(json.loads(json.dumps(treatment.to_dict()))) == treatment


NUMBER = {"name": "a", "kind": "number"}


@pytest.mark.parametrize(
    "columns, message",
    [
        (None, "must have a list of columns"),
        ([3], "column 0: expected named values, got 3"),
        ([{"name": "a", "kind": "date"}], "expected a name and a kind"),
        ([NUMBER | {"mean": "x"}], "expected a finite number"),
        ([NUMBER | {"fill": 10**400}], "expected a finite number"),
        ([NUMBER | {"scale": 0}], "scale must be positive"),
        ([{"name": "a", "kind": "category", "categories": [1]}], "must be texts"),
    ],
)
def test_a_damaged_treatment_is_refused(columns: object, message: str) -> None:
    refuses(message, Treatment.from_dict, {"scaling": "raw", "columns": columns})
    refuses("must have scaling", Treatment.from_dict, {"columns": columns})
