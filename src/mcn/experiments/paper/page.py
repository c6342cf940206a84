"""The part of a documentation page that is made from kept runs, so that no number stands there without one.

A page has two lines, ``<!-- results NAME -->`` and ``<!-- end of results NAME -->``; what is between them is
written by `filled`. NAME is that of a table, or of a table and a part of it: `table2 paired`; or `search`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from mcn.experiments.engine.cells import paired
from mcn.experiments.paper.compared import Cells, lines
from mcn.experiments.paper.document import Block, Bullets, Grid, Heading, Text
from mcn.experiments.paper.evidence import Kept, kept_cells, path_of, read_kept
from mcn.experiments.paper.plan import TABLES, Entry, Table, plan
from mcn.experiments.paper.report import DASH, dataset_grid, paired_section, show_difference, summary_grid
from mcn.experiments.paper.report_markdown import markdown
from mcn.experiments.paper.report_words import what_was_run
from mcn.experiments.search.kept import FILE, read_searches, search_blocks

_PART = re.compile(r"(?ms)^<!-- results ([a-z0-9 ]+) -->\n.*?^<!-- end of results \1 -->$")
_HEADLINE = (("mcn", "gat"), ("mcn", "gat-consistency"), ("mcn-paper", "gat"))


def filled(page: str, folder: str | os.PathLike[str]) -> str:
    """Return a page with its parts made anew from the runs of a folder.

    Raises:
        ValueError: a part that is not known, or a file that is not one of runs.
        OSError: a file is missing.
    """

    def part(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- results {name} -->\n\n{_part(name, folder)}\n<!-- end of results {name} -->"

    return _PART.sub(part, page)


def _part(name: str, folder: str | os.PathLike[str]) -> str:
    if name == "search":
        return markdown(search_blocks(read_searches(Path(folder) / FILE))).strip() + "\n"
    table_name, _, what = name.partition(" ")
    if table_name not in TABLES or what not in ("", "paired"):
        known = f"{', '.join(TABLES)}, or one of them and 'paired', or search"
        raise ValueError(f"results {name}: expected {known}")
    table, runs = TABLES[table_name], read_kept(path_of(folder, table_name))
    seeds = range(table.first_seed, table.first_seed + table.seeds)
    entries, cells = kept_cells(plan(table, seeds, methods=table.methods), runs)
    blocks = _headline(table, cells) if what else _whole(table, entries, cells, runs)
    return (
        "\n".join(
            f"#{line}" if line.startswith("#") else line for line in markdown(blocks).strip().splitlines()
        )
        + "\n"
    )


def _whole(table: Table, entries: Sequence[Entry], cells: Cells, runs: Sequence[Kept]) -> list[Block]:
    versions = ", ".join(sorted({run.version for run in runs})) or "none"
    ran = {run.method for run in runs}
    found = lines(table.paper, [entry for entry in entries if entry.method in ran], cells)
    number = "One run" if len(runs) == 1 else f"{len(runs)} runs"
    blocks: list[Block] = [
        Text(
            f"{number} by version {versions} of mcn, each in docs/results/{table.name}.csv; * marks a "
            f"cell with fewer than {table.seeds} runs."
        ),
        Bullets(what_was_run(entries, cells)),
        summary_grid(table.paper, found, cells),
    ]
    for dataset, own in found.items():
        filled_in = [line for line in own if line.cell is not None]
        if filled_in:
            blocks += [Heading(dataset), dataset_grid(filled_in, bool(table.paper.rows))]
    return [*blocks, *paired_section(cells, list(found))]


def _headline(table: Table, cells: Cells) -> list[Block]:
    """The paired differences that the first page states."""
    rows = []
    for first, second in _HEADLINE:
        row = [f"{first} − {second}"]
        for dataset in table.paper.datasets:
            a, b = cells.get((dataset, first)), cells.get((dataset, second))
            gap = paired(a.test, b.test) if a is not None and b is not None else None
            row.append(DASH if gap is None else f"{show_difference(gap)} ({gap.pairs})")
        rows.append(row)
    return [Grid(["test accuracy, points (pairs)", *table.paper.datasets], rows)]
