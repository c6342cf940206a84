"""The project as a whole: its version, its public names, its files."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

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


def test_both_packages_and_the_workflows_name_the_same_pythons(settings: dict, repository: Path) -> None:
    engine = tomllib.loads((repository / "graphmotifs" / "pyproject.toml").read_text("utf-8"))["project"]
    ours = settings["project"]
    assert engine["requires-python"] == ours["requires-python"] == ">=3.11"
    versions = [re.findall(r":: (3\.\d+)$", "\n".join(it["classifiers"]), re.M) for it in (ours, engine)]
    assert versions[0] == versions[1]
    assert versions[0][0] == "3.11"
    jobs = yaml.safe_load(_workflows(repository)["test.yml"])["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == versions[0]
    assert jobs["engine"]["strategy"]["matrix"]["python"] == [*versions[0], f"{versions[0][-1]}t"]


def _workflows(repository: Path) -> dict[str, str]:
    folder = repository / ".github"
    if not folder.is_dir():
        pytest.skip("not a git checkout")
    files = [*folder.glob("workflows/*.yml"), *folder.glob("actions/*/action.yml")]
    return {file.name: file.read_text("utf-8") for file in files}


def test_workflows_pin_their_actions_and_call_what_the_makefile_has(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text("utf-8")
    for name, text in _workflows(repository).items():
        for action in re.findall(r"uses: (.+)", text):
            pinned = re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)
            assert pinned or action == "./.github/actions/set-up", f"{name}: {action}"
        for target in re.findall(r"make ([a-z][\w-]*)", text):
            assert re.search(rf"^{target}:", makefile, re.M), f"{name}: make {target}"
    nightly = yaml.safe_load(_workflows(repository)["nightly.yml"])["jobs"]["make"]["strategy"]["matrix"][
        "target"
    ]
    assert [target.split()[0] for target in nightly] == ["test-all", "fuzz", "faults", "bounds"]
    # Only the two jobs that publish may ask for an identity, and the engine is published first.
    release = yaml.safe_load(_workflows(repository)["release.yml"])["jobs"]
    asking = {name for name, job in release.items() if job.get("permissions") == {"id-token": "write"}}
    assert asking == {"graphmotifs", "mcn"}
    assert all(release[name]["environment"] == "pypi" for name in asking)
    assert release["mcn"]["needs"] == "graphmotifs"


def _pins(repository: Path) -> dict[str, str]:
    lines = (repository / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", pin) for pin in pins)
    return {_canonical(pin.split("==")[0]): pin.split("==")[1] for pin in pins}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _group(groups: dict[str, list], name: str) -> list[str]:
    """The requirements of a dependency group and of the groups that it includes."""
    requirements = []
    for member in groups[name]:
        requirements += [member] if isinstance(member, str) else _group(groups, member["include-group"])
    return requirements


def test_constraints_pin_every_direct_dependency(settings: dict, repository: Path) -> None:
    pins = _pins(repository)
    assert pins["torch"] == "2.13.0"
    project = settings["project"]
    groups = settings["dependency-groups"]
    wanted = [*project["dependencies"], *settings["build-system"]["requires"]]
    wanted += ["pip>=25.1", "uv", "build", "twine"]  # of the Makefile and of the release
    for requirements in [
        *project["optional-dependencies"].values(),
        *(_group(groups, name) for name in groups),
    ]:
        wanted += requirements
    for requirement in wanted:
        name = _canonical(re.match(r"[A-Za-z0-9._-]+", requirement)[0])
        assert name == "graphmotifs" or name in pins, requirement
        least = re.search(r">=([\d.]+)", requirement)
        if least and name in pins:
            assert _number(pins[name]) >= _number(least[1]), f"{requirement} is pinned to {pins[name]}"


def test_users_have_extras_and_the_makefile_installs_groups(settings: dict, repository: Path) -> None:
    assert set(settings["project"]["optional-dependencies"]) == {"viz", "search", "cluster"}
    installed = re.findall(r"--group (\w+)", (repository / "Makefile").read_text("utf-8"))
    assert set(installed) == {"dev", "bench"}
    developed = _group(settings["dependency-groups"], "dev")
    for tool in ("pytest", "ruff", "mypy", "hypothesis"):
        assert any(requirement.startswith(tool) for requirement in developed), tool


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
