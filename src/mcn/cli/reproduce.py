"""`mcn reproduce`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn._names import one_of
from mcn.cli._figures import FIGURES, figure, print_pattern
from mcn.cli._options import DataRoot, Jobs, Json, out_option
from mcn.cli._terminal import compile_notice, plain_warnings, progress_bar
from mcn.cli.main import resumable

if TYPE_CHECKING:
    from mcn.experiments.engine.cells import Cell
    from mcn.experiments.paper.plan import Entry

TABLES = ("table2", "table3", "beyond", "controls")
WHAT = ("table1", "table2", "table3", *FIGURES, "beyond", "choice", "controls")


def run(
    what: Annotated[str, typer.Argument(metavar="WHAT", help=f"One of {', '.join(WHAT)}.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Two seeds; methods that take minutes get one or none.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", min=1, help="Runs per cell of a table; 15, 10 or 30 if not given."),
    ] = None,
    first_seed: Annotated[
        int | None,
        typer.Option("--first-seed", min=0, help="The first seed; 0 if not given, 200 for beyond."),
    ] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Some rows of a table, separated by commas.")
    ] = None,
    datasets: Annotated[
        str | None, typer.Option("--datasets", help="Some data sets, separated by commas.")
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="The figure that a table shows of its runs: accuracy, balanced-accuracy, macro-f1, roc-auc, "
            "average-precision or log-loss. The runs are the same for all.",
        ),
    ] = "accuracy",
    jobs: Jobs = None,
    data_root: DataRoot = None,
    out: Annotated[Path | None, out_option("Folder for the results; reproduce/WHAT if not given.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the results in --out.")] = False,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results",
            help="Folder to write every run of the table to, as WHAT.csv; what it has is not run again.",
        ),
    ] = None,
    kept: Annotated[
        Path | None, typer.Option("--from", help="Folder of --results: report on its runs, run nothing.")
    ] = None,
    check: Annotated[
        int | None,
        typer.Option("--check", min=1, help="With --from: run so many of its runs again, drawn at random."),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope", help="For figure4: edges (the paper's equation) or pairs (motifs reach further)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Reproduce a table or a figure of the paper.

    table1: GCN and GAT as special cases, in numbers. table2: twelve methods on the citation graphs. table3:
    DD-6 and DD-7. figure1: one graph under three motifs. figure2: a node whose neighbours mislead, and whose
    strong ties do not. figure3: who heard whom in a trained network, and by which choice. figure4: the motif
    each node of Cora chose, and with --seeds where in the graph those nodes stand, over several runs.
    beyond: motif views beside the paper's networks, with and without motifs (docs/beyond.md). choice: what
    choosing per node is worth, one setting for all sets (docs/choice.md); --seeds is the number of splits,
    and --methods auto asks for the recipe auto, which takes minutes on each. controls: one GCN per motif
    matrix, which the paper calls too costly, and the paper's rule with each advantage.

    Tables come with a report (report.md, report.html): the paper's values, ours, ranks, whether a
    difference is noise, the protocol; and with a plot (comparison.png). Every run is kept in ledger.sqlite
    as soon as it is finished.

    With --resume and another --metric a table shows another figure of the runs that are there, and runs none.

    Example: mcn reproduce table2 --quick
    """
    one_of("WHAT", what, WHAT)
    folder = out if out is not None else Path("reproduce") / what
    names, sets = _names("--methods", methods), _names("--datasets", datasets)
    if scope is not None and what != "figure4":
        raise ValueError(f"--scope is for figure4; {what} has none")
    if scope is not None:
        one_of("--scope", scope, ("edges", "pairs"))
    if metric != "accuracy":
        from mcn.train.metrics import METRICS

        one_of("--metric", metric, METRICS)
        if what not in TABLES:
            raise ValueError(f"--metric is for {', '.join(TABLES)}; {what} has none")
        if kept is not None:
            raise ValueError("--metric is for runs; the files of --from hold accuracies only")
    if check is not None and kept is None:
        raise ValueError("--check needs --from: the folder of the runs to repeat")
    if what not in TABLES:
        own: list[tuple[str, Any]] = [("--jobs", jobs), ("--results", results), ("--from", kept)]
        if what != "choice":
            own.insert(0, ("--methods", names))
        if what not in ("figure4", "choice"):
            own.append(("--seeds", seeds))
        for option, given in own:
            if given is not None:
                raise ValueError(f"{option} is for {', '.join(TABLES)}; {what} has none")
    if kept is not None and check is not None:
        _check(what, kept, check, names, sets, jobs, data_root, as_json)
        return
    with plain_warnings(), compile_notice(), resumable(folder):
        if kept is not None:
            result = _rendered(what, kept, folder, resume)
        elif what in TABLES:
            result = _table(
                what,
                folder,
                seeds=_seeds(what, seeds, first_seed, quick),
                methods=names,
                datasets=sets,
                quick=quick,
                metric=metric,
                jobs=jobs,
                data_root=data_root,
                resume=resume,
                keep=results,
            )
        elif what == "choice":
            result = _choice(folder, sets, names, 2 if quick else seeds or 10, data_root, resume)
        elif what == "table1":
            result = _table1(folder, sets or ["cora"], first_seed or 0, data_root, resume)
        else:
            own_seeds = list(range(first_seed or 0, (first_seed or 0) + (seeds or 1)))
            result = figure(what, folder, sets, own_seeds, scope, data_root, resume)
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        _print(result)


