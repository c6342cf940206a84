"""The figures of `mcn reproduce`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcn.cli._terminal import progress_bar

FIGURES = {"figure1": "karate", "figure2": "strong-ties", "figure3": "strong-ties", "figure4": "cora"}
"""Each with the data set that it shows unless told otherwise."""
_MOTIFS4 = ("edge", "4-path", "triangle")


def figure(
    what: str,
    folder: Path,
    datasets: list[str] | None,
    seeds: list[int],
    scope: str | None,
    data_root: Path | None,
    resume: bool,
) -> dict[str, Any]:
    """Draw a figure; what it shows in numbers."""
    from mcn.data import load_dataset

    name = one_dataset(what, datasets)
    files = [folder / f"{what}{suffix}" for suffix in (".pdf", ".png")]
    if any(file.exists() for file in files) and not resume:
        raise ValueError(f"{folder} already holds {what}; choose another --out, or go on with --resume")
    data = load_dataset(name, root=data_root)
    folder.mkdir(parents=True, exist_ok=True)
    if what in ("figure1", "figure2"):
        summary = _untrained(what, data, files)
    elif what == "figure3":
        summary = _draw3(name, data, files, seeds[0], resume)
    else:
        summary = _draw4(name, data, files, seeds, scope or "edges", resume)
    return {"figure": what, "dataset": name, **summary, "files": [str(file) for file in files]}


def one_dataset(what: str, datasets: list[str] | None) -> str:
    """The data set that a figure shows."""
    if datasets is None:
        return FIGURES[what]
    if len(datasets) > 1:
        raise ValueError(f"--datasets: {what} shows one graph, got {', '.join(datasets)}")
    if what == "figure4" and datasets != ["cora"]:
        raise ValueError(f"--datasets: figure4 is about cora, got {datasets[0]!r}")
    return datasets[0]


def _untrained(what: str, data: Any, files: list[Path]) -> dict[str, Any]:
    """fig:butterfly and fig:motiv: nothing to train."""
    from mcn.motifs import count_motifs
    from mcn.viz import draw_figure1, draw_figure2

    counts = count_motifs(data.edge_index, data.num_nodes)
    for file in files:
        (draw_figure1 if what == "figure1" else draw_figure2)(data, counts, file)
    if what == "figure1":
        return {}
    from dataclasses import asdict

    from mcn.viz.figure2 import votes

    return {"votes": [asdict(votes(data, counts, motif)[0]) for motif in ("edge", "triangle")]}


def _draw3(name: str, data: Any, files: list[Path], seed: int, resume: bool) -> dict[str, Any]:
    """fig:model: two motifs, two steps, two layers, trained by the paper's rule."""
    from mcn.train.presets import dataset_config
    from mcn.viz import draw_figure3

    config = dataset_config("paper", name, motifs=("edge", "triangle"), steps=2, seed=seed)
    run = _trained(files[0].parent / "run", name, data, config, resume)
    for file in files:
        draw_figure3(run, data, file)
    return _summary(run)


def _draw4(
    name: str, data: Any, files: list[Path], seeds: list[int], scope: str, resume: bool
) -> dict[str, Any]:
    """fig:vis: the paper's setting and rule, with the motifs of the figure; the first seed is drawn."""
    from mcn._files import atomic_write
    from mcn.train.presets import dataset_config
    from mcn.viz import draw_figure4
    from mcn.viz.choice_pattern import MEASURES, node_measures, over_runs, rank_correlations
    from mcn.viz.figure4 import class_component, component_graph

    base = dataset_config("paper", name, motifs=_MOTIFS4, steps=1, scope=scope)
    members = class_component(data, 4)
    measures = node_measures(component_graph(data, members))
    drawn: Any = None
    single: list[dict[str, Any]] = []
    for seed in seeds:
        own = files[0].parent / ("run" if len(seeds) == 1 else f"run-{seed}")
        run = _trained(own, name, data, base.replace(seed=seed), resume)
        drawn = drawn or run
        chosen = run.predict(data).motif[members, 0]
        share = {motif: float((chosen == t).mean()) for t, motif in enumerate(_MOTIFS4)}
        found = rank_correlations(chosen, _MOTIFS4, measures)
        single.append({"seed": seed, "share": share, "correlation": found})
    assert drawn is not None
    for file in files:
        draw_figure4(drawn, data, file)
    together = {
        motif: {
            measure: over_runs([one["correlation"][motif][measure] for one in single]) for measure in MEASURES
        }
        for motif in _MOTIFS4
    }
    pattern = {"scope": scope, "nodes": len(members), "runs": single, "correlation": together}
    with atomic_write(files[0].parent / "pattern.json") as out:
        out.write((json.dumps(pattern, indent=2) + "\n").encode())
    return _summary(drawn) | {"pattern": pattern}


def _trained(folder: Path, name: str, data: Any, config: Any, resume: bool) -> Any:
    from mcn.train.run import train_run

    source = {"dataset": name, "graph": None, "nodes": None}
    with progress_bar("training") as report:
        return train_run(folder, data, config, source, resume=resume and folder.exists(), progress=report)


def _summary(run: Any) -> dict[str, Any]:
    told = {key: run.summary[key] for key in ("protocol", "val_accuracy", "test_accuracy", "motif_share")}
    return told | {"run": str(run.folder)}


def print_pattern(pattern: dict[str, Any]) -> None:
    """One line per motif: how having chosen it goes with a node's place."""
    runs = "one run" if len(pattern["runs"]) == 1 else f"{len(pattern['runs'])} runs"
    print(f"rank correlation of the choice in layer 1 with a node's place, {runs}:")
    for motif, measures in pattern["correlation"].items():
        parts = []
        for measure, own in measures.items():
            mean = "–" if own["mean"] is None else f"{own['mean']:+.2f}"
            error = "" if own["error"] is None else f" ± {own['error']:.2f}"
            parts.append(f"{measure} {mean}{error} ({own['positive']} of {own['runs']} positive)")
        print(f"  {motif}: {', '.join(parts)}")
