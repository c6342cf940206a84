from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcn.data.edge_text import _read_careful, _read_fast, line_of_edge, read_edge_text


def _write(tmp_path: Path, text: str, name: str = "e.txt") -> Path:
    (tmp_path / name).write_text(text, newline="")
    return tmp_path / name


def _named(path: Path, **options: object) -> list[tuple[object, object]]:
    found = read_edge_text(path, **options)  # type: ignore[arg-type]
    ids = found.ids.tolist()
    return [(ids[u], ids[v]) for u, v in found.ends.T]


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n3 10\n",
        "1 2\r\n3 10\r\n",
        "1 2\r3 10",
        "1,2\n3,10",
        " 1 , 2 \n3,10\n\n",
        "1;2\n3;10",
        "1\t2\n3\t10",
        "1   2\n3  10",
        "# comment\n% another\n1 2\n\n  # more\n3 10",
        "source,target\n1,2\n3,10",
        "A,B\n1,2\n3,10",
        "Source Target weight\n1 2 0.5\n3 10 1e-3",
        "who whom\n1 2\n3 10",
        '"1","2"\n"3","10"',
        "1 2 0.5\n3 10 -1",
        "1,2,x\n3,10,y",
    ],
)
def test_the_same_two_edges(text: str, tmp_path: Path) -> None:
    path = _write(tmp_path, text)
    assert _named(path) == [(1, 2), (3, 10)]
    assert read_edge_text(path).ids.tolist() == [1, 2, 3, 10]


def test_text_ids(tmp_path: Path) -> None:
    path = _write(tmp_path, 'bob,ann\nann,"O\'Hara, X"\n007,7')
    assert _named(path) == [("bob", "ann"), ("ann", "O'Hara, X"), ("007", "7")]
    assert read_edge_text(path).ids.tolist() == ["007", "7", "O'Hara, X", "ann", "bob"]
    assert any("read as text (for instance 'bob')" in note for note in read_edge_text(path).notes)


def test_ids_as_text_keep_their_spelling(tmp_path: Path) -> None:
    assert _named(_write(tmp_path, "1 02\n"), as_text=True) == [("1", "02")]


def test_a_header_can_be_stated(tmp_path: Path) -> None:
    path = _write(tmp_path, "ann bob\nbob eve\n")
    assert len(_named(path)) == 2
    assert _named(path, header=True) == [("bob", "eve")]
    named = _write(tmp_path, "source target\n")
    assert _named(named, header=False) == [("source", "target")]


def test_a_stated_delimiter(tmp_path: Path) -> None:
    assert _named(_write(tmp_path, "1|2\n3|4"), delimiter="|") == [(1, 2), (3, 4)]
    assert _named(_write(tmp_path, "a,b c\n"), delimiter=" ") == [("a,b", "c")]


def test_further_columns_are_reported(tmp_path: Path) -> None:
    assert read_edge_text(_write(tmp_path, "1 2 0.5\n")).notes == [
        "1 further column (weights) accepted, not used: the graph is unweighted"
    ]
    assert "2 further columns" in read_edge_text(_write(tmp_path, "1 2 3 4\n")).notes[0]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "no edges; expected lines of two node ids"),
        ("# only comments\n", "no edges"),
        ("source,target\n", "a header .'source,target'. but no edges"),
        ("1 2\n# c\n3 4 5\n", "line 3: 3 fields, expected 2 as in line 1: '3 4 5'"),
        ("1,2,1\n3,4\n", "line 2: 2 fields, expected 3 as in line 1"),
        ("7\n8\n", "line 1: 1 fields, expected two node ids: '7'"),
        ("1,2\n3,\n", "line 2: an empty node id: '3,'"),
        ("1 2\n3 4.5\n", "line 2: node id '4.5'; expected a non-negative integer"),
        ("1.0 2\n3 4\n", "line 1: node id '1.0'"),
        ("1 2\n\nnan 4\n", "line 3: node id 'nan'"),
        ("1 2\n3 -4\n", "line 2: node id '-4'"),
        ('1,2\n"3,4\n', "line 2: a quote is not closed"),
    ],
)
def test_errors_name_file_line_and_value(text: str, message: str, tmp_path: Path) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(ValueError, match=f"e\\.txt(, |: ){message}"):
        read_edge_text(path)


