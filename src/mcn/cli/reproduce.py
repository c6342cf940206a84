"""`mcn reproduce`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from graphmotifs._messages import one_of
from mcn.cli._options import DataRoot, Jobs, Json, out_option
from mcn.cli._terminal import compile_notice, plain_warnings, progress_bar
from mcn.cli.main import go_on, interruptible
from mcn.paper.figures import FIGURES, draw_figure

TABLES = ("table2", "table3")
WHAT = ("table1", *TABLES, *FIGURES)


def run(
    what: Annotated[str, typer.Argument(metavar="WHAT", help=f"One of {', '.join(WHAT)}.")],
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, help="For a table: runs per cell; 15 for table 2 and 10 for table 3."),
    ] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", help="For a table: some rows, separated by commas.")
    ] = None,
    datasets: Annotated[
        str | None, typer.Option("--datasets", help="Some data sets, separated by commas.")
    ] = None,
    jobs: Jobs = None,
    data_root: DataRoot = None,
    out: Annotated[Path | None, out_option("Folder for the results; reproduce/WHAT if not given.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the results in --out.")] = False,
    kept: Annotated[
        Path | None, typer.Option("--from", help="Folder with a WHAT.csv: report on its runs, run nothing.")
    ] = None,
    check: Annotated[
        int | None,
        typer.Option("--check", min=1, help="With --from: run so many of its runs again, drawn at random."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Reproduce a table or a figure of the paper.

    table1: GCN and GAT as special cases, in numbers. table2: twelve methods on the citation graphs. table3:
    DD-6 and DD-7. figure1: one graph under three motifs. figure2: a node whose neighbours mislead, and whose
    strong ties do not. figure3: who heard whom in a trained network, and by which choice. figure4: the motif
    each node of Cora chose.

    Tables come with a report (report.md): the paper's values, ours, ranks, whether a difference is noise, the
    protocol; and with a file of all runs (WHAT.csv), which --from reads. Every run is kept in ledger.sqlite
    as soon as it is finished.

    Example: mcn reproduce table2 --seeds 2
    """
    one_of("WHAT", what, WHAT)
    if check is not None and kept is None:
        raise ValueError("--check needs --from: the folder of the runs to repeat")
    if what not in TABLES:
        options = {"--seeds": seeds, "--methods": methods, "--jobs": jobs, "--from": kept}
        for option, given in options.items():
            if given is not None:
                raise ValueError(f"{option} is for {', '.join(TABLES)}; {what} has none")
    folder = out if out is not None else Path("reproduce") / what
    names, sets = _names("--methods", methods), _names("--datasets", datasets)
    chosen = {"methods": names, "datasets": sets, "jobs": jobs, "data_root": data_root}
    with plain_warnings(), compile_notice(), interruptible(go_on(folder)):
        if kept is not None and check is not None:
            result = _check(what, kept, check, **chosen)
        elif kept is not None:
            result = _report(what, kept, folder, resume)
        elif what in TABLES:
            result = _table(what, folder, seeds, resume, **chosen)
        elif what == "table1":
            result = _table1(folder, sets or ["cora"], data_root, resume)
        else:
            with progress_bar("training") as report:
                result = draw_figure(what, folder, sets, data_root, resume=resume, progress=report)
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        _print(result)
    if not all(line["same"] for line in result.get("checked", ())):
        raise typer.Exit(1)


def _table(what: str, folder: Path, seeds: int | None, resume: bool, **chosen: Any) -> dict[str, Any]:
    """Tables 2 and 3."""
    from mcn.paper.reproduce import reproduce_table

    with progress_bar(what) as report:
        result = reproduce_table(
            what,
            folder,
            seeds=None if seeds is None else range(seeds),
            resume=resume,
            command=_command(),
            progress=lambda done, of: report(done / of if of else 1.0),
            **chosen,
        )
    return result | _files(folder, "report.md", "results.json", f"{what}.csv", "ledger.sqlite")


def _report(what: str, kept: Path, folder: Path, resume: bool) -> dict[str, Any]:
    """A table from the runs that are kept."""
    from mcn.paper.reproduce import check_out, read_table, write_table

    result = read_table(what, kept)
    check_out(folder, resume)
    return write_table(folder, result, _command()) | _files(folder, "report.md", "results.json")


