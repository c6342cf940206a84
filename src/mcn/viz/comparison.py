"""The plot of a results table: every method of table 2, 3 or beyond, its spread, and the paper's value."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mcn.experiments.paper.reported import BEYOND, TABLE2, TABLE3
from mcn.train.metrics import LESS_IS_BETTER
from mcn.viz._scores import Score, caption, lowest, row_labels, scores
from mcn.viz.drawing import COLOURS, FAINT, INK, STYLE, check_path, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COMPARISON = "comparison.png"
"""The name of the plot beside a report."""
_OURS, _PAPER = COLOURS[0], COLOURS[1]
_TITLES = {table.label: table.title for table in (TABLE2, TABLE3, BEYOND)}
# A panel's width in inches, a row's height in points; the width of a letter of a label, and of prose.
_PANEL, _ROW, _LETTER, _PROSE = 2.3, 19.0, 4.8, 4.5
# The paper's value stands above the mean and the single runs below it, so that none hides another.
_ABOVE, _BELOW = -0.27, 0.27
_MEAN: dict[str, Any] = {"fmt": "o", "color": _OURS, "markersize": 4, "elinewidth": 1.4}
_RUN: dict[str, Any] = {"color": _OURS, "markersize": 2.6, "alpha": 0.35, "markeredgewidth": 0}
_THEIRS: dict[str, Any] = {"color": _PAPER, "markersize": 4.2, "markerfacecolor": "white"}
_EDGE = 0.025  # where arrows stand, as a share of a panel's width
_KINDS = ("mean", "single run", "paper", "below the axis")


def write_comparison(results: Mapping[str, Any], path: str | os.PathLike[str]) -> Figure:
    """Draw a reproduced table, one panel per data set, and write it to `path`.

    Methods stand from top to bottom in the table's order: the mean over the seeds as a dot with a bar of
    ± 2 standard errors, the single runs as faint dots, the paper's value (tab:acc, tab:DD) as a hollow
    diamond. What lies far below the rest is not drawn to scale, but named at the left edge beside an arrow.

    Args:
        results: what `mcn.experiments.reproduce_table` returns and results.json holds.
        path: .png, .svg or .pdf.

    Returns:
        The matplotlib figure. The bytes of the file depend on the arguments and matplotlib's version only.

    Raises:
        ValueError: another format, a table without rows or values, matplotlib not installed.
    """
    path = check_path(path)
    found = scores(results)
    labels = row_labels(found)
    datasets = list(dict.fromkeys(score.dataset for score in found))
    width = max(5.2, _PANEL * len(datasets) + _LETTER * max(map(len, labels.values())) / 72 + 0.3)
    words = textwrap.wrap(caption(results, found), int((width - 0.3) * 72 / _PROSE))
    below = 0.29 + 0.14 * len(words)
    height = _ROW * len(labels) / 72 + 0.95 + below
    figure, axes = new_figure(width, height, len(datasets))

    import matplotlib

    # Fonts are looked up when a text is made, so all of it is made in the style that it is saved in.
    with matplotlib.rc_context(STYLE):
        figure.set_layout_engine("constrained", rect=(0, below / height, 1, 1 - below / height), w_pad=0.07)
        for ax, dataset in zip(axes, datasets, strict=True):
            own = [score for score in found if score.dataset == dataset]
            _panel(ax, dataset, own, list(labels), results.get("metric", "accuracy"))
        axes[0].set_yticks(range(len(labels)), list(labels.values()), parse_math=False)
        axes[0].tick_params(axis="y", labelleft=True)
        title = str(_TITLES.get(results.get("label", ""), results.get("table", "results")))
        if results.get("metric", "accuracy") != "accuracy":
            title = f"{results['table']}: {results['metric']} of the same runs"
        figure.suptitle(title, fontsize=10, color=INK, parse_math=False)
        _legend(figure, axes, (below - 0.04) / height)
        figure.text(0.12 / width, 0.07 / height, "\n".join(words), color=INK, in_layout=False)
        save_figure(figure, path)
    return figure


def _panel(ax: Axes, dataset: str, own: Sequence[Score], methods: Sequence[str], metric: str) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_axis_on()
    ax.set_aspect("auto")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.set_title(dataset, fontsize=9, parse_math=False)
    ax.set_xlabel(f"test {metric}, {'× 100' if metric in LESS_IS_BETTER else '%'}")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    ax.set_yticks(range(len(methods)))
    ax.tick_params(axis="y", left=False, labelleft=False)
    ax.set_ylim(len(methods) - 0.5, -0.5)
    ax.set_axisbelow(True)
    ax.grid(color=FAINT, linewidth=0.4)
    drawn = [score for score in own if score.points]
    if not drawn:
        ax.set_xlim(0, 100)
        return
    low = lowest(drawn)
    ax.set_xlim(*_limits(drawn, low))
    for score in drawn:
        _draw(ax, score, methods.index(score.method), low)


def _limits(drawn: Sequence[Score], low: float) -> tuple[float, float]:
    """The ends of the axis: some air, and on the left room for the numbers that are written there."""
    high = max(point for score in drawn for point in score.points)
    air = max(0.06 * (high - low), 0.5)
    left, right = low - air, high + air
    for score in drawn:
        beside = [point for point in score.points if point >= low]
        if beside and (text := _off_axis(score, low)):
            room = _EDGE + (_LETTER * len(text) + 12) / (0.9 * _PANEL * 72)  # a share of the panel
            left = min(left, (min(beside) - room * right) / (1 - room))
    return left, right


def _off_axis(score: Score, low: float) -> str:
    """What is written at the left edge for values below the axis; empty if there are none."""
    ours = [f"{score.mean:.1f}"] if score.mean is not None and score.mean < low else []
    paper = [f"paper {score.paper:.1f}"] if score.paper is not None and score.paper < low else []
    return ", ".join(ours + paper)


def _draw(ax: Axes, score: Score, row: int, low: float) -> None:
    """One method: its runs, mean and bar, the paper's value; arrows for what is below the axis."""
    mean, runs, paper, off = _KINDS
    edge = ax.get_yaxis_transform()  # x as a share of the panel, y as a row
    single = [value for value in score.single if value >= low]
    if single:
        ax.plot(single, [row + _BELOW] * len(single), "o", label=runs, **_RUN)
    if score.mean is not None and score.mean >= low:
        ax.errorbar(score.mean, row, xerr=score.reach, label=mean, zorder=3, **_MEAN)
        if len(single) < len(score.single):
            ax.plot(_EDGE, row + _BELOW, "<", transform=edge, label=off, **{**_RUN, "markersize": 4})
    if score.paper is not None and score.paper >= low:
        ax.plot(score.paper, row + _ABOVE, "D", label=paper, zorder=4, **_THEIRS)
    if text := _off_axis(score, low):
        colour = _PAPER if text.startswith("paper") else _OURS
        ax.plot(_EDGE, row, "<", transform=edge, label=off, color=colour, markersize=5)
        place: dict[str, Any] = {
            "xycoords": edge,
            "xytext": (5, 0),
            "textcoords": "offset points",
            "va": "center_baseline",
        }
        ax.annotate(text, (_EDGE, row), color=INK, bbox={"fc": "white", "ec": "none", "pad": 0.6}, **place)


def _legend(figure: Figure, axes: Sequence[Axes], top: float) -> None:
    """Each kind of mark once, in one line between the panels and the caption."""
    handles: dict[str, Any] = {}
    for ax in axes:
        found = zip(*ax.get_legend_handles_labels(), strict=True)
        handles = {text: handle for handle, text in found} | handles
    kinds = [kind for kind in _KINDS if kind in handles]
    legend = figure.legend(
        [handles[kind] for kind in kinds],
        kinds,
        loc="upper center",
        bbox_to_anchor=(0.5, top),
        ncols=len(kinds),
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        handletextpad=0.3,
        columnspacing=1.6,
    )
    legend.set_in_layout(False)
