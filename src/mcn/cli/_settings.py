"""The options of a network and its training, for the verbs that train."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mcn.experiments import Preset as NamedSettings
    from mcn.train.recipes import AnyConfig

Preset = Annotated[
    str | None,
    typer.Option("--preset", help="Settings by name (cora, cora-paper, cora-views …), or a .yaml file."),
]
Motifs = Annotated[
    str | None, typer.Option("--motifs", help="Motif names, separated by commas: edge,triangle.")
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        help="How to train: mcn (nodes choose motifs), paper (the same by the paper's rule) or views (motif "
        "views); what did best on the data set if not given.",
    ),
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


def read_preset(name: str, recipe: str | None) -> NamedSettings:
    """The preset of --preset, which --recipe must not contradict."""
    from mcn.experiments import load_preset, presets
    from mcn.train._settings import one_of
    from mcn.train.recipes import RECIPES

    found = load_preset(name)
    if recipe is not None and recipe != found.recipe:
        one_of("--recipe", recipe, tuple(RECIPES))
        other = found.dataset if recipe == "mcn" else f"{found.dataset}-{recipe}"
        hint = f", or use --preset {other}" if other in presets() else ""
        raise ValueError(
            f"--preset {name} has the recipe {found.recipe}, --recipe asks for {recipe}; leave out one of "
            f"them{hint}"
        )
    return found


def configured(
    recipe: str | None, dataset: str | None, base: AnyConfig | None, given: dict[str, Any]
) -> AnyConfig:
    """The configuration that the user's options ask for.

    Without --recipe: a preset's own, else the best one for the data set; options that only a network whose
    nodes choose has (--steps, --psi …) ask for such a network.

    Args:
        base: the configuration of a preset, if one was named; of the recipe asked for, see `read_preset`.
        given: the fields that options set, see `settings_given`.
    """
    from mcn.train import best_recipe, recipe_config, recipe_of
    from mcn.train._settings import one_of
    from mcn.train.recipes import RECIPES, settings_of

    if recipe is not None:
        one_of("--recipe", recipe, tuple(RECIPES))
    only_networks = [name for name in given if name not in settings_of("views")]
    best = "mcn" if only_networks else best_recipe(dataset)
    used = recipe or (best if base is None else recipe_of(base))
    if used == "views" and only_networks:
        option = f"--{only_networks[0].replace('_', '-')}"
        raise ValueError(f"{option} is an option of the recipes mcn and paper; the recipe views has none")
    config = recipe_config(used, dataset, **given) if base is None else base.but(**given)
    if recipe not in (None, recipe_of(config)):
        raise ValueError(
            f"--attention {given['attention']} is not of the recipe {recipe}; leave out one of them"
        )
    return config


def settings_given(motifs: str | None, layers: int | None = None, **given: Any) -> dict[str, Any]:
    """The fields of a configuration that the user's options set."""
    changes = {name: value for name, value in given.items() if value is not None}
    if motifs is not None:
        changes["motifs"] = tuple(name.strip() for name in motifs.split(",") if name.strip())
    if layers is not None:
        changes["num_layers"] = layers
    return changes
