"""Writing the pages of a run: the explorer, and the report that holds it.

A page is one HTML file from the template, the style, the scripts and the data; it needs no other file.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from graphmotifs._files import atomic_write
from mcn.store import GraphStore
from mcn.train.folder import METRICS
from mcn.train.run import Run
from mcn.viz import page_data
from mcn.viz.explanation import Explanation, explain
from mcn.viz.force_layout import layout
from mcn.viz.sample import drawn_edges, drawn_nodes

EXPLORER, REPORT = "explorer.html", "report.html"
WHOLE, PARTS = 20_000, (5_000, 2_000, 1_000, 500)
MOST_BYTES, MOST_LINES = 2_800_000, 20_000
"""A graph of at most `WHOLE` nodes is drawn whole, if its data has at most `MOST_BYTES` in the page; else the
largest of `PARTS` that does. At most `MOST_LINES` of the edges are drawn: more of them are one grey patch."""
SCRIPTS = (
    *("dom", "decode", "values", "colours", "camera", "pick", "webgl", "canvas", "stage"),
    *("legend", "search", "drawings", "node", "charts", "scores", "run", "main"),
)
"""The files of the page's script, in the order in which they stand in it."""
Progress = Callable[[float, str], object]


def write_explorer(
    run: Run | str | os.PathLike[str],
    data: Data | GraphStore,
    out: str | os.PathLike[str] | None = None,
    *,
    other_graph: bool = False,
    target: str | None = None,
    around: Sequence[str] = (),
    progress: Progress = lambda done, now: None,
) -> Path:
    """Write the explorer of a finished run; RUN/explorer.html if `out` is not given.

    Args:
        run: the run, or its folder.
        data: the run's graph, or with `other_graph` another one with the same features.
        out: the file; it appears complete or not at all.
        target: of several yes/no targets the one to show; the first by default.
        around: ids of nodes; only they and the nodes near them are drawn. A large graph that is drawn without
            them is represented by the surroundings of nodes that are drawn at random.
        progress: called before every step with the finished fraction of the work, and what is done now.

    Raises:
        ValueError: there is no finished run, the graph is not (no longer) the run's, or lacks such a node.
    """
    run = run if isinstance(run, Run) else Run.load(run)
    path = Path(out) if out else run.path(EXPLORER)
    return _write("explorer", run, data, path, other_graph, target, around, progress)


def write_report(run: Run | str | os.PathLike[str], data: Data | GraphStore) -> Path:
    """Write RUN/report.html: the result with its protocol, charts, the explorer, how to repeat it.

    Args:
        run: the run, or its folder. A run that has just been trained keeps what it prepared, and nothing is
            counted again.
        data: the run's graph.
    """
    run = run if isinstance(run, Run) else Run.load(run)
    return _write("report", run, data, run.path(REPORT), False, None, (), lambda done, now: None)


