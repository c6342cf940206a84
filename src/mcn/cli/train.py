"""`mcn train`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn.cli._options import (
    DataRoot,
    Dataset,
    Graph,
    Json,
    Nodes,
    Preset,
    Recipe,
    Seed,
    Verbose,
    configured,
    data_given,
    free_folder,
    out_option,
    read_input,
    read_preset,
    settings_given,
    with_data_options,
    with_settings,
)
from mcn.cli._terminal import (
    compile_notice,
    notable,
    plain_warnings,
    print_methods,
    print_notes,
    print_table,
    progress_bar,
)
from mcn.cli._training import (
    Address,
    Engine,
    StaysOnDisk,
    Workers,
    begun_with,
    for_memory,
    for_store,
    methods_beside,
    processes_on,
    run_folders,
    settings_beside,
    train_on_cluster,
    train_seeds,
)
from mcn.cli.main import resumable, together

if TYPE_CHECKING:
    from mcn.train.run import Run
    from mcn.train.settings import Settings

EMBEDDED, BESIDE = "strong-ties", ("gat", "gcn")
_MOST_REMARKS = 3


@with_settings
@with_data_options
def run(
    dataset: Dataset = None,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    preset: Preset = None,
    recipe: Recipe = None,
    seed: Seed = 0,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="How many runs, each with a seed of its own.")
    ] = 1,
    beside: Annotated[
        str | None,
        typer.Option("--beside", help="Methods to train for comparison, such as gat,gcn; none to leave it."),
    ] = None,
    out: Annotated[Path | None, out_option("Folder for the run; runs/NAME if not given.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    report: Annotated[
        bool,
        typer.Option("--report/--no-report", help="Write report.html into the folder (default), or not."),
    ] = True,
    engine: Engine = "local",
    workers: Workers = 2,
    address: Address = None,
    as_json: Json = False,
    verbose: Verbose = False,
    **options: Any,
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
    how, given = data_given(options), settings_given(options)
    start = None if preset is None else read_preset(preset, recipe)
    if start is not None and dataset is None and graph is None:
        dataset = start.dataset
    embedded = dataset is None and graph is None
    named = EMBEDDED if embedded else dataset
    config = configured(recipe, named, start, given)
    processes = processes_on(engine, workers, address, config)
    methods = methods_beside(beside, BESIDE if embedded else (), named, config.recipe, "weights" in how)
    asked = given if start is None else {**start.settings, **given}
    shared = settings_beside(methods, config, asked)
    from mcn.train.processes import joined, torch_device

    torch_device(config.device)
    with plain_warnings(), compile_notice(), joined(config.device) as team:
        numbers = list(range(seed, seed + seeds))
        before = team.from_first(lambda: begun_with(out, numbers)) if resume else None
        on_disk = StaysOnDisk(team, before, processes)
        data, name = read_input(dataset, graph, nodes, data_root, default=EMBEDDED, on_disk=on_disk, **how)
        source = {
            "dataset": named,
            "graph": None if graph is None else str(graph.expanduser().resolve()),
            "nodes": None if nodes is None else str(nodes.expanduser().resolve()),
            **how,
            **({"on_disk": True} if on_disk.why else {}),
        }
        folder = out or free_folder(Path("runs"), Path(name).name.split(".")[0] if graph else name)
        with resumable(folder), together(folder, team):
            folders = run_folders(folder, numbers, resume or not team.leads)
            memory: str | None
            if on_disk.why:
                if methods:
                    raise ValueError(
                        f"--beside {','.join(methods)}: needs the graph in memory, and it stays on disk"
                    )
                chosen = [*asked, *(["recipe"] if recipe is not None or preset is not None else [])]
                config, memory = for_store(data, config, chosen, on_disk.why, team)
                counts = None
            else:
                from mcn.motifs import count_motifs

                counts = count_motifs(data.edge_index, data.num_nodes)
                config, memory = for_memory(config, counts, before)
            if engine == "ray":
                runs = train_on_cluster(data, config, folders, source, counts, workers, address)
            else:
                runs = train_seeds(data, config, folders, source, counts, resume)
            if not team.leads:
                return
            if report and not on_disk.why:
                _write_reports(runs, data)
            rows = []
            if methods:
                from mcn.experiments import compare

                with progress_bar(" and ".join(methods)) as bar:
                    rows = compare(
                        data, methods, numbers, dataset=named, settings=shared, counts=counts, progress=bar
                    )

    result = _result(name, runs, rows, numbers, folder, config, _notes(data), memory)
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        _print(result, verbose)


def _write_reports(runs: list[Run], data: Any) -> None:
    from mcn.viz import write_report

    for run in runs:
        write_report(run, data)


def _notes(data: Any) -> list[str]:
    """What was done to the graph when it was read or packed."""
    from mcn.store import GraphStore

    lines = data.about.get("report") if isinstance(data, GraphStore) else getattr(data, "report", None)
    return [str(line) for line in lines or []]


def _result(
    name: str,
    runs: list[Run],
    rows: list[dict[str, Any]],
    seeds: list[int],
    folder: Path,
    config: Settings,
    notes: list[str],
    memory: str | None,
) -> dict[str, Any]:
    from mcn.experiments import result_row

    summaries = [run.summary | {"seed": seed} for run, seed in zip(runs, seeds, strict=True)]
    first = summaries[0]
    names = ("protocol", "motif_share", "candidate_share", "scores", "alone", "remarks")
    also = ("candidates", "choosing", "deals")
    return {
        "dataset": name,
        "recipe": config.recipe,
        "rows": [result_row(config.recipe, summaries), *rows],
        **{key: first[key] for key in names},
        **{key: first[key] for key in also if key in first},
        "config": config.to_dict(),
        "notes": notes,
        "memory": memory,
        "out": str(folder),
    }


def _print(result: dict[str, Any], verbose: bool) -> None:
    """Print the result, one table, the remarks and the folder; with `verbose` all there is to say."""
    notes = result["notes"] if verbose else notable(result["notes"])
    print_notes(notes + ([result["memory"]] if result["memory"] else []))
    if "candidates" in result:
        _print_selection(result)
    else:
        metric = result["config"]["metric"]
        print_methods(result["dataset"], result["rows"], None if metric == "accuracy" else metric)
        for layer, shares in enumerate(result["motif_share"], 1):
            largest = sorted(shares.items(), key=lambda share: -share[1])
            print(
                f"layer {layer} listens to: {', '.join(f'{share:.0%} {choice}' for choice, share in largest)}"
            )
    remarks = result["remarks"]
    print_notes(remarks if verbose else remarks[:_MOST_REMARKS], "remark")
    if verbose:
        _print_everything(result)
    elif len(remarks) > _MOST_REMARKS:
        print(f"{len(remarks) - _MOST_REMARKS} more remarks: --verbose, or the report")
    print(f"folder: {result['out']}")


def _print_selection(result: dict[str, Any]) -> None:
    """Print what predicts and how well, and how the candidates did on validation nodes, the best first."""
    from mcn.train.metrics import LESS_IS_BETTER, shown

    metric, choosing, (row, *_) = result["config"]["metric"], result["choosing"], result["rows"]
    by = {"one": choosing["winner"], "blend": "a blend of candidates", "nodes": "a candidate for every node"}
    scores = row["metrics"][metric]
    spread = "" if scores["test_std"] is None else f" ± {100 * scores['test_std']:.1f}"
    tested = (
        "no test nodes" if scores["test_mean"] is None else f"{shown(metric, scores['test_mean'])}{spread}"
    )
    guess = shown(metric, result["alone"]["guess"])
    print(f"{result['dataset']}: test {metric} {tested} by {by[choosing['mode']]} (largest class: {guess})")
    unit = 1 if metric in LESS_IS_BETTER else 100
    cells: list[tuple[str, ...]] = []
    for candidate in result["candidates"]:
        error = candidate["behind_error"]
        error_text = "" if error is None else f" ± {unit * error:.1f}"
        behind = f"{unit * candidate['behind']:.1f}{error_text}" if cells else ""
        share = (choosing["blend"] or {}) if choosing["mode"] == "blend" else result["candidate_share"]
        predicts = share.get(candidate["candidate"], 0.0)
        cells.append(
            (
                candidate["candidate"],
                shown(metric, abs(candidate["score"])),
                behind,
                str(candidate["runs"]),
                f"{candidate['seconds_per_run']:.1f}",
                f"{predicts:.0%}" if predicts else "",
            )
        )
    columns = ("candidate", f"validation {metric}", "behind", "runs", "s per run", "share in prediction")
    print_table("", columns, cells, left=("candidate",))


def _print_everything(result: dict[str, Any]) -> None:
    from mcn.train.metrics import shown
    from mcn.train.recipes import RECIPES

    others = " or ".join(f"--recipe {name}" for name in RECIPES if name != result["recipe"])
    print(f"recipe: {result['recipe']} ({RECIPES[result['recipe']].title}); {others} for another")
    print(f"protocol: {result['protocol']}")
    for part, title in (("val", "validation"), ("test", "test")):
        if result["scores"][part] is not None:
            scores = result["scores"][part].items()
            print(f"{title}: {', '.join(f'{name} {shown(name, value)}' for name, value in scores)}")
    metric = result["config"]["metric"]
    titles = {"guess": "the largest class", "features": "features alone", "graph": "the graph alone"}
    simple = ", ".join(f"{titles[key]} {shown(metric, value)}" for key, value in result["alone"].items())
    print(f"simple methods ({metric} on validation nodes): {simple}")
