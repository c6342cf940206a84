from __future__ import annotations

from pathlib import Path

import pytest

from mcn.motifs import MOTIFS, picture
from tests.conftest import REPOSITORY
from tests.markdown import blocks, run_examples, run_in_process, write_graph

DOCS = REPOSITORY / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if any('load_dataset("cora")' in block.text for block in blocks(page)):
        monkeypatch.setenv("MCN_DATA", str(request.getfixturevalue("data_root")))
    write_graph(tmp_path)
    monkeypatch.chdir(tmp_path)
    # Pages outside the guides show commands with real data sets and long runs.
    run_examples(page, run_in_process if page.parent.name == "guide" else None)


def test_the_motif_page_has_examples(repository: Path) -> None:
    assert len([b for b in blocks(repository / "docs" / "motifs.md") if b.language == "pycon"]) >= 5


def test_the_pictures_are_up_to_date(repository: Path) -> None:
    """Each file is what `mcn.motifs.picture` gives for its name."""
    folder = repository / "docs" / "img" / "motifs"
    assert sorted(path.stem for path in folder.iterdir()) == sorted(MOTIFS)
    for motif in MOTIFS:
        assert (folder / f"{motif}.svg").read_text(encoding="utf-8") == picture(motif) + "\n", motif
