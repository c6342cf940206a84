from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from mcn.data.datasets import check_sum, locate, not_found, places, read_checked, store


def test_places_are_root_then_environment_then_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert places() == [cache]
    monkeypatch.setenv("MCN_DATA", "/somewhere")
    assert places("/given") == [Path("/given"), Path("/somewhere"), cache]


def test_the_cache_falls_back_to_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MCN_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert places() == [tmp_path / ".cache" / "mcn"]


def test_locate_takes_the_first_complete_folder(cache: Path, tmp_path: Path) -> None:
    assert locate(["a"], ["x", "y"], tmp_path) is None
    store(tmp_path / "a", {"x": b"1"})
    assert locate(["a"], ["x", "y"], tmp_path) is None
    store(cache / "a", {"x": b"1", "y": b"2"})
    assert locate(["a"], ["x", "y"], tmp_path) == cache / "a"
    store(tmp_path / "a", {"y": b"2"})
    assert locate(["a"], ["x", "y"], tmp_path) == tmp_path / "a"


def test_store_leaves_nothing_but_the_files(tmp_path: Path) -> None:
    store(tmp_path / "deep" / "er", {"x": b"1", "y": b"22"})
    assert {file.name: file.read_bytes() for file in (tmp_path / "deep/er").iterdir()} == {
        "x": b"1",
        "y": b"22",
    }


def test_a_failed_store_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()  # a folder in the way: the rename fails
    with pytest.raises(IsADirectoryError):
        store(tmp_path, {"x": b"1"})
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


def test_read_checked_compares_every_file(tmp_path: Path) -> None:
    sums = {"x": hashlib.sha256(b"1").hexdigest()}
    store(tmp_path, {"x": b"1"})
    assert read_checked(tmp_path, sums) == {"x": b"1"}
    store(tmp_path, {"x": b"2"})
    with pytest.raises(ValueError, match=f"x: SHA-256 is d4735e3a.*, expected {sums['x']}.*remove it"):
        read_checked(tmp_path, sums)


def test_check_sum_returns_the_content() -> None:
    assert check_sum(b"abc", "f", hashlib.sha256(b"abc").hexdigest()) == b"abc"


def test_not_found_says_what_to_put_where(cache: Path) -> None:
    message = str(not_found("cora", "Planetoid/Cora/raw", ["ind.cora.x"], "/given", "there is no network"))
    for part in (
        "ind.cora.x",
        "/given/Planetoid/Cora/raw",
        str(cache),
        "no network",
        "$MCN_DATA",
        "the folder given as root",
    ):
        assert part in message
