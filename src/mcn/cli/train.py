"""`mcn train`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn.cli._compiling import compile_notice
from mcn.cli._engine import Address, Engine, Workers, processes_on, train_with
from mcn.cli._interrupt import resumable, together
from mcn.cli._memory import Stays, begun, decided, for_store, none_beside
from mcn.cli._options import (
    DataRoot,
    Dataset,
    Graph,
    Json,
    Nodes,
    data_given,
    free_folder,
    out_option,
    read_input,
    with_data_options,
)
from mcn.cli._progress import progress_bar
from mcn.cli._settings import (
    Preset,
    Recipe,
    Seed,
    configured,
    read_preset,
    settings_given,
    with_settings,
)
from mcn.cli._warnings import plain_warnings

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from mcn.motifs import MotifCounts
    from mcn.train.run import Run
    from mcn.train.settings import Settings

EMBEDDED = "strong-ties"


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
    **options: Any,
) -> None:
    """Train a motif convolutional network to classify the nodes of a graph.

    Without arguments: the embedded graph `strong-ties`, beside GAT and GCN.

    The data set's default recipe is used unless --recipe or --preset says otherwise; which one it was is
    printed. An option that the recipe lacks is an error that says which recipe has it.

    A preset brings its data set along, unless --dataset or --graph is given; options win over it.

    Example: mcn train --graph edges.csv --nodes nodes.csv --motifs edge,triangle --out runs/mine
    """
    if resume and out is None:
        raise ValueError("--resume needs --out: the folder of the run to go on with")
    how = data_given(options)
    given = settings_given(options)
    start = None if preset is None else read_preset(preset, recipe)
    if start is not None and dataset is None and graph is None:
        dataset = start.dataset
    named = EMBEDDED if dataset is None and graph is None else dataset
    config = configured(recipe, named, start, given)
    processes = processes_on(engine, workers, address, config)
    others = _methods(beside, default=("gat", "gcn") if dataset is None and graph is None else ())
    asked = given if start is None else {**config.current_names(start.settings), **given}
    shared = _shared(config, asked)
    others = _check_beside(others, named, config.recipe, shared, weighted="weights" in how)
    from mcn.train.devices import torch_device
    from mcn.train.processes import joined

    torch_device(config.device)
    with plain_warnings(), compile_notice(), joined(config.device) as team:
        memory: str | None
        numbers = list(range(seed, seed + seeds))
        before = team.from_first(lambda: begun(out, numbers)) if resume else None
        stays = Stays(team, before, processes)
        data, name = read_input(dataset, graph, nodes, data_root, default=EMBEDDED, on_disk=stays, **how)
        source = {
            "dataset": named,
            "graph": None if graph is None else str(graph.expanduser().resolve()),
            "nodes": None if nodes is None else str(nodes.expanduser().resolve()),
            **how,
            **({"on_disk": True} if stays.why else {}),
        }
        folder = out or free_folder(Path("runs"), Path(name).name.split(".")[0] if graph else name)
        with resumable(folder), together(folder, team):
            folders = _folders(folder, numbers, resume or not team.leads)
            if stays.why:
                named_by_user = [*asked, *(["recipe"] if recipe is not None or preset is not None else [])]
                config, memory = for_store(data, config, named_by_user, stays.why, team)
                others, counts = none_beside(others), None
            else:
                from mcn.motifs import count_motifs

                counts = count_motifs(data.edge_index, data.num_nodes)
                config, memory = decided(config, counts, before)
            on = {"workers": workers, "address": address} if engine == "ray" else None
            runs = train_with(on, folder, folders, numbers, data, config, source, counts, resume)
            if not team.leads:
                return
            if report and not stays.why:
                _report(runs, data)
            rows = _beside(data, named, others, numbers, shared, counts)

    result = _result(name, runs, rows, numbers, folder, config) | {"memory": memory}
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        _print(result, _notes(data), chosen=recipe is None and preset is None)


def _shared(config: Settings, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the methods beside the trained one share with it.

    They are special cases of MCN: settings of another kind of network say nothing about them.
    """
    from mcn.train.mcn.config import MCNConfig

    return given if isinstance(config, MCNConfig) else {}


def _folders(folder: Path, seeds: list[int], resume: bool) -> list[Path]:
    """The folder of each run; none may hold another run, nor may the folder around them."""
    from mcn.train.folder import check_free

    if len(seeds) == 1:
        targets = [folder]
    else:
        targets = [folder / f"seed-{seed}" for seed in seeds]
        check_free(folder)
    for target in targets:
        check_free(target, resume)
    return targets


