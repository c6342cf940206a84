"""The page that leads from the paper to the code names what is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "paper-map.md"
LABELS = """
eq:gcn eq:gcn-integrate eq:gat-integrate eq:k1 eq:k2 eq:k3 eq:k4 eq:k5 eq:kstep1 eq:kstep2 eq:state
eq:att_matrix eq:xent_loss eq:att_loss eq:loss tab:gen tab:acc tab:DD
fig:butterfly fig:motiv fig:model fig:vis
"""
PLACE = re.compile(r"`(\w[\w/]*\.py)`(?:: (`[\w.]+`(?:, `[\w.]+`)*))?")
PLACES = [
    (m[1], name) for m in PLACE.finditer(PAGE.read_text()) for name in re.findall(r"[\w.]+", m[2] or "")
]


def names(path: Path) -> set[str]:
    """The functions and classes of a file, and their methods as Class.method."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{n.name}" for n in node.body if isinstance(n, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("label", LABELS.split())
def test_every_label_of_the_paper_is_there(label: str) -> None:
    assert re.search(rf"^\| {re.escape(label)} ", PAGE.read_text(), re.MULTILINE)


@pytest.mark.parametrize(("file", "name"), PLACES)
def test_every_name_is_where_it_says(file: str, name: str) -> None:
    assert name in names(REPOSITORY / file)


def test_every_file_is_there() -> None:
    files = {m[1] for m in PLACE.finditer(PAGE.read_text())}
    assert len(files) > 20
    assert [file for file in sorted(files) if not (REPOSITORY / file).is_file()] == []
