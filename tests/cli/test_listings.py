"""`mcn datasets` and `mcn methods`: what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcn.baselines import METHODS
from mcn.experiments import Source, Unit
from mcn.train import RECIPES
from tests.cli.conftest import Run, answered, printed

NAMES = [
    "strong-ties", "karate", "cora", "citeseer", "pubmed", "dd6", "dd7", "texas", "wisconsin",
    "chameleon-filtered", "actor", "minesweeper", "amazon-photo", "airports-usa",
]  # fmt: skip


def test_the_data_sets(mcn: Run, cache: Path) -> None:
    lines = printed(mcn("datasets")).splitlines()
    assert lines[0].split() == ["name", "nodes", "edges", "classes", "where"]
    assert [line.split()[0] for line in lines[1:-1]] == NAMES
    assert lines[2].split() == ["karate", "34", "78", "2", "built", "in"]
    assert lines[3].split()[:4] == ["cora", "2,708", "5,278", "7"]
    assert lines[3].endswith("not here; downloaded when first loaded")
    assert lines[-1] == f"looked in: {cache}"
    assert not cache.exists()


def test_the_data_sets_as_json(mcn: Run, cache: Path) -> None:
    content = answered(mcn("datasets", "--json"))
    assert set(content) == {"datasets", "places"}
    assert content["places"] == [str(cache)]
    assert [row["name"] for row in content["datasets"]] == NAMES
    for row in content["datasets"]:
        assert set(row) == {"name", "nodes", "edges", "classes", "source", "embedded", "found"}
        assert row["found"] is None
        assert row["embedded"] == (row["name"] in ("strong-ties", "karate"))


def test_where_files_are_found(
    mcn: Run, cache: Path, data_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(data_root / "Planetoid" / "Cora" / "raw")
    by_option = answered(mcn("datasets", "--json", "--data-root", data_root))
    assert by_option["places"] == [str(data_root), str(cache)]
    assert by_option["datasets"][2]["found"] == folder
    assert folder in mcn("datasets", "--data-root", data_root).out
    monkeypatch.setenv("MCN_DATA", str(data_root))
    assert answered(mcn("datasets", "--json"))["datasets"][2]["found"] == folder


CONTROLS = ("gat-consistency", "gcn-consistency")


def test_the_methods_as_json(mcn: Run) -> None:
    content = answered(mcn("methods", "--json"))
    assert list(content) == ["methods"]
    rows = {row["name"]: row for row in content["methods"]}
    assert list(rows) == list(METHODS)
    for row in rows.values():
        assert list(row) == ["name", "title", "needs", "installed", "trained", "can"]
        assert row["title"]
        assert (Unit(Source("karate"), row["name"]).config() is not None) == row["trained"]
    for name in (*RECIPES, "gat", "gcn", "mlp", "gat-paper", "gcn-paper", *CONTROLS):
        row = rows[name]
        assert (row["needs"], row["installed"], row["trained"]) == ([], True, True)
        assert row["can"] == ["probabilities", "new nodes", "explain"]
    for name in ("majority", "lp", "chebyshev", "semiemb"):
        assert not rows[name]["trained"]
        assert rows[name]["can"] == ([] if name == "lp" else ["probabilities"])


def test_the_methods(mcn: Run) -> None:
    lines = [line.split(maxsplit=2) for line in printed(mcn("methods")).splitlines()]
    assert [line[0] for line in lines] == list(METHODS)
    for name, kind, title in lines:
        assert kind == ("trained" if METHODS[name].trained else "baseline")
        assert title.startswith(METHODS[name].title)
