"""The data of a page, read back independently of the page's own script."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np


class Elements(HTMLParser):
    """Tags in order, with their attributes, and the raw text of the script elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag if tag in ("script", "style") else None
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self._open == "style":
            self.styles.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._open = None


def read_page(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Plain values and arrays of a page."""
    scripts = {attrs.get("id"): text for attrs, text in Elements(path.read_text(encoding="utf-8")).scripts}
    meta = json.loads(scripts["meta"] or "")
    arrays = unpack(meta["arrays"], scripts["arrays"] or "")
    arrays["edges"] = np.cumsum(arrays["edges"].reshape(-1, 2), axis=0)  # stored are differences
    return meta, arrays


def unpack(directory: list[list[Any]], text: str) -> dict[str, np.ndarray]:
    """The arrays of a page: of each all first bytes, then all second bytes, …"""
    raw, arrays = zlib.decompress(base64.b64decode(text)), {}
    for name, kind, offset, length in directory:
        dtype = np.dtype(kind).newbyteorder("<")
        by_place = np.frombuffer(raw, np.uint8, length * dtype.itemsize, offset).reshape(dtype.itemsize, -1)
        arrays[name] = np.ascontiguousarray(by_place.T).view(dtype).ravel()
    return arrays


def addresses(text: str) -> list[str]:
    """Everything in a page that looks like an address, other than names of namespaces."""
    found = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'<)]*", text)
    return [each for each in found if "www.w3.org/2000/svg" not in each]
