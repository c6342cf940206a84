"""`mcn search`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn._names import data_words
from mcn.cli import _options as options
from mcn.cli._terminal import (
    compile_notice,
    mean_and_spread,
    plain_warnings,
    print_facts,
    print_table,
    progress_bar,
)
from mcn.cli.main import go_on, interruptible

if TYPE_CHECKING:
    from mcn.experiments import Source
    from mcn.experiments.search import SearchResult, Trial

EMBEDDED = "strong-ties"
LEDGER, RESULT, BEST = "ledger.sqlite", "search.json", "best.yaml"


@options.with_data_options
def run(
    dataset: options.Dataset = None,
    graph: options.Graph = None,
    nodes: options.Nodes = None,
    data_root: options.DataRoot = None,
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
    metric: Annotated[
        str, typer.Option("--metric", help="What decides on the validation nodes: accuracy, roc-auc …")
    ] = "accuracy",
    seed: options.Seed = 0,
    batch: Annotated[
        int, typer.Option("--batch", min=1, help="Trials proposed at once; more for a large cluster.")
    ] = 4,
    engine: options.Engine = "local",
    address: options.Address = None,
    jobs: options.Jobs = None,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="File of all runs; ledger.sqlite in --out if not given.")
    ] = None,
    out: Annotated[
        Path | None, options.out_option("Folder for the results; runs/search-NAME if not given.")
    ] = None,
    resume: options.Resume = False,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    **given: Any,
) -> None:
    """Search for the settings with the best validation accuracy or --metric, then test it on fresh seeds.

    Every run is kept in a ledger: none is done twice, and an interrupted search goes on with --resume.

    Example: mcn search --dataset cora --space citation --trials 60 --out runs/cora-search
    """
    if resume and out is None and ledger is None:
        raise ValueError("--resume needs --out or --ledger: the search to go on with")
    options.check_input(dataset, graph, nodes)
    how = options.data_given(given)
    name = graph.name.split(".")[0] if graph is not None else dataset or EMBEDDED
    folder = out or options.free_folder(Path("runs"), f"search-{name}")
    path = ledger or folder / LEDGER
    if path.exists() and not resume:
        raise ValueError(f"{path} already holds runs; choose another --out, or go on with --resume")
    with plain_warnings(), compile_notice():
        from mcn.experiments import Source
        from mcn.experiments.search import load_space, search

        searched = load_space(space)
        asked = options.source_options(how, own_graph=graph is not None)
        if graph is None:
            options.check_for_dataset(how)
            source = Source(name, data_root=None if data_root is None else str(data_root), options=asked)
        else:
            source = Source(graph=str(graph), nodes=None if nodes is None else str(nodes), options=asked)
        with interruptible(go_on(folder)), progress_bar("searching") as report:

            def tell(done: int, total: int, best: Trial | None) -> None:
                so_far = "" if best is None else f", best {_validation(metric, best)}"
                report(done / total, f"searching{so_far}")

            result = search(
                source,
                searched,
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
                progress=tell,
            )
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, result, source)
    if as_json:
        print(json.dumps(result.to_dict() | {"out": str(folder), "ledger": str(path)}, indent=2))
        return
    _print(result, verbose)
    print(f"train it again: {_train_command(result, source, folder, how)}")
    print(f"folder: {folder}" + ("" if path.parent == folder else f", {path}"))


def _write(folder: Path, result: SearchResult, source: Source) -> None:
    """Write the results; the winner as a preset, with the settings that are not the recipe's default."""
    import yaml

    from graphmotifs._files import write_text

    preset = {
        "description": f"The winner of a search of {result.space} on {result.dataset}: {result.protocol}.",
        "dataset": source.dataset,
        "recipe": result.config.recipe,
        "settings": result.config.replace(seed=0).identity(),
    }
    write_text(folder / BEST, yaml.safe_dump(preset, sort_keys=False, allow_unicode=True))
    write_text(folder / RESULT, json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n")


def _print(result: SearchResult, verbose: bool) -> None:
    """Print the best settings and what the winner reaches on test nodes; if `verbose`, also how."""
    from mcn.experiments import metric_figures

    names = list(result.trials[0].settings)
    validation = "validation" if result.metric == "accuracy" else f"validation {result.metric}"
    print_table(
        f"{result.dataset}, space {result.space}: the best settings",
        ["trial", validation, *names],
        [
            [str(trial.number), _validation(result.metric, trial), *(_text(trial.settings[n]) for n in names)]
            for trial in result.ranking[: len(result.ranking) if verbose else 5]
        ],
        left=names,
    )
    if result.failed:
        reason = next(trial.error for trial in result.trials if trial.error is not None)
        print(f"failed: {result.failed} of {len(result.trials)} trials; the first: {reason}")
    for metric in dict.fromkeys(("accuracy", result.metric)):
        scores = mean_and_spread(metric, metric_figures(metric, result.final))
        print(f"test {metric} of the winner: {scores}" if scores != "–" else "test: no test nodes")
    print("the winner was chosen on validation nodes and tested once, with seeds that the search did not use")
    if not verbose:
        return
    if result.importances is None:
        print(f"importance: {result.note}")
    else:
        shares = {name: f"{share:.0%}" for name, share in result.importances.items()}
        print_facts("importance of a setting: its share of the variation (fANOVA)", shares)
    print(f"protocol: {result.protocol}")


def _train_command(result: SearchResult, source: Source, folder: Path, how: dict[str, Any]) -> str:
    """Return the command that trains the winner again."""
    words = ["mcn", "train", *(["--graph", source.graph] if source.graph else [])]
    words += [*(["--nodes", source.nodes] if source.nodes else []), *data_words(how)]
    words += ["--preset", str(folder / BEST), "--seeds", str(len(result.final))]
    return shlex.join([*words, "--seed", str(result.final[0]["seed"])])


def _validation(metric: str, trial: Trial) -> str:
    return mean_and_spread(metric, {"test_mean": trial.val_score, "test_std": None})


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
