"""The compiled reader of text ids against the careful one, on plain files and on odd ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn.data import edge_text
from mcn.data.edge_files import read_edges
from mcn.data.edge_names import named_edges
from mcn.data.edge_text import _read_careful


def names(rng: np.random.Generator, kind: str) -> list[str]:
    """Ids of all lengths around the borders of words, with common beginnings; of other alphabets."""
    letters = {"ascii": "ab z", "unicode": "aéß漢😀 ", "digits": "01 9x"}[kind]
    drawn = ["".join(rng.choice(list(letters), rng.integers(1, 40))).strip() for _ in range(60)]
    stems = ["x" * size for size in (1, 7, 8, 9, 15, 16, 17, 18, 24, 25)]
    return [*(name for name in drawn if name), *stems, *(stem + "y" for stem in stems)]


@pytest.mark.parametrize("kind", ["ascii", "unicode", "digits"])
@pytest.mark.parametrize("mark", [",", "\t", ";"])
@pytest.mark.parametrize("seed", range(4))
def test_it_reads_what_the_careful_reader_reads(
    kind: str, mark: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_text, "LARGE", 0)
    rng = np.random.default_rng(seed)
    ids = names(rng, kind)
    end = ["\n", "\r\n"][seed % 2]
    lines = ["source" + mark + "target" + mark + "more"] if seed else []
    for _ in range(400):
        pads = rng.choice(["", "", "", " ", "  "], 3)
        lines.append(
            mark.join(pad + str(name) + pads[2] for pad, name in zip(pads, rng.choice(ids, 3), strict=True))
        )
        lines += [str(rng.choice(["", "   ", "# not, an, edge", "% é", " # neither"]))] * (
            rng.random() < 0.05
        )
    path = tmp_path / "edges.csv"
    path.write_text(end.join(lines) + (end if seed % 3 else ""), encoding="utf-8", newline="")
    content = path.read_bytes()
    start = content.index(b"\n") + 1 if seed else 0
    assert named_edges(content, start, mark) is not None  # the careful one is not what is compared
    found, expected = read_edges(path), _read_careful(path, mark, None, False)
    np.testing.assert_array_equal(found.ends, expected.ends)
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.notes == expected.notes


def test_a_quoted_header_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_text, "_read_careful", None)
    path = tmp_path / "edges.csv"
    path.write_text('"source","target"\n3,5\n5,9\n')
    found = read_edges(path)
    assert (found.ids.tolist(), found.ends.tolist()) == ([3, 5, 9], [[0, 1], [1, 2]])


def test_white_space_as_the_separator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_text, "LARGE", 0)
    path = tmp_path / "edges.txt"
    path.write_text("# ties\np  q 1\n q   long-name-of-a-node 2  \n\nlong-name-of-a-node p   3")
    found = read_edges(path)
    assert found.ids.tolist() == ["long-name-of-a-node", "p", "q"]
    assert found.ends.tolist() == [[1, 2, 0], [2, 0, 1]]
    assert named_edges(path.read_bytes(), 7, None) is not None


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\nc\n",  # too few fields
        b"a,b\nc,d,e\n",
        b"a,b\n,d\n",  # an empty id
        b"a,b\nc, \n",
        b"a,b\nc\0,d\n",
        b"a,b\nc\x0b,d\n",
        b"a,b\nc\xff,d\n",  # not UTF-8
        b"a,b,x\nc,d,\xff\n",
        "a,b\n\u3000c,d\n".encode(),  # a blank beyond ASCII
    ],
)
def test_anything_out_of_the_ordinary_is_left_to_the_careful_reader(content: bytes) -> None:
    assert named_edges(content * 3, 0, ",") is None


def test_many_ids_and_long_ones() -> None:
    """The table grows several times; ids of equal beginnings and lengths stay apart."""
    rng = np.random.default_rng(0)
    ids = [f"{'n' * (number % 30)}{number}" for number in range(20_000)]
    ends = rng.integers(0, len(ids), (30_000, 2))
    content = "\n".join(f"{ids[u]},{ids[v]}" for u, v in ends.tolist()).encode()
    for parts in (1, 3):
        found = named_edges(content, 0, ",", parts)
        assert found is not None
        assert found.ids.tolist() == sorted(found.ids)
        assert [found.ids[at] for at in found.ends.T.ravel()] == [ids[at] for at in ends.ravel()]
        appeared = list(dict.fromkeys(ids[at] for at in ends.ravel()))
        assert [found.ids[at] for at in found.first] == appeared


LINES = [
    "ann,bob",
    "bob , eve",
    "a-name-of-seventeen,ann",
    "",
    "  ",
    "# a, comment",
    "%,,",
    "é,ann",
    "eve,é\r",
]
BAD = ["ann", "ann,bob,eve", ",bob", "ann,", "ann,\x0bbob", "ann\x00,bob"]


@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=30),
    bad=st.none() | st.tuples(st.sampled_from(BAD), st.integers(0, 29)),
    parts=st.integers(2, 9),
    ended=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_the_number_of_parts_changes_nothing(
    lines: list[str], bad: tuple[str, int] | None, parts: int, ended: bool
) -> None:
    """Files cut into parts give the ids, their order and the edges of the whole; what is odd is refused."""
    if bad is not None:
        lines = [*lines[: bad[1]], bad[0], *lines[bad[1] :]]
    content = ("\n".join(lines) + "\n" * ended).encode()
    whole, cut = (named_edges(content, 0, ",", count) for count in (1, parts))
    assert (whole is None) == (cut is None)
    if whole is None or cut is None:
        return
    assert bad is None or set(lines) - {bad[0]} <= {"", "  ", "# a, comment", "%,,"}
    assert cut.ends.tolist() == whole.ends.tolist()
    assert cut.ids.tolist() == whole.ids.tolist()
    assert (cut.width, cut.first.tolist()) == (whole.width, whole.first.tolist())


@pytest.mark.parametrize("bad", ["ann", "ann,bob,eve", ",bob", "ann,\x0bbob,", '7.5,"x', "caf\udce9,x"])
def test_errors_name_the_same_line_whatever_the_number_of_parts(
    bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_text, "LARGE", 0)
    path = tmp_path / "edges.csv"
    lines = [f"n{number},n{number * 7 % 50}" for number in range(200)]
    path.write_bytes("\n".join([*lines[:150], bad, *lines[150:]]).encode("utf-8", "surrogateescape"))
    said = []
    for parts in (1, 2, 5):
        monkeypatch.setattr(edge_text, "named_edges", partial(named_edges, parts=parts))
        with pytest.raises(ValueError, match=r"edges.csv, line 151: ") as error:
            read_edges(path)
        said.append(str(error.value))
    assert said == said[:1] * 3
