"""What choosing gained on each set, against the room there was for it: ``python -m studies.choice.picture``.

It is drawn from the rows of version 0.2.0, whose rule said on held-out nodes what choosing is worth.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcn.experiments import paired
from studies.rows import Run, accuracies, read_runs

ROOMS = {
    "bound": "reachable room, held-out nodes",
    "gain": "worth of choosing, held-out nodes",
    "apparent_room": "apparent room, held-out nodes",
}
_MARKERS = "os^vD<>P"


class Gain(NamedTuple):
    """A set of the study; all in points of accuracy.

    gain, error: the rule less the pick on test nodes, and its standard error. rooms: the means over the
    splits of what the rule said on held-out nodes, by name.
    """

    name: str
    gain: float
    error: float
    rooms: Mapping[str, float]


def noted(runs: Sequence[Run], dataset: str, key: str) -> list[float]:
    """Return a figure from the notes of a set's rows `nodes`, one per split that has it.

    >>> noted([{"dataset": "mine", "method": "nodes", "note": "gain=0.0100 high=0.02"}], "mine", "gain")
    [0.01]
    """
    notes = [run["note"] for run in runs if run["dataset"] == dataset and run["method"] == "nodes"]
    words = (word.partition("=") for note in notes for word in note.split())
    return [float(value) for name, _, value in words if name == key]


def gains(runs: Sequence[Run]) -> list[Gain]:
    """Return what is drawn: every set that the rule was run on."""
    found = []
    for name, rows in accuracies(runs).items():
        difference = paired(rows.get("rule", {}), rows.get("pick", {}))
        if difference is not None:
            rooms = {key: 100 * float(np.mean(own)) for key in ROOMS if (own := noted(runs, name, key))}
            found.append(Gain(name, difference.mean, difference.error or 0.0, rooms))
    return found


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draw a panel for each room; on the dashed line the gain on test nodes is the room."""
    from matplotlib.figure import Figure

    points = gains(runs)
    figure = Figure(figsize=(11.5, 4.0), layout="constrained")
    axes: Any = figure.subplots(1, len(ROOMS), sharey=True)
    for ax, (key, title) in zip(axes, ROOMS.items(), strict=True):
        for number, point in enumerate(points):
            mark = _MARKERS[number // 8 % len(_MARKERS)]
            bar = {"yerr": 2 * point.error, "fmt": mark, "color": f"C{number % 8}", "markerfacecolor": "none"}
            ax.errorbar(point.rooms[key], point.gain, label=point.name, **bar)
        ax.axhline(0, color="0.3", linewidth=0.6)
        ax.axline((0, 0), slope=1, color="0.3", linewidth=0.6, linestyle="--")
        ax.set_xlabel(f"{title}, points")
    axes[0].set_ylabel("rule − pick, test nodes, points")
    figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    here = Path(__file__).parent
    draw(read_runs(here / "results.csv"), Path(sys.argv[1]) if len(sys.argv) > 1 else here / "choice.png")
