from __future__ import annotations

import base64
import hashlib
import json
import zlib

import numpy as np
import pytest

from mcn.viz.html_page import pack, render, script_json
from tests.viz.conftest import HOSTILE
from tests.viz.explorer.reading import Elements, addresses


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_json_within_a_script(text: str) -> None:
    packed = script_json({text: [text]})
    assert json.loads(packed) == {text: [text]}
    assert not set(packed) & set("<>&")
    assert packed.isascii()


def test_numbers_that_are_none() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])
    assert json.loads(script_json("\ud800")) == "\ud800"  # half a character is kept as it came


@pytest.mark.parametrize("title", [*HOSTILE, "\ud800 half"], ids=range(len(HOSTILE) + 1))
def test_the_title_is_text(title: str) -> None:
    plain, hostile = (Elements(render("explorer", each, {}, {})) for each in ("plain", title))
    assert plain.tags == hostile.tags
    assert [text for _, text in plain.scripts] == [text for _, text in hostile.scripts]


def test_only_its_own_script_and_style_may_run() -> None:
    page = Elements(render("report", "a title", {"ids": HOSTILE}, {"a": np.arange(3)}))
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    runs = [text for attributes, text in page.scripts if "type" not in attributes]
    assert len(runs) == 1
    for rule, text in (("script-src", runs[0]), ("style-src", "".join(page.styles))):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert len(page.scripts) == 3
    assert not [a for _, a in page.tags if any(name.startswith("on") or name == "style" for name in a)]


def test_nothing_is_to_be_loaded() -> None:
    text = render("explorer", "a title", {}, {})
    assert addresses(text) == []
    for tag, attributes in Elements(text).tags:
        for name in ("src", "href"):
            assert (attributes.get(name) or "data:").startswith("data:"), tag


def test_the_script_builds_no_html_from_text() -> None:
    text = render("explorer", "a title", {}, {})
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval("):
        assert word not in text
    assert "new Function" not in text


def test_pack() -> None:
    arrays = {
        "a": np.arange(3, dtype=np.uint8),
        "b": np.array([1.5, -2], np.float32),
        "none": np.zeros(0, np.int32),
        "big": np.array([1, 65535], ">u2"),
    }
    directory, text = pack(arrays)
    raw = zlib.decompress(base64.b64decode(text))
    kinds = [("a", "uint8", 0, 3), ("b", "float32", 8, 2), ("none", "int32", 16, 0), ("big", "uint16", 16, 2)]
    assert directory == [list(kind) for kind in kinds]
    assert raw[:3] == b"\0\1\2"
    assert np.frombuffer(raw, "<f4", 2, 8).tolist() == [1.5, -2]
    assert np.frombuffer(raw, "<u2", 2, 16).tolist() == [1, 65535]
