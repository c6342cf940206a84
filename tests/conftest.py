"""What all tests share."""

import importlib.util
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest

# Before torch is imported: processes of pytest-xdist that all use all cores wait for one another.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A kernel that is compiled, or a machine that is busy, is no failure.
hypothesis.settings.register_profile("mcn", deadline=None)
hypothesis.settings.load_profile("mcn")

with warnings.catch_warnings():
    # PyG's own import triggers torch's deprecation warnings, which are errors in these tests.
    warnings.simplefilter("ignore")
    import torch_geometric.datasets
    import torch_geometric.nn
    import torch_geometric.transforms  # noqa: F401

REPOSITORY = Path(__file__).resolve().parents[1]


def refuses(message: str, call: Any, /, *args: Any, error: type = ValueError, **options: Any) -> str:
    """Check that a call is refused by an error, by default a `ValueError`, whose message matches; return it.

    What the package itself refuses is said in one line.
    """
    with pytest.raises(error, match=message) as caught:
        call(*args, **options)
    said = str(caught.value)
    del caught  # which holds this frame: what an error keeps open is closed now, not at some later time
    assert error is not ValueError or "\n" not in said
    return said


def python(*words: object, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, and keep what it says."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)


def docs_script(name: str) -> ModuleType:
    """A file of `docs/`, which is no package, as a module."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference(name: str) -> Any:
    """What a file beside the project says of the paper; without it the test is skipped."""
    file = REPOSITORY.parent / "shared" / "reference" / f"{name}.json"
    if not file.is_file():
        pytest.skip(f"{file.name} is not beside the project (../shared/reference)")
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The project's folder."""
    return REPOSITORY


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder beside the project, or else `$MCN_DATA`, with the raw files in PyG's layout."""
    folders = [REPOSITORY.parent / "shared" / "data", Path(os.environ.get("MCN_DATA", "nowhere"))]
    for folder in folders:
        if folder.is_dir():
            return folder
    pytest.skip("the data sets are neither beside the project (../shared/data) nor in $MCN_DATA")


@pytest.fixture
def own_methods() -> Iterator[None]:
    """Take out again what a test registers."""
    from mcn.paper.baselines import METHODS

    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache, and no other place to look for data sets in."""
    monkeypatch.delenv("MCN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mcn"
