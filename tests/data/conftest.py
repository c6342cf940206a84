"""What the tests of `mcn.data` share."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

with warnings.catch_warnings():
    # PyG's own import triggers torch's deprecation warnings, which are errors in these tests.
    warnings.simplefilter("ignore")
    import torch_geometric  # noqa: F401

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture
def shared() -> Path:
    """The folder with the raw files in PyG's layout."""
    if not SHARED.is_dir():
        pytest.skip("the data sets are not beside the project (../shared/data)")
    return SHARED


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache, and no other place to look in."""
    monkeypatch.delenv("MCN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mcn"
