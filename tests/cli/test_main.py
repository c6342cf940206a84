import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import mcn as package
from mcn.cli import main as entry
from tests.cli.conftest import COMMAND, Run, ended, printed, refused, start
from tests.conftest import python


def test_overview(mcn: Run) -> None:
    shown = printed(mcn("--help"))
    assert shown.startswith("Usage: mcn ")
    for verb, text in entry.VERBS.items():
        assert f"  {verb} " in shown
        assert text in shown
    assert printed(mcn()) == shown  # no verb at all: the same overview


@pytest.mark.parametrize("verb", entry.VERBS)
def test_every_verb_has_help_with_an_example_and_json(mcn: Run, verb: str) -> None:
    shown = printed(mcn(verb, "--help"))
    assert shown.startswith(f"Usage: mcn {verb}")
    assert f"Example: mcn {verb}" in shown
    assert "--json" in shown


def add_verb(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Add a verb `fail` that raises an error."""

    def run() -> None:
        """Fail."""
        raise error

    monkeypatch.setitem(entry.VERBS, "fail", "Fail.")
    monkeypatch.setitem(sys.modules, "mcn.cli.fail", SimpleNamespace(run=run))


def _caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("x must be 1,\n  got 2"), 2, "mcn: x must be 1, got 2"),
        (FileNotFoundError(2, "No such file", "a.csv"), 2, "mcn: a.csv: No such file"),
        (PermissionError(13, "Permission denied", "a.csv"), 2, "mcn: a.csv: Permission denied"),
        (OSError(28, "No space left on device"), 1, "mcn: standard output: No space left on device"),
        (MemoryError("Unable to allocate 9 TiB"), 1, "mcn: not enough memory: Unable to allocate 9 TiB"),
        (MemoryError(), 1, "mcn: not enough memory"),
        (KeyboardInterrupt(), 130, "mcn: interrupted"),
        (_caused(SystemError("an exception set"), KeyboardInterrupt()), 130, "mcn: interrupted"),
        (KeyError("gone"), 1, "mcn: KeyError: 'gone' (an internal error; set MCN_TRACEBACK=1 to see where)"),
    ],
)
def test_every_error_is_one_line_and_a_code(
    mcn: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    monkeypatch.delenv("MCN_TRACEBACK", raising=False)
    add_verb(monkeypatch, error)
    assert mcn("fail") == (code, "", f"{line}\n")


def test_a_bug_shows_its_traceback_on_request(mcn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCN_TRACEBACK", "1")
    add_verb(monkeypatch, KeyError("gone"))
    with pytest.raises(KeyError, match="gone"):
        mcn("fail")


def test_help_and_listing_import_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from mcn.cli.main import VERBS, main\n"
        "for verb in VERBS: assert main([verb, '--help']) == 0\n"
        "assert main([]) == main(['--help']) == 0\n"
        "heavy = {'torch', 'torch_geometric', 'numba', 'networkx', 'rich', 'matplotlib'}\n"
        "seen = sorted((heavy | {'scipy'}) & set(sys.modules))\n"
        "assert main(['datasets']) == 0\n"
        "print(seen, sorted(heavy & set(sys.modules)))\n"
    )
    assert python("-c", code).stdout.splitlines()[-1] == "[] []"


def test_the_installed_command() -> None:
    assert ended(start("--version")) == (0, f"mcn {package.__version__}\n", "")
    assert refused(ended(start("motfs"))) == "no verb 'motfs'; did you mean 'motifs'?"


@pytest.mark.parametrize("arguments", [["datasets"], ["datasets", "--json"], ["motifs"]])
def test_a_reader_that_goes_away_is_no_traceback(arguments: list[str]) -> None:
    """As in `mcn motifs | head -1`, with a reader that is gone before the first line."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 1


@pytest.mark.parametrize(
    "verb", [["train"], ["motifs"], ["search"], ["reproduce", "figure1"], ["predict", "x"], ["view", "x"]]
)
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_path_is_not_the_current_folder(mcn: Run, verb: list[str], empty: str, here: Path) -> None:
    assert "'--out': an empty path" in refused(mcn(*verb, "--out", empty))
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("content", ["[" * 5000, "a: &a [*a]", "- " * 5000, "a: 2001-99-99"])
@pytest.mark.parametrize("option", [["train", "--preset"], ["search", "--space"]])
def test_yaml_that_is_none(mcn: Run, option: list[str], content: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(content)
    told = refused(mcn(*option, tmp_path / "own.yaml", "--out", tmp_path / "out"))
    assert "own.yaml: not YAML" in told
    assert not (tmp_path / "out").exists()


def test_long_messages_are_cut(mcn: Run) -> None:
    assert len(refused(mcn("train", "--dataset", "x" * 10_000))) < 2_100
