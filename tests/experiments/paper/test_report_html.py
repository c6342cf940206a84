from __future__ import annotations

import re
from html.parser import HTMLParser

from mcn.experiments.paper.document import Bullets, Code, Grid, Heading, Strong, Text
from mcn.experiments.paper.report_html import html

EVIL = "<script>alert('x')</script> & \"q\" \U0001f600"
VOID = {"meta"}


class Page(HTMLParser):
    """Checks that tags nest, and collects them with their attributes and text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.texts.setdefault(self.open[-1], []).append(data)


def test_every_block_is_escaped_and_the_tags_nest() -> None:
    blocks = [
        Heading(EVIL),
        Text(EVIL),
        Bullets([EVIL]),
        Code(EVIL),
        Grid([EVIL, "b"], [[EVIL, Strong(EVIL)]], EVIL),
    ]
    page = Page(html(blocks))
    assert page.open == []
    assert "script" not in page.tags
    for tag in ("title", "h1", "p", "li", "pre", "th", "td", "strong", "caption"):
        assert page.texts[tag][0] == EVIL, tag


def test_nothing_is_loaded() -> None:
    source = html([Heading("A"), Text("b")])
    page = Page(source)
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not {"src", "href", "style"} & {name for name, _ in page.attributes}
    assert not re.search(r"https?:|url\(|@import", source)


def test_light_dark_and_print() -> None:
    source = html([Heading("A")])
    assert "prefers-color-scheme: dark" in source
    assert "@media print" in source
