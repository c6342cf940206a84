"""Edge lists in text: what they say, what errors say, and two ways to read a block that say the same.

pyarrow reads plain blocks; a comment in a block leaves it to the careful way (`CAREFUL`).
"""

import gzip
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.data import load_edges, load_graph
from mcn.data.edge_text import Block
from mcn.store import pack_graph
from tests.conftest import refuses

CAREFUL = b'\n# "'


def _write(tmp_path: Path, text: str | bytes, name: str = "e.txt") -> Path:
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return tmp_path / name


def _edges(path: Path, **options: Any) -> list[tuple[Any, Any]]:
    """The edges by the ids of their ends, each once."""
    data = load_graph(path, **options)
    ids = data.node_ids.tolist()
    return [(ids[u], ids[v]) for u, v in data.edge_index.T.tolist() if u < v]


def _outcome(content: bytes, **options: Any) -> Any:
    """All that a reader finds in a file, or its complaint."""
    with tempfile.TemporaryDirectory() as folder:
        path = _write(Path(folder), content)
        try:
            data = load_graph(path, **options)
        except ValueError as error:
            return str(error).replace(folder, "")
        return data.node_ids.tolist(), data.edge_index.tolist(), data.report


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
        '"source","target"\n1,2\n3,10',
        "1 2 0.5\n3 10 -1",
        "1,2,x\n3,10,y",
        "\ufeff1 2\n3 10",
    ],
)
def test_the_same_two_edges(text: str, tmp_path: Path) -> None:
    for end in (b"", CAREFUL):
        path = _write(tmp_path, text.encode() + end)
        assert _edges(path) == [(1, 2), (3, 10)]
        assert load_graph(path).node_ids.dtype == np.int64


def test_a_header_and_a_delimiter_can_be_stated(tmp_path: Path) -> None:
    path = _write(tmp_path, "ann bob\nbob eve\n")
    assert len(_edges(path)) == 2
    assert _edges(path, header=True) == [("bob", "eve")]
    assert _edges(_write(tmp_path, "source target\n"), header=False) == [("source", "target")]
    assert _edges(_write(tmp_path, "1|2\n3|4"), delimiter="|") == [(1, 2), (3, 4)]
    assert _edges(_write(tmp_path, "a,b c\n"), delimiter=" ") == [("a,b", "c")]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "no edges; expected lines of two node ids"),
        ("# only comments\n", "no edges"),
        ("\r\n" * 100_000, "no edges"),
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
        (b"1 2\n3 \xff4\n", r"line 2: not UTF-8 text \(byte 0xff\)"),
        ('"' + "x" * 200_000 + '",3\n', r"line 1: not readable as quoted fields \(field larger than"),
        ('1,2\n1,2\n"' + "x" * 200_000 + '",3\n', r"line 3: not readable as quoted fields"),
        ("1,2\n".encode("utf-16"), "UTF-16 text; save the file as UTF-8"),
        ("1,2\n2,3\n".encode("utf-16-le"), "UTF-16 text; save the file as UTF-8"),
        ("ann,é\n".encode("latin-1"), r"line 1: not UTF-8 text \(byte 0xe9\); save the file as UTF-8"),
        ("source,target,w\n1,2\n", "line 2: 2 fields, expected 3 as in the header: '1,2'"),
        ("#a,b\n#c,d\n", "no edges, only comments"),
    ],
)
def test_errors_name_file_line_and_value(text: str | bytes, message: str, tmp_path: Path) -> None:
    refuses(f"e\\.txt(, |: ){message}", load_graph, _write(tmp_path, text))
    refuses(f"e\\.txt(, |: ){message}", pack_graph, tmp_path / "e.txt", out=tmp_path / "packed")


def test_unreadable_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(b"1 2\n" * 100)
    for content in (whole[:-10], b"no gzip", whole[:15] + b"\xff\xff\xff" + whole[18:]):
        refuses(r"a\.txt\.gz: not a readable gzip file", load_graph, _write(tmp_path, content, "a.txt.gz"))


