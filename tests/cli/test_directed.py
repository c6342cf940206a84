"""`--directed`: checked, trained with, predicted with, and refused in one line."""

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.train.test_directed import planted


def test_direction_on_the_command_line(mcn: Run, tmp_path: Path) -> None:
    data, graph, nodes = planted(), tmp_path / "edges.csv", tmp_path / "nodes.csv"
    graph.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in data.edge_index.T.tolist()))
    cells = enumerate(zip(data.x.argmax(1).tolist(), data.y.tolist(), strict=True))
    nodes.write_text("id,kind,label\n" + "".join(f"{i},k{x},{'ab'[max(y, x - 1)]}\n" for i, (x, y) in cells))
    files, out = ("--graph", graph, "--nodes", nodes), tmp_path / "run"
    assert "1,440 edges are given in one direction only: direction is not used; " in mcn("check", *files).out
    said = mcn("check", *files, "--directed").out
    assert "remark: direction is used" in said
    assert said.rstrip().endswith("--directed")  # the command to train
    how = ("--recipe", "mcn", "--motifs", "out,in", "--max-epochs", 200, "--no-report", "--json")
    trained = json.loads(mcn("train", *files, "--directed", *how, "--out", out).out)
    assert trained["scores"]["test"]["accuracy"] >= 0.9
    own, other = (mcn("predict", out, *words).out.splitlines() for words in ((), files))
    assert [line.split(",")[3] for line in own] == [line.split(",")[3] for line in other]
    for words, message in {
        ("train", *files, "--recipe", "mcn", "--motifs", "in"): "motif 'in' needs direction",
        ("train", "--directed", "--dataset", "karate"): "karate: its files are undirected; directed is for",
        (
            "compare",
            *files,
            "--directed",
            "--weights",
            "target",
        ): "--directed does not go with --weights target",
    }.items():
        failed = mcn(*words)
        assert (failed.code, failed.err.count("\n")) == (2, 1), failed.err
        assert message in failed.err
