"""The plot of the study of choosing: what choosing gained on each set, against the room there was for it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mcn.experiments.choice.figures import by_row, said
from mcn.experiments.engine.cells import paired
from mcn.viz.drawing import COLOURS, FAINT, INK, MARKERS, STYLE, check_path, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROOMS = {
    "bound": "reachable room, held-out nodes",
    "gain": "worth of choosing, held-out nodes",
    "apparent_room": "apparent room, held-out nodes",
}
_AIR = 0.08  # beyond the outermost points, as a share of an axis


class Gain(NamedTuple):
    """A set of the study; all in points of accuracy.

    gain, error: the rule less the pick on test nodes, and its standard error, None for a single split. rooms:
    the means over the splits of what the rule said on held-out nodes, by name.
    """

    name: str
    gain: float
    error: float | None
    rooms: Mapping[str, float]


def gains(rows: Sequence[Mapping[str, Any]]) -> list[Gain]:
    """Return what is drawn: every set of the study's rows that the rule was run on."""
    found = []
    for name in dict.fromkeys(str(row["set"]) for row in rows):
        own = by_row(rows, name)
        difference = paired(own.get("rule", {}), own.get("pick", {}))
        if difference is not None:
            rooms = {key: 100 * float(np.mean(values)) for key in _ROOMS if (values := said(rows, name, key))}
            found.append(Gain(name, difference.mean, difference.error, rooms))
    return found


def draw_gain(rows: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> Figure:
    """Draw the gain of choosing against the room for it, and write the figure to `path`.

    One panel for each room that the rows tell, all of them from held-out nodes: the reachable room, what the
    rule itself said choosing is worth, and the apparent room, most of which is chance. On the dashed line the
    gain on test nodes is the room. A mark is a set: the mean over its splits, with a bar of ± 2 standard
    errors.

    Args:
        rows: those of `mcn.experiments.choice.choice_study`, or of its file.
        path: .png, .svg or .pdf.

    Raises:
        ValueError: another format, no set that the rule was run on and told its room for, matplotlib not
            installed.
    """
    path = check_path(path)
    found = gains(rows)
    rooms = [key for key in _ROOMS if any(key in one.rooms for one in found)]
    if not rooms:
        raise ValueError("no set has rows of the rule with its room; run mcn reproduce choice first")
    figure, axes = new_figure(1.6 + 3.3 * len(rooms), 3.4, len(rooms))

    import matplotlib

    with matplotlib.rc_context(STYLE):
        for ax, key in zip(axes, rooms, strict=True):
            _panel(ax, key, found)
            ax.set_xlabel(f"{_ROOMS[key]}, points")
        axes[0].set_ylabel("rule − pick, test nodes, points")
        handles, names = axes[-1].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside right upper", frameon=False)
        save_figure(figure, path)
    return figure


def _panel(ax: Axes, key: str, found: Sequence[Gain]) -> None:
    ax.set_axis_on()
    ax.set_aspect("auto")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(color=FAINT, linewidth=0.4)
    ax.axhline(0, color=INK, linewidth=0.6)
    own = [(number, one) for number, one in enumerate(found) if key in one.rooms]
    for number, one in own:
        bar = None if one.error is None else 2 * one.error
        ax.errorbar(one.rooms[key], one.gain, yerr=bar, label=one.name, **_mark(number))
    ends = [one.gain + sign * 2 * (one.error or 0.0) for _, one in own for sign in (-1, 1)]
    ax.set_xlim(*_limits([0.0, *(one.rooms[key] for _, one in own)]))
    ax.set_ylim(*_limits([0.0, *ends]))
    ax.axline((0, 0), slope=1, color=INK, linewidth=0.6, linestyle=(0, (4, 3)))


def _mark(number: int) -> dict[str, Any]:
    """The colour and the shape of a set: no two of the first 64 have the same of both."""
    again, colour = divmod(number, len(COLOURS))
    return {
        "fmt": MARKERS[(colour + again) % len(MARKERS)],
        "color": COLOURS[colour],
        "markerfacecolor": "none",
        **{"markersize": 5, "elinewidth": 1.0},
    }


def _limits(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    air = _AIR * (high - low or 1.0)
    return low - air, high + air