MARKS = st.sampled_from([" ", ",", "\t", ";", "  ", " ,", ", "])
LINES = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 10**19).map(str), MARKS, st.integers(0, 99).map(str)).map("".join),
        st.text('0123456789 ,\t.-#%\rxe"', max_size=8),
        st.tuples(st.text("ab é\x1c0", max_size=3), MARKS, st.text("ab1", max_size=2)).map("".join),
        st.sampled_from(
            ["ann,bob", "bob , eve", "a-name-of-seventeen,ann", "# a, comment", "%,,", "#a,bob", "eve,é\r"]
        ),
        st.sampled_from(["ann", "ann,bob,eve", ",bob", "ann,", "ann,\x0bbob", "ann\x00,bob", "\u3000c,d"]),
    ),
    max_size=6,
)


@given(
    lines=LINES,
    header=st.sampled_from([None, True, False]),
    delimiter=st.sampled_from([None, ",", "\t", " "]),
    bad=st.sampled_from([b"", b"", b"", b"\ncaf\xe9,x"]),
)
@settings(max_examples=300)
def test_both_ways_say_the_same(lines: list[str], header: Any, delimiter: Any, bad: bytes) -> None:
    content, options = "\n".join(lines).encode() + bad, {"header": header, "delimiter": delimiter}
    found = _outcome(content, **options)
    with mock.patch.object(Block, "plain", False):
        assert found == _outcome(content, **options)


def _names(rng: np.random.Generator, kind: str) -> list[str]:
    """Ids of all lengths around the borders of words, with common beginnings; of other alphabets."""
    letters = {"ascii": "ab z", "unicode": "aéß漢😀 ", "digits": "01 9x"}[kind]
    drawn = ["".join(rng.choice(list(letters), rng.integers(1, 40))).strip() for _ in range(60)]
    stems = ["x" * size for size in (1, 7, 8, 9, 15, 16, 17, 18, 24, 25)]
    return [*(name for name in drawn if name), *stems, *(stem + "y" for stem in stems)]


@pytest.mark.parametrize("kind", ["ascii", "unicode", "digits"])
@pytest.mark.parametrize("mark", [",", "\t", ";", "  "])
@pytest.mark.parametrize("seed", range(3))
def test_large_files_of_names(kind: str, mark: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = [name.replace(" ", "_") for name in _names(rng, kind)] if mark == "  " else _names(rng, kind)
    lines = ["source" + mark + "target" + mark + "more"] if seed else []
    for _ in range(400):
        pads = rng.choice(["", "", "", " ", "  "], 3)
        fields = zip(pads, rng.choice(ids, 3), strict=True)
        lines.append(mark.join(pad + str(name) + pads[2] for pad, name in fields))
        odd = str(rng.choice(["", "   ", "# not, an, edge", "% é", " # neither"]))
        lines += [odd] * (rng.random() < 0.05 and seed > 1)
    content = ["\n", "\r\n"][seed % 2].join(lines).encode()
    found = _outcome(content)
    with mock.patch.object(Block, "plain", False):
        assert found == _outcome(content)
    assert not isinstance(found, str)


def test_many_ids_and_long_ones(tmp_path: Path) -> None:
    """Large enough for parts on several threads; tables grow; ids of equal beginnings stay apart."""
    rng = np.random.default_rng(0)
    ids = [f"{'n' * (number % 30)}{number}" for number in range(50_000)]
    ends = rng.integers(0, len(ids), (400_000, 2))
    lines = [f"{ids[u]},{ids[v]}\n" for u, v in ends.tolist()]
    data = load_graph(_write(tmp_path, "".join(lines)))
    assert data.node_ids.tolist() == sorted({ids[at] for at in ends.ravel()})
    names = data.node_ids[data.edge_index.numpy()]
    expected = {(ids[u], ids[v]) for u, v in ends.tolist() if u != v}
    assert set(zip(*names.tolist(), strict=True)) == expected | {(v, u) for u, v in expected}
    wrong = {"ann": "1 fields", ",bob": "an empty node id", '7.5,"x': "a quote is not closed"}
    for bad, message in wrong.items():
        path = _write(tmp_path, "".join([*lines[:300_000], f"{bad}\n", *lines[300_000:]]))
        refuses(rf"e\.txt, line 300001: {message}", load_graph, path)


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 50)), min_size=1, max_size=30))
def test_integers_round_trip(pairs: list[tuple[int, int]]) -> None:
    ids, edges, _ = _outcome("".join(f"{u},{v}\n" for u, v in pairs).encode())
    assert ids == sorted({end for pair in pairs for end in pair})
    both = {pair for u, v in pairs if u != v for pair in ((u, v), (v, u))}
    assert {(ids[u], ids[v]) for u, v in zip(*edges, strict=True)} == both


