from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import mcn

SOURCE = Path(mcn.__file__).parent


def _modules() -> list[str]:
    with_examples = [
        path for path in sorted(SOURCE.rglob("*.py")) if ">>>" in path.read_text(encoding="utf-8")
    ]
    return [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in with_examples]


@pytest.mark.parametrize("name", _modules())
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name.removesuffix(".__init__"))
    # numba's kernels are no functions to doctest's eye; ours of the public API are plain ones.
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
