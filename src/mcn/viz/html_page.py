"""One HTML file from the template, the style, the scripts and the data; it needs no other file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCRIPTS = (
    *("dom", "decode", "values", "colours", "camera", "pick", "webgl", "canvas", "stage"),
    *("legend", "search", "drawings", "node", "charts", "scores", "run", "main"),
)
"""The files of the page's script, in the order in which they stand in it."""


def render(kind: str, title: str, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """The page. Nothing in it can reach the network, and no script but its own runs.

    Args:
        kind: "explorer" for the graph over the whole window, "report" for the graph within a report.
        title: shown as text, whatever it holds.
        values: plain values for the script.
        arrays: those that the script finds by their names.
    """
    style = _read("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_read(f"{name}.js") for name in SCRIPTS) + "\n})();\n"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    directory, packed = pack(arrays)
    texts = {
        "policy": policy,
        "title": html.escape(_bearable(title)),
        "kind": kind,
        "style": style,
        "meta": script_json(values | {"arrays": directory}),
        "arrays": packed,
        "script": script,
    }
    # In one pass: what is put in is never searched for further places.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: texts[place[1]], _read("page.html"))


def pack(arrays: dict[str, NDArray[Any]]) -> tuple[list[list[Any]], str]:
    """Arrays as base64 of zlib, and the name, type, place and length of each in the unpacked bytes."""
    directory: list[list[Any]] = []
    parts, offset = [], 0
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        directory.append([name, array.dtype.name, offset, array.size])
        padding = -len(raw) % 8  # typed arrays start at multiples of their item's size
        parts.append(raw + b"\0" * padding)
        offset += len(raw) + padding
    return directory, base64.b64encode(zlib.compress(b"".join(parts), 6)).decode()


def script_json(value: Any) -> str:
    """JSON that can stand within a script element: plain ASCII, no sign that HTML would take notice of."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _bearable(title: str) -> str:
    """A title that UTF-8 can hold, of a bearable length."""
    text = title if len(title) <= 200 else title[:199] + "…"
    return text.encode("utf-8", "replace").decode()


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return (files("mcn.viz") / "static" / name).read_text(encoding="utf-8")
