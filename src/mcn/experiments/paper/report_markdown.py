"""A report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcn.experiments.paper.document import Block, Bullets, Code, Grid, Heading, Strong, Text

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~&])")


def markdown(blocks: Sequence[Block]) -> str:
    """The document as Markdown (with pipe tables); everything in it is shown as it is."""
    parts = [_block(block, 1 if place == 0 else 2) for place, block in enumerate(blocks)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block, level: int) -> str:
    match block:
        case Heading(text):
            return f"{'#' * level} {_escape(text)}"
        case Text(text):
            return _escape(text)
        case Bullets(items):
            return "\n".join(f"- {_escape(item)}" for item in items)
        case Code(text):
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            return f"{fence}\n{text}\n{fence}"
        case Grid():
            return _grid(block)


def _grid(grid: Grid) -> str:
    rule = "|".join(["---", *["---:"] * (len(grid.header) - 1)])
    lines = [_line(grid.header), f"|{rule}|", *(_line(row) for row in grid.rows)]
    caption = f"{_escape(grid.caption)}\n\n" if grid.caption else ""
    return caption + "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    shown = (f"**{_escape(cell)}**" if isinstance(cell, Strong) else _escape(cell) for cell in cells)
    return f"| {' | '.join(shown)} |"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
