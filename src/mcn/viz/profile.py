"""A picture of a significance profile: which motifs a graph has more and fewer of than random graphs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mcn.motifs import MotifSignificance
from mcn.viz.drawing import COLOURS, INK, check_path, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_profile(found: MotifSignificance, path: str | os.PathLike[str]) -> Figure:
    """Draw the significance profile and write it to `path` (.pdf, .svg or .png)."""
    path = check_path(path)
    figure, (ax,) = new_figure(1.2 + 0.36 * len(found.lines), 2.8, 1)
    ax.set_axis_on()
    ax.set_aspect("auto")
    places = range(len(found.lines))
    ax.axhline(0, color=INK, linewidth=0.6)
    ax.plot(places, [line.profile for line in found.lines], color=COLOURS[0], marker="o", markersize=4)
    ax.set_xticks(places, [line.motif for line in found.lines], rotation=60, ha="right")
    ax.set_ylabel("normalised z")
    ax.set_title(f"{found.samples} random graphs with the same {found.keep}", fontsize=8)
    save_figure(figure, path)
    return figure
