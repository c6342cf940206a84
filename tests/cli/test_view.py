from pathlib import Path

import pytest

from tests.cli.conftest import QUICK, Run, answered, printed, refused, write_graph
from tests.viz.explorer.reading import read_page


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def test_the_page_of_a_run_and_into_a_file(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "own.html"
    told = answered(mcn("view", run_folder, "--out", page, "--no-open", "--json"))
    size = page.stat().st_size
    assert told == {"run": str(run_folder), "out": str(page), "bytes": size, "opened": False}
    assert not (run_folder / "explorer.html").exists()
    done = mcn("view", run_folder)
    page = run_folder / "explorer.html"
    assert done == (0, f"{page} is written; open it in a browser\n", "")
    meta, _ = read_page(page)
    assert meta["ids"][:2] == ["a0", "a1"]
    assert meta["classes"] == ["blue", "red"]
    assert not meta["other_graph"]
    assert mcn("view", run_folder, "--around", "a1", "--around", "b3").code == 0
    assert read_page(page)[0]["named"]
    assert "no node 'nobody' to draw around" in refused(mcn("view", run_folder, "--around", "nobody"))


def test_it_opens_the_browser_where_there_is_a_screen(
    mcn: Run, run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The browser here is a script that notes what it is asked to open."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{tmp_path}/asked"\n')
    browser.chmod(0o755)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser._tryorder", None)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    page = run_folder / "explorer.html"
    assert mcn("view", run_folder).out == f"{page} is written and opened\n"
    assert (tmp_path / "asked").read_text().strip() == page.as_uri()
    (tmp_path / "asked").unlink()
    assert mcn("view", run_folder, "--no-open").out == f"{page} is written; open it in a browser\n"
    assert not (tmp_path / "asked").exists()


def test_the_graph_has_changed(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text(edges.read_text() + "a1,b7\n")
    assert "the graph is no longer the one the run was trained on" in refused(mcn("view", run_folder))
    assert "must end in .html" in refused(mcn("view", run_folder, "--out", tmp_path / "page.txt"))
    assert not (run_folder / "explorer.html").exists()


def test_another_graph_is_shown_when_it_is_named(mcn: Run, run_folder: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    edges, nodes = write_graph(new, split=True)
    edges.write_text(edges.read_text() + "b3,zoe\n")
    nodes.write_text(nodes.read_text() + "zoe,,,3,49\n")
    printed(mcn("view", run_folder, "--graph", edges, "--nodes", nodes, "--out", new / "page.html"))
    meta, arrays = read_page(new / "page.html")
    assert meta["other_graph"]
    assert meta["nodes"] == 25
    assert arrays["truth"][meta["ids"].index("zoe")] == -1


def test_train_writes_a_report(mcn: Run, tmp_path: Path) -> None:
    printed(mcn("train", "--dataset", "karate", *QUICK, "--seeds", "2", "--out", tmp_path / "runs"))
    for seed in (0, 1):
        meta, _ = read_page(tmp_path / "runs" / f"seed-{seed}" / "report.html")
        assert meta["repeat"]["command"].endswith(f" --seed {seed}")
        assert "note" not in meta["repeat"]  # the command says it all
