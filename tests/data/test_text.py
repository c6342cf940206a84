from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mcn.data.text import data_lines, find_delimiter, is_integer, is_number, read_text, split_line


def test_line_ends_marks_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf1 2\r\n3 4\r5 6\n")
    assert read_text(tmp_path / "a.txt") == "1 2\n3 4\n5 6\n"
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("é".encode()))
    assert read_text(tmp_path / "a.txt.gz") == "é"


def test_unreadable_files_name_the_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"1 2\n3 \xff4\n")
    with pytest.raises(ValueError, match=r"a\.txt, line 2: not UTF-8 text \(byte 0xff\)"):
        read_text(tmp_path / "a.txt")
    whole = gzip.compress(b"1 2\n" * 100)
    for content in (whole[:-10], b"no gzip", whole[:15] + b"\xff\xff\xff" + whole[18:]):
        (tmp_path / "a.txt.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.txt\.gz: not a readable gzip file"):
            read_text(tmp_path / "a.txt.gz")


def test_comments_and_empty_lines_are_skipped_but_counted() -> None:
    assert list(data_lines("# a\n\n1 2\n  % b\n \t\n3 4")) == [(3, "1 2"), (6, "3 4")]


@pytest.mark.parametrize(
    "line, mark", [("1,2", ","), ("1;2", ";"), ("a, b\tc", "\t"), ("1 2", None), ("\t1 2\t", None)]
)
def test_delimiter(line: str, mark: str | None) -> None:
    assert find_delimiter(line) == mark


def test_fields() -> None:
    path = Path("f.csv")
    assert split_line('"a, b" , c,', ",", path, 1) == ["a, b", "c", ""]
    assert split_line(" 1 \t 2 ", None, path, 1) == ["1", "2"]
    with pytest.raises(ValueError, match=r"f\.csv, line 4: a quote is not closed"):
        split_line('"a,b', ",", path, 4)


def test_what_is_an_integer_and_what_a_number() -> None:
    assert [is_integer(s) for s in ("0", "17", "007", "-1", "+1", "1.0", "x", "", "9" * 19, "٣")] == [
        True
    ] * 2 + [False] * 8
    assert all(is_number(s) for s in ("0", "-1", "+1", "1.5", ".5", "1.", "1e5", "nan", "-Inf", "007"))
    assert not any(is_number(s) for s in ("x", "", "1_000", "1-2", "e5", ".", "n1"))
