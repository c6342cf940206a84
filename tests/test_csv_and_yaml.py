"""Cells of CSV that a spreadsheet must not run, and YAML that anyone may have written."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmotifs._csv import plain_cell, safe_cell
from mcn._yaml import MAX_BYTES, parse_yaml, read_yaml
from tests.conftest import refuses

FORMULAS = ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1"]


@pytest.mark.parametrize("text", [*FORMULAS, "-", "-x", "--5", "+-5"])
def test_formulas_become_text(text: str) -> None:
    assert safe_cell(text) == f"'{text}"
    assert plain_cell(f"'{text}") == text


@pytest.mark.parametrize(
    "text", ["-5", "+5", "-0.25", "-1e-5", "-.5", "5", "", "a=b", "it's", "'quoted'", "'"]
)
def test_numbers_and_words_stay(text: str) -> None:
    assert safe_cell(text) == text
    assert plain_cell(text) == text
    assert [safe_cell(value) for value in (-5, -2.5, None)] == [-5, -2.5, None]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="'=+-@\t\r\n15.e ax＝", max_size=8) | st.text())
def test_reversible_and_never_a_formula(text: str) -> None:
    cell = safe_cell(text)
    assert plain_cell(cell) == text
    written = io.StringIO(newline="")
    csv.writer(written).writerow([cell, "end"])
    (row,) = csv.reader(io.StringIO(written.getvalue(), newline=""))
    assert plain_cell(row[0]) == text
    if cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n"):
        float(cell)  # nothing but a number may begin so


def test_plain_values_and_aliases_within_reason(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [1, 2.5, true, null, text]\nb: {c: é}\n", encoding="utf-8")
    assert read_yaml(tmp_path / "a.yaml", "a") == {"a": [1, 2.5, True, None, "text"], "b": {"c": "é"}}
    assert parse_yaml(b"", "a") is None
    found = parse_yaml(b"a: &x {k: 1}\nb: {<<: *x, l: 2}\nc: *x\n", "a")
    assert found == {"a": {"k": 1}, "b": {"k": 1, "l": 2}, "c": {"k": 1}}


def laughs() -> bytes:
    """Ten values, ten times over in each of nine lines."""
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 10)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 20_000, "nested too deeply"),
        (b"- " * 20_000, "nested too deeply"),
        (b"[" * 60 + b"]" * 60, "nested too deeply"),
        (laughs(), "more than 100,000 values, with aliases written out"),
        (b"&a [*a]", "an alias to what it is in"),
        (b"a" * (MAX_BYTES + 1), "more than 65,536 bytes"),
        (b"a: 2001-99-99", "month must be"),
        (b"a: " + b"9" * 5000, "digits"),
        (b"!!timestamp soon", "not YAML"),
        (b"!!bool maybe", "not YAML"),
        (b"!!python/object/apply:os.system [ls]", "could not determine a constructor"),
        (b"{[a]: 1}", "unhashable key"),
        (b"a\n---\nb", "expected a single document"),
        (b"\xff\xfe\x00\xd8", "not YAML"),
        (b"a: [", "not YAML"),
    ],
)
def test_what_is_refused(content: bytes, message: str) -> None:
    assert refuses(message, parse_yaml, content, "some.yaml").startswith("some.yaml: ")
