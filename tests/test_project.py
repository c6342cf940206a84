"""The project as a whole: its version, its public names, its files."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import graphmotifs
import mcn
from tests.conftest import python


@pytest.fixture(scope="module")
def settings(repository: Path) -> dict:
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))


def test_version_documented_names_and_a_cheap_import(settings: dict, repository: Path) -> None:
    assert settings["project"]["version"] == mcn.__version__
    engine = tomllib.loads((repository / "graphmotifs" / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert engine["version"] == graphmotifs.__version__
    assert f"graphmotifs=={graphmotifs.__version__}" in settings["project"]["dependencies"]
    assert f"## [{mcn.__version__}]" in (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    assert [name for name in mcn.__all__ if not getattr(mcn, name).__doc__] == []
    code = "import sys, mcn; print({'torch', 'numba', 'numpy', 'networkx', 'scipy'} & set(sys.modules))"
    assert python("-c", code).stdout == "set()\n"
    # PyG is imported by those who make a `Data`, and costs more than torch itself.
    slow = "{'torch_geometric', 'torch._dynamo', 'scipy.stats'}"
    code = f"import sys, mcn; mcn.MCNClassifier; print({slow} & set(sys.modules))"
    assert python("-c", code).stdout == "set()\n"
    # Packages are reached without an import of their own.
    names = "mcn.data.random_split.__name__, mcn.train.TensorBoard.__name__, 'viz' in dir(mcn)"
    found = python("-c", f"import mcn; print({names})").stdout
    assert found.split() == ["random_split", "TensorBoard", "True"]


def _pins(repository: Path) -> dict[str, str]:
    lines = (repository / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", pin) for pin in pins)
    return {_canonical(pin.split("==")[0]): pin.split("==")[1] for pin in pins}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_constraints_pin_every_direct_dependency(settings: dict, repository: Path) -> None:
    pins = _pins(repository)
    assert pins["torch"] == "2.13.0"
    project = settings["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["dev"], *extras["viz"], *extras["bench"]]
    wanted += settings["build-system"]["requires"]
    for requirement in wanted:
        name = _canonical(re.match(r"[A-Za-z0-9._-]+", requirement)[0])
        assert name in ("mcn", "graphmotifs") or name in pins, requirement
        least = re.search(r">=([\d.]+)", requirement)
        if least and name in pins:
            assert _number(pins[name]) >= _number(least[1]), f"{requirement} is pinned to {pins[name]}"


def _number(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def test_no_tracked_file_names_a_machine(repository: Path) -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=repository, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    words = ["/" + "work/", "/" + "tmp/venv", "/" + "root/"]
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = repository / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            for word in words:
                assert word.encode() not in content, f"{name} holds {word}"


def test_bounds_are_checked_in_every_kernel(repository: Path) -> None:
    """`make bounds` runs the tests of every package that compiles something."""
    bounds = (repository / "Makefile").read_text("utf-8").split("\nbounds:")[1]
    listed = set(re.findall(r"tests/[\w/.]+", bounds))
    source = repository / "src" / "mcn"
    texts = {path.relative_to(source): path.read_text("utf-8") for path in source.rglob("*.py")}
    compiled = {path for path, text in texts.items() if re.search(r"^@\w*kernel$", text, re.M)}
    imported = {path for path, text in texts.items() if "from graphmotifs._jit import" in text}
    assert "graphmotifs/tests " in bounds
    assert len(compiled) > 15
    assert len(imported) > 15
    own = {Path("viz/force_layout.py"): "tests/viz/test_force_layout.py"}
    own |= {Path("train/trees", name): "tests/train/test_trees.py" for name in ("boosting.py", "columns.py")}
    for path in compiled | imported:
        first, *inside = path.parts
        tests = own.get(path, f"tests/{first}" if inside else f"tests/test{path.stem}.py")
        assert tests in listed, f"{path} has kernels, and {tests} is not among the tests of `make bounds`"
