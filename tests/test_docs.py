from __future__ import annotations

from pathlib import Path

import pytest

from mcn.motifs import MOTIFS, picture
from tests.conftest import REPOSITORY
from tests.markdown import blocks, run_examples

PAGES = sorted((REPOSITORY / "docs").glob("*.md"))

# Small files under the names that the pages use.
EDGES = "source,target\nann,bob\nbob,eve\neve,ann\neve,dan\n"
NODES = "id,label,split,age\nann,red,train,31\nbob,blue,train,40\neve,red,val,28\ndan,blue,test,55\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if any('load_dataset("cora")' in block.text for block in blocks(page)):
        monkeypatch.setenv("MCN_DATA", str(request.getfixturevalue("data_root")))
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)
    monkeypatch.chdir(tmp_path)
    run_examples(page)


def test_the_motif_page_has_examples(repository: Path) -> None:
    assert len([b for b in blocks(repository / "docs" / "motifs.md") if b.language == "pycon"]) >= 5


def test_the_pictures_are_up_to_date(repository: Path) -> None:
    """After a change: python docs/make_pictures.py."""
    folder = repository / "docs" / "img" / "motifs"
    assert sorted(path.stem for path in folder.iterdir()) == sorted(MOTIFS)
    for motif in MOTIFS:
        assert (folder / f"{motif}.svg").read_text(encoding="utf-8") == picture(motif) + "\n", motif
