"""Counting of a packed graph by tasks of a cluster: what is said where a worker lacks something."""

from pathlib import Path

import pytest

import mcn
from graphmotifs._ray import ClusterError
from graphmotifs.ray_passes import enumerate_on_ray
from mcn.store import StoreRows
from tests.clusters import said_without_the_package
from tests.conftest import refuses


@pytest.mark.slow
def test_a_worker_without_the_store_says_so_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    rows = StoreRows(mcn.GraphStore.write(tmp_path / "graph", [[[0, 1, 2, 0], [1, 2, 0, 3]]]))
    graph = rows.in_memory()
    (tmp_path / "graph").rename(tmp_path / "elsewhere")
    given, message = {"rows": rows, "jobs": 1}, r"no such folder.*every machine needs graphmotifs installed"
    assert "\n" not in refuses(message, enumerate_on_ray, graph, 1, error=ClusterError, **given)


@pytest.mark.slow
def test_a_worker_without_the_package_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    (said,) = said_without_the_package(tmp_path, "motifs", "--dataset", "karate", "--engine", "ray")
    assert "every machine needs graphmotifs installed" in said
