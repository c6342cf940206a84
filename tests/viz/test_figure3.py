from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcn.matrices import MotifStack
from mcn.motifs import count_motifs
from mcn.viz import draw_figure3, explain
from mcn.viz.figure3 import flow_into, option_name, telling_nodes
from tests.viz.conftest import Trained

pytest.importorskip("matplotlib")


def test_what_flows_is_what_the_network_multiplied_by(karate: Trained) -> None:
    found = explain(karate.run, karate.data)
    for layer in (0, 1):
        flow = flow_into(found, np.arange(34), layer)
        # Coefficients of a node sum to one, and every node hears itself.
        np.testing.assert_allclose(np.bincount(flow.to, flow.weight), np.ones(34), rtol=1e-4)
        assert set(flow.to[flow.to == flow.of]) == set(range(34))
        chosen = found.motif[:, layer] * found.steps + found.step[:, layer] - 1
        np.testing.assert_array_equal(flow.option, chosen[flow.to])
        counts = count_motifs(karate.data.edge_index, 34)
        stack = MotifStack.from_counts(counts, found.motifs, found.steps, "unweighted")
        for node in (0, 16, 33):
            motif, step = found.motifs[found.motif[node, layer]], int(found.step[node, layer])
            heard = set(flow.of[flow.to == node].tolist())
            assert heard == set(stack.matrix(motif, step)[[node]].indices.tolist())


def test_the_nodes_that_are_drawn(karate: Trained) -> None:
    found = explain(karate.run, karate.data)
    nodes = telling_nodes(found)
    chosen = found.motif[nodes, -1].tolist()
    assert chosen == sorted(set(chosen))
    assert (found.predicted[nodes] == found.truth[nodes]).all()
    assert option_name(found, 3) == "triangle, 2 steps"


def test_the_picture(karate: Trained, tmp_path: Path) -> None:
    path = tmp_path / "figure3.png"
    figure = draw_figure3(karate.folder, karate.data, path, nodes=[16])
    (ax,) = figure.axes
    words = {text.get_text() for text in ax.texts}
    assert {"layer 1", "layer 2"} <= words
    found = explain(karate.run, karate.data, keep=4)
    last = flow_into(found, np.array([16]), 1)
    first = flow_into(found, np.unique(last.of), 0)
    assert len(ax.lines) == len(last.of) + len(first.of)
    own = option_name(found, int(last.option[0]))
    assert f"16: {own}" in words
    assert path.read_bytes().startswith(b"\x89PNG")


def test_runs_without_choices_are_refused(views: Trained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="figure 3 shows two layers of nodes that choose"):
        draw_figure3(views.folder, views.data, tmp_path / "figure3.png")
