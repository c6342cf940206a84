"""Cells of tables that we write: a text that a spreadsheet would run as a formula is written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-](inf|nan)", re.ASCII)

_SPECIAL = re.compile(r'[",;\t\r\n]')


def safe_cell(value: Any) -> Any:
    """Return what to write for a value: a text that begins like a formula gets an apostrophe in front.

    Numbers stay as they are, negative ones too; `plain_cell` gives back the text.

    >>> [safe_cell(value) for value in ("=1+1", "-5", -5, "-x", "'=1+1", "it's")]
    ["'=1+1", '-5', -5, "'-x", "''=1+1", "it's"]
    """
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def csv_line(cells: Iterable[Any]) -> str:
    """Return a line of a CSV file; semicolons are quoted too, as many a spreadsheet takes them to separate.

    >>> print(csv_line(["a;b", 1, "c, d", "-x", 0.5]), end="")
    "a;b",1,"c, d",'-x,0.5
    """
    texts = [str(safe_cell(cell)) for cell in cells]
    quoted = ['"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text for text in texts]
    return ",".join(quoted) + "\n"


def plain_cell(text: str) -> str:
    """Return the text that `safe_cell` wrote as `text`.

    >>> [plain_cell(text) for text in ("'=1+1", "-5", "'-x", "''=1+1", "it's")]
    ['=1+1', '-5', '-x', "'=1+1", "it's"]
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