def _check(what: str, kept: Path, number: int, **chosen: Any) -> dict[str, Any]:
    """Run kept runs again."""
    from mcn.paper.reproduce import check_table

    with progress_bar("checking") as report:
        checked = check_table(
            what, kept, number, progress=lambda done, of: report(done / of if of else 1.0), **chosen
        )
    shown = ("dataset", "method", "seed", "version", "val_accuracy", "test_accuracy")
    lines = [
        {name: getattr(one.record, name) for name in shown}
        | {"val_again": one.again.val_accuracy, "test_again": one.again.test_accuracy, "same": one.same}
        for one in checked
    ]
    return {"checked": lines}


def _table1(folder: Path, datasets: list[str], data_root: Path | None, resume: bool) -> dict[str, Any]:
    """tab:gen."""
    from dataclasses import asdict

    from graphmotifs._files import write_text
    from mcn.data import load_dataset
    from mcn.paper.reproduce import check_out
    from mcn.paper.special_cases import compare_special_cases, special_report

    check_out(folder, resume)
    cases = {name: compare_special_cases(load_dataset(name, root=data_root)) for name in datasets}
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "report.md", special_report(cases, _command()))
    rows = [{"dataset": name, **asdict(case), "holds": case.holds} for name in cases for case in cases[name]]
    return {"table": "table1", "label": "tab:gen", "rows": rows} | _files(folder, "report.md")


def _files(folder: Path, *names: str) -> dict[str, list[str]]:
    return {"files": [str(folder / name) for name in names]}


def _names(option: str, text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"{option} names nothing, got {text!r}")
    return names


def _command() -> str:
    return shlex.join(["mcn", *(word for word in sys.argv[1:] if word != "--resume")])


def _print(result: dict[str, Any]) -> None:
    if "checked" in result:
        _print_checked(result["checked"])
        return
    if "table" in result:
        _print_table(result)
    for layer, shares in enumerate(result.get("motif_share", ()), 1):
        print(f"layer {layer}: " + ", ".join(f"{share:.0%} {choice}" for choice, share in shares.items()))
    for one in result.get("votes", ()):
        print(
            f"{one['motif']}: the neighbours of {one['nodes']} nodes, right about {one['right']:.1%} of them"
        )
    if "protocol" in result:
        print(f"protocol: {result['protocol']}")
    print(f"files: {', '.join(result['files'])}")


def _print_checked(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        ending = "the same" if line["same"] else "now {test_again:.1%} and {val_again:.1%}".format(**line)
        before = "test {test_accuracy:.1%}, validation {val_accuracy:.1%}".format(**line)
        print(f"{line['dataset']}, {line['method']}, seed {line['seed']}: {before}, {ending}")
    print(f"{sum(line['same'] for line in lines)} of {len(lines)} runs came out the same")


def _print_table(result: dict[str, Any]) -> None:
    """One line per method and data set; the report has more."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    header, lines = _special(result) if result["table"] == "table1" else _measured(result)
    title = Text(f"{result['table']} ({result['label']})")
    table = Table(*header, title=title, title_justify="left")
    for column in table.columns[2:]:
        column.justify = "right"
    for place, line in enumerate(lines):
        if place and line[0] != lines[place - 1][0]:
            table.add_section()
        table.add_row(*map(Text, line))
    console = Console()
    console.print(table) if console.is_terminal else Console(width=110).print(table)


def _special(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    header = ["data set", "method", "beside", "layer 1", "network", "equal"]
    lines = [
        [
            *(row["dataset"], row["method"], row["against"]),
            "–" if row["layer"] is None else f"{row['layer']:.1e}",
            f"{row['network']:.1e}",
            "yes" if row["holds"] else "no",
        ]
        for row in result["rows"]
    ]
    return header, lines


def _measured(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    from mcn.paper.report import figures

    header = ["data set", "method", "paper", "ours", "runs", "rank", "difference", "within noise"]
    return header, [[row["dataset"], row["method"], *figures(row)] for row in result["rows"]]
