"""`mcn compare`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn.cli._compiling import compile_notice
from mcn.cli._options import DataRoot, Dataset, Graph, Json, Nodes, read_input
from mcn.cli._progress import progress_bar
from mcn.cli._settings import (
    Attention,
    Dropout,
    Lr,
    MaxEpochs,
    Motifs,
    Normalize,
    Patience,
    Psi,
    Seed,
    Steps,
    Stopping,
    WeightDecay,
    settings_given,
)
from mcn.cli._warnings import plain_warnings
from mcn.cli.main import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from mcn.experiments import Source, Unit

PAPER_RULE = "mcn-paper"
"""MCN trained by the paper's rule, whatever the other settings are."""
METHODS_HELP = (
    "Methods to compare: mcn, mcn-paper (the paper's rule), views (motif views), gat, gcn, mlp, majority, "
    "deepwalk, lp, manireg, semiemb, ica, planetoid, planetoid-t, planetoid-i, chebyshev, monet, "
    "gcn-ensemble, grand, twins."
)


def run(
    dataset: Dataset = None,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    methods: Annotated[str, typer.Option("--methods", help=METHODS_HELP)] = "mcn,gat,gcn,mlp",
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Runs per method, each with a seed of its own.")
    ] = 5,
    motifs: Motifs = None,
    steps: Steps = None,
    psi: Psi = None,
    attention: Attention = None,
    dropout: Dropout = None,
    lr: Lr = None,
    weight_decay: WeightDecay = None,
    max_epochs: MaxEpochs = None,
    patience: Patience = None,
    stopping: Stopping = None,
    normalize: Normalize = None,
    seed: Seed = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Runs at a time; as many as cores if not given.")
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Keep finished runs in this file, and use those that are in it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare methods on one graph: the same split, the same protocol, paired seeds.

    The options of a network concern mcn, mcn-paper, gat, gcn and mlp; the other methods have settings of
    their own (docs/baselines.md). On dd6 and dd7 every seed draws a split of its own.

    Example: mcn compare --dataset cora --methods mcn,gat,lp --seeds 15
    """
    names = _methods(methods)
    with plain_warnings(), compile_notice():
        data, title = read_input(dataset, graph, nodes, data_root, default="strong-ties")
        given = settings_given(
            motifs,
            steps=steps,
            psi=psi,
            attention=attention,
            dropout=dropout,
            lr=lr,
            weight_decay=weight_decay,
            max_epochs=max_epochs,
            patience=patience,
            stopping=stopping,
            normalize=normalize,
        )
        from mcn.experiments import Ledger, Source, run_units
        from mcn.experiments.extras import check_extras
        from mcn.train import dataset_config, protocol

        config = dataset_config(None if graph else title, **given)
        check_extras(names)
        source = Source(
            None if graph else title, _text(graph), _text(nodes), None if graph else _text(data_root)
        )
        numbers = list(range(seed, seed + seeds))
        units = [_unit(source, name, given, number) for name in names for number in numbers]
        book = None if ledger is None else Ledger(ledger)
        with _interruptible(ledger), progress_bar("comparing") as report:
            done = run_units(units, book, jobs=jobs, progress=lambda n, of: report(n / of))
    rows = _rows(names, numbers, done)
    how = protocol(data, config)
    if as_json:
        print(json.dumps({"dataset": title, "protocol": how, "rows": rows}, indent=2))
        return
    from mcn.cli._tables import print_methods

    for note in [*(getattr(data, "report", None) or []), *_notes(names, given)]:
        print(f"note: {note}")
    print_methods(title, rows)
    draws = ", each with a split of its own" if source.draw(1) else ""
    print(f"protocol: {how}; mean ± standard deviation over {seeds} seeds{draws}")


def _unit(source: Source, method: str, given: dict[str, Any], seed: int) -> Unit:
    """One run; options reach the networks, the methods of other kinds have none."""
    from mcn.experiments import Unit

    if method == PAPER_RULE:
        return Unit(source, "mcn", given | {"attention": "paper"}, seed)
    return Unit(source, method, given if _is_network(method) else {}, seed)


def _rows(methods: list[str], seeds: list[int], done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per method, with the paired difference to the first where there are several seeds."""
    from mcn.experiments.tables import paired
    from mcn.train import result_row

    rows: list[dict[str, Any]] = []
    for place, method in enumerate(methods):
        own = done[place * len(seeds) : (place + 1) * len(seeds)]
        test, val, seconds = ([r[key] for r in own] for key in ("test_accuracy", "val_accuracy", "seconds"))
        row = result_row(method, test, val, seeds, seconds)
        gap = None
        if rows and len(seeds) > 1 and row["test"]:
            gap = paired(
                dict(zip(seeds, row["test"], strict=True)), dict(zip(seeds, rows[0]["test"], strict=True))
            )
        rows.append(row | {"difference": gap and gap.mean, "difference_error": gap and gap.error})
    return rows


def _notes(methods: list[str], given: dict[str, Any]) -> list[str]:
    others = [name for name in methods if not _is_network(name)]
    if not others or not given:
        return []
    options = ", ".join(f"--{'raw' if name == 'normalize' else name.replace('_', '-')}" for name in given)
    return [f"{options}: for networks only; {', '.join(others)} ran with settings of their own"]


def _is_network(method: str) -> bool:
    from mcn.train import METHODS

    return method == PAPER_RULE or method in METHODS


def _methods(text: str) -> list[str]:
    from mcn.baselines import BASELINES
    from mcn.experiments.unit import VIEWS
    from mcn.train import METHODS
    from mcn.train._settings import one_of

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise ValueError("--methods names no method")
    known = dict.fromkeys([*METHODS, PAPER_RULE, VIEWS, *BASELINES])
    for name in names:
        one_of("--methods", name, tuple(known))
    return names


@contextmanager
def _interruptible(ledger: Path | None) -> Iterator[None]:
    """On Ctrl-C, say what is left of the work."""
    try:
        yield
    except KeyboardInterrupt:
        kept = (
            "nothing is kept without --ledger"
            if ledger is None
            else f"the same command goes on from {ledger}"
        )
        print(f"mcn: interrupted; {kept}", file=sys.stderr)
        raise SystemExit(EXIT_INTERRUPTED) from None


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
