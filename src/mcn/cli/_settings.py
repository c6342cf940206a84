"""The options of a network and its training, for the verbs that train."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mcn.train import Config

Motifs = Annotated[
    str | None, typer.Option("--motifs", help="Motif names, separated by commas: edge,triangle.")
]
Steps = Annotated[int | None, typer.Option("--steps", help="K: the longest walk a node may listen along.")]
Psi = Annotated[
    str | None,
    typer.Option("--psi", help="Matrix function: unweighted, row-max, transition, laplacian or symmetric."),
]
Attention = Annotated[
    str | None, typer.Option("--attention", help="How motif attention is trained: see docs/attention.md.")
]
Hidden = Annotated[int | None, typer.Option("--hidden", help="Hidden units per head.")]
Heads = Annotated[int | None, typer.Option("--heads", help="Attention heads of the hidden layers.")]
Layers = Annotated[int | None, typer.Option("--layers", help="Number of layers.")]
Dropout = Annotated[float | None, typer.Option("--dropout", help="Dropout probability.")]
Lr = Annotated[float | None, typer.Option("--lr", help="Learning rate.")]
WeightDecay = Annotated[float | None, typer.Option("--weight-decay", help="L2 regularisation.")]
MaxEpochs = Annotated[
    int | None, typer.Option("--max-epochs", help="Stop after so many epochs at the latest.")
]
Patience = Annotated[
    int | None, typer.Option("--patience", help="Stop after so many epochs without progress.")
]
Stopping = Annotated[
    str | None, typer.Option("--stopping", help="What counts as progress: gat, accuracy or loss.")
]
Normalize = Annotated[
    bool | None,
    typer.Option("--normalize/--raw", help="Make each node's features sum to one (default), or leave them."),
]
Seed = Annotated[int, typer.Option("--seed", help="The first seed.", min=0)]


def configured(dataset: str | None, motifs: str | None, layers: int | None, **given: Any) -> Config:
    """The configuration of a data set with what the user asked for changed."""
    from mcn.train import dataset_config

    changes = {name: value for name, value in given.items() if value is not None}
    if motifs is not None:
        changes["motifs"] = tuple(name.strip() for name in motifs.split(",") if name.strip())
    if layers is not None:
        changes["num_layers"] = layers
    return dataset_config(dataset, **changes)
