"""`mcn datasets`: what there is."""

from pathlib import Path
from typing import Any

from tests.cli.conftest import Run, answered, printed
from tests.data.test_datasets import NAMES


def test_the_data_sets(mcn: Run, cache: Path) -> None:
    lines = printed(mcn("datasets")).splitlines()
    assert lines[0].split() == ["name", "nodes", "edges", "classes", "where"]
    assert [line.split()[0] for line in lines[1:-1]] == NAMES
    assert lines[2].split() == ["karate", "34", "78", "2", "built", "in"]
    assert lines[3].split()[:4] == ["cora", "2,708", "5,278", "7"]
    assert lines[3].endswith("not here; downloaded when first loaded")
    assert lines[-1] == f"looked in: {cache}"
    assert not cache.exists()
    content = answered(mcn("datasets", "--json"))
    assert set(content) == {"datasets", "places"}
    assert content["places"] == [str(cache)]
    assert [row["name"] for row in content["datasets"]] == NAMES
    for row in content["datasets"]:
        assert set(row) == {"name", "nodes", "edges", "classes", "source", "embedded", "found"}
        assert row["found"] is None
        assert row["embedded"] == (row["name"] in ("strong-ties", "karate"))


def test_where_files_are_found(mcn: Run, cache: Path, data_root: Path, monkeypatch: Any) -> None:
    folder = str(data_root / "Planetoid" / "Cora" / "raw")
    by_option = answered(mcn("datasets", "--json", "--data-root", data_root))
    assert by_option["places"] == [str(data_root), str(cache)]
    assert by_option["datasets"][2]["found"] == folder
    assert folder in mcn("datasets", "--data-root", data_root).out
    monkeypatch.setenv("MCN_DATA", str(data_root))
    assert answered(mcn("datasets", "--json"))["datasets"][2]["found"] == folder
