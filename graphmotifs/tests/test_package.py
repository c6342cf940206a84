"""The package as a whole: what it imports, its names, its README."""

import ast
import doctest
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import python

import graphmotifs

SOURCE = Path(graphmotifs.__file__).parent
README = Path(__file__).resolve().parents[1] / "README.md"
NEEDED = {"graphmotifs", "numpy", "scipy", "numba", "llvmlite"}


def imports(source: str) -> Iterator[tuple[str, bool]]:
    """The package of every import in a file, and whether it is made when the file is imported."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the package"
            names = [node.module or ""]
        yield from ((name.partition(".")[0], node in tree.body) for name in names)


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.name)
def test_only_numpy_scipy_and_numba_are_needed(path: Path) -> None:
    for package, at_once in imports(path.read_text(encoding="utf-8")):
        optional = {"ray"} if "ray" in path.stem and not at_once else set()
        assert package in NEEDED | optional | sys.stdlib_module_names, f"{path.name} imports {package}"


def test_the_check_itself() -> None:
    assert list(imports("import torch\ndef f():\n    from mcn.data import x\n")) == [
        ("torch", True),
        ("mcn", False),
    ]


def test_public_names_are_documented_and_loaded_when_used() -> None:
    assert dir(graphmotifs) == sorted(graphmotifs.__all__)
    for name in set(graphmotifs.__all__) - {"__version__"}:
        assert getattr(graphmotifs, name).__doc__, name
    assert not hasattr(graphmotifs, "nothing")
    heavy = "{'numpy', 'scipy', 'numba'}"
    code = f"import sys, graphmotifs; print({heavy} & set(sys.modules)); graphmotifs.count"
    code += "; print({'scipy.stats', 'scipy.sparse.linalg', 'networkx', 'pandas'} & set(sys.modules))"
    assert python("-c", code).stdout.split("\n")[:2] == ["set()", "set()"]


def test_the_readme_runs_and_is_short() -> None:
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert (failed, tried >= 8) == (0, True)
    assert len(README.read_text(encoding="utf-8").split()) <= 350


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.name)
def test_examples_in_docstrings(path: Path) -> None:
    if path.stem != "__init__":
        module = __import__(f"graphmotifs.{path.stem}", fromlist=["_"])
        assert doctest.testmod(module).failed == 0
