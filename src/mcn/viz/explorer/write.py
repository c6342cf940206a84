"""Writing the pages of a run: the explorer, and the report that holds it."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn._files import atomic_write
from mcn.train import Run, load_run
from mcn.train.recipes import prepare_any
from mcn.viz.explanation import Explanation, explain
from mcn.viz.explorer.page import render
from mcn.viz.explorer.payload import graph_arrays, meta, option_arrays, pack, trimmed
from mcn.viz.explorer.repeat import beyond_the_command, command
from mcn.viz.force_layout import layout
from mcn.viz.statistics import curves

EXPLORER, REPORT = "explorer.html", "report.html"
MOST_NODES, MOST_EDGES = 150_000, 600_000


def write_explorer(
    folder: str | os.PathLike[str],
    data: Data,
    out: str | os.PathLike[str] | None = None,
    *,
    other_graph: bool = False,
) -> Path:
    """Write the explorer of a finished run; RUN/explorer.html if `out` is not given.

    Args:
        folder: the run.
        data: the run's graph, or with `other_graph` another one with the same features.
        out: the file; it appears complete or not at all.

    Raises:
        ValueError: there is no finished run, or the graph is not (no longer) the run's.
    """
    return _write("explorer", Path(folder), data, Path(out) if out else Path(folder) / EXPLORER, other_graph)


def write_report(folder: str | os.PathLike[str], data: Data) -> Path:
    """Write RUN/report.html: the result with its protocol, charts, the explorer, how to repeat it."""
    return _write("report", Path(folder), data, Path(folder) / REPORT, False)


def is_own_graph(folder: Path, run: Run, data: Data) -> bool:
    """Whether edges, features, known labels and split are those that the run was trained on."""
    if data.y is None or data.get("val_mask") is None or not bool(data.val_mask.any()):
        return False
    return prepare_any(data, run.config).fingerprint() == _fingerprint(folder)


def _write(kind: str, folder: Path, data: Data, out: Path, other_graph: bool) -> Path:
    run = load_run(folder)
    own = is_own_graph(folder, run, data)
    if not own and not other_graph:
        raise ValueError(
            f"{folder}: the graph is no longer the one the run was trained on (edges, features, labels or "
            "split differ); name the right files with --graph and --nodes, or train anew"
        )
    found = explain(run, data)
    too_large = _too_large(found)
    if too_large and kind == "explorer":
        raise ValueError(f"{folder}: {too_large}")
    kept, options = trimmed(found.options)
    packed = {} if too_large else graph_arrays(found, _places(found)) | option_arrays(options)
    directory, arrays = pack(packed)
    content = meta(found, kept) | {
        "arrays": directory,
        "not_drawn": too_large,
        "summary": run.summary,
        "other_graph": not own,
        "curves": _finite(curves(folder)),
        "repeat": _repeat(folder, run),
    }
    page = render(kind, f"{_name(run)}: {kind}", content, arrays)
    with atomic_write(out) as file:
        file.write(page.encode())
    return out


def _too_large(found: Explanation) -> str:
    """Why a graph is not drawn; empty if it is."""
    if found.num_nodes <= MOST_NODES and len(found.edges) <= MOST_EDGES:
        return ""
    return (
        f"{found.num_nodes:,} nodes and {len(found.edges):,} edges are too many to draw in a page; at most "
        f"{MOST_NODES:,} nodes and {MOST_EDGES:,} edges are"
    )


def _places(found: Explanation) -> NDArray[np.float64]:
    return _layout(found.edges.tobytes(), found.num_nodes)


@lru_cache(maxsize=1)
def _layout(edges: bytes, num_nodes: int) -> NDArray[np.float64]:
    """Remembered: the runs of several seeds are about one graph."""
    return layout(np.frombuffer(edges, np.int64).reshape(-1, 2), num_nodes)


def _repeat(folder: Path, run: Run) -> dict[str, Any]:
    beyond = ", ".join(f"{name} = {value}" for name, value in beyond_the_command(run).items())
    note = (
        f"The run also had settings that only config.yaml and mcn.train.Config hold: {beyond}"
        if beyond
        else ""
    )
    return {
        "command": command(run),
        "note": note,
        "config": run.config.to_dict(),
        "source": run.source,
        "fingerprint": _fingerprint(folder),
    }


def _fingerprint(folder: Path) -> str | None:
    settings: dict[str, str | None] = yaml.safe_load((folder / "config.yaml").read_text())
    return settings.get("data")


def _name(run: Run) -> str:
    graph = run.source.get("graph")
    return str(run.source.get("dataset") or (Path(graph).name if graph else "a graph"))


def _finite(columns: dict[str, list[float]]) -> dict[str, list[float | None]]:
    return {name: [v if math.isfinite(v) else None for v in values] for name, values in columns.items()}
