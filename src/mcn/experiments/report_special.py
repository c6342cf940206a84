"""The report of table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcn.experiments.document import Block, Bullets, Code, Grid, Heading, Text
from mcn.experiments.special_cases import TOLERANCE, SpecialCase
from mcn.train.run import versions

_HEADER = [
    *("method", "motif", "adj.", "K", "self-attention", "motif-attention"),
    *("beside", "layer 1", "network", "equal"),
]


def special_report(cases: Mapping[str, Sequence[SpecialCase]], command: str) -> list[Block]:
    """The blocks of the report on tab:gen, one table per data set."""
    blocks: list[Block] = [
        Heading("Table 1: GCN and GAT as special cases (tab:gen)"),
        Text(
            "MCN with the settings of each row beside PyG's layers with the same weights: the largest "
            f"absolute difference over all nodes and outputs, and whether it is at most {TOLERANCE:.0e}."
        ),
    ]
    for dataset, rows in cases.items():
        blocks += [Heading(dataset), Grid(_HEADER, [_row(case) for case in rows])]
    return [
        *blocks,
        Heading("How to read this"),
        Bullets(
            [
                "layer 1: outputs of the first layer; network: class scores of two layers with ELU between "
                "them. Random weights and biases, no dropout, float32.",
                "MCN-* in the paper is any motif, Ψ and K with both attentions. The row here is one such "
                "network in which every node is told to choose the edge and one step: it contains GAT.",
            ]
        ),
        Heading("To repeat it"),
        Code(command),
        Bullets(["Versions: " + ", ".join(f"{name} {number}" for name, number in versions().items()) + "."]),
    ]


def _row(case: SpecialCase) -> list[str]:
    return [
        case.method,
        case.motifs,
        case.psi,
        case.steps,
        "yes" if case.self_attention else "no",
        "yes" if case.motif_attention else "no",
        case.against,
        "–" if case.layer is None else f"{case.layer:.1e}",
        f"{case.network:.1e}",
        "yes" if case.holds else "no",
    ]
