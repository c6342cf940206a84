"""Figures of sentences: written from runs by hand-computed means, and found where they have no source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcn.experiments.paper.evidence import COLUMNS
from mcn.experiments.quoted import with_figures, without_source


def _run(dataset: str, method: str, seed: int, val: float, test: float) -> str:
    return f"{dataset},{method},{seed},{val},{test},10,1.0,0.2.0,{dataset}{method}{seed}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four runs of two methods, a search, rows of choosing and correlations."""
    runs = [
        _run("cora", "gat", 200, 0.80, 0.82),
        _run("cora", "gat", 201, 0.82, 0.84),
        _run("cora", "mcn", 200, 0.81, 0.81),
        _run("cora", "mcn", 201, 0.82, 0.825),
        _run("pubmed", "gat", 200, 0.5, 0.5),
    ]
    (tmp_path / "beyond.csv").write_text("\n".join([",".join(COLUMNS), *runs, ""]))
    search = {
        "dataset": "cora",
        "space": "citation-screen",
        "final": [{"test_accuracy": 0.83}, {"test_accuracy": 0.85}],
    }
    (tmp_path / "search.jsonl").write_text(json.dumps(search) + "\n")
    (tmp_path / "choice.csv").write_text(
        "set,split,row,test,held_out,seconds,epochs,note,version\n"
        "texas,0,rule,0.9,0.9,1,1,,0.2.0\ntexas,1,rule,0.8,0.9,1,1,,0.2.0\n"
        "texas,0,pick,0.8,0.9,1,1,,0.2.0\ntexas,1,pick,0.8,0.9,1,1,,0.2.0\n"
    )
    correlations = [{"correlation": {"edge": {"degree": value}}} for value in (0.1, None, 0.3)]
    (tmp_path / "figure4.json").write_text(json.dumps({"runs": correlations}))
    return tmp_path


@pytest.mark.parametrize(
    ("stood", "stands"),
    [
        ("0.0 ± 0.0<!-- beyond cora gat -->", "83.0 ± 1.4"),
        ("0.00 ± 0.00<!-- beyond cora gat, s.e. -->", "83.00 ± 1.00"),
        ("0.0<!-- beyond cora gat -->", "83.0"),
        ("0.0<!-- beyond cora mcn, validation -->", "81.5"),
        # The differences are -1.0 and -1.5.
        ("+9.99 ± 9.99<!-- beyond cora mcn − gat -->", "−1.25 ± 0.25"),
        ("9.99 ± 9.99<!-- beyond cora gat − mcn -->", "1.25 ± 0.25"),
        ("-0.0<!-- beyond cora gat − mcn -->", "+1.2"),
        ("−9.9<!-- beyond cora gat − gat -->", "+0.0"),
        ("0.0 ± 0.0<!-- search cora citation-screen -->", "84.0 ± 1.4"),
        ("+0.0 ± 0.0<!-- choice texas rule − pick -->", "+5.0 ± 5.0"),
        ("0.0 ± 0.0<!-- choice texas rule -->", "85.0 ± 7.1"),
        ("+0.00 ± 0.00<!-- figure4 edge degree -->", "+0.20 ± 0.10"),
    ],
)
def test_a_figure_is_written_from_its_runs(folder: Path, stood: str, stands: str) -> None:
    comment = stood[stood.index("<!--") :]
    assert with_figures(f"It has {stood}, so.", folder) == f"It has {stands}{comment}, so."


def test_what_is_from_elsewhere_stays(folder: Path) -> None:
    text = "The paper has 83.5 ± 0.4<!-- from the paper --> and we 1.0 of them."
    assert with_figures(text, folder) == text
    assert without_source(text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.1 ± 0.1<!-- beyond cora mcn − gat -->", "it is −1.2; give it a sign"),
        ("0.1<!-- beyond cora views -->", "'beyond cora views': there are no such runs"),
        ("0.1<!-- beyond pubmed gat − mcn -->", "there are no such runs"),
        ("0.1<!-- search dd7 dd-gcn -->", "there are no such runs"),
        ("0.1<!-- table9 cora gat -->", "expected table2"),
        ("0.1 ± 0.1<!-- beyond pubmed gat -->", "one run has no spread"),
        ("0.1<!-- beyond cora gat, se -->", "'beyond cora gat, se': it has no figure of this form"),
        ("0.1<!-- beyond cora gat − mcn, s.e. -->", "no figure of this form"),
        ("0.1<!-- choice texas rule, validation -->", "no figure of this form"),
    ],
)
def test_a_source_that_cannot_be_right_is_refused(folder: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        with_figures(text, folder)


def test_figures_without_a_source_are_found() -> None:
    page = """\
It has 83.5 ± 0.4 and −0.31 ± 0.02, or 5 ± 1<!-- from elsewhere -->, `1.0 ± 1.0`.

```
2.0 ± 1.0
```

<!-- results table2 paired -->
| 3.0 ± 1.0 |
<!-- end of results table2 paired -->
<!-- choice -->
| 4.0 ± 1.0 |
<!-- end of choice -->
| 83.5 ± 0.6 |
"""
    assert without_source(page) == ["83.5 ± 0.4", "−0.31 ± 0.02", "83.5 ± 0.6"]
