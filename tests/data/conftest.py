"""What the tests of `mcn.data` share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def shared(data_root: Path) -> Path:
    """The folder with the raw files in PyG's layout."""
    return data_root
