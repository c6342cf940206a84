"""`mcn check`."""

from __future__ import annotations

import json
from typing import Any

from mcn.cli._compiling import compile_notice
from mcn.cli._options import DataRoot, Dataset, Graph, Json, Nodes, data_given, read_input, with_data_options
from mcn.cli._warnings import plain_warnings


@with_data_options
def run(
    dataset: Dataset = None,
    graph: Graph = None,
    nodes: Nodes = None,
    data_root: DataRoot = None,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Look at a graph before training: sizes, classes, features, the split, and what is odd about them.

    Also what the largest class, the features alone and the graph alone would reach, how alike neighbours
    are under every motif, what memory the motif matrices need, and how long an epoch takes, by training for
    two. No test label is looked at.

    Example: mcn check --graph edges.csv --nodes nodes.csv
    """
    with plain_warnings(), compile_notice():
        data, name = read_input(
            dataset, graph, nodes, data_root, default="strong-ties", **data_given(options)
        )
        from mcn.motifs import count_motifs
        from mcn.train.look import epoch_seconds, look
        from mcn.train.problem import known_labels

        known_labels(data)  # what cannot be trained on is said before anything is counted
        counts = count_motifs(data.edge_index, data.num_nodes)
        found = look(data, counts) | {"epoch_seconds": epoch_seconds(data, counts)}
    if as_json:
        print(json.dumps({"graph": name, **found}, indent=2))
    else:
        _print(name, found, getattr(data, "report", None) or [])


def _print(name: str, found: dict[str, Any], notes: list[str]) -> None:
    from mcn.cli._tables import simpler
    from mcn.train.auto.config import AutoConfig

    print(name)
    for note in notes:
        print(f"note: {note}")
    degrees, parts = found["degrees"], found["components"]
    print(
        f"degrees: {degrees['median']:g} in the middle, {degrees['max']:,} at most, "
        f"{degrees['isolated']:,} nodes without edges"
    )
    print(f"components: {parts['number']:,}, the largest with {parts['largest']:.0%} of the nodes")
    shares = ", ".join(f"{label} {share:.1%}" for label, share in list(found["classes"].items())[:12])
    more = f" and {len(found['classes']) - 12} more" if len(found["classes"]) > 12 else ""
    print(f"classes (training and validation nodes): {shares}{more}")
    print(f"features: {found['features']}")
    print(f"split: {found['split']}")
    for motif, (share, adjusted) in found["homophily"].items():
        print(f"neighbours of the same class by {motif}: {share:.1%}, adjusted for chance {adjusted:.2f}")
    print(f"accuracy on validation nodes: {simpler(found['alone'], 'accuracy')}")
    print(f"motif matrices (edge and triangle, one step): {found['memory'] / 1e6:,.1f} MB")
    print(
        f"time: an epoch with edge and triangle takes {found['epoch_seconds']:.2g} s here, a run has some "
        f"hundred; the recipe auto trains for {AutoConfig().minutes:g} minutes at most, or --minutes"
    )
    for remark in found["remarks"]:
        print(f"remark: {remark}")