def _write(
    kind: str,
    run: Run,
    data: Data | GraphStore,
    out: Path,
    other: bool,
    target: str | None,
    around: Sequence[str],
    tell: Progress,
) -> Path:
    if isinstance(data, GraphStore):
        raise ValueError(
            f"{run.folder}: its graph stays on disk ({data.path}), and a page shows a graph in memory; the "
            "predictions are in predictions.csv"
        )
    tell(0.15, "predicting")
    if not other:
        run.check_graph(data)
    explanation = explain(run, data, target=target)
    values = page_data.plain_values(explanation) | {
        "summary": run.summary,
        "guess": run.task.guess_name,
        "other_graph": other and not run.is_about(data),
        "curves": page_data.training_curves(run.path(METRICS), explanation.predictor, run.summary),
        "repeat": {
            "command": page_data.train_command(run),
            "config": run.config.to_dict(),
            "source": run.source,
            "fingerprint": run.fingerprint,
        },
    }
    centres = _nodes_called(around, explanation)
    whole = (explanation.num_nodes,) if explanation.num_nodes <= WHOLE else ()
    for most in PARTS[2:] if centres else (*whole, *PARTS):
        nodes = drawn_nodes(explanation.edges, explanation.num_nodes, most, centres)
        part, arrays = page_data.part_of(explanation, nodes)
        part["named"] = bool(around)
        places_size = 10 * len(nodes)  # they are not there yet
        if places_size + len(pack(arrays)[1]) + len(script_json(values | part)) <= MOST_BYTES:
            break
    tell(0.35, f"placing {len(nodes):,} nodes")
    edges = arrays["edges"].astype(np.int64)
    arrays["places"] = _layout(edges.tobytes(), len(nodes)).astype(np.float32).ravel()
    arrays["drawn"] = drawn_edges(edges, len(nodes), MOST_LINES).astype(np.uint8)
    arrays["edges"] = np.diff(arrays["edges"], axis=0, prepend=np.int32(0)).ravel()  # small numbers pack well
    tell(0.9, "writing the page")
    with atomic_write(out) as file:
        page = render(kind, f"{_graph_name(run)}: {kind}", values | part, arrays)
        file.write(page.encode())
    return out


def _nodes_called(ids: Sequence[str], explanation: Explanation) -> list[int]:
    """The numbers of nodes by their ids."""
    unknown = set(ids).difference(explanation.ids)
    if unknown:
        raise ValueError(f"the graph has no node {min(unknown)!r} to draw around; give ids as it has them")
    return [explanation.ids.index(name) for name in ids]


@lru_cache(maxsize=1)
def _layout(edges: bytes, num_nodes: int) -> NDArray[np.float64]:
    """Lay out a graph; the last one is remembered, because runs of several seeds share it."""
    return layout(np.frombuffer(edges, np.int64).reshape(-1, 2), num_nodes)


def _graph_name(run: Run) -> str:
    graph = run.source.get("graph")
    return str(run.source.get("dataset") or (Path(graph).name if graph else "a graph"))


def render(kind: str, title: str, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """The page. Nothing in it can reach the network, and no script but its own runs.

    Args:
        kind: "explorer" for the graph over the whole window, "report" for the graph within a report.
        title: shown as text, whatever it holds.
        values: plain values for the script.
        arrays: those that the script finds by their names.
    """
    style = _read("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_read(f"{name}.js") for name in SCRIPTS) + "\n})();\n"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    directory, packed = pack(arrays)
    texts = {
        "policy": policy,
        "title": html.escape(_bearable(title)),
        "kind": kind,
        "style": style,
        "meta": script_json(values | {"arrays": directory}),
        "arrays": packed,
        "script": script,
    }
    # In one pass: what is put in is never searched for further places.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: texts[place[1]], _read("page.html"))


def pack(arrays: dict[str, NDArray[Any]]) -> tuple[list[list[Any]], str]:
    """Arrays as base64 of zlib, and the name, type, place and length of each in the unpacked bytes.

    First come the first bytes of all values of an array, then the second ones, …: like stands beside like.
    """
    directory: list[list[Any]] = []
    parts, offset = [], 0
    for name, array in arrays.items():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        raw = little.view(np.uint8).reshape(-1, little.itemsize).T.tobytes()
        directory.append([name, array.dtype.name, offset, array.size])
        padding = -len(raw) % 8  # typed arrays start at multiples of their item's size
        parts.append(raw + b"\0" * padding)
        offset += len(raw) + padding
    return directory, base64.b64encode(zlib.compress(b"".join(parts), 9)).decode()


def script_json(value: Any) -> str:
    """JSON that can stand within a script element: plain ASCII, no sign that HTML would take notice of."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _bearable(title: str) -> str:
    """A title that UTF-8 can hold, of a bearable length."""
    text = title if len(title) <= 200 else title[:199] + "…"
    return text.encode("utf-8", "replace").decode()


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return (files("mcn.viz") / "static" / name).read_text(encoding="utf-8")
