"""What the tests of `mcn.data` share."""

from pathlib import Path

import pytest


@pytest.fixture
def shared(data_root: Path) -> Path:
    """The folder with the raw files in PyG's layout."""
    return data_root


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers on this machine are asked without a proxy."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
