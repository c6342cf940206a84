"""A report as one HTML file: no script, nothing loaded, readable on screen and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from mcn.experiments.paper.document import Block, Bullets, Code, Grid, Heading, Strong, Text

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --line: #d5dae1; --page: #ffffff;
  --band: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #a3adb9; --line: #3a424d;
  --page: #14181d; --band: #1c2229; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.25rem 4rem; background: var(--page);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p, ul { max-width: 46rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { caption-side: top; text-align: left; color: var(--soft); padding-bottom: .4rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; }
tbody tr:nth-child(even) { background: var(--band); }
pre { background: var(--band); border: 1px solid var(--line); border-radius: 6px; padding: .7rem 1rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.5 ui-monospace, monospace; }
@media print { :root { --ink: #000; --soft: #444; --line: #999; --page: #fff; --band: #fff; }
  body { max-width: none; padding: 0; font-size: 10pt; } .wide { overflow: visible; }
  table { font-size: 8pt; } th, td { padding: .15rem .35rem; }
  h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""


def html(blocks: Sequence[Block]) -> str:
    """The document as a page of its own; everything in it is escaped."""
    first = blocks[0]
    title = escape(first.text) if isinstance(first, Heading | Text) else "Report"
    body = "\n".join(_block(block, 1 if place == 0 else 2) for place, block in enumerate(blocks))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block, level: int) -> str:
    match block:
        case Heading(text):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Bullets(items):
            return "<ul>\n" + "\n".join(f"<li>{escape(item)}</li>" for item in items) + "\n</ul>"
        case Code(text):
            return f"<pre>{escape(text)}</pre>"
        case Grid():
            return _grid(block)


def _grid(grid: Grid) -> str:
    caption = f"<caption>{escape(grid.caption)}</caption>\n" if grid.caption else ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in grid.header)
    rows = "\n".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in grid.rows)
    return (
        f'<div class="wide"><table>\n{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _cell(text: str) -> str:
    shown = f"<strong>{escape(text)}</strong>" if isinstance(text, Strong) else escape(text)
    return f"<td>{shown}</td>"
