"""`mcn search`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn._flags import data_words
from mcn.cli._compiling import compile_notice
from mcn.cli._interrupt import resumable
from mcn.cli._options import (
    DataRoot,
    Dataset,
    Graph,
    Jobs,
    Json,
    Nodes,
    check_for_dataset,
    check_input,
    data_given,
    free_folder,
    out_option,
    source_options,
    with_data_options,
)
from mcn.cli._progress import progress_bar
from mcn.cli._settings import Seed
from mcn.cli._warnings import plain_warnings

if TYPE_CHECKING:
    from mcn.experiments import Source
    from mcn.experiments.search import SearchResult, Trial

EMBEDDED = "strong-ties"
LEDGER, RESULT, BEST, SUMMARY = "ledger.sqlite", "search.json", "best.yaml", "summary.md"


@with_data_options
def run(
    dataset: Dataset = None,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    space: Annotated[
        str,
        typer.Option(
            "--space",
            help="What to search: quick, citation, citation-screen, dd, dd-screen, dd-gcn, dd-gat, dd-best, "
            "or a .yaml file.",
        ),
    ] = "quick",
    trials: Annotated[int, typer.Option("--trials", min=1, help="How many settings to try.")] = 20,
    sampler: Annotated[str, typer.Option("--sampler", help="How to choose them: tpe or grid.")] = "tpe",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Runs per trial.")] = 3,
    final_seeds: Annotated[
        int, typer.Option("--final-seeds", min=1, help="Runs of the winner, with test accuracy.")
    ] = 5,
    rungs: Annotated[
        str | None,
        typer.Option(
            "--rungs",
            help="Epochs of short first runs, as 40,120: a quarter of the settings goes on each time.",
        ),
    ] = None,
    metric: Annotated[
        str, typer.Option("--metric", help="What decides on the validation nodes: accuracy, roc-auc …")
    ] = "accuracy",
    seed: Seed = 0,
    batch: Annotated[
        int, typer.Option("--batch", min=1, help="Trials proposed at once; more for a large cluster.")
    ] = 4,
    engine: Annotated[
        str, typer.Option("--engine", help="What runs them: local (the cores) or ray (a cluster).")
    ] = "local",
    address: Annotated[
        str | None, typer.Option("--address", help="Of the Ray cluster; without it, one is started here.")
    ] = None,
    jobs: Jobs = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="File of all runs; ledger.sqlite in --out if not given.")
    ] = None,
    out: Annotated[Path | None, out_option("Folder for the results; runs/search-NAME if not given.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the search whose ledger is there.")
    ] = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Search for the settings with the best validation accuracy or --metric, then test it on fresh seeds.

    Every run is kept in a ledger: none is done twice, and an interrupted search goes on with --resume.

    Example: mcn search --dataset cora --space citation --trials 60 --out runs/cora-search
    """
    if resume and out is None and ledger is None:
        raise ValueError("--resume needs --out or --ledger: the search to go on with")
    check_input(dataset, graph, nodes)
    shorter = _epochs(rungs)
    how = data_given(options)
    name = EMBEDDED if dataset is None else dataset
    if graph is not None:
        name = graph.name.split(".")[0]
    folder = out or free_folder(Path("runs"), f"search-{name}")
    path = ledger or folder / LEDGER
    if path.exists() and not resume:
        raise ValueError(f"{path} already holds runs; choose another --out, or go on with --resume")
    with plain_warnings(), compile_notice():
        from mcn.experiments import Source
        from mcn.experiments.search import load_space, search

        own = load_space(space)
        if graph is None:
            check_for_dataset(how)
            asked = source_options(how, own_graph=False)
            source = Source(name, data_root=None if data_root is None else str(data_root), options=asked)
        else:
            asked = source_options(how, own_graph=True)
            source = Source(graph=str(graph), nodes=None if nodes is None else str(nodes), options=asked)
        with resumable(folder), progress_bar("searching") as report:

            def told(done: int, total: int, best: Trial | None) -> None:
                so_far = "" if best is None else f", best {_validation(metric, best)}"
                report(done / total, f"searching{so_far}")

            result = search(
                source,
                own,
                sampler=sampler,
                trials=trials,
                seeds=seeds,
                final_seeds=final_seeds,
                ledger=path,
                jobs=jobs,
                engine=engine,
                address=address,
                seed=seed,
                batch=batch,
                metric=metric,
                rungs=shorter,
                progress=told,
            )
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, result, source)
    if as_json:
        print(json.dumps(result.to_dict() | {"out": str(folder), "ledger": str(path)}, indent=2))
    else:
        _print(result, source, folder, path, how)


