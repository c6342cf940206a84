"""A report as a list of plain blocks, to be written as Markdown or HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class Strong(str):
    """Text of a table's cell that stands out: the best of its column."""

    __slots__ = ()


@dataclass(frozen=True)
class Heading:
    """A heading; the first block of a document is its title."""

    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Code:
    """A command, or anything else to be taken literally."""

    text: str


@dataclass(frozen=True)
class Grid:
    """A table: the first column is text, the others are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


Block = Heading | Text | Bullets | Code | Grid
