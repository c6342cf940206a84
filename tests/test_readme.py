from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcn.cli.main import main
from tests.markdown import commands, run_examples


def test_the_python_examples_run(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_examples(repository / "README.md") >= 1


def test_the_commands_print_what_is_shown(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = [command for command in commands(repository / "README.md") if command.words[0] == "mcn"]
    assert found
    for command in found:
        assert main(command.words[1:]) == 0
        assert _plain(capsys.readouterr().out) == _plain(command.output)


def _plain(text: str) -> str:
    """Without what differs from run to run: the time taken, and blanks at the end of a line."""
    lines = [line.rstrip() for line in text.splitlines()]
    return re.sub(r"counted in [\d.e-]+ s", "counted in … s", "\n".join(lines))


def test_its_links_lead_somewhere(repository: Path) -> None:
    for page in [repository / "README.md", *(repository / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).is_file(), f"{page.name}: {target}"


def test_the_two_commands_are_targets_of_the_makefile(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "test-all", "bench", "lint"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
