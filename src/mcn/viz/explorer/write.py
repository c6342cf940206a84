"""Writing the pages of a run: the explorer, and the report that holds it."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from mcn._files import atomic_write
from mcn.store import GraphStore
from mcn.train.run import Run, load_run
from mcn.viz.explanation import Explanation, explain
from mcn.viz.explorer.page import render
from mcn.viz.explorer.payload import graph_arrays, meta, option_arrays, pack, trimmed
from mcn.viz.explorer.repeat import command
from mcn.viz.force_layout import layout
from mcn.viz.statistics import curves

EXPLORER, REPORT = "explorer.html", "report.html"
MOST_NODES, MOST_EDGES = 150_000, 600_000


def write_explorer(
    run: Run | str | os.PathLike[str],
    data: Data | GraphStore,
    out: str | os.PathLike[str] | None = None,
    *,
    other_graph: bool = False,
) -> Path:
    """Write the explorer of a finished run; RUN/explorer.html if `out` is not given.

    Args:
        run: the run, or its folder.
        data: the run's graph, or with `other_graph` another one with the same features.
        out: the file; it appears complete or not at all.

    Raises:
        ValueError: there is no finished run, or the graph is not (no longer) the run's.
    """
    run = run if isinstance(run, Run) else load_run(run)
    return _write("explorer", run, data, Path(out) if out else run.folder / EXPLORER, other_graph)


def write_report(run: Run | str | os.PathLike[str], data: Data | GraphStore) -> Path:
    """Write RUN/report.html: the result with its protocol, charts, the explorer, how to repeat it.

    Args:
        run: the run, or its folder. A run that has just been trained keeps what it prepared, and nothing is
            counted again.
        data: the run's graph.
    """
    run = run if isinstance(run, Run) else load_run(run)
    return _write("report", run, data, run.folder / REPORT, False)


def _write(kind: str, run: Run, data: Data | GraphStore, out: Path, other_graph: bool) -> Path:
    if isinstance(data, GraphStore):
        raise ValueError(
            f"{run.folder}: its graph stays on disk ({data.path}), and a page shows a graph in memory; the "
            "predictions are in predictions.csv"
        )
    own = run.is_about(data)
    if not own and not other_graph:
        raise ValueError(
            f"{run.folder}: the graph is no longer the one the run was trained on (edges, features, labels "
            "or split differ); name the right files, or train anew"
        )
    found = explain(run, data)
    too_large = _too_large(found)
    if too_large and kind == "explorer":
        raise ValueError(f"{run.folder}: {too_large}")
    kept, options = trimmed(found.options)
    packed = {} if too_large else graph_arrays(found, _places(found)) | option_arrays(options)
    directory, arrays = pack(packed)
    content = meta(found, kept) | {
        "arrays": directory,
        "not_drawn": too_large,
        "summary": run.summary,
        "other_graph": not own,
        "curves": _finite(curves(run.folder)),
        "repeat": _repeat(run),
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
    """Lay out a graph; the last one is remembered, because runs of several seeds share it."""
    return layout(np.frombuffer(edges, np.int64).reshape(-1, 2), num_nodes)


def _repeat(run: Run) -> dict[str, Any]:
    return {
        "command": command(run),
        "config": run.config.to_dict(),
        "source": run.source,
        "fingerprint": run.fingerprint,
    }


def _name(run: Run) -> str:
    graph = run.source.get("graph")
    return str(run.source.get("dataset") or (Path(graph).name if graph else "a graph"))


def _finite(columns: dict[str, list[float]]) -> dict[str, list[float | None]]:
    return {name: [v if math.isfinite(v) else None for v in values] for name, values in columns.items()}
