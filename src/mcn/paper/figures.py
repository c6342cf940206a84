"""Figures 1 to 4 of the paper: which graph and which network each of them shows, drawn into files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

FIGURES = {"figure1": "karate", "figure2": "strong-ties", "figure3": "strong-ties", "figure4": "cora"}
"""Each with the data set that it shows unless told otherwise."""
_SETTINGS = {
    "figure3": {"motifs": ("edge", "triangle"), "steps": 2},
    "figure4": {"motifs": ("edge", "4-path", "triangle"), "steps": 1},
}
"""Of the networks behind fig:model and fig:vis; the rest is the recipe paper for the data set."""


def draw_figure(
    what: str,
    folder: Path,
    datasets: list[str] | None = None,
    data_root: Path | None = None,
    *,
    resume: bool = False,
    progress: Callable[[float], object] | None = None,
) -> dict[str, Any]:
    """Draw a figure into `folder` as PDF and PNG, and return what the figure shows in numbers.

    Args:
        what: figure1, figure2, figure3 or figure4.
        datasets: the data set to show; by default that of `FIGURES`.
        progress: called with the finished fraction of the training behind figures 3 and 4.
    """
    from mcn.data import load_dataset
    from mcn.viz.drawing import check_libraries

    check_libraries("matplotlib", "networkx")
    name = _one_dataset(what, datasets)
    files = [folder / f"{what}{suffix}" for suffix in (".pdf", ".png")]
    if any(file.exists() for file in files) and not resume:
        raise ValueError(f"{folder} already holds {what}; choose another --out, or go on with --resume")
    data = load_dataset(name, root=data_root)
    folder.mkdir(parents=True, exist_ok=True)
    summary = (
        _trained(what, name, data, files, resume, progress)
        if what in _SETTINGS
        else _untrained(what, data, files)
    )
    return {"figure": what, "dataset": name, **summary, "files": [str(file) for file in files]}


def _one_dataset(what: str, datasets: list[str] | None) -> str:
    if datasets is None:
        return FIGURES[what]
    if len(datasets) > 1:
        raise ValueError(f"--datasets: {what} shows one graph, got {', '.join(datasets)}")
    if what == "figure4" and datasets != ["cora"]:
        raise ValueError(f"--datasets: figure4 is about cora, got {datasets[0]!r}")
    return datasets[0]


def _untrained(what: str, data: Any, files: list[Path]) -> dict[str, Any]:
    """fig:butterfly and fig:motiv: nothing to train."""
    from dataclasses import asdict

    from mcn.motifs import count_motifs
    from mcn.paper import draw_figure1, draw_figure2

    counts = count_motifs(data.edge_index, data.num_nodes)
    for file in files:
        (draw_figure1 if what == "figure1" else draw_figure2)(data, counts, file)
    if what == "figure1":
        return {}
    from mcn.paper.figures_of_graphs import votes

    return {"votes": [asdict(votes(data, counts, motif)[0]) for motif in ("edge", "triangle")]}


def _trained(
    what: str,
    name: str,
    data: Any,
    files: list[Path],
    resume: bool,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]:
    """fig:model and fig:vis: a network trained by the paper's rule."""
    from mcn.paper import draw_figure3, draw_figure4
    from mcn.train import train
    from mcn.train.presets import dataset_config

    config = dataset_config("paper", name, **_SETTINGS[what])
    source = {"dataset": name, "graph": None, "nodes": None}
    folder = files[0].parent / "run"
    resume = resume and folder.exists()
    run = train(data, config, folder, source=source, resume=resume, progress=progress)
    for file in files:
        (draw_figure3 if what == "figure3" else draw_figure4)(run, data, file)
    told = {key: run.summary[key] for key in ("protocol", "val_accuracy", "test_accuracy", "motif_share")}
    return told | {"run": str(run.folder)}
