"""Options that several verbs share, the settings among them, and how a verb reads the graph they ask for."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmotifs._messages import did_you_mean
from mcn._names import data_flag

if TYPE_CHECKING:
    from mcn.store import GraphStore
    from mcn.train.presets import Preset as NamedSettings
    from mcn.train.run import Run
    from mcn.train.settings import Settings

Dataset = Annotated[
    str | None, typer.Option("--dataset", help="A data set by name; `mcn datasets` lists them.")
]
Graph = Annotated[
    Path | None,
    typer.Option(
        "--graph",
        help="An edge list (csv, tsv, txt, .gz; parquet, feather), .mtx, .graphml, .gexf, .gml or .npz, or a "
        "folder that `mcn pack` made.",
    ),
]
Nodes = Annotated[
    Path | None, typer.Option("--nodes", help="A table of the nodes: id, label, split, features.")
]
DataRoot = Annotated[Path | None, typer.Option("--data-root", help="Folder to look for data sets in first.")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Let PyG or OGB unpickle the files of a data set, which can run code (pyg:…, ogb:…)."
    ),
]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Cores to use; chosen by size if not given.")
]
Memory = Annotated[
    str, typer.Option("--memory", help="For a graph on disk: the buffer to work in, such as 500MB or 4GB.")
]
Engine = Annotated[
    str, typer.Option("--engine", help="local: this machine, all that torchrun started; ray: a Ray cluster.")
]
Address = Annotated[
    str | None, typer.Option("--address", help="For --engine ray: a running cluster, such as auto.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with what was interrupted in --out.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Runs at a time; as many as cores if not given.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, nothing else.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print all there is to say.")]
Preset = Annotated[
    str | None,
    typer.Option("--preset", help="Settings by name (cora, cora-paper, cora-views …), or a .yaml file."),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        help="How to train: mcn (nodes choose motifs), paper (the same by the paper's rule and settings), "
        "views (motif views), trees (boosted trees) or auto (the best of several). If not given, the default "
        "of the data set; auto for a graph of your own.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The first seed.", min=0)]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting (docs/settings.md); repeatable."),
]


def out_option(help_text: str) -> Any:
    """Make the option --out; an empty path, which would be the current folder, is refused."""
    return typer.Option("--out", help=help_text, parser=_given_path, metavar="PATH")


def _given_path(text: str | Path) -> Path:
    if not str(text).strip():
        raise typer.BadParameter("an empty path; name a file or a folder")
    return Path(text)


def _about_data(name: str, what: str, kind: Any = str | None, default: Any = None, **limits: Any) -> Any:
    """Make the option for an argument of `mcn.load_graph`, and its default."""
    return Annotated[kind, typer.Option(data_flag(name), help=f"For --graph: {what}.", **limits)], default


_COLUMNS = {
    "label": "the column of classes or numbers, or several of yes and no (a,b,c); label, class, y or target",
    "task": "what --label holds: classes, regression or multilabel; found by itself if not given",
    "id": "the column of ids; id, node or node_id, else the first",
    "columns": "the feature columns (a,b,c); all others if not given",
    "drop": "columns to leave out (a,b,c)",
    "split": "a column of train, val and test (several: a,b,c), 60/20/20, or 20-per-class",
    "split_by": "a column of groups that stay together, or of times",
    "source": "a column of the edge list, one end of the edge; source, from, u …, else the first",
    "target": "the other end",
    "weights": "a column of the edge list with edge weights",
}
_SPLIT_INDEX = typer.Option(help="Which of several given splits, or the seed of one that is drawn.", min=0)
_SCALING = "what is done to numbers: auto, raw, rows, unit or standard"
_UNKNOWN_IDS = "edges to ids that --nodes lacks: error, skip (leave them out) or add (nodes without a label)"
_HEADER = "For --graph: whether the first line of the edge list names its columns; found if not given."
_DIRECTED = "Use the direction of edges, from source to target; also of data sets that have one."
DATA_OPTIONS: dict[str, tuple[Any, Any]] = {
    **{name: _about_data(name, what) for name, what in _COLUMNS.items()},
    "split_index": (Annotated[int, _SPLIT_INDEX], 0),
    "folds": _about_data("folds", "test on one of so many folds, see --split-index", int | None, min=2),
    "scaling": _about_data("scaling", _SCALING, str, "auto"),
    "unknown_ids": _about_data("unknown_ids", _UNKNOWN_IDS, str, "error"),
    "header": (Annotated[bool | None, typer.Option("--header/--no-header", help=_HEADER)], None),
    "directed": (Annotated[bool, typer.Option("--directed", help=_DIRECTED)], False),
    "trust": (Trust, False),
}
"""Options on how a graph is read, by the argument they are for: the option and its default."""
Weights = DATA_OPTIONS["weights"][0]
SourceColumn, TargetColumn = DATA_OPTIONS["source"][0], DATA_OPTIONS["target"][0]


def with_data_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of `DATA_OPTIONS`; it takes them as ``**options``, see `data_given`."""
    return add_options(function, DATA_OPTIONS, before=("preset", "recipe", "methods", "space", "as_json"))


