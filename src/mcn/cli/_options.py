"""Options that several verbs share, and what they do with them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcn._names import data_flag

if TYPE_CHECKING:
    from mcn.store import GraphStore

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
Label = Annotated[
    str | None,
    typer.Option(
        "--label", help="For --graph: the column of classes; label, class, y or target if not given."
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", help="For --graph: the column of ids; id, node or node_id, else the first."),
]
SplitIndex = Annotated[
    int,
    typer.Option(
        "--split-index", min=0, help="Which of several given splits, or the seed of one that is drawn."
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        help="For --graph: a column of train, val and test (several: a,b,c), 60/20/20, or 20-per-class.",
    ),
]
SplitBy = Annotated[
    str | None,
    typer.Option("--split-by", help="For --graph: a column of groups that stay together, or of times."),
]
Folds = Annotated[
    int | None,
    typer.Option("--folds", min=2, help="For --graph: test on one of so many folds, see --split-index."),
]
Scaling = Annotated[
    str,
    typer.Option(
        "--features",
        help="For --graph, what is done to numbers: auto, raw, rows, unit or standard (see the docs).",
    ),
]
Weights = Annotated[
    str | None, typer.Option("--weights", help="For --graph: a column of the edge list with edge weights.")
]
Structure = Annotated[
    str,
    typer.Option(
        "--structure",
        help="add: degree and motif counts of each node, beside the given features; none (default).",
    ),
]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Cores to use; chosen by size if not given.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Runs at a time; as many as cores if not given.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, nothing else.")]


def out_option(help_text: str) -> Any:
    """Make the option --out; an empty path, which would be the current folder, is refused."""
    return typer.Option("--out", help=help_text, parser=_given_path, metavar="PATH")


def _given_path(text: str | Path) -> Path:
    if not str(text).strip():
        raise typer.BadParameter("an empty path; name a file or a folder")
    return Path(text)


DATA_OPTIONS: dict[str, tuple[Any, Any]] = {
    "label": (Label, None),
    "id": (Id, None),
    "split": (Split, None),
    "split_index": (SplitIndex, 0),
    "split_by": (SplitBy, None),
    "folds": (Folds, None),
    "scaling": (Scaling, "auto"),
    "structure": (Structure, "none"),
    "weights": (Weights, None),
    "trust": (Trust, False),
}
"""Options on how a graph is read, by the argument they are for: the option and its default."""


def with_data_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of `DATA_OPTIONS`; it takes them as ``**options``, see `data_given`."""
    return add_options(function, DATA_OPTIONS, before=("preset", "recipe", "methods", "space", "as_json"))


def add_options(
    function: Callable[..., None], made: Mapping[str, tuple[Any, Any]], before: Sequence[str]
) -> Callable[..., None]:
    """Give a verb further options, in front of the first of its own that `before` names."""
    signature = inspect.signature(function, eval_str=True)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    kind = inspect.Parameter.KEYWORD_ONLY
    new = [
        inspect.Parameter(name, kind, default=default, annotation=option)
        for name, (option, default) in made.items()
    ]
    place = next((i for i, each in enumerate(own) if each.name in before), len(own))
    both = [each.replace(kind=kind) for each in (*own[:place], *new, *own[place:])]
    function.__signature__ = signature.replace(parameters=both)  # type: ignore[attr-defined]
    function.__annotations__ = {each.name: each.annotation for each in both}
    return function


def data_given(options: dict[str, Any]) -> dict[str, Any]:
    """Take out of a verb's options those on how a graph is read, as far as they were given."""
    taken = {name: options.pop(name, default) for name, (_, default) in DATA_OPTIONS.items()}
    return {name: value for name, value in taken.items() if value != DATA_OPTIONS[name][1]}


def source_options(how: dict[str, Any], own_graph: bool) -> tuple[tuple[str, Any], ...]:
    """Return the options on how a graph is read as an `mcn.experiments.Source` takes them."""
    names: dict[str, str] = {} if own_graph else {"split_index": "split"}  # as `load_dataset` calls it
    split = how.get("split")
    listed = {"split": tuple(name.strip() for name in split.split(","))} if split and "," in split else {}
    given: dict[str, Any] = {**how, **listed}
    return tuple(sorted((names.get(name, name), value) for name, value in given.items()))


