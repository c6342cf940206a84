"""The plot of a results table whose means, errors and limits are known."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mcn.viz import write_comparison

matplotlib = pytest.importorskip("matplotlib")

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def row(dataset: str, method: str, runs: list[float], paper: float | None = None) -> dict[str, Any]:
    return {
        **{"dataset": dataset, "method": method, "paper": paper, "runs": len(runs)},
        "mean": mean(runs) if runs else None,
        "std": stdev(runs) if len(runs) > 1 else None,
        "test": {str(seed): value for seed, value in enumerate(runs)},
    }


def table(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"table": "table2", "label": "tab:acc", "seeds": [0, 1, 2, 3], "rows": list(rows)} | more


@pytest.fixture
def results() -> dict[str, Any]:
    return table(
        row("cora", "majority", [30.0] * 4),
        row("cora", "gcn", [80.0, 81.0, 82.0, 81.0], 81.5),
        row("cora", "mcn", [83.0, 84.0, 85.0, 84.0], 83.5),
        row("pubmed", "majority", [40.0] * 4),
        row("pubmed", "gcn", [78.0, 79.0], 79.0),
        row("pubmed", "mcn", [], 79.3),
    )


def marks(ax: Axes, label: str) -> list[tuple[float, float]]:
    """The places of all marks of a kind, row by row."""
    if label == "mean":
        lines = [container.lines[0] for container in ax.containers if container.get_label() == label]
    else:
        lines = [line for line in ax.lines if line.get_label() == label]
    return [(float(x), float(y)) for line in lines for x, y in zip(*line.get_data(), strict=True)]


def bars(ax: Axes) -> list[list[float]]:
    """The ends of the error bars, from top to bottom."""
    return [
        [float(x) for x in part.get_segments()[0][:, 0]]
        for container in ax.containers
        for part in container.lines[2]
    ]


def words(figure: Figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


def test_places_and_labels(results: dict[str, Any], tmp_path: Path) -> None:
    figure = write_comparison(results, tmp_path / "a.png")
    cora, pubmed = figure.axes
    assert [ax.get_title() for ax in figure.axes] == ["cora", "pubmed"]
    assert {ax.get_xlabel() for ax in figure.axes} == {"test accuracy, %"}
    assert figure.get_suptitle() == "Table 2: accuracy on citation graphs"
    assert [label.get_text() for label in cora.get_yticklabels()] == [
        *("majority", "gcn (4, 2)", "mcn (4, 0)"),
    ]
    assert list(cora.get_yticks()) == [0, 1, 2]
    assert cora.get_ylim() == pubmed.get_ylim() == (2.5, -0.5)  # the first method on top

    assert marks(cora, "mean") == [(81.0, 1.0), (84.0, 2.0)]
    reach = 2 * np.sqrt(2 / 3) / 2  # 2 · s / √n with s² = 2/3, n = 4
    np.testing.assert_allclose(bars(cora), [[81 - reach, 81 + reach], [84 - reach, 84 + reach]])
    assert [x for x, _ in marks(cora, "single run")] == [80, 81, 82, 81, 83, 84, 85, 84]
    assert [x for x, _ in marks(cora, "paper")] == [81.5, 83.5]
    assert [round(y) for _, y in marks(cora, "paper")] == [1, 2]
    # With two runs, 2 · s / √2 is their distance; without any there is the paper's value alone.
    assert marks(pubmed, "mean") == [(78.5, 1.0)]
    np.testing.assert_allclose(bars(pubmed), [[77.5, 79.5]])
    assert [x for x, _ in marks(pubmed, "paper")] == [79.0, 79.3]


def test_a_method_far_below_is_an_arrow_with_its_number(results: dict[str, Any], tmp_path: Path) -> None:
    shown = [(30, 80, 85), (40, 77.5, 79.5)]  # the number, and the ends of what is drawn to scale
    figure = write_comparison(results, tmp_path / "a.svg")
    for ax, (number, least, most) in zip(figure.axes, shown, strict=True):
        low, high = ax.get_xlim()
        assert least - 1 < low < least
        assert most < high < most + 1
        assert [y for _, y in marks(ax, "below the axis")] == [0.0]
        assert [text.get_text() for text in ax.texts] == [f"{number}.0"]


def test_a_low_run_and_a_low_value_of_the_paper(tmp_path: Path) -> None:
    """Their rows go on being drawn; the number has room beside what is drawn there."""
    rows = [row("cora", name, [80.0, 81.0, 80.5, 81.5]) for name in ("lp", "ica", "gcn")]
    rows.append(row("cora", "gat", [81.0] * 30 + [20.0], 12.0))
    figure = write_comparison(table(*rows), tmp_path / "a.png")
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.texts] == ["paper 12.0"]
    assert [round(y) for _, y in marks(ax, "below the axis")] == [3, 3]
    assert len(marks(ax, "mean")) == 4
    right = ax.texts[0].get_window_extent().x1
    drawn = min(ax.transData.transform(place)[0] for place in marks(ax, "single run") if round(place[1]) == 3)
    assert right < drawn


@pytest.mark.parametrize(
    ("values", "clipped"),
    [
        ([94.0, 78.0, 70.0], 0),
        ([94.0, 40.0], 0),  # of two, none is far below the others
        ([94.0, 93.0, 80.0], 1),
        ([94.0, 93.0, 84.0], 0),  # 9 points are not far
        ([94.0, 74.0, 73.0, 60.0], 1),  # 13 points, more than half of 21
        ([94.0, 64.0, 63.0, 50.0], 0),  # 13 points, less than half of 31
        ([90.0, 20.0, 20.0, 20.0], 0),  # the best alone is not "the others"
        ([12.0, 11.0, 5.0], 0),
    ],
)
def test_what_counts_as_far_below(values: list[float], clipped: int, tmp_path: Path) -> None:
    rows = [row("cora", f"m{i}", [value]) for i, value in enumerate(values)]
    (ax,) = write_comparison(table(*rows), tmp_path / "a.png").axes
    assert len(ax.texts) == clipped
    low, high = ax.get_xlim()
    assert all(low < value < high for value in values[: len(values) - clipped])
    assert all(value < low for value in values[len(values) - clipped :])


def test_the_caption_says_the_protocol(results: dict[str, Any], tmp_path: Path) -> None:
    said = words(write_comparison(results, tmp_path / "a.png"))
    assert "Seeds 0 to 3. Mean ± 2 standard errors of 4 runs; in brackets, other numbers of runs" in said
    assert "test labels are read once per run, after training" in said
    one = table(row("cora", "gcn", [80.0]), seeds=[7], label="tab:none", table="mine")
    figure = write_comparison(one, tmp_path / "a.png")
    assert figure.get_suptitle() == "mine"
    assert "Seeds 7. A single run each." in words(figure)
    assert bars(figure.axes[0]) == []
    unrun = table(row("cora", "gcn", [], 81.5), row("dd6", "gcn", []), seeds=[1, 5])
    assert "Seeds 1, 5. No runs." in words(write_comparison(unrun, tmp_path / "a.png"))


@pytest.mark.parametrize("methods", [3, 9, 20])
@pytest.mark.parametrize("datasets", [1, 2, 3])
def test_no_text_runs_into_another_or_out_of_the_page(methods: int, datasets: int, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = [
        row(f"data-{d}", f"some-method-{m}", list(random.normal(80 - m if m else 10, 1, 4 + (m == 2))), 75.0)
        for d in range(datasets)
        for m in range(methods)
    ]
    figure = write_comparison(table(*rows), tmp_path / "a.png")
    figure.set_dpi(300)
    figure.draw_without_rendering()
    texts = [*figure.texts, *figure.legends[0].texts]
    for ax in figure.axes:
        ticks = [*ax.get_xticklabels(), *(ax.get_yticklabels() if ax is figure.axes[0] else [])]
        low, high = ax.get_xlim()
        shown = [t for t in ticks if t not in ax.get_xticklabels() or low <= t.get_position()[0] <= high]
        texts += [ax.title, ax.xaxis.label, *ax.texts, *shown]
    assert min(text.get_fontsize() for text in texts) >= 8
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    page = figure.bbox
    for i, box in enumerate(boxes):
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_file_is_the_same_every_time(results: dict[str, Any], tmp_path: Path, suffix: str) -> None:
    write_comparison(results, tmp_path / f"a.{suffix}")
    with matplotlib.rc_context({"font.family": "monospace", "font.size": 20}):  # as a user may have it
        write_comparison(results, tmp_path / f"b.{suffix}")
    content = (tmp_path / f"a.{suffix}").read_bytes()
    assert content == (tmp_path / f"b.{suffix}").read_bytes()
    assert content.startswith({"svg": b"<?xml", "png": b"\x89PNG"}[suffix])


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    figure = write_comparison(table(row("<b>$x^2$", r"$\bad$ & co", [80.0, 81.0])), tmp_path / "a.svg")
    (ax,) = figure.axes
    assert ax.get_title() == "<b>$x^2$"
    assert not ax.title.get_parse_math()
    assert "<b>" not in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "the table has no rows; give what reproduce_table returns"),
        (table(), "the table has no rows"),
        (table(row("cora", "gcn", []), row("cora", "mcn", [])), "none of the 2 rows has a run or a value"),
        (
            table({"dataset": "cora", "method": "gcn", "network": 1e-6}),
            "a row of table 2, 3 or beyond has 'mean'",
        ),
        (table(row("cora", "gcn", [float("nan")])), "gcn on cora has a score that is no number"),
    ],
)
def test_nothing_to_draw(content: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        write_comparison(content, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_other_formats_are_refused(results: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.jpg: a figure is written as"):
        write_comparison(results, tmp_path / "a.jpg")
