from __future__ import annotations

from mcn.experiments.paper.document import Bullets, Code, Grid, Heading, Strong, Text
from mcn.experiments.paper.report_markdown import markdown


def test_every_block() -> None:
    blocks = [
        Heading("Title"),
        Text("One\nline."),
        Heading("Part"),
        Bullets(["a", "b"]),
        Grid(["method", "x"], [["gat", Strong("1.0")], ["gcn", "0.9"]], "Scores"),
        Code("mcn train"),
    ]
    assert markdown(blocks) == (
        "# Title\n\nOne line.\n\n## Part\n\n- a\n- b\n\nScores\n\n"
        "| method | x |\n|---|---:|\n| gat | **1.0** |\n| gcn | 0.9 |\n\n```\nmcn train\n```\n"
    )


def test_text_stays_text() -> None:
    text = "<b>|x|</b> *y* _z_ [a](b) `c`"
    found = markdown([Heading(text), Grid(["h"], [[text]])])
    assert found.splitlines()[0] == r"# \<b\>\|x\|\</b\> \*y\* \_z\_ \[a\](b) \`c\`"
    assert found.splitlines()[-1].count(" | ") == 0


def test_a_fence_longer_than_those_inside() -> None:
    assert markdown([Code("a\n```\nb")]) == "````\na\n```\nb\n````\n"
