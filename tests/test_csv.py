"""Cells that a spreadsheet must not run."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcn._csv import plain_cell, safe_cell

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


def test_values_that_are_no_text_stay() -> None:
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