def with_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Give a verb an option for every setting that declares one, and ``--set`` for all others.

    The verb takes what was given as ``**options`` and turns it into settings with `settings_given`.
    """
    from mcn.train.recipes import RECIPES, all_settings

    options: dict[str, tuple[Any, Any]] = {}
    for name, having in all_settings().items():
        setting = having[0][1]
        if setting.option is None:
            continue
        kind: Any = str if setting.kind is tuple else setting.kind
        flags = "/".join(f"--{flag}" for flag in setting.option.split("/"))
        only = "" if len(having) == len(RECIPES) else f" (recipes {' and '.join(r.name for r, _ in having)})"
        options[name] = Annotated[kind | None, typer.Option(flags, help=setting.sentence + only)], None
    # The settings stand before the options of the verb itself that have to do with its results.
    return add_options(function, options | {"sets": (Sets, None)}, before=("seed", "seeds"))


def add_options(
    function: Callable[..., None], options: Mapping[str, tuple[Any, Any]], before: Sequence[str]
) -> Callable[..., None]:
    """Give a verb further options, in front of the first of its own that `before` names.

    typer reads the options of a verb from its signature: the new ones are put there.
    """
    signature = inspect.signature(function, eval_str=True)
    parameters = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    place = next((i for i, one in enumerate(parameters) if one.name in before), len(parameters))
    parameters[place:place] = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)
        for name, (option, default) in options.items()
    ]
    keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    function.__signature__ = signature.replace(parameters=keywords)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in keywords}
    return function


def data_given(options: dict[str, Any]) -> dict[str, Any]:
    """Take out of a verb's options those on how a graph is read, as far as they were given."""
    taken = {name: options.pop(name, default) for name, (_, default) in DATA_OPTIONS.items()}
    return {name: value for name, value in taken.items() if value != DATA_OPTIONS[name][1]}


def settings_given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user's options ask for; refuse a ``--set`` that names none."""
    from mcn.train.recipes import all_settings

    known = all_settings()
    given = {name: value for name, value in options.items() if value is not None and name != "sets"}
    for word in options.get("sets") or []:
        name, equals, value = word.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise ValueError(f"--set {word}: expected NAME=VALUE")
        if name not in known:
            raise ValueError(f"--set {word}: unknown setting {name!r}{did_you_mean(name, known)}")
        if name == "seed":
            raise ValueError(f"--set {word}: use --seed and --seeds")
        if name in given:
            raise ValueError(f"--set {word}: {name} is given twice")
        given[name] = value
    return {
        name: known[name][0][1].parse(value) if isinstance(value, str) else value
        for name, value in given.items()
    }


def read_preset(name: str, recipe: str | None) -> NamedSettings:
    """Return the preset of --preset, which --recipe must not contradict."""
    from mcn.train.presets import load_preset, preset_of
    from mcn.train.recipes import find_recipe

    preset = load_preset(name)
    if recipe is not None and recipe != preset.recipe:
        find_recipe(recipe, "--recipe")
        other = preset_of(recipe, preset.dataset)
        hint = "" if other is None else f", or use --preset {other.name}"
        raise ValueError(
            f"--preset {name} has the recipe {preset.recipe}, --recipe asks for {recipe}; leave out one of "
            f"them{hint}"
        )
    return preset


def configured(
    recipe: str | None, dataset: str | None, preset: NamedSettings | None, given: dict[str, Any]
) -> Settings:
    """Return the configuration that the user's options ask for; options never change the recipe.

    Without --recipe it is that of the preset, else the default of the data set (None: a graph of one's own).
    """
    from mcn.train.presets import dataset_config, default_recipe
    from mcn.train.recipes import check_settings, find_recipe

    name = recipe or (default_recipe(dataset) if preset is None else preset.recipe)
    check_settings(find_recipe(name, "--recipe"), given)
    return dataset_config(name, dataset, **given) if preset is None else preset.config.replace(**given)