def _report(runs: list[Run], data: Data) -> None:
    from mcn.viz import write_report

    for run in runs:
        write_report(run, data)


def _beside(
    data: Data,
    dataset: str | None,
    methods: tuple[str, ...],
    seeds: list[int],
    settings: dict[str, Any],
    counts: MotifCounts | None,
) -> list[dict[str, Any]]:
    from mcn.experiments import compare

    if not methods:
        return []
    with progress_bar(" and ".join(methods)) as report:
        return compare(
            data, methods, seeds, dataset=dataset, settings=settings, counts=counts, progress=report
        )


def _methods(beside: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    if beside is None:
        return default
    names = [n.strip() for n in beside.split(",") if n.strip() and n.strip() != "none"]
    if not names:
        return ()
    from mcn.baselines import check_methods

    return tuple(check_methods(names, "--beside"))


def _check_beside(
    methods: tuple[str, ...], dataset: str | None, recipe: str, settings: dict[str, Any], weighted: bool
) -> tuple[str, ...]:
    """Refuse what the methods beside cannot do before anything is trained, and return their names.

    Where a method exists in the way of the recipe (gat-paper), that is the one to compare with.
    """
    if not methods:
        return ()
    from mcn.baselines import METHODS, find_method
    from mcn.experiments import known_settings

    names = tuple(f"{name}-{recipe}" if f"{name}-{recipe}" in METHODS else name for name in methods)
    for name in names:
        method = find_method(name)
        method.configure(dataset, known_settings(name, settings), {})
        if weighted:
            method.check_weights()
    return names


def _result(
    name: str,
    runs: list[Run],
    rows: list[dict[str, Any]],
    seeds: list[int],
    folder: Path,
    config: Settings,
) -> dict[str, Any]:
    from mcn.experiments import result_row

    own = [run.summary | {"seed": seed} for run, seed in zip(runs, seeds, strict=True)]
    return {
        "dataset": name,
        "protocol": own[0]["protocol"],
        "recipe": config.recipe,
        "rows": [result_row(config.recipe, own), *rows],
        "motif_share": own[0]["motif_share"],
        "scores": own[0]["scores"],
        "alone": own[0]["alone"],
        "remarks": own[0]["remarks"],
        **{key: own[0][key] for key in ("candidates", "choosing", "deals") if key in own[0]},
        "config": config.to_dict(),
        "out": str(folder),
    }


def _notes(data: Any) -> list[str]:
    """What was done to the graph when it was read or packed."""
    from mcn.store import GraphStore

    lines = data.about.get("report") if isinstance(data, GraphStore) else getattr(data, "report", None)
    return [str(line) for line in lines or []]


def _print(result: dict[str, Any], notes: list[str], chosen: bool) -> None:
    """Print the result; where the recipe was `chosen` for the user, also how to ask for another."""
    from mcn.cli._tables import print_candidates, print_methods, print_scores
    from mcn.train.recipes import RECIPES

    for note in notes:
        print(f"note: {note}")
    print_methods(result["dataset"], result["rows"])
    seeds = result["rows"][0]["seeds"]
    spread = f"; mean ± standard deviation over {len(seeds)} seeds" if len(seeds) > 1 else ""
    others = " or ".join(f"--recipe {name}" for name in RECIPES if name != result["recipe"])
    another = f"; {others} for another" if chosen else ""
    print(f"recipe: {result['recipe']} ({RECIPES[result['recipe']].title}){another}")
    print(f"protocol: {result['protocol']}{spread}")
    if result["memory"]:
        print(f"memory: {result['memory']}")
    print_scores(result)
    if "candidates" in result:
        print_candidates(result)
    of = f" (seed {seeds[0]})" if len(seeds) > 1 else ""
    blended = result.get("choosing", {}).get("mode") == "blend"  # a remark says what nodes listen to
    for layer, shares in enumerate([] if blended else result["motif_share"], 1):
        # Of many candidates, only those that some node took.
        taken = {c: s for c, s in shares.items() if s > 0} if "candidates" in result else shares
        line = ", ".join(f"{share:.0%} {choice}" for choice, share in taken.items())
        print(f"layer {layer} listens to{of}: {line}")
    print(f"files: {result['out']}")
