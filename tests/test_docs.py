from __future__ import annotations

from pathlib import Path

import pytest

from mcn.cli.main import main
from mcn.motifs import MOTIFS, picture
from tests.conftest import REPOSITORY
from tests.markdown import Command, blocks, run_examples

DOCS = REPOSITORY / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

# Small files under the names that the pages use.
EDGES = "source,target\nann,bob\nbob,eve\neve,ann\neve,dan\n"
NODES = "id,label,split,age\nann,red,train,31\nbob,blue,train,40\neve,red,val,28\ndan,blue,test,55\n"


# What makes a command short: it must run, how well it trains is not the matter here. The last of two counts.
SHORT = {"view": ["--no-open"], "train": ["--max-epochs", "20"], "compare": ["--max-epochs", "20"]}


def shell(command: Command) -> None:
    """Run a command of a page in this process; a page to look at is written and not opened."""
    program, verb, *words = command.words
    assert program == "mcn", command
    own = ["--set", "repeats=1"] if verb == "train" and "--graph" in words else []  # of the recipe auto
    assert main([verb, *words, *SHORT.get(verb, []), *own]) == 0, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if any('load_dataset("cora")' in block.text for block in blocks(page)):
        monkeypatch.setenv("MCN_DATA", str(request.getfixturevalue("data_root")))
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)
    monkeypatch.chdir(tmp_path)
    # Pages outside the guides show commands with real data sets and long runs.
    run_examples(page, shell if page.parent.name == "guide" else None)


def test_the_motif_page_has_examples(repository: Path) -> None:
    assert len([b for b in blocks(repository / "docs" / "motifs.md") if b.language == "pycon"]) >= 5


def test_the_pictures_are_up_to_date(repository: Path) -> None:
    """After a change: python docs/make_pictures.py."""
    folder = repository / "docs" / "img" / "motifs"
    assert sorted(path.stem for path in folder.iterdir()) == sorted(MOTIFS)
    for motif in MOTIFS:
        assert (folder / f"{motif}.svg").read_text(encoding="utf-8") == picture(motif) + "\n", motif
