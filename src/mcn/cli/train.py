"""`mcn train`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn.cli._compiling import compile_notice
from mcn.cli._interrupt import resumable
from mcn.cli._options import DataRoot, Dataset, Graph, Json, Nodes, free_folder, read_input
from mcn.cli._progress import progress_bar
from mcn.cli._settings import (
    Attention,
    Dropout,
    Heads,
    Hidden,
    Layers,
    Lr,
    MaxEpochs,
    Motifs,
    Normalize,
    Patience,
    Preset,
    Psi,
    Recipe,
    Seed,
    Steps,
    Stopping,
    WeightDecay,
    configured,
    read_preset,
    settings_given,
)
from mcn.cli._warnings import plain_warnings

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.train import Config
    from mcn.train.recipes import AnyConfig

EMBEDDED = "strong-ties"


def run(
    dataset: Dataset = None,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    preset: Preset = None,
    recipe: Recipe = None,
    motifs: Motifs = None,
    steps: Steps = None,
    psi: Psi = None,
    attention: Attention = None,
    hidden: Hidden = None,
    heads: Heads = None,
    layers: Layers = None,
    dropout: Dropout = None,
    lr: Lr = None,
    weight_decay: WeightDecay = None,
    max_epochs: MaxEpochs = None,
    patience: Patience = None,
    stopping: Stopping = None,
    normalize: Normalize = None,
    seed: Seed = 0,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="How many runs, each with a seed of its own.")
    ] = 1,
    beside: Annotated[
        str | None,
        typer.Option("--beside", help="Methods to train for comparison, such as gat,gcn; none to leave it."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the run; runs/NAME if not given.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    report: Annotated[
        bool,
        typer.Option("--report/--no-report", help="Write report.html into the folder (default), or not."),
    ] = True,
    as_json: Json = False,
) -> None:
    """Train a motif convolutional network to classify the nodes of a graph.

    Without arguments: the embedded graph `strong-ties`, beside GAT and GCN.

    The recipe that did best on the data set is used unless --recipe, or an option that only another recipe
    has, says otherwise; which one it was is printed.

    A preset brings its data set along, unless --dataset or --graph is given; options win over it.

    Example: mcn train --graph edges.csv --nodes nodes.csv --motifs edge,triangle --out runs/mine
    """
    if resume and out is None:
        raise ValueError("--resume needs --out: the folder of the run to go on with")
    start = None if preset is None else read_preset(preset, recipe)
    if start is not None and dataset is None and graph is None:
        dataset = start.dataset
    others = _methods(beside, default=("gat", "gcn") if dataset is None and graph is None else ())
    with plain_warnings(), compile_notice():
        data, name = read_input(dataset, graph, nodes, data_root, default=EMBEDDED)
        given = settings_given(
            motifs,
            layers,
            steps=steps,
            psi=psi,
            attention=attention,
            hidden=hidden,
            heads=heads,
            dropout=dropout,
            lr=lr,
            weight_decay=weight_decay,
            max_epochs=max_epochs,
            patience=patience,
            stopping=stopping,
            normalize=normalize,
        )
        known = None if graph else name
        config = configured(recipe, known, None if start is None else start.config, given)
        source = {
            "dataset": known,
            "graph": None if graph is None else str(graph.expanduser().resolve()),
            "nodes": None if nodes is None else str(nodes.expanduser().resolve()),
        }
        folder = out or free_folder(Path("runs"), Path(name).name.split(".")[0] if graph else name)
        numbers = list(range(seed, seed + seeds))
        with resumable(folder):
            folders = _folders(folder, numbers, resume)
            summaries = _train(folders, numbers, data, config, source, resume)
            if report:
                _report(folders, data)
            rows = _beside(data, _network(config, known), others, numbers)

    result = _result(name, summaries, rows, numbers, folder, config)
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        _print(result, getattr(data, "report", None) or [], chosen=recipe is None and preset is None)


def _network(config: AnyConfig, dataset: str | None) -> Config:
    """The configuration that the methods beside the trained one start from."""
    from mcn.train import Config, dataset_config

    return config if isinstance(config, Config) else dataset_config(dataset)


def _folders(folder: Path, seeds: list[int], resume: bool) -> list[Path]:
    """The folder of each run; none may hold another run, nor may the folder around them."""
    from mcn.train import check_free

    if len(seeds) == 1:
        targets = [folder]
    else:
        targets = [folder / f"seed-{seed}" for seed in seeds]
        check_free(folder)
    for target in targets:
        check_free(target, resume)
    return targets


def _train(
    folders: list[Path], seeds: list[int], data: Data, config: AnyConfig, source: dict[str, Any], resume: bool
) -> list[dict[str, Any]]:
    from mcn.motifs import count_motifs
    from mcn.train import train_run

    counts = count_motifs(data.edge_index, data.num_nodes)
    summaries = []
    with progress_bar("training") as report:
        for done, (folder, seed) in enumerate(zip(folders, seeds, strict=True)):

            def overall(fraction: float, done: int = done) -> None:
                report((done + fraction) / len(seeds))

            own = config.but(seed=seed)
            summaries.append(
                train_run(folder, data, own, source, counts=counts, resume=resume, progress=overall)
            )
    return summaries


def _report(folders: list[Path], data: Data) -> None:
    from mcn.viz import write_report

    for folder in folders:
        write_report(folder, data)


def _beside(data: Data, config: Config, methods: tuple[str, ...], seeds: list[int]) -> list[dict[str, Any]]:
    from mcn.train import compare

    if not methods:
        return []
    with progress_bar(" and ".join(methods)) as report:
        return compare(data, config, methods, seeds, report)


def _methods(beside: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    from mcn.train import METHODS
    from mcn.train._settings import one_of

    if beside is None:
        return default
    names = tuple(n.strip() for n in beside.split(",") if n.strip() and n.strip() != "none")
    for n in names:
        one_of("--beside", n, METHODS)
    return names


def _result(
    name: str,
    summaries: list[dict[str, Any]],
    rows: list[dict[str, Any]],
    seeds: list[int],
    folder: Path,
    config: AnyConfig,
) -> dict[str, Any]:
    from mcn.train import recipe_of, result_row

    test, val, seconds = (
        [summary[key] for summary in summaries] for key in ("test_accuracy", "val_accuracy", "seconds")
    )
    return {
        "dataset": name,
        "protocol": summaries[0]["protocol"],
        "recipe": recipe_of(config),
        "rows": [
            result_row("views" if recipe_of(config) == "views" else "mcn", test, val, seeds, seconds),
            *rows,
        ],
        "motif_share": summaries[0]["motif_share"],
        "config": config.to_dict(),
        "out": str(folder),
    }


def _print(result: dict[str, Any], notes: list[str], chosen: bool) -> None:
    """Print the result; where the recipe was `chosen` for the user, also how to ask for another."""
    from mcn.cli._tables import print_methods
    from mcn.train import RECIPES

    for note in notes:
        print(f"note: {note}")
    print_methods(result["dataset"], result["rows"])
    seeds = result["rows"][0]["seeds"]
    spread = f"; mean ± standard deviation over {len(seeds)} seeds" if len(seeds) > 1 else ""
    others = " or ".join(f"--recipe {name}" for name in RECIPES if name != result["recipe"])
    another = f"; {others} for another" if chosen else ""
    print(f"recipe: {result['recipe']} ({RECIPES[result['recipe']]}){another}")
    print(f"protocol: {result['protocol']}{spread}")
    of = f" (seed {seeds[0]})" if len(seeds) > 1 else ""
    for layer, shares in enumerate(result["motif_share"], 1):
        line = ", ".join(f"{share:.0%} {choice}" for choice, share in shares.items())
        print(f"layer {layer} listens to{of}: {line}")
    print(f"files: {result['out']}")
