"""`mcn check`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from mcn._names import data_words
from mcn.cli import _options as options
from mcn.cli._terminal import MOST_LINES, compile_notice, fitting, notable, plain_warnings, print_facts


@options.with_data_options
def run(
    dataset: options.Dataset = None,
    graph: options.Graph = None,
    nodes: options.Nodes = None,
    data_root: options.DataRoot = None,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    **given: Any,
) -> None:
    """Look at a graph before training: sizes, classes, features, the split, and what is odd about them.

    Also what the largest class, the features alone and the graph alone would reach, how alike neighbours
    are under every motif, what memory the motif matrices need, and how long an epoch takes, by training for
    two. No test label is looked at. Of files that cannot be trained on, all problems are listed at once.

    Example: mcn check --graph edges.csv --nodes nodes.csv
    """
    how = options.data_given(given)
    with plain_warnings(), compile_notice():
        data, name = options.read_input(dataset, graph, nodes, data_root, default="strong-ties", **how)
        from mcn.train.problem import known_labels

        known_labels(data)  # what cannot be trained on is said before anything is counted
        from mcn.motifs import count_motifs
        from mcn.train.check import check_graph, epoch_seconds

        counts = count_motifs(data.edge_index, data.num_nodes)
        seen = check_graph(data, counts) | {"epoch_seconds": epoch_seconds(data, counts)}
    notes = list(getattr(data, "report", None) or [])
    if as_json:
        print(json.dumps({"graph": name, "notes": notes, **seen}, indent=2))
        return
    title = f"{name}: {seen['nodes']:,} nodes, {seen['edges']:,} edges, {seen['task']['title']}"
    facts = _facts(data, seen) | (_further_facts(seen) if verbose else {})
    print_facts(title, facts)
    notes = [*notes, f"values: {seen['features']}"] if verbose else notable(notes)
    further = [f"note: {note}" for note in notes] + [f"remark: {remark}" for remark in seen["remarks"]]
    room = MOST_LINES - 2 - len(facts)  # beside the title, the facts and the command
    for line in [
        *(further if verbose else fitting(further, room)),
        f"to train: {_train_command(dataset, graph, nodes, how)}",
    ]:
        print(line)


def _train_command(dataset: str | None, graph: Path | None, nodes: Path | None, how: dict[str, Any]) -> str:
    """Return the command that trains on the graph that was looked at."""
    given = {"dataset": dataset, "graph": graph, "nodes": nodes}
    words = [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]
    return shlex.join(["mcn", "train", *words, *data_words(how)])


def _facts(data: Any, seen: dict[str, Any]) -> dict[str, str]:
    """What says whether training is worth a try."""
    parts = {"training": data.train_mask, "validation": data.val_mask, "test": data.test_mask}
    task, area_of = seen["task"], seen["alone_auc"]
    simple = {"guess": task["guess"], "features": "features alone", "graph": "the graph alone"}
    facts = {"feature columns": f"{data.num_features:,}"}
    facts |= {f"{part} nodes": f"{int(mask.sum()):,}" for part, mask in parts.items()}
    for way, score in seen["alone"].items():
        area = area_of.get(way)
        ranked = "" if area is None else f", ROC-AUC {_shown('roc-auc', area)}"
        facts[f"validation {task['metric']} by {simple[way]}"] = _shown(task["metric"], score) + ranked
    for motif, (share, _) in seen["homophily"].items():
        if motif in ("edge", "triangle"):
            facts[f"{task['alike'][0]} by {motif}"] = _shown(task["alike"][1], share)
    return facts | {"an epoch of MCN with edge and triangle": f"{seen['epoch_seconds']:.2g} s"}


def _further_facts(seen: dict[str, Any]) -> dict[str, str]:
    degrees, parts = seen["degrees"], seen["components"]
    facts = {"median degree": f"{degrees['median']:g}", "largest degree": f"{degrees['max']:,}"}
    facts |= {"nodes without edges": f"{degrees['isolated']:,}", "components": f"{parts['number']:,}"}
    facts |= {"nodes in the largest component": f"{100 * parts['largest']:.1f} %"}
    alike, metric = seen["task"]["alike"]
    figures = seen["task"]["figures"]
    facts |= {f"labelled as {label}": _shown(figures, value) for label, value in seen["classes"].items()}
    for motif, (share, adjusted) in seen["homophily"].items():
        facts[f"{alike} by {motif}"] = _shown(metric, share)
        facts[f"beyond chance by {motif} (0: as by chance, 1: all)"] = f"{adjusted:.2f}"
    return facts | {"motif matrices of edge and triangle": f"{seen['memory'] / 1e6:,.1f} MB"}


def _shown(metric: str, value: float | None) -> str:
    """A figure as metrics are printed, with a space before the sign."""
    from mcn.train.metrics import shown

    return shown(metric, value).replace("%", " %")
