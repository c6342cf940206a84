import shlex
import signal
import time
from pathlib import Path

import pytest

from mcn.experiments import Ledger
from tests.cli.conftest import Run, answered, ended, printed, refused, start
from tests.conftest import REPOSITORY

LITTLE = ["--datasets", "cora", "--methods", "majority,lp", "--seeds", "2", "--jobs", "1"]


def test_table2_end_to_end(mcn: Run, data_root: Path, here: Path) -> None:
    words = ["reproduce", "table2", *LITTLE, "--data-root", data_root]
    text = printed(mcn(*words))
    assert "table2 (tab:acc)" in text
    folder = Path("reproduce/table2")
    names = ("report.md", "results.json", "table2.csv", "ledger.sqlite")
    files = [folder / name for name in names]
    assert text.splitlines()[-1] == f"files: {', '.join(map(str, files))}"
    assert all(file.is_file() for file in files)
    message = refused(mcn(*words))
    assert message == f"{folder} already holds results; choose another folder, or resume them"
    content = answered(mcn(*words, "--resume", "--json"))
    assert [row["method"] for row in content["rows"]] == ["majority", "lp"]
    assert [list(row["test"]) for row in content["rows"]] == [["0", "1"]] * 2
    assert content["files"] == [str(file) for file in files]


def test_table1(mcn: Run, tmp_path: Path) -> None:
    out = tmp_path / "one"
    text = printed(mcn("reproduce", "table1", "--datasets", "karate,strong-ties", "--out", out))
    assert text.count("yes") == 6
    assert "no" not in text.replace("normal", "").split()
    assert (out / "report.md").is_file()
    said = refused(mcn("reproduce", "table1", "--datasets", "karate", "--out", out))
    assert said.startswith(f"{out} already")


def test_figures_1_and_2(mcn: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "figure"
    content = answered(mcn("reproduce", "figure1", "--out", out, "--json"))
    assert content["files"] == [str(out / "figure1.pdf"), str(out / "figure1.png")]
    assert (out / "figure1.pdf").read_bytes().startswith(b"%PDF")
    assert (out / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert "already holds figure1" in refused(mcn("reproduce", "figure1", "--out", out))
    two = tmp_path / "two"
    lines = printed(mcn("reproduce", "figure2", "--out", two)).splitlines()
    assert "triangle: the neighbours of 1300 nodes, right about 100.0% of them" in lines
    assert (two / "figure2.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_figure3(mcn: Run, tmp_path: Path) -> None:
    content = answered(mcn("reproduce", "figure3", "--out", tmp_path, "--datasets", "karate", "--json"))
    assert (content["figure"], content["dataset"]) == ("figure3", "karate")
    assert (tmp_path / "figure3.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "run" / "summary.json").is_file()


@pytest.mark.slow
def test_figure4(mcn: Run, data_root: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "figure"
    words = ["reproduce", "figure4", "--out", out, "--data-root", data_root]
    text = printed(mcn(*words))
    assert "layer 1: " in text
    assert "4-path" in text
    assert (out / "figure4.pdf").read_bytes().startswith(b"%PDF")
    before = (out / "run" / "summary.json").read_bytes()
    printed(mcn(*words, "--resume"))
    assert (out / "run" / "summary.json").read_bytes() == before


def test_an_interrupt_says_how_to_go_on(data_root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["reproduce", "table2", "--datasets", "cora", "--methods", "majority,gat", "--seeds", "2"]
    words += ["--jobs", "1", "--data-root", str(data_root), "--out", str(out)]
    process = start(*words, start_new_session=True)
    while process.poll() is None and not _rows(out / "ledger.sqlite"):
        time.sleep(0.05)
    time.sleep(0.5)  # the first method is finished, the second is under way
    process.send_signal(signal.SIGINT)
    said = f"mcn: interrupted; go on with: mcn {shlex.join([*words, '--resume'])}\n"
    assert ended(process) == (130, "", said)
    assert _rows(out / "ledger.sqlite")


def _rows(path: Path) -> int:
    return len(Ledger(path)) if path.is_file() and path.stat().st_size else 0


def test_runs_are_kept_rendered_and_checked(mcn: Run, data_root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    where = ("--data-root", data_root)
    printed(mcn("reproduce", "table2", *LITTLE, *where, "--out", kept))
    content = answered(mcn("reproduce", "table2", "--from", kept, "--out", tmp_path / "b", "--json"))
    rows = {(row["dataset"], row["method"]): row["runs"] for row in content["rows"]}
    assert (rows["cora", "lp"], rows["cora", "gat"], rows["pubmed", "lp"]) == (2, 0, 0)
    assert (tmp_path / "b" / "report.md").is_file()
    assert not (tmp_path / "b" / "ledger.sqlite").exists()

    done = mcn("reproduce", "table2", "--from", kept, "--check", 4, "--jobs", 1, *where)
    assert (done.code, done.out.splitlines()[-1]) == (0, "4 of 4 runs came out the same")
    assert "cora, lp, seed 1: test 74.4%, validation 72.6%, the same" in done.out.splitlines()
    file = kept / "table2.csv"
    file.write_text(file.read_text().replace("cora,lp,1,0.726,0.744", "cora,lp,1,0.726,0.745"))
    done = mcn("reproduce", "table2", "--from", kept, "--check", 9, "--jobs", 1, "--methods", "lp", *where)
    assert (done.code, done.out.splitlines()[-1]) == (1, "1 of 2 runs came out the same")
    assert "cora, lp, seed 1: test 74.5%, validation 72.6%, now 74.4% and 72.6%" in done.out.splitlines()


@pytest.mark.parametrize("table", ["table2", "table3"])
def test_the_runs_that_the_project_keeps(table: str, mcn: Run, tmp_path: Path) -> None:
    kept = REPOSITORY / "docs" / "results"
    content = answered(mcn("reproduce", table, "--from", kept, "--out", tmp_path, "--json"))
    assert {row["runs"] for row in content["rows"]} == {15 if table == "table2" else 10}
