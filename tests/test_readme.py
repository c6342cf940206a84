from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.markdown import commands, run_examples, run_in_process, write_graph


def test_the_python_examples_run(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_examples(repository / "README.md") >= 1


def test_the_commands_run(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_graph(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = commands(repository / "README.md")
    assert {command.words[1] for command in found} >= {"check", "train", "predict", "compare"}
    for command in found:
        run_in_process(command)
    assert (tmp_path / "predictions.csv").is_file()


def test_readme_and_docs_stay_short(repository: Path) -> None:
    """What was cut does not grow back; `studies/` have pages of their own."""
    pages = (repository / "docs").rglob("*.md")
    assert len((repository / "README.md").read_text(encoding="utf-8").split()) <= 900
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 22_000


def test_its_links_lead_somewhere(repository: Path) -> None:
    for page in [repository / "README.md", *(repository / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_two_commands_are_targets_of_the_makefile(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "test-all", "bench", "lint"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.fixture(scope="module")
def tables(repository: Path) -> ModuleType:
    """`docs/make_tables.py`."""
    spec = importlib.util.spec_from_file_location("make_tables", repository / "docs" / "make_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_kept_runs(tables: ModuleType) -> None:
    """After new runs: python docs/make_tables.py."""
    made = tables.blocks()
    for page in tables.PAGES:
        text = page.read_text(encoding="utf-8")
        assert "<!-- begin " in text
        assert tables.filled(text, made) == text


def test_a_number_that_no_run_gave_is_noticed(tables: ModuleType) -> None:
    made = {"results": "| MCN | 93.3 |"}
    page = "before\n<!-- begin results -->\n{}\n<!-- end results -->\nafter\n"
    assert tables.filled(page.format("| MCN | 99.9 |"), made) == page.format("| MCN | 93.3 |")
    with pytest.raises(KeyError, match="table9"):
        tables.filled("<!-- begin table9 -->\n<!-- end table9 -->", made)


def test_a_cell_is_the_mean_and_sample_deviation_of_its_runs(tables: ModuleType, tmp_path: Path) -> None:
    lines = [
        "dataset,method,seed,test_accuracy,version",
        "g,a,0,0.1,1",
        "g,a,1,0.3,1",
        "g,b,0,0.0,1",
        "g,b,1,0.1,1",
    ]
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    runs = tables.Runs(tmp_path / "runs.csv")
    assert runs.cell("g", "a") == "20.0 ± 14.1"
    assert runs.cell("g", "c") == "–"
    assert runs.difference("g", "a", "b") == "+15.00 ± 5.00"  # 10 and 20: deviation 7.07 over the root of 2


def test_the_results_are_one_table_without_comments(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- begin results -->\n(.*?)<!-- end results -->", readme, re.DOTALL)
    assert len(re.findall(r"^\|---", block, re.MULTILINE)) == 1
    assert readme.count("<!--") == 2
