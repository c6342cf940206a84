"""`mcn datasets`."""

from __future__ import annotations

import json

from mcn.cli._options import DataRoot, Json


def run(data_root: DataRoot = None, as_json: Json = False) -> None:
    """List the data sets that come by name, their sizes, and where each is read from.

    Files are looked for in --data-root, then in $MCN_DATA, then in the cache; what is in none of them is
    downloaded into the cache when it is first loaded. Other sets come as pyg:CLASS/NAME through PyG's
    readers and as ogb:NAME through OGB's, with --trust.

    Example: mcn datasets --data-root ~/graphs
    """
    from mcn.data.datasets import list_datasets, places

    known = list_datasets(data_root)
    folders = [str(place) for place in places(data_root)]
    if as_json:
        plain = ("name", "nodes", "edges", "classes", "source", "embedded")
        rows = [
            {name: getattr(info, name) for name in plain}
            | {"found": None if info.found is None else str(info.found)}
            for info in known
        ]
        print(json.dumps({"datasets": rows, "places": folders}, indent=2))
        return
    width = max(len(info.name) for info in known)
    print(f"{'name':{width}s}  {'nodes':>7s}  {'edges':>7s}  {'classes':>7s}  where")
    for info in known:
        print(f"{info.name:{width}s}  {info.nodes:>7,}  {info.edges:>7,}  {info.classes:>7,}  {info.where}")
    print(f"looked in: {', '.join(folders)}")