def test_text_ids_some_that_differ_by_trailing_nulls_and_a_very_long_one(tmp_path: Path) -> None:
    path = _write(tmp_path, 'bob,ann\nann,"O\'Hara, X"\n007,7')
    assert _edges(path) == [("007", "7"), ("O'Hara, X", "ann"), ("ann", "bob")]
    assert "node ids are read as text (for instance 'bob')" in load_graph(path).report
    path = _write(tmp_path, "p,b\np\0,b\np\0\0,c\n")
    assert _edges(path) == [("b", "p"), ("b", "p\0"), ("c", "p\0\0")]
    long = "x" * 1_000_000  # as strings of equal width these would take 149 GiB
    path = _write(tmp_path, "".join(f"n{i},n{i + 1}\n" for i in range(39_999)) + f"n0,{long}\n")
    assert ("n0", long) in _edges(path)
    assert load_graph(path).num_nodes == 40_001


@pytest.mark.parametrize("end", [b"", CAREFUL])
def test_a_header_that_may_be_an_edge_is_told(end: bytes, tmp_path: Path) -> None:
    path = _write(tmp_path, b"u,v\nv,w" + end)
    (said,) = [note for note in load_graph(path).report if "header" in note]
    assert said == "header: an edge is 'u' and 'v'"
    assert _edges(path, header=False)[0] == ("u", "v")
    assert [note for note in load_graph(path, header=True).report if "header" in note] == [said]
    other = _write(tmp_path, b"a,b\nd,c" + end)
    assert _edges(other) == [("a", "b"), ("c", "d")]
    (note,) = [note for note in load_graph(other).report if "header" in note]
    assert note == "the first line ('a', 'b') is read as an edge; header=True reads it as names of columns"
    assert note in pack_graph(other, out=tmp_path / "packed").about["report"]
    assert not any("header" in note for note in load_graph(other, header=False).report)


@pytest.mark.parametrize(
    "text, used",
    [
        ("id,source,target\n10,1,2\n11,2,3\n12,3,1", "'source' and 'target'"),
        (",source,target\n0,1,2\n1,2,3\n2,3,1", "'source' and 'target'"),
        ("weight,Source ID,target_id\n.5,1,2\n1,2,3\n1,3,1", "'Source ID' and 'target_id'"),
        ("to;w;from\n1;0,5;2\n2;1,5;3\n3;0,1;1", "'from' and 'to'"),
        ('"from" "to" "w"\n"1" 1 2 0.5\n"2" 2 3 1\n"3" 3 1 1', "'from' and 'to'"),
        (",who,whom,w\n0,1,2,x\n1,2,3,x\n2,3,1,x", "'who' and 'whom'"),
        ("who,whom,w\n1,2,x\n2,3,x\n3,1,x", "'who' and 'whom'"),
    ],
)
@pytest.mark.parametrize("end", [b"", CAREFUL])
def test_columns_are_found_by_their_names(text: str, used: str, end: bytes, tmp_path: Path) -> None:
    path = _write(tmp_path, text.encode() + end)
    assert _edges(path) == [(1, 2), (1, 3), (2, 3)]
    assert any(f"header: an edge is {used}" in note for note in load_graph(path).report)
    packed = pack_graph(path, out=tmp_path / "packed").to_data()
    assert packed.edge_index.tolist() == load_graph(path).edge_index.tolist()
    assert packed.report == load_graph(path).report


@pytest.mark.parametrize("end", [b"", CAREFUL])
def test_columns_can_be_chosen(end: bytes, tmp_path: Path) -> None:
    path = _write(tmp_path, b"kind,fan,star\nx,ann,bob\ny,bob,eve" + end)
    assert _edges(path, source="star", target="fan") == [("ann", "bob"), ("bob", "eve")]
    directed = load_edges(path, source="star", target="fan")  # arcs keep the direction that was asked for
    assert directed.ids[directed.graph.arcs].T.tolist() == [["bob", "ann"], ["eve", "bob"]]
    assert _edges(path, source="2", target="3", header=True) == [("ann", "bob"), ("bob", "eve")]
    other = _write(tmp_path, b"7 1 2\n8 2 3" + end, "other.txt")
    assert _edges(other, source="2", target="3") == [(1, 2), (2, 3)]
    note = "no header: an edge is columns 1 and 2 (source= and target= name others); not used: column 3"
    assert note in load_graph(other).report
    for options, message in {
        ("star", "fn"): "no column 'fn'; did you mean 'fan'",
        ("star", "9"): "no column '9'; there is 'kind', 'fan', 'star'",
        ("star", "star"): "source= and target= name the same column 'star'",
        ("star", None): "give both source= and target=",
    }.items():
        refuses(message, load_graph, path, source=options[0], target=options[1], header=True)


