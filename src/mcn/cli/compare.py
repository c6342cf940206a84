"""`mcn compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from mcn.cli._options import (
    DataRoot,
    Dataset,
    Graph,
    Jobs,
    Json,
    Nodes,
    Seed,
    data_given,
    read_input,
    settings_given,
    source_options,
    with_data_options,
    with_settings,
)
from mcn.cli._terminal import compile_notice, plain_warnings, progress_bar
from mcn.cli.main import interruptible


@with_settings
@with_data_options
def run(
    dataset: Dataset = None,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    methods: Annotated[
        str, typer.Option("--methods", help="Methods to compare; an unknown name lists them all.")
    ] = "mcn,gat,gcn,mlp",
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Runs per method, each with a seed of its own.")
    ] = 5,
    seed: Seed = 0,
    jobs: Jobs = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Keep finished runs in this file, and use those that are in it."),
    ] = None,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Compare methods on one graph: the same split, the same protocol, paired seeds.

    Settings reach the methods that have them: the recipes and their special cases. The other methods have
    settings of their own (docs/baselines.md). On dd6 and dd7 every seed draws a split of its own.

    Example: mcn compare --dataset cora --methods mcn,gat,lp --seeds 15
    """
    how = data_given(options)
    given = settings_given(options)
    with plain_warnings(), compile_notice():
        from mcn.cli._training import register_baselines
        from mcn.experiments import METHODS, check_methods

        register_baselines()

        names = check_methods([n.strip() for n in methods.split(",") if n.strip()], "--methods")
        data, title = read_input(dataset, graph, nodes, data_root, default="strong-ties", **how)
        from mcn.experiments import Ledger, Source, compare
        from mcn.train.run import protocol

        source = Source(
            None if graph else title,
            _text(graph),
            _text(nodes),
            None if graph else _text(data_root),
            options=source_options(how, graph is not None),
        )
        book = None if ledger is None else Ledger(ledger)
        kept = (
            "nothing is kept without --ledger"
            if ledger is None
            else f"the same command goes on from {ledger}"
        )
        with interruptible(kept), progress_bar("comparing") as report:
            numbers = list(range(seed, seed + seeds))
            rows = compare(source, names, numbers, settings=given, ledger=book, jobs=jobs, progress=report)
    trained = [name for name in names if METHODS[name].trained]
    said = protocol(data, _config(trained[0] if trained else "mcn", source.dataset, given))
    if as_json:
        print(json.dumps({"dataset": title, "protocol": said, "rows": rows}, indent=2))
        return
    from mcn.cli._terminal import print_methods

    for note in [*(getattr(data, "report", None) or []), *_notes(names, given)]:
        print(f"note: {note}")
    print_methods(title, rows, given.get("metric"))
    draws = ", each with a split of its own" if source.draw(1) else ""
    print(f"protocol: {said}; mean ± standard deviation over {seeds} seeds{draws}")


def _config(method: str, dataset: str | None, given: dict[str, Any]) -> Any:
    """Return the configuration of a method that is trained, with the given settings that it has."""
    from mcn.experiments import find_method, known_settings

    return find_method(method).configure(dataset, known_settings(method, given), {})


def _notes(methods: list[str], given: dict[str, Any]) -> list[str]:
    """Say which methods do not have which of the given settings."""
    from mcn.experiments import known_settings

    without: dict[str, list[str]] = {}
    for method in methods:
        for name in given.keys() - known_settings(method, given).keys():
            without.setdefault(name, []).append(method)
    return [f"{name}: no setting of {', '.join(without[name])}" for name in given if name in without]


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