def test_line_of_edge(tmp_path: Path) -> None:
    path = _write(tmp_path, "# c\nu v\n1 2\n\n3 4\n")
    assert [line_of_edge(path, edge, None, None) for edge in (0, 1)] == [3, 5]


LINES = st.lists(
    st.one_of(
        st.tuples(
            st.integers(0, 10**19),
            st.sampled_from([" ", ",", "\t", ";", "  ", " ,", ", "]),
            st.integers(0, 99),
        ).map(lambda t: f"{t[0]}{t[1]}{t[2]}"),
        st.text('0123456789 ,\t.-#%\rxe"', max_size=8),
        st.tuples(
            st.text("ab é\x1c0", max_size=3), st.sampled_from([" ", ",", "\t"]), st.text("ab1", max_size=2)
        ).map("".join),
    ),
    max_size=6,
)


@pytest.mark.parametrize("large", [2**20, 0])  # 0: small files of text take the compiled reader too
@given(
    lines=LINES,
    header=st.sampled_from([None, True, False]),
    delimiter=st.sampled_from([None, ",", "\t", " "]),
    as_text=st.booleans(),
)
def test_whatever_the_fast_readers_take_the_careful_one_reads_alike(
    large: int, lines: list[str], header: bool | None, delimiter: str | None, as_text: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, mock.patch("mcn.data.edge_text.LARGE", large):
        path = _write(Path(folder), "\n".join(lines))
        try:
            fast = _read_fast(path, delimiter, header, as_text)
        except ValueError:
            with pytest.raises(ValueError, match=r"e\.txt"):
                _read_careful(path, delimiter, header, as_text)
            return
        if fast is None:
            return
        careful = _read_careful(path, delimiter, header, as_text)
        assert careful.ids.tolist() == fast.ids.tolist()
        assert careful.ids.dtype == fast.ids.dtype
        np.testing.assert_array_equal(careful.ends, fast.ends)
        assert careful.notes == fast.notes


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 50)), min_size=1, max_size=30))
def test_integers_round_trip(pairs: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = _write(Path(folder), "".join(f"{u},{v}\n" for u, v in pairs))
        assert _named(path) == pairs


def test_ids_that_differ_by_trailing_nulls_are_different_nodes(tmp_path: Path) -> None:
    path = _write(tmp_path, "p,b\np\0,b\np\0\0,c\n")
    assert _named(path) == [("p", "b"), ("p\0", "b"), ("p\0\0", "c")]
    assert len(read_edge_text(path).ids) == 5


def test_one_very_long_id_among_many(tmp_path: Path) -> None:
    """As strings of equal width these would take 149 GiB."""
    long = "x" * 1_000_000
    path = _write(tmp_path, "".join(f"n{i},n{i + 1}\n" for i in range(39_999)) + f"n0,{long}\n")
    found = read_edge_text(path)
    assert len(found.ids) == 40_001
    assert found.ids[found.ends[1, -1]] == long


@pytest.mark.parametrize("above", [0, 1, 2])
def test_an_over_long_quoted_field_names_its_line(above: int, tmp_path: Path) -> None:
    path = _write(tmp_path, "1,2\n" * above + '"' + "x" * 200_000 + '",3\n')
    where = rf"e\.txt, line {above + 1}: not readable as quoted fields \(field larger than"
    with pytest.raises(ValueError, match=where):
        read_edge_text(path)


@pytest.mark.parametrize("more", [0, 200_000], ids=["careful", "compiled"])
def test_a_header_that_may_be_an_edge_is_told(more: int, tmp_path: Path) -> None:
    path = _write(tmp_path, "a,b\nb,c\n" + "".join(f"x{i},c\n" for i in range(more)))
    (note,) = [note for note in read_edge_text(path).notes if "header" in note]
    assert note == (
        "the first line ('a', 'b') is read as a header, but 'b' is a node as well; "
        "header=False reads it as an edge"
    )
    assert _named(path, header=False)[0] == ("a", "b")
    assert not any("header" in note for note in read_edge_text(path, header=True).notes)
    other = _write(tmp_path, path.read_text().replace("b,c", "d,c", 1))
    assert not any("header" in note for note in read_edge_text(other).notes)


def test_a_file_of_line_ends(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"e\.txt: no edges"):
        read_edge_text(_write(tmp_path, "\r\n" * 100_000), as_text=True)