@pytest.mark.parametrize("end", [b"", CAREFUL])
def test_an_id_may_begin_with_the_sign_of_a_comment(end: bytes, tmp_path: Path) -> None:
    path = _write(tmp_path, b"source,target\n#a,b\n# no edge\n#c,#d\n%e,b\nb,#a" + end)
    assert _edges(path) == [("#a", "b"), ("#c", "#d"), ("%e", "b")]
    skipped = 1 + bool(end)
    assert f"lines skipped as comments: {skipped}" in load_graph(path).report
    path = _write(tmp_path, b"#made by hand\n# twice\n1 2\n2 3" + end)
    note = f"lines skipped as comments: {skipped + 1} (the first: '#made by hand')"
    assert note in load_graph(path).report
    assert note in pack_graph(path, out=tmp_path / "packed").about["report"]
    nodes = _write(tmp_path, "id,label\n#a,x\n# no node\nb,y\n", "n.csv")
    assert load_graph(_write(tmp_path, "b,#a\n"), nodes).node_ids.tolist() == ["#a", "b"]


def test_weights_with_decimal_commas(tmp_path: Path) -> None:
    for text in ("source;target;w\n1;2;0,5\n2;3;1.234,25\n", "w source target\n0,5 1 2\n1234,25 2 3\n"):
        data = load_graph(_write(tmp_path, text), weights="w")
        assert data.edge_weight.tolist() == [0.5, 0.5, 1234.25, 1234.25]
        assert "decimal commas read as points (0,5 is 0.5) in 'w'" in data.report
    assert _edges(_write(tmp_path, "1;2;0,5\n2;3;7\n")) == [(1, 2), (2, 3)]


def test_weights_and_further_columns(tmp_path: Path) -> None:
    path = _write(tmp_path, "# c\nsource,target,kind,w\n1,2,x,0.5\n2,1,x,1\n2,3,y,4\n3,3,y,9\n")
    data = load_graph(path, weights="w")
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.edge_weight.tolist() == [1.5, 1.5, 4, 4]
    assert "header: an edge is 'source' and 'target', its weight 'w'; not used: 'kind'" in data.report
    assert any("; not used: 'kind', 'w'; weights='w' makes" in line for line in load_graph(path).report)
    report = load_graph(_write(tmp_path, "1 2 3 4\n", "w.txt")).report
    assert any(line.endswith("; not used: column 3, 4") for line in report)
    refuses(r"e\.txt: no weight column 'v' after the two ids", load_graph, path, weights="v")
    message = "no weight column 'w' after the two ids; the first line must name"
    refuses(message, load_graph, _write(tmp_path, "1,2,0.5\n"), weights="w")


@pytest.mark.parametrize("mark", [",", " "])
def test_weights_of_large_files_and_their_errors(mark: str, tmp_path: Path) -> None:
    rows = [f"u{i},u{(7 * i) % 60_000},{1 + i % 3}".replace(",", mark) for i in range(60_000)]
    top = "source,target,w".replace(",", mark)
    data = load_graph(_write(tmp_path, "\n".join([top, *rows])), weights="w")
    source, target = data.node_ids[data.edge_index.numpy()]
    at = (source == "u1") & (target == "u7")
    assert data.edge_weight[np.flatnonzero(at)].tolist() == [2]  # line 3
    for wrong, message in {
        "x": "line 50002: 1 fields, expected 3 as in line 2: 'x'",
        "a,b,0": "line 50002: '0' in weight column 'w'; expected a positive finite number",
        "a,b,inf": "line 50002: 'inf' in weight column 'w'",
        "a,b,1_0": "line 50002: '1_0' in weight column 'w'",
    }.items():
        path = _write(tmp_path, "\n".join([top, *rows[:50_000], wrong.replace(",", mark), *rows[50_000:]]))
        refuses(rf"e\.txt, {message}", load_graph, path, weights="w")
