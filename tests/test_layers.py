"""Data flows one way: graphmotifs → data → store → …; a package imports only from packages to its left."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphmotifs
import mcn

FLOW = ["data", "store", "motifs", "matrices", "nn", "train", "experiments", "viz", "paper", "cli"]
SOURCE = Path(mcn.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def imported(tree: ast.AST, module: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line and dotted name of everything imported anywhere in a file, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.split(".")
        elif isinstance(node, ast.ImportFrom):
            base = module[: len(module) - node.level] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            for alias in node.names:
                # `from mcn import load_graph` is an import from the package that is its home.
                home = mcn._HOME.get(alias.name) if base == ["mcn"] else None
                yield node.lineno, home.split(".") if home else [*base, alias.name]


def wrong_imports(path: Path, source: str) -> list[str]:
    parts = list(path.relative_to(SOURCE.parent).with_suffix("").parts)
    own = parts[1] if len(parts) > 2 else None  # a package of the flow, or None for mcn/*.py
    allowed = FLOW[: FLOW.index(own) + 1] if own else []
    if path.name == "__main__.py":  # `python -m mcn` is the command line
        allowed = FLOW
    return [
        f"{path.name}, line {line}: {'.'.join(name)}"
        for line, name in imported(ast.parse(source), parts)
        if name[0] == "mcn" and len(name) > 1 and name[1] in FLOW and name[1] not in allowed
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_to_the_left(path: Path) -> None:
    assert wrong_imports(path, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "path", sorted(Path(graphmotifs.__file__).parent.rglob("*.py")), ids=lambda path: path.name
)
def test_the_engine_imports_nothing_of_mcn(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [line for line, name in imported(tree, ["graphmotifs", path.stem]) if name[0] == "mcn"] == []


def test_every_package_is_in_the_flow() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages <= set(FLOW)


def test_everything_but_the_paper_works_without_its_folder(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "mcn", ignore=shutil.ignore_patterns("paper", "__pycache__"))
    command = "from mcn.cli.main import main; main()"
    words = ["compare", "--dataset", "karate", "--methods", "mcn,gcn", "--seeds", "1", "--max-epochs", "2"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", command, *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "MCN" in done.stdout
    importers = {
        file.relative_to(SOURCE).parts[0]
        for file in FILES
        for _, name in imported(ast.parse(file.read_text(encoding="utf-8")), list(file.parts))
        if ".".join(name).startswith("mcn.paper")
    }
    assert importers <= {"cli", "paper"}


@pytest.mark.parametrize(
    ("package", "source", "wrong"),
    [
        ("data", "from mcn.motifs import count_motifs", True),
        ("data", "def f():\n    import mcn.cli.main", True),
        ("data", "from ..motifs import picture", True),
        ("data", "from .. import motifs", True),
        ("data", "from mcn import count_motifs", True),
        ("motifs", "from mcn.data.checks import told_nodes", False),
        ("data", "from graphmotifs import simple_graph", False),
        ("motifs", "from .catalogue import MOTIFS", False),
        ("motifs", "from mcn import load_graph, __version__", False),
        ("cli", "from mcn.nn import MCN", False),
    ],
)
def test_the_check_itself(package: str, source: str, wrong: bool) -> None:
    assert bool(wrong_imports(SOURCE / package / "some.py", source)) == wrong