def loader_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options on how a graph is read as `mcn.load_graph` takes them: several columns as a tuple."""
    taken = dict(given)
    for name in ("split", "columns", "drop"):
        value = given.get(name)
        if isinstance(value, str) and (name != "split" or "," in value):
            taken[name] = tuple(column.strip() for column in value.split(","))
    if "columns" in taken:  # --features is a setting of the recipes
        taken["features"] = taken.pop("columns")
    return taken


def source_options(given: Mapping[str, Any], own_graph: bool) -> tuple[tuple[str, Any], ...]:
    """Return the options on how a graph is read as an `mcn.experiments.Source` takes them."""
    names = {} if own_graph else {"split_index": "split"}  # as `load_dataset` calls it
    return tuple(sorted((names.get(name, name), value) for name, value in loader_options(given).items()))


def check_input(dataset: str | None, graph: Path | None, nodes: Path | None) -> None:
    """Refuse options that do not fit together, or a graph that is not there, before any slow import."""
    if dataset is not None and graph is not None:
        raise ValueError("give --dataset or --graph, not both")
    if nodes is not None and graph is None:
        raise ValueError("--nodes describes the nodes of --graph; give that too")
    if graph is not None and graph.expanduser().is_dir():
        from mcn.store import read_manifest

        read_manifest(graph.expanduser())
    elif graph is not None:
        from mcn.data.limits import Problems, existing_file

        problems = Problems()
        for path in (graph, nodes):
            with problems.noted():
                _ = path is None or existing_file(path)
        problems.raise_all()


def check_for_dataset(options: Mapping[str, Any]) -> None:
    """Refuse options on how a graph is read that a data set by name does not have."""
    others = ", ".join(
        data_flag(name) for name in sorted(options.keys() - {"split_index", "directed", "trust"})
    )
    if others:
        raise ValueError(f"{others}: for a graph of one's own; give --graph and --nodes")


def read_input(
    dataset: str | None,
    graph: Path | None,
    nodes: Path | None,
    data_root: Path | None,
    default: str,
    *,
    trust: bool = False,
    split_index: int = 0,
    directed: bool = False,
    on_disk: Callable[[GraphStore], bool] | None = None,
    **options: Any,
) -> tuple[Any, str]:
    """The graph that the options of these names ask for, a `Data`, and what to call it.

    Args:
        default: the data set if neither a name nor a file is given.
        on_disk: asked whether a packed graph stays where it is; it then comes as a `GraphStore`.
        options: further options of `mcn.load_graph`.
    """
    check_input(dataset, graph, nodes)
    if graph is not None:
        from mcn.store import read_graph

        how = {"split_index": split_index, "directed": directed, **loader_options(options)}
        return read_graph(graph, nodes=nodes, on_disk=on_disk, **how), str(graph)
    check_for_dataset(options)
    from mcn.data import load_dataset  # without torch until the name is known to be right

    name = default if dataset is None else dataset
    how = {"split": split_index, "directed": directed, "trust": trust}
    return load_dataset(name, root=data_root, **how), name


def read_for_run(
    run: Run,
    graph: Path | None,
    nodes: Path | None,
    data_root: Path | None,
    trust: bool = False,
    weights: str | None = None,
) -> Any:
    """The graph to apply a run to: another one from files, read like its own, or the one it was trained on.

    The folder may come from a stranger: that its graph needs trust does not make it trusted.
    """
    from mcn.train.memory import too_large

    source: dict[str, Any] = run.source
    if graph is not None:
        how: dict[str, Any] = {"weights": weights or source.get("weights")}
        how["on_disk"] = lambda store: bool(too_large(store))
        if graph.expanduser().is_file():  # a packed graph has its columns
            same = ("id", "source", "target", "unknown_ids", "directed")
            how |= {name: source[name] for name in same if name in source}
            if run.treatment is not None:  # a table is read; labels that it lacks are not needed
                task = source.get("task", "classes")
                how |= {"treatment": run.treatment, "label": source.get("label"), "task": task}
        return read_input(None, graph, nodes, data_root, default="", **how)[0]
    if source.get("trust") and not trust:
        raise ValueError(
            f"{run.folder}: to read its graph, PyG or OGB unpickles files, which can run code; give --trust "
            "to allow that here too"
        )
    graph, nodes = (None if source.get(name) is None else Path(source[name]) for name in ("graph", "nodes"))
    if graph is None and source.get("dataset") is None:
        raise ValueError(f"{run.folder} does not say where its graph came from; give --graph and --nodes")
    how = {name: source[name] for name in DATA_OPTIONS if name in source}
    how |= {"trust": trust, "on_disk": lambda _: bool(source.get("on_disk"))}
    data = read_input(source.get("dataset"), graph, nodes, data_root, default="", **how)[0]
    run.check_graph(data)
    return data


def free_folder(parent: Path, name: str) -> Path:
    """A folder that is not there yet: `name`, or with a number behind it."""
    number = 1
    while (folder := parent / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return folder


def check_writable(path: Path | None, suffix: str) -> None:
    """Refuse an output file that cannot be written before any work is done."""
    if path is None:
        return
    if path.suffix != suffix:
        raise ValueError(f"--out {path}: the file's name must end in {suffix}")
    if not path.parent.is_dir():
        raise ValueError(f"--out {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"--out {path}: this is a folder")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"--out {path}: the folder {path.parent} cannot be written to")