def _epochs(rungs: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in (rungs or "").split(",") if word.strip())
    except ValueError:
        raise ValueError(
            f"--rungs must be numbers of epochs with commas between them, got {rungs!r}"
        ) from None


def _changed(result: SearchResult) -> dict[str, Any]:
    """Return the winner's configuration, as far as it is not the recipe's default; what a preset holds."""
    own, plain = result.config.to_dict(), type(result.config)().to_dict()
    return {name: value for name, value in own.items() if value != plain[name] and name != "seed"}


def _write(folder: Path, result: SearchResult, source: Source) -> None:
    import yaml

    from mcn._files import write_text
    from mcn.experiments.search import summary

    preset = {
        "description": f"The winner of a search of {result.space} on {result.dataset}: {result.protocol}.",
        "dataset": source.dataset,
        "recipe": result.config.recipe,
        "settings": _changed(result),
    }
    write_text(folder / BEST, yaml.safe_dump(preset, sort_keys=False, allow_unicode=True))
    write_text(folder / RESULT, json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n")
    write_text(folder / SUMMARY, summary(result))


def _print(result: SearchResult, source: Source, folder: Path, ledger: Path, how: dict[str, Any]) -> None:
    import numpy as np
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names = list(result.trials[0].settings)
    table = Table(
        title=Text(f"{result.dataset}, space {result.space}: the best settings"), title_justify="left"
    )
    validation = "validation" if result.metric == "accuracy" else f"validation {result.metric}"
    for column in ("trial", validation, *names):
        table.add_column(column, justify="right" if column in ("trial", validation) else "left")
    for trial in result.ranking[:5]:
        shown = [_shown(trial.settings[name]) for name in names]
        table.add_row(str(trial.number), _validation(result.metric, trial), *map(Text, shown))
    console = Console()
    console.print(table) if console.is_terminal else Console(width=120).print(table)
    if result.failed:
        reasons = next(trial.error for trial in result.trials if trial.error is not None)
        print(f"failed: {result.failed} of {len(result.trials)} trials; the first: {reasons}")
    if result.importances is None:
        print(f"importance: {result.note}")
    else:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in result.importances.items())
        print(f"importance (share of the variation, fANOVA): {shares}")
    test = [100 * row["test_accuracy"] for row in result.final if row["test_accuracy"] is not None]
    deviation = f" ± {np.std(test, ddof=1):.1f}" if len(test) > 1 else ""
    print(
        "test: no test nodes"
        if not test
        else f"test accuracy of the winner: {np.mean(test):.1f}{deviation} %"
    )
    if test and result.metric != "accuracy":
        from mcn.cli._tables import mean_and_spread
        from mcn.experiments import metric_figures

        own = mean_and_spread(result.metric, metric_figures(result.metric, result.final))
        print(f"test {result.metric} of the winner: {own}")
    print(f"protocol: {result.protocol}")
    where = ["--graph", source.graph] if source.graph else []
    where += ["--nodes", source.nodes] if source.nodes else []
    where += data_words(how)
    again = ["mcn", "train", *where, "--preset", str(folder / BEST), "--seeds", str(len(result.final))]
    again += ["--seed", str(result.final[0]["seed"])]
    print(f"again: {shlex.join(again)}")
    print(f"files: {folder}" + ("" if ledger.parent == folder else f", {ledger}"))


def _validation(metric: str, trial: Trial) -> str:
    from mcn.cli._tables import mean_and_spread

    return mean_and_spread(metric, {"test_mean": trial.val_score, "test_std": None})


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
