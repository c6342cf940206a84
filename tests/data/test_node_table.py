from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.data.node_table import NodeTable, RawTable, node_table, number_cells, read_table


def _read(tmp_path: Path, text: str, **options: object) -> NodeTable:
    (tmp_path / "n.csv").write_text(text)
    return node_table(read_table(tmp_path / "n.csv"), **options)  # type: ignore[arg-type]


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    table = _read(
        tmp_path,
        "# who\nage,Label,id,note,Split,score\n30,b,x,hello,train,0.5\n"
        "40,a,y,,val,-1\n50,,z,,,1e2\n60,a,w,,TEST,0\n",
    )
    assert table.ids.tolist() == ["x", "y", "z", "w"]
    assert table.classes == ["a", "b"]
    assert table.y is not None
    assert table.y.tolist() == [1, 0, -1, 0]
    assert [(name, parts.tolist()) for name, parts in table.splits] == [("Split", [0, 1, -1, 2])]
    assert table.feature_names == ["age", "note", "score"]


def test_columns_can_be_named(tmp_path: Path) -> None:
    table = _read(tmp_path, "k\tg\tf\n5\t10\t1\n6\t9\t2\n", id="k", label="g", features=["f"])
    assert table.ids.tolist() == [5, 6]
    assert table.classes == ["9", "10"]
    assert table.y is not None
    assert table.y.tolist() == [1, 0]
    assert table.splits == []
    assert table.feature_names == ["f"]


def test_missing_labels_and_negative_classes(tmp_path: Path) -> None:
    table = _read(tmp_path, "id,y\n1,-1\n2,1\n3,NA\n4,?\n5,nan\n")
    assert table.classes == ["-1", "1"]
    assert table.y is not None
    assert table.y.tolist() == [0, 1, -1, -1, -1]


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("", {}, ": empty; expected a header line"),
        ("id,label\n", {}, ": a header but no nodes"),
        ("1,0,0.5\n2,1,0.5\n", {}, ", line 1: expected a header naming the columns, found '1,0,0.5'"),
        ("id,x,x\n1,2,3\n", {}, ", line 1: column 'x' occurs twice"),
        ("id,x\n1,2\n\n3\n", {}, ", line 4: 1 fields, expected 2 as in the header: '3'"),
        ("id,x\na,1\nb,2\na,3\n", {}, ", line 4: node id 'a' again; first in .*line 2"),
        ("id,x\n,1\n", {}, ", line 2: an empty node id in column 'id'"),
        ("id,split\n1,train\n2,trian\n", {}, ", line 3: split 'trian' in column 'split'; expected train"),
        ("id,group\n1,x\n", {"label": "grup"}, ": no label column 'grup'; did you mean 'group'\\?$"),
        ("id,group\n1,x\n", {"label": "team"}, ": no label column 'team'; there is 'id', 'group'$"),
    ],
)
def test_errors_name_file_line_and_value(
    text: str, options: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=rf"n\.csv{message}"):
        _read(tmp_path, text, **options)


def test_a_table_of_very_many_columns(tmp_path: Path) -> None:
    """Its header was compared name by name: 20 s for this table."""
    names = [f"c{c}" for c in range(20_000)]
    text = ",".join(["id", *names]) + "\n" + ",".join(["1", *(["0.5"] * 10_000), *(["x"] * 10_000)]) + "\n"
    table = _read(tmp_path, text)
    assert table.feature_names == names
    chosen = _read(tmp_path, text, features=names[5_000:10_000][::-1])
    assert len(chosen.feature_names) == 5_000
    with pytest.raises(ValueError, match=r"n\.csv, line 1: column 'c7' occurs twice"):
        _read(tmp_path, text.replace("c19999", "c7"))


def test_trailing_nulls_and_long_ids(tmp_path: Path) -> None:
    table = _read(tmp_path, f"id,f\na,1\na\0,2\n{'x' * 100_000},3\n")
    assert [len(name) for name in table.ids] == [1, 2, 100_000]


CELLS = ["1", "-2.5", "", "x", "NA", " 3", "1e5", "1e999", "é", '"q"', "#c", "1_0", "nan", "+.5", "."]


@given(
    rows=st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=3), max_size=6),
    mark=st.sampled_from([",", "\t", ";"]),
    tidy=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_the_quick_way_reads_what_the_careful_one_reads(rows: list[list[str]], mark: str, tidy: bool) -> None:
    """The same cells, lines and errors; `tidy` rows have the width of the header."""
    lines = [
        f"n{place}{mark}" + mark.join([*row, "", ""][:3] if tidy else row) for place, row in enumerate(rows)
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "n.csv"
        path.write_text("\n".join([mark.join("iabc"), *lines]) + "\n", encoding="utf-8")
        found = [_cells_or_error(path)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("mcn.data.node_table.plain_columns", lambda *_: None)
            found.append(_cells_or_error(path))
    assert found[0] == found[1]


def _cells_or_error(path: Path) -> object:
    try:
        raw = read_table(path)
    except ValueError as error:
        return str(error)
    return raw.header, raw.columns, list(raw.where)


@given(st.lists(st.sampled_from(CELLS), max_size=5))
@settings(max_examples=200, deadline=None)
def test_plain_numbers_are_the_careful_ones(cells: list[str]) -> None:
    raw = RawTable("n.csv", ["a"], [cells], [f"line {place}" for place in range(len(cells))])

    def read() -> object:
        try:
            return number_cells(raw, "a", cells, None).tolist()
        except ValueError as error:
            return str(error)

    quick = read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mcn.data.node_table.plain_numbers", lambda _: None)
        careful = read()
    assert repr(quick) == repr(careful)  # NaN, too
