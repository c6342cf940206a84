"""`mcn train`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn._composition import check_composition
from mcn.cli import _options as options
from mcn.cli import _training as training
from mcn.cli._terminal import (
    MOST_LINES,
    compile_notice,
    fitting,
    mean_and_spread,
    notable,
    plain_warnings,
    print_methods,
    print_table,
)
from mcn.cli.main import go_on, interruptible, together

if TYPE_CHECKING:
    from mcn.train.run import Run
    from mcn.train.settings import Settings

EMBEDDED, BESIDE = "strong-ties", ("gat", "gcn")
_MOST_CANDIDATES = 5  # in the table, so that remarks have room beside it


@options.with_settings
@options.with_data_options
def run(
    dataset: options.Dataset = None,
    graph: options.Graph = None,
    nodes: options.Nodes = None,
    data_root: options.DataRoot = None,
    preset: options.Preset = None,
    recipe: options.Recipe = None,
    seed: options.Seed = 0,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="How many runs, each with a seed of its own.")
    ] = 1,
    beside: Annotated[
        str | None,
        typer.Option("--beside", help="Methods to train for comparison, such as gat,gcn; none to leave it."),
    ] = None,
    out: Annotated[Path | None, options.out_option("Folder for the run; runs/NAME if not given.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    report: Annotated[
        bool,
        typer.Option("--report/--no-report", help="Write report.html into the folder (default), or not."),
    ] = True,
    engine: options.Engine = "local",
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="For --engine ray: processes that share each batch.")
    ] = 2,
    address: options.Address = None,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    **asked: Any,
) -> None:
    """Train a motif convolutional network to classify the nodes of a graph.

    Without arguments: the embedded graph `strong-ties`, beside GAT and GCN.

    The data set's default recipe is used unless --recipe or --preset says otherwise; for a graph of your own
    that is auto, which tries several networks and says which of them predicts. An option that the recipe
    lacks is an error that says which recipe has it.

    A preset brings its data set along, unless --dataset or --graph is given; options win over it.

    Example: mcn train --graph edges.csv --nodes nodes.csv --motifs edge,triangle --out runs/mine
    """
    if resume and out is None:
        raise ValueError("--resume needs --out: the folder of the run to go on with")
    phases = training.Phases()
    how, given = options.data_given(asked), options.settings_given(asked)
    start = None if preset is None else options.read_preset(preset, recipe)
    if start is not None and dataset is None and graph is None:
        dataset = start.dataset
    embedded = dataset is None and graph is None
    named = EMBEDDED if embedded else dataset
    config = options.configured(recipe, named, start, given)
    processes = training.processes_on(engine, workers, address, config)
    methods = training.methods_beside(beside, BESIDE if embedded else (), config.recipe, "weights" in how)
    settings = given if start is None else {**start.settings, **given}
    from mcn.data.targets import target_kind
    from mcn.train.processes import joined, torch_device

    torch_device(config.device)
    with plain_warnings(), compile_notice(), joined(config.device) as team:
        numbers = list(range(seed, seed + seeds))
        before = team.from_first(lambda: training.begun_with(out, numbers)) if resume else None
        on_disk = training.StaysOnDisk(team, before, processes)
        data, name = options.read_input(
            dataset, graph, nodes, data_root, default=EMBEDDED, on_disk=on_disk, **how
        )
        phases.ended("start and reading")
        source = {
            "dataset": named,
            "graph": None if graph is None else str(graph.expanduser().resolve()),
            "nodes": None if nodes is None else str(nodes.expanduser().resolve()),
            **how,
            **({"on_disk": True} if on_disk.why else {}),
        }
        if graph is not None and data.y is not None and target_kind(data.y) != "classes":
            source["task"] = target_kind(data.y)  # graphs to predict are read alike
            other = {"numbers or several targets": f"the task {source['task']}"}
            check_composition(
                {"methods for comparison": methods and f"--beside {','.join(methods)}", **other}
            )
        folder = out or options.free_folder(Path("runs"), Path(name).name.split(".")[0] if graph else name)
        folders = training.folders_by_seed(folder, numbers)
        with interruptible(go_on(folder)), together(folder, team):
            training.check_folders(folder, folders, resume or not team.leads)
            memory: str | None
            if on_disk.why:
                other = {"a packed graph": "a graph that stays on disk"}
                check_composition(
                    {"methods for comparison": methods and f"--beside {','.join(methods)}", **other}
                )
                chosen = [*settings, *(["recipe"] if recipe is not None or preset is not None else [])]
                config, memory = training.for_store(data, config, chosen, on_disk.why, team)
                counts = None
            else:
                from mcn.motifs import count_motifs

                counts = count_motifs(data.edge_index, data.num_nodes)
                config, memory = training.for_memory(config, counts, before)
            if engine == "ray":
                cluster = {"source": source, "counts": counts, "workers": workers, "address": address}
                runs = training.train_on_cluster(folder, data, config, folders, **cluster)
            else:
                runs = training.train_seeds(data, config, folders, source, counts, resume, phases)
            if not team.leads:
                return
            if report and not on_disk.why:
                from mcn.viz import write_report

                for run in runs:
                    write_report(run, data)
            phases.ended("results and report")
            for run in runs:
                phases.write(run)
            rows = training.train_beside(methods, data, config, settings, numbers, named, counts)

    result = _result(runs, rows, numbers, runs[0].config)
    notes = (data.about if on_disk.why else {"report": getattr(data, "report", None)}).get("report") or []
    result = {"dataset": name, **result, "notes": list(map(str, notes)), "memory": memory, "out": str(folder)}
    result["phase_seconds"] = phases.seconds
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        _print(result, runs[0], phases, verbose)


def _result(
    runs: list[Run], rows: list[dict[str, Any]], seeds: list[int], config: Settings
) -> dict[str, Any]:
    """Return what there is to tell of all runs, and of the first of them in detail."""
    from mcn.experiments import result_row

    summaries = [run.summary | {"seed": seed} for run, seed in zip(runs, seeds, strict=True)]
    names = [
        *("task", "threshold", "protocol", "motif_share", "scores", "alone", "remarks"),
        *("candidates", "choosing"),
    ]
    return {
        "recipe": config.recipe,
        "rows": [result_row(config.recipe, summaries), *rows],
        **{name: summaries[0][name] for name in names if name in summaries[0]},
        "config": config.to_dict(),
    }


def _print(result: dict[str, Any], run: Run, phases: training.Phases, verbose: bool) -> None:
    """Print the result, one table, remarks and notes, times, the folder; with `verbose` everything."""
    metric = result["config"]["metric"]
    layers = [] if "candidates" in result else result["motif_share"]
    most = None if verbose else _MOST_CANDIDATES
    if "candidates" in result:
        _print_selection(result, metric, run.task.guess_name, most)
    else:
        print_methods(result["dataset"], result["rows"], None if metric == "accuracy" else metric)
    for layer, shares in enumerate(layers, 1):
        some = {choice: share for choice, share in shares.items() if share >= 0.005}
        largest = sorted(some.items(), key=lambda share: -share[1])
        print(f"layer {layer} listens to: {', '.join(f'{share:.0%} {choice}' for choice, share in largest)}")
    further = [f"note: {note}" for note in (run.task.decision(run.classes), result["memory"]) if note]
    further += [f"remark: {remark}" for remark in result["remarks"]]
    further += [f"note: {note}" for note in (result["notes"] if verbose else notable(result["notes"]))]
    if verbose:
        further += _everything_else(result, metric, run.task.guess_name)
    # Title, header and rule of the table, its rows, a line per layer, the times and the folder.
    rows = result.get("candidates", result["rows"])
    room = MOST_LINES - 5 - min(len(rows), (most or len(rows)) + 1) - len(layers)
    for line in [*(further if verbose else fitting(further, room)), str(phases), f"folder: {result['out']}"]:
        print(line)


def _print_selection(result: dict[str, Any], metric: str, guess_name: str, most: int | None) -> None:
    """Print what predicts and how well, and how the best candidates (`most`) did on validation nodes."""
    from mcn.train.metrics import merit, shown

    choosing, scores = result["choosing"], result["rows"][0]["metrics"][metric]
    by = {"one": choosing["winner"], "blend": "a weighted mean of candidates"}
    tested = "no test nodes" if scores["test_mean"] is None else mean_and_spread(metric, scores)
    guess = f"always {guess_name}: {metric} {shown(metric, result['alone']['guess'])}"
    share = choosing["blend"] or {choosing["winner"]: 1.0}

    def cells(candidate: dict[str, Any], first: bool) -> Iterator[str]:
        error, predicts = candidate["behind_error"], share.get(candidate["candidate"], 0.0)
        yield candidate["candidate"]
        yield shown(metric, merit(metric, candidate["score"]))
        spread = "" if error is None else f" ± {shown(metric, error).rstrip('%')}"
        yield "" if first else f"{shown(metric, candidate['behind']).rstrip('%')}{spread}"
        yield str(candidate["runs"])
        yield f"{candidate['seconds_per_run']:.1f}"
        yield f"{predicts:.0%}" if predicts else ""

    print_table(
        f"{result['dataset']}: test {metric} {tested} by {by[choosing['mode']]} ({guess})",
        ("candidate", f"held-out {metric}", "worse by", "runs", "s per run", "weight"),
        [list(cells(candidate, place == 0)) for place, candidate in enumerate(result["candidates"][:most])],
        left=("candidate",),
    )
    others = [] if most is None else [candidate["candidate"] for candidate in result["candidates"][most:]]
    if others:
        print(f"also tried, with lower scores: {', '.join(others)} (--verbose)")


def _everything_else(result: dict[str, Any], metric: str, guess_name: str) -> Iterator[str]:
    from mcn.train.metrics import shown
    from mcn.train.recipes import RECIPES

    others = " or ".join(f"--recipe {name}" for name in RECIPES if name != result["recipe"])
    yield f"recipe: {result['recipe']} ({RECIPES[result['recipe']].title}); {others} for another"
    yield f"protocol: {result['protocol']}"
    for part, title in (("val", "validation"), ("test", "test")):
        if result["scores"][part] is not None:
            scores = result["scores"][part].items()
            yield f"{title}: {', '.join(f'{name} {shown(name, value)}' for name, value in scores)}"
    titles = {"guess": guess_name, "features": "features alone", "graph": "the graph alone"}
    simple = ", ".join(f"{titles[key]} {shown(metric, value)}" for key, value in result["alone"].items())
    yield f"simple methods ({metric} on validation nodes): {simple}"
