import csv
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

import mcn as package
from mcn.data.datasets.planetoid import SUMS
from tests.cli.conftest import Run, answered, ended, printed, refused
from tests.conftest import python
from tests.payloads import Call


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where counts would be saved: an empty folder."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "counts.npz"


def write(folder: Path, name: str, content: bytes | dict[str, Any]) -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, **content)
    return path


def test_the_table(mcn: Run) -> None:
    out = printed(mcn("motifs"))
    assert out.startswith("karate: 34 nodes, 78 edges (induced subgraphs)\n")
    _, header, _, *lines, _ = out.splitlines()
    names = ["motif", "instances", "edge orbit", "on edges", "edges touched", "nodes touched"]
    assert re.split("  +", header) == names
    rows = {line.split()[-4]: line.split() for line in lines}
    assert list(rows) == list(package.EDGE_ORBITS)
    assert rows["triangle"] == ["triangle", "45", "triangle", "135", "67", "32"]
    assert rows["4-clique"][1] == "11"
    assert rows["4-path-center"] == ["4-path-center", "681", "45", "22"]  # the motif is named once
    assert re.search(r"^counted in [\d.e-]+ s$", out, re.MULTILINE)
    assert "note:" not in out


def test_json_and_all_subgraphs(mcn: Run, out: Path) -> None:
    content = answered(mcn("motifs", "--dataset", "karate", "--out", out, "--threads", 2, "--json"))
    seconds = content.pop("seconds")
    orbits = content.pop("orbits")
    about = {"graph": "karate", "nodes": 34, "edges": 78, "induced": True, "notes": [], "out": str(out)}
    assert content == about
    assert isinstance(seconds, float)
    assert [line["orbit"] for line in orbits] == list(package.EDGE_ORBITS)
    totals = {"instances": 45, "per_edge": 135, "edges": 67, "nodes": 32}
    assert orbits[2] == {"graphlet": "triangle", "orbit": "triangle", **totals}
    saved = package.MotifCounts.load(out)
    assert [line._asdict() for line in saved.totals()] == orbits
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    content = answered(mcn("motifs", "--all-subgraphs", "--json"))
    totals = {line["graphlet"]: line["instances"] for line in content["orbits"]}
    assert content["induced"] is False
    assert totals["2-star"] == 393 + 3 * 45  # each triangle holds three


def test_a_directed_weighted_list_is_accepted_and_reported(mcn: Run, tmp_path: Path) -> None:
    edges = b"source,target,weight\nann,bob,0.5\nbob,ann,0.5\nbob,eve,2\neve,ann,1\neve,eve,9\nbob,eve,2\n"
    path = write(tmp_path, "edges.csv", edges)
    content = answered(mcn("motifs", "--graph", path, "--json"))
    assert (content["graph"], content["nodes"], content["edges"]) == (str(path), 3, 3)
    assert content["orbits"][2]["instances"] == 1
    assert content["notes"][0] == (
        "3 nodes, 3 undirected edges (1 self-loops dropped; 1 repeated entries merged; "
        "2 edges given in one direction only, used in both)"
    )
    assert any("weight" in note for note in content["notes"][1:])
    assert not any(note.startswith(("features", "no labels")) for note in content["notes"])
    assert f"note: {content['notes'][0]}" in mcn("motifs", "--graph", path).out


