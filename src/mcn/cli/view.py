"""`mcn view`."""

from __future__ import annotations

import json
import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from mcn.cli import _options as options
from mcn.cli._terminal import compile_notice, plain_warnings, progress_bar


def run(
    folder: options.RunFolder,
    graph: options.Graph = None,
    nodes: options.Nodes = None,
    data_root: options.DataRoot = None,
    trust: options.Trust = False,
    target: Annotated[str | None, typer.Option(help="The yes/no target to show, else the first.")] = None,
    around: Annotated[
        list[str] | None, typer.Option(help="Id of a node: draw what is near it alone (repeatable).")
    ] = None,
    out: Annotated[
        Path | None,
        options.out_option("Write the page here (.html); RUN/explorer.html if not given."),
    ] = None,
    opened: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser, or only write it.")
    ] = True,
    as_json: options.Json = False,
) -> None:
    """Write the explorer of a run, one HTML file that works offline, and open it in the browser.

    With --graph the network is shown on another graph with the same feature columns.

    Example: mcn view runs/mine --no-open --out mine.html
    """
    options.check_writable(out, ".html")
    options.check_input(None, graph, nodes)
    with plain_warnings(), compile_notice(), progress_bar("drawing") as report:
        from mcn.train import Run
        from mcn.viz import write_explorer

        trained = Run.load(folder)
        report(0.0, "reading the graph")
        data = options.read_for_run(trained, graph, nodes, data_root, trust)
        page = write_explorer(
            trained, data, out, other_graph=bool(graph), target=target, around=around or (), progress=report
        )
    shown = opened and _has_screen() and webbrowser.open(page.resolve().as_uri())
    if as_json:
        size = page.stat().st_size
        print(json.dumps({"run": str(folder), "out": str(page), "bytes": size, "opened": shown}, indent=2))
    else:
        print(f"{page} is written{' and opened' if shown else '; open it in a browser'}")


def _has_screen() -> bool:
    """Whether there is a screen: without one a text browser might take over the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
