"""Totals by sampling: unbiased, and the intervals hold the exact numbers as often as they say."""

from pathlib import Path

import numpy as np
import pytest
import random_graphs

import mcn
from mcn.motifs import estimate
from tests.conftest import refuses

EDGES = random_graphs.powerlaw_cluster(200, 6, 0.7, seed=5)
SEEDS = 200


def exact(induced: bool) -> dict[str, int]:
    return {line.graphlet: line.instances for line in mcn.count_motifs(EDGES, induced=induced).totals()}


@pytest.mark.parametrize("induced", [True, False])
def test_unbiased_and_covered(monkeypatch: pytest.MonkeyPatch, induced: bool) -> None:
    monkeypatch.setattr(estimate, "_PILOT", 2000)
    found = [mcn.count_motifs(EDGES, approximate=0.2, induced=induced, seed=seed) for seed in range(SEEDS)]
    for name, true in exact(induced).items():
        lines = [each[name] for each in found]
        values = np.array([line.instances for line in lines])
        error = values.std(ddof=1) / np.sqrt(SEEDS)
        assert abs(values.mean() - true) <= 4 * error + 1e-9 * true, name
        covered = np.mean([line.low - 1e-6 * true <= true <= line.high + 1e-6 * true for line in lines])
        assert covered >= 0.89, (name, covered)  # 0.95 less four standard errors of a share among 200


def test_the_wanted_error_is_reached() -> None:
    found = mcn.count_motifs(EDGES, approximate=0.02, motifs=["triangle", "4-cycle"], seed=1)
    assert [line.graphlet for line in found.totals()] == ["triangle", "4-cycle"]
    for line in found.totals():
        assert (line.high - line.low) / 2 <= 0.023 * line.instances  # the pilot's is a guess of the spread
    assert found.samples[0] > 0
    assert found == mcn.count_motifs(EDGES, approximate=0.02, motifs=["triangle", "4-cycle"], seed=1)
    assert mcn.count_motifs(EDGES, approximate=0.5, motifs=["triangle"]).samples[1] == 0


def test_a_store_is_estimated_as_its_edges(tmp_path: Path) -> None:
    store = mcn.GraphStore.write(tmp_path / "graph", [EDGES])
    assert mcn.count_motifs(store, approximate=0.1) == mcn.count_motifs(EDGES, approximate=0.1)


@pytest.mark.parametrize("edges", [np.empty((2, 0), int), [[0], [1]], [[0, 1], [1, 2]]])
def test_graphs_without_paths_or_wedges(edges) -> None:
    found = {line.graphlet: line for line in mcn.count_motifs(edges, 5, approximate=0.1).totals()}
    for line in mcn.count_motifs(edges, 5).totals():
        assert found[line.graphlet].instances == line.instances


@pytest.mark.parametrize("error", [0, 1, -1, "much", float("nan")])
def test_an_error_that_is_none(error) -> None:
    refuses("approximate must be between 0 and 1", mcn.count_motifs, EDGES, approximate=error)
