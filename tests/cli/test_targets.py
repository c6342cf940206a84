"""Numbers, several yes/no targets and a threshold on the command line."""

import re
from pathlib import Path

import pytest

from mcn.cli._terminal import mean_and_spread
from mcn.train import load_run
from tests.cli.conftest import QUICK, Run, answered, printed, refused, write_graph

SAID = "note: label: numbers (24 different values): a numeric target; --task classes takes them as classes"
CASES = [
    (
        "income",
        "a numeric target (income)",
        r"test r2 -?\d+\.\d{3} by \S.* \(always the mean: r2 -?\d\.\d{3}\)",
    ),
    (
        "buyer,seller",
        "2 yes/no targets",
        r"test macro-ap [\d.]+ % by \S.* \(always the share of yes: macro-ap [\d.]+%\)",
    ),
]


def files(folder: Path) -> list[object]:
    edges, nodes = write_graph(folder, split=True)
    head, *rows = nodes.read_text().splitlines()
    targets = [f"{row},{i**2 / 7:.2f},{'yes' if i % 3 else 'no'},{i % 2}" for i, row in enumerate(rows)]
    nodes.write_text("\n".join([f"{head},income,buyer,seller", *targets]).replace("label", "colour"))
    return ["--graph", edges, "--nodes", nodes, "--split", "split"]


@pytest.mark.parametrize(("label", "title", "headline"), CASES)
def test_every_verb(mcn: Run, tmp_path: Path, label: str, title: str, headline: str) -> None:
    words, run, number = [*files(tmp_path), "--label", label], tmp_path / "run", label == "income"
    auto = ["--minutes", "0.01", "--max-epochs", "2", "--set", "candidates=mlp,gcn", "--out", run]
    for verb, expected in (("check", f"24 nodes, 45 edges, {re.escape(title)}"), ("train", headline)):
        lines = printed(mcn(verb, *words, *(auto if verb == "train" else ()))).splitlines()
        assert re.fullmatch(f"{words[1]}: {expected}", lines[0]), lines[0]
        assert (next(line for line in lines if line.startswith(("note", "remark"))) == SAID) == number
    row = answered(mcn("predict", run, *words[:4], "--json"))["predictions"][3]
    assert ("predicted" in row, "p_seller" in row) == (number, not number)
    assert title in refused(mcn("view", run, "--no-open", "--target", "x"))
    content = answered(mcn("train", *words, "--recipe", "mcn", *QUICK, "--out", tmp_path / "m", "--json"))
    assert set(content["rows"][0]["metrics"]) == set(content["scores"]["test"])
    assert "one class per node" in refused(mcn("compare", *words, "--methods", "gcn", "--jobs", 1))
    assert "one class per node" in refused(mcn("train", *words, "--beside", "gcn", "--out", tmp_path / "b"))


def test_a_threshold_and_means(mcn: Run, tmp_path: Path) -> None:
    words = [*files(tmp_path), "--label", "seller", "--recipe", "mcn", "--metric", "roc-auc", *QUICK]
    text = printed(mcn("train", *words, "--no-report", "--out", tmp_path / "run"))
    told = f"note: from {load_run(tmp_path / 'run').summary['threshold']:.2g} on a node is predicted as '1' ("
    assert told in text
    assert mean_and_spread("r2", {"test_mean": 0.8124, "test_std": 0.01}) == "0.812 ± 0.010"