def _table(what: str, folder: Path, **options: Any) -> dict[str, Any]:
    """Tables 2 and 3, and that of motif views."""
    from mcn.experiments.paper import reproduce_table
    from mcn.experiments.paper.reproduce import HTML, LEDGER, MARKDOWN, RESULTS

    on_terminal = sys.stderr.isatty()
    with progress_bar(what) as report:
        result = reproduce_table(
            what,
            folder,
            command=_command(),
            progress=report,
            finished=None if on_terminal else _say_finished,
            **options,
        )
    files = [MARKDOWN, HTML, *_plot(result, folder), RESULTS, LEDGER]
    return result | {"files": [str(folder / name) for name in files]}


def _rendered(what: str, kept: Path, folder: Path, resume: bool) -> dict[str, Any]:
    """A table from the runs that are kept."""
    from mcn.experiments.paper import render_table
    from mcn.experiments.paper.reproduce import HTML, MARKDOWN, RESULTS

    result = render_table(what, kept, folder, resume=resume, command=_command())
    files = [MARKDOWN, HTML, *_plot(result, folder), RESULTS]
    return result | {"files": [str(folder / name) for name in files]}


def _check(
    what: str,
    kept: Path,
    number: int,
    methods: list[str] | None,
    datasets: list[str] | None,
    jobs: int | None,
    data_root: Path | None,
    as_json: bool,
) -> None:
    """Run kept runs again; exit code 1 if one of them came out differently."""
    from mcn.experiments.paper import check_table

    with plain_warnings(), compile_notice(), progress_bar("checking") as report:
        found = check_table(
            what,
            kept,
            number,
            methods=methods,
            datasets=datasets,
            jobs=jobs,
            data_root=data_root,
            progress=lambda done, of: report(done / of if of else 1.0),
        )
    lines = [
        {
            **{name: getattr(one.kept, name) for name in ("dataset", "method", "seed", "version")},
            **{name: getattr(one.kept, name) for name in ("val_accuracy", "test_accuracy")},
            "val_again": one.again["val_accuracy"],
            "test_again": one.again["test_accuracy"],
            "same": one.same,
        }
        for one in found
    ]
    if as_json:
        print(json.dumps({"checked": lines}, indent=2))
    else:
        for line in lines:
            ending = "the same" if line["same"] else "now {test_again:.1%} and {val_again:.1%}".format(**line)
            before = "test {test_accuracy:.1%}, validation {val_accuracy:.1%}".format(**line)
            print(f"{line['dataset']}, {line['method']}, seed {line['seed']}: {before}, {ending}")
        print(f"{sum(line['same'] for line in lines)} of {len(lines)} runs came out the same")
    if not all(line["same"] for line in lines):
        raise typer.Exit(1)


