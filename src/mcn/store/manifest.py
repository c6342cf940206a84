"""The manifest of a graph on disk: what there is, written last, so that a folder with one is complete."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcn._files import atomic_write
from mcn.data.limits import MAX_NODES, reading
from mcn.store.arrays import Entry

FILE = "manifest.json"
FORMAT = "mcn-graph-store"
VERSION = 1
ARRAYS = (
    "indptr", "indices", "x", "x_indptr", "x_indices", "x_values", "y",
    "train_mask", "val_mask", "test_mask", "ids", "ids_text", "ids_ptr",
)  # fmt: skip
_LARGEST = 2**28  # bytes of a manifest; a hundred thousand feature names take a few million


@dataclass(frozen=True)
class Manifest:
    """What a store holds beside its arrays; `about` has what a `Data` carries along."""

    num_nodes: int
    num_edges: int
    arrays: dict[str, Entry]
    num_features: int = 0
    classes: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the manifest; it appears complete or not at all."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "num_nodes": self.num_nodes,
            "num_edges": self.num_edges,
            "num_features": self.num_features,
            "classes": self.classes,
            "about": self.about,
            "arrays": {name: entry.plain() for name, entry in self.arrays.items()},
        }
        with atomic_write(folder / FILE) as file:
            file.write(json.dumps(content, indent=1).encode())


def is_store(path: Path) -> bool:
    """Whether a path is a folder with a packed graph."""
    return (path / FILE).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a store.

    Raises:
        ValueError: the folder holds no store, a later version's, or one that does not fit together.
        OSError: it cannot be read.
    """
    path = folder / FILE
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    if not path.is_file():
        raise ValueError(f"{folder}: holds no packed graph (no {FILE}); make one with `mcn pack`")
    with reading(path, "not a manifest"):
        if path.stat().st_size > _LARGEST:
            raise ValueError(f"{path}: {path.stat().st_size:,} bytes; no manifest is that large")
        content = json.loads(path.read_bytes())
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise ValueError(f"{path}: not the manifest of a packed graph")
        if content.get("version") != VERSION:
            raise ValueError(
                f"{path}: version {content.get('version')!r}; this mcn reads version {VERSION}: pack again"
            )
        return _checked(content, path)


def _checked(content: Mapping[str, Any], path: Path) -> Manifest:
    n, m, f = (_count(content, name, path) for name in ("num_nodes", "num_edges", "num_features"))
    if n > MAX_NODES:
        raise ValueError(f"{path}: {n:,} nodes; at most 2**31 are supported")
    classes, about, listed = content.get("classes"), content.get("about"), content.get("arrays")
    if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
        raise ValueError(f"{path}: classes must be a list of names")
    if not isinstance(about, dict) or not isinstance(listed, dict):
        raise ValueError(f"{path}: about and arrays must be named values")
    unknown = sorted(set(listed) - set(ARRAYS))
    if unknown:
        raise ValueError(f"{path}: an array {unknown[0]!r}; this mcn knows {', '.join(ARRAYS)}")
    arrays = {name: Entry.from_plain(values, f"{path}, {name}") for name, values in listed.items()}
    _check_shapes(arrays, n, m, f, path)
    return Manifest(n, m, arrays, f, classes, about)


def _count(content: Mapping[str, Any], name: str, path: Path) -> int:
    value = content.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**40:
        raise ValueError(f"{path}: {name} is {value!r}; expected a number")
    return value


def _check_shapes(arrays: dict[str, Entry], n: int, m: int, f: int, path: Path) -> None:
    """Every array must have the shape and type that the numbers of nodes and edges ask for."""
    stored = arrays.get("x_values")
    text = arrays.get("ids_text")
    expected: dict[str, tuple[str, tuple[int, ...]]] = {
        "indptr": ("<i8", (n + 1,)),
        "indices": ("<i4", (2 * m,)),
        "x": ("<f4", (n, f)),
        "x_indptr": ("<i8", (n + 1,)),
        "x_indices": ("<i4", () if stored is None else stored.shape),
        "x_values": ("<f4", () if stored is None else stored.shape[:1]),
        "y": ("<i8", (n,)),
        "ids": ("<i8", (n,)),
        "ids_text": ("|u1", () if text is None else text.shape[:1]),
        "ids_ptr": ("<i8", (n + 1,)),
        **{f"{part}_mask": ("|b1", (n,)) for part in ("train", "val", "test")},
    }
    for name, entry in arrays.items():
        dtype, shape = expected[name]
        if (entry.dtype, entry.shape) != (dtype, shape):
            raise ValueError(
                f"{path}: {name} is {entry.dtype} of shape {list(entry.shape)}; expected {dtype} of shape "
                f"{list(shape)}"
            )
    together = [("indptr", "indices"), ("x_indptr", "x_indices", "x_values"), ("ids_text", "ids_ptr")]
    for names in together:
        there = [name for name in names if name in arrays]
        if (there or names[0] == "indptr") and len(there) < len(names):
            raise ValueError(f"{path}: {', '.join(names)} belong together, and some are missing")