def test_directed_counts_and_significance(mcn: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = write(tmp_path, "edges.csv", b"to,from\nb,a\nc,b\nc,a\nd,c\nc,d\nd,d\nb,a\ne,d\na,e\nb,e\n")
    asked = ("motifs", "--graph", path, "--directed", "--significance", "--samples", 5)
    content = answered(mcn(*asked, "--plot", tmp_path / "p.svg", "--out", tmp_path / "c.csv", "--json"))
    assert (content["nodes"], content["arcs"]) == (5, 8)
    assert content["notes"][:2] == ["self-loops dropped: 1", "repeated arcs dropped: 1"]
    totals = {line["orbit"]: line for line in content["orbits"]}
    assert list(totals) == list(package.ARC_ORBITS)
    assert totals["feed-forward-loop-source-target"]["instances"] == 2
    about = content["significance"]
    assert (about["keep"], about["samples"], len(about["motifs"])) == ("reciprocity", 5, 13)
    assert "feed-forward-loop" in (tmp_path / "p.svg").read_text("utf-8")
    assert (tmp_path / "c.csv").read_text().splitlines()[1].startswith("a,b,1,0,")
    out = printed(mcn(*asked, "--motifs", "M5"))
    assert "5 nodes, 8 arcs" in out
    assert "against 5 random graphs with the same reciprocity at every node" in out
    for wrong, message in (
        (("--directed",), "--directed needs arcs: give --graph"),
        (("--graph", path, "--directed", "--out", tmp_path / "c.npz"), "saved as .csv or .parquet"),
        (("--graph", path, "--directed", "--engine", "ray"), "directed counts with engine='ray': not yet"),
        (("--graph", path, "--plot", tmp_path / "p.jpg"), "a figure is written as .pdf, .svg or .png"),
    ):
        assert message in refused(mcn("motifs", *wrong))


# One of each kind; what else may be wrong with a file is tested with its reader, in tests/data.
BAD_FILES: dict[str, tuple[str, bytes | dict[str, Any], str]] = {
    "a ragged line": ("e.txt", b"0 1\n1 2\n2 3 4\n", "line 3: 3 fields, expected 2 as in line 1: '2 3 4'"),
    "an id out of range": ("e.npz", {"edge": np.array([[0, 7]]), "n": 3}, "edge 0 is [0, 7], but n is 3"),
    "an entry outside the matrix": (
        *("e.mtx", b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n4 1\n"),
        "e.mtx: not a readable Matrix Market file",
    ),
    "a truncated archive": ("e.csv.gz", b"\x1f\x8b\x08\x00\x00", "e.csv.gz: not a readable gzip file"),
    "an unknown format": ("e.xyz", b"0 1\n", "e.xyz: unknown format '.xyz'"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_files(mcn: Run, tmp_path: Path, out: Path, kind: str) -> None:
    name, content, message = BAD_FILES[kind]
    path = write(tmp_path, name, content)
    said = refused(mcn("motifs", "--graph", path, "--out", out))
    assert message in said
    assert str(path) in said
    assert list(out.parent.iterdir()) == []


def test_a_malicious_pickle_in_a_data_root_is_not_run(
    mcn: Run, cache: Path, tmp_path: Path, out: Path
) -> None:
    marker = tmp_path / "ran"
    content = pickle.dumps(Call(os.system, f"touch {marker}"), protocol=2)
    folder = tmp_path / "root" / "Planetoid" / "Cora" / "raw"
    folder.mkdir(parents=True)
    for name in SUMS["cora"]:
        (folder / name).write_bytes(content)
    said = refused(mcn("motifs", "--dataset", "cora", "--data-root", tmp_path / "root", "--out", out))
    assert "SHA-256" in said
    assert not marker.exists()
    assert list(out.parent.iterdir()) == []
    pickle.loads(content)  # the payload is real
    assert marker.exists()


COUNT_SLOWLY = """
import sys
import mcn
from mcn.cli.main import main
mcn.count_motifs([[0, 1], [1, 2]], threads=2)
print("ready", flush=True)
sys.exit(main(["motifs", "--graph", sys.argv[1], "--out", sys.argv[2]]))
"""


def test_ctrl_c(tmp_path: Path, out: Path) -> None:
    """A clique of 1,800 nodes has 4·10¹¹ 4-cliques: counting takes far longer than the pause."""
    path = write(tmp_path, "e.npz", {"edge": np.stack(np.triu_indices(1800, 1), axis=1)})
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen([sys.executable, "-W", "ignore", "-c", COUNT_SLOWLY, path, out], **pipes)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        code, text, err = ended(running)
    finally:
        running.kill()
    assert (code, text) == (130, "")
    assert err.endswith("mcn: interrupted\n")  # on a slow machine after lines on how far it is
    assert list(out.parent.iterdir()) == []


def test_a_table_with_the_ids_of_the_file(mcn: Run, tmp_path: Path) -> None:
    edges = write(tmp_path, "edges.tsv", b"source\ttarget\na;1\t=b\n=b\t-c\n-c\ta;1\n-c\t12\n")
    for name in ("counts.csv", "counts.parquet"):
        printed(mcn("motifs", "--graph", edges, "--out", tmp_path / name))
    with (tmp_path / "counts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["source", "target", *package.EDGE_ORBITS]
    ends = {(row["source"], row["target"]): row["triangle"] for row in rows}
    assert ends == {("'-c", "12"): "0", ("'-c", "'=b"): "1", ("'-c", "a;1"): "1", ("'=b", "a;1"): "1"}
    assert '\n\'=b,"a;1",1,' in (tmp_path / "counts.csv").read_text()
    table = parquet.read_table(tmp_path / "counts.parquet").to_pylist()
    assert [row["source"] for row in table] == ["-c", "-c", "-c", "=b"]
    assert [str(row["triangle"]) for row in table] == [row["triangle"] for row in rows]
    line = refused(mcn("motifs", "--graph", edges, "--out", tmp_path / "counts.txt"))
    assert "must end in .npz, .csv, .parquet" in line


def test_a_saving_that_is_ended_leaves_nothing(tmp_path: Path) -> None:
    script = """
import os, signal, sys
from graphmotifs import _csv, base_counts
def line(cells, number=[0]):
    number[0] += 1
    if number[0] == 9:
        os.kill(os.getpid(), signal.SIGTERM)
    return _csv.csv_line(cells)
base_counts.csv_line = line
from mcn.cli.main import main
sys.exit(main(["motifs", "--dataset", "karate", "--out", "counts.csv"]))
"""
    done = python("-c", script, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (143, "mcn: interrupted\n")
    assert list(tmp_path.iterdir()) == []