def check_input(dataset: str | None, graph: Path | None, nodes: Path | None) -> None:
    """Refuse options that do not fit together, or a graph that is not there, before any slow import."""
    if dataset is not None and graph is not None:
        raise ValueError("give --dataset or --graph, not both")
    if nodes is not None and graph is None:
        raise ValueError("--nodes describes the nodes of --graph; give that too")
    if graph is not None and graph.expanduser().is_dir():
        from mcn.store.manifest import read_manifest

        read_manifest(graph.expanduser())
    elif graph is not None and not graph.expanduser().is_file():
        raise FileNotFoundError(f"{graph}: no such file")


def read_input(
    dataset: str | None,
    graph: Path | None,
    nodes: Path | None,
    data_root: Path | None,
    default: str,
    *,
    trust: bool = False,
    split_index: int = 0,
    structure: str = "none",
    on_disk: Callable[[GraphStore], bool] | None = None,
    **own: Any,
) -> tuple[Any, str]:
    """The graph a user asked for, a `Data`, and what to call it.

    Args:
        dataset: a data set by name.
        graph: a file with edges.
        nodes: a table of its nodes.
        data_root: folder to look for data sets in first.
        default: the data set if neither a name nor a file is given.
        trust: let PyG or OGB unpickle files.
        split_index: which of several splits.
        structure: "add" for structural features beside the given ones.
        on_disk: asked whether a packed graph stays where it is; it then comes as a `GraphStore`.
        own: further options of `mcn.load_graph`; None and "auto" mean that they were not given.

    Raises:
        ValueError: options that do not fit together; what `load_graph` and `load_dataset` raise.
    """
    check_input(dataset, graph, nodes)
    if graph is not None:
        from mcn.store.reading import read_graph

        if isinstance(own.get("split"), str) and "," in own["split"]:
            own["split"] = [name.strip() for name in own["split"].split(",")]
        how = {"split_index": split_index, "structure": structure, **own}
        data = read_graph(graph, nodes=nodes, on_disk=on_disk, **how)
        return data, str(graph)
    check_for_dataset(own)
    from mcn.data import load_dataset  # without torch until the name is known to be right

    name = default if dataset is None else dataset
    data = load_dataset(name, root=data_root, split=split_index, trust=trust, structure=structure)
    return data, name


def check_for_dataset(options: Mapping[str, Any]) -> None:
    """Refuse options on how a graph is read that a data set by name does not have."""
    fixed = ("split_index", "structure", "trust")
    given = sorted(
        name for name, value in options.items() if value not in (None, "auto") and name not in fixed
    )
    if given:
        raise ValueError(
            f"{', '.join(map(data_flag, given))}: for a graph of one's own; give --graph and --nodes"
        )


def read_own(folder: Path, source: dict[str, Any], data_root: Path | None = None, trust: bool = False) -> Any:
    """The graph that the run in `folder` was trained on, from where it came; on disk if it was left there.

    The folder may come from a stranger: that its graph needs trust does not make it trusted.
    """
    graph, nodes = source.get("graph"), source.get("nodes")
    how = {name: source[name] for name in DATA_OPTIONS if name in source} | {"trust": trust}
    if source.get("trust") and not trust:
        raise ValueError(
            f"{folder}: to read its graph, PyG or OGB unpickles files, which can run code; give --trust to "
            "allow that here too"
        )
    if graph is None and source.get("dataset") is None:
        raise ValueError(f"{folder} does not say where its graph came from; give --graph and --nodes")
    return read_input(
        source.get("dataset"),
        None if graph is None else Path(graph),
        None if nodes is None else Path(nodes),
        data_root,
        default="",
        on_disk=lambda _: bool(source.get("on_disk")),
        **how,
    )[0]


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
