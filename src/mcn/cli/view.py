"""`mcn view`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from mcn.cli._compiling import compile_notice
from mcn.cli._options import (
    DataRoot,
    Graph,
    Json,
    Nodes,
    RunFolder,
    Trust,
    check_input,
    check_writable,
    out_option,
    read_input,
    read_own,
)
from mcn.cli._warnings import plain_warnings


def run(
    folder: RunFolder,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    trust: Trust = False,
    out: Annotated[
        Path | None,
        out_option("Write the page here (.html); RUN/explorer.html if not given."),
    ] = None,
    opened: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser, or only write it.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Write the explorer of a run, one HTML file that works offline, and open it in the browser.

    With --graph the network is shown on another graph with the same feature columns.

    Example: mcn view runs/mine --no-open --out mine.html
    """
    check_writable(out, ".html")
    check_input(None, graph, nodes)
    from mcn.train import load_run
    from mcn.train.fits import too_large
    from mcn.viz import write_explorer

    with plain_warnings(), compile_notice():
        trained = load_run(folder)
        if graph is None:
            data = read_own(folder, trained.source, data_root, trust)
        else:
            data, _ = read_input(
                None,
                graph,
                nodes,
                data_root,
                default="",
                on_disk=lambda store: too_large(store) is not None,
                treatment=trained.treatment,
            )
        page = write_explorer(trained, data, out, other_graph=graph is not None)
    shown = opened and _can_show() and _show(page)
    if as_json:
        size = page.stat().st_size
        print(json.dumps({"run": str(folder), "out": str(page), "bytes": size, "opened": shown}, indent=2))
    else:
        print(f"{page} written{' and opened' if shown else '; open it in a browser'}")


def _show(page: Path) -> bool:
    import webbrowser

    return webbrowser.open(page.resolve().as_uri())


def _can_show() -> bool:
    """Whether there is a screen: without one a text browser might take over the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
