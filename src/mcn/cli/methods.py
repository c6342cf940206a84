"""`mcn methods`."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

from mcn.cli._options import Json


def run(as_json: Json = False) -> None:
    """List the methods of `mcn compare`: recipes, their special cases, and baselines.

    A trained method has settings, leaves a run that predicts new nodes, and can be looked at with `mcn view`.

    Example: mcn methods
    """
    from mcn.baselines import METHODS

    rows: list[dict[str, Any]] = [
        {
            "name": method.name,
            "title": method.title,
            "needs": list(method.needs),
            "installed": all(find_spec(name) is not None for name in method.needs),
            "trained": method.trained,
            "can": list(method.can),
        }
        for method in METHODS.values()
    ]
    if as_json:
        print(json.dumps({"methods": rows}, indent=2))
        return
    width = max(len(method.name) for method in METHODS.values())
    for row in rows:
        missing = "" if row["installed"] else f"  (pip install {' '.join(row['needs'])})"
        kind = "trained" if row["trained"] else "baseline"
        print(f"{row['name']:{width}s}  {kind:8s}  {row['title']}{missing}")