def _choice(
    folder: Path,
    sets: list[str] | None,
    methods: list[str] | None,
    splits: int,
    data_root: Path | None,
    resume: bool,
) -> dict[str, Any]:
    """The study of choosing."""
    from mcn._files import write_text
    from mcn.experiments.choice import KNOWN, METHODS, SETS, choice_study
    from mcn.experiments.choice.auto import auto_table
    from mcn.experiments.choice.report import tables
    from mcn.experiments.paper.reproduce import MARKDOWN, check_out

    wanted = list(SETS) if sets is None else sets
    for name in wanted:
        one_of("--datasets", name, SETS)
    for name in methods or ():
        one_of("--methods", name, KNOWN)
    check_out(folder, resume)
    folder.mkdir(parents=True, exist_ok=True)
    rows = choice_study(
        *(folder / "rows.csv", wanted, splits, data_root, lambda line: print(line, file=sys.stderr)),
        methods=methods or METHODS,
    )
    text = tables(rows)
    if any(row["row"] == "auto" for row in rows):
        text += "\n" + auto_table(rows)
    write_text(folder / MARKDOWN, text)
    files = [folder / MARKDOWN, folder / "rows.csv"]
    if any(row["row"] == "rule" for row in rows) and _can_plot():
        from mcn.viz import draw_gain

        files.append(folder / "gain.png")
        draw_gain(rows, files[-1])
    return {"rows": rows, "summary": text, "files": [str(file) for file in files]}


def _can_plot() -> bool:
    """Whether there is something to draw with: hours of runs are not lost for want of it."""
    from importlib.util import find_spec

    found = find_spec("matplotlib") is not None
    if not found:
        print("no plot of the table: figures need matplotlib: pip install 'mcn[viz]'", file=sys.stderr)
    return found


def _plot(result: dict[str, Any], folder: Path) -> list[str]:
    """Draw the table."""
    if not _can_plot():
        return []
    from mcn.viz.comparison import COMPARISON, write_comparison

    write_comparison(result, folder / COMPARISON)
    return [COMPARISON]


def _table1(
    folder: Path, datasets: list[str], seed: int, data_root: Path | None, resume: bool
) -> dict[str, Any]:
    """tab:gen."""
    from dataclasses import asdict

    from mcn.data import load_dataset
    from mcn.experiments.paper.reproduce import HTML, MARKDOWN, check_out, write_report
    from mcn.experiments.paper.special_cases import special_cases, special_report

    check_out(folder, resume)
    cases = {name: special_cases(load_dataset(name, root=data_root), seed) for name in datasets}
    write_report(folder, special_report(cases, _command()))
    return {
        "table": "table1",
        "label": "tab:gen",
        "rows": [
            {"dataset": name, **asdict(case), "holds": case.holds} for name in cases for case in cases[name]
        ],
        "files": [str(folder / name) for name in (MARKDOWN, HTML)],
    }


def _seeds(what: str, seeds: int | None, first: int | None, quick: bool) -> list[int]:
    from mcn.experiments.paper.plan import QUICK_SEEDS
    from mcn.experiments.paper.plan import TABLES as known

    number = seeds if seeds is not None else QUICK_SEEDS if quick else known[what].seeds
    start = known[what].first_seed if first is None else first
    return list(range(start, start + number))


def _names(option: str, text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"{option} names nothing, got {text!r}")
    return names


def _command() -> str:
    return shlex.join(["mcn", *(word for word in sys.argv[1:] if word != "--resume")])


def _say_finished(entry: Entry, filled: Cell) -> None:
    """A line per filled cell, for logs."""
    spread = "" if filled.std is None else f" ± {filled.std:.1f}"
    runs = f"{filled.runs} run{'s' if filled.runs > 1 else ''}"
    shown = "%" if filled.metric == "accuracy" else f"(100 times {filled.metric})"
    line = f"{entry.dataset}, {entry.method}: {filled.mean:.1f}{spread} {shown} ({runs})"
    print(line, file=sys.stderr, flush=True)


def _print(result: dict[str, Any]) -> None:
    if "table" in result:
        from mcn.cli._reproduced import print_reproduced

        print_reproduced(result)
    for layer, shares in enumerate(result.get("motif_share", ()), 1):
        print(f"layer {layer} listens to: " + ", ".join(f"{s:.0%} {choice}" for choice, s in shares.items()))
    for one in result.get("votes", ()):
        print(
            f"{one['motif']}: the neighbours of {one['nodes']} nodes, right about {one['right']:.1%} of them"
        )
    if "pattern" in result:
        print_pattern(result["pattern"])
    if "summary" in result:
        print(result["summary"])
    if "protocol" in result:
        print(f"protocol: {result['protocol']}")
    print(f"files: {', '.join(result['files'])}")
