"""One HTML file from the template, the style, the script and the data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "dom",
    "decode",
    "colours",
    "camera",
    "pick",
    "webgl",
    "canvas",
    "stage",
    "legend",
    "search",
    "drawings",
    "node",
    "charts",
    "scores",
    "run",
    "main",
)


def render(kind: str, title: str, meta: dict[str, Any], arrays: str) -> str:
    """The page. Nothing in it can reach the network, and no script but its own runs.

    Args:
        kind: "explorer" for the graph over the whole window, "report" for the graph within a report.
        title: shown as text, whatever it holds.
        meta: plain values for the script, see `payload.meta`.
        arrays: base64, see `payload.pack`.
    """
    style = _read("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_read(f"{name}.js") for name in SCRIPTS) + "\n})();\n"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": html.escape(_shown(title)),
        "kind": kind,
        "style": style,
        "meta": script_json(meta),
        "arrays": arrays,
        "script": script,
    }
    # In one pass: what is put in is never searched for further places.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], _read("page.html"))


def script_json(value: Any) -> str:
    """JSON that can stand within a script element: plain ASCII, no sign that HTML would take notice of."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(title: str) -> str:
    """A title that UTF-8 can hold, of a bearable length."""
    text = title if len(title) <= 200 else title[:199] + "…"
    return text.encode("utf-8", "replace").decode()


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return (files("mcn.viz.explorer") / "static" / name).read_text(encoding="utf-8")
