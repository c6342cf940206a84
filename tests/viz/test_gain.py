"""The plot of gain against room, from rows whose figures are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcn.viz.gain import draw_gain, gains

ROWS: list[dict[str, Any]] = [
    {"set": name, "split": split, "row": row, "test": test, "note": note}
    for name, row, tests, note in [
        ("a", "rule", (0.9, 0.8), "nodes by gcn"),
        ("a", "pick", (0.7, 0.7), ""),
        ("a", "nodes", (0.1, 0.1), "gain=0.10 gain_error=0.01 apparent_room=0.3"),
        ("b", "rule", (0.5,), ""),
        ("b", "pick", (0.6,), ""),
        ("b", "nodes", (0.5,), "apparent_room=0.2"),
        ("c", "linkx", (0.5,), ""),
    ]
    for split, test in enumerate(tests)
]


def test_figures_of_a_set() -> None:
    first, second = gains(ROWS)
    assert (first.name, second.name) == ("a", "b")
    assert first.gain == pytest.approx(15)
    assert first.error == pytest.approx(5)  # differences 20 and 10: deviation 7.07 over the root of 2
    assert first.rooms == pytest.approx({"gain": 10, "apparent_room": 30})
    assert second.gain == pytest.approx(-10)
    assert second.error is None
    assert second.rooms == pytest.approx({"apparent_room": 20})


def test_the_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    left, right = draw_gain(ROWS, tmp_path / "gain.png").axes
    assert [container.get_label() for container in left.containers] == ["a"]
    places = {c.get_label(): tuple(float(v[0]) for v in c.lines[0].get_data()) for c in right.containers}
    assert places == {"a": pytest.approx((30, 15)), "b": pytest.approx((20, -10))}
    (bar,) = left.containers[0].lines[2][0].get_segments()
    assert bar[:, 1].tolist() == pytest.approx([5, 25])
    assert (tmp_path / "gain.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="no set has rows of the rule"):
        draw_gain(ROWS[-1:], tmp_path / "none.png")
