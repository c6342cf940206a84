"""The format of a graph on disk: plain `.npy` arrays, and a manifest that is written last.

A folder with a manifest is complete. The manifest says of every array what its file must hold; nothing is
ever unpickled, and a file that is not the one written is refused in one line.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from graphmotifs._files import atomic_write
from graphmotifs._messages import shown
from mcn.data.fields import check_checksum, check_fields, with_checksum
from mcn.data.limits import MAX_NODES, check_memory, reading

FILE = "manifest.json"
FORMAT, VERSION = "mcn-graph-store", 1
_JSON_TIMES = 48  # what Python takes for a byte of JSON, at worst
_PIECE = 2**24  # bytes of an array that are written at a time
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)


_ARRAYS = {str: {"dtype": str, "shape": [int], "sha256": str}}
_ABOUT = {"report": ([str], None), "feature_names": ([str], None), "scaling": (str, None)}
_FIELDS = dict.fromkeys(("num_nodes", "num_edges", "num_features"), int) | {
    "classes": [str],
    "about": _ABOUT,
    "arrays": _ARRAYS,
    "counts": (_ARRAYS, None),
    "counts_of": (str, None),
}
"""The fields of a manifest, see `mcn.data.fields`."""


class StoredArray(NamedTuple):
    """What the manifest says of an array: enough to notice a file that is not the one written."""

    dtype: str
    shape: tuple[int, ...]
    sha256: str  # of the numbers, without the header


@dataclass(frozen=True)
class Manifest:
    """What a folder holds: the arrays of a graph, motif counts of its edges, or both.

    `about` has what a `Data` carries along. `counts_of` is the SHA-256 of the `indices` that the counts
    belong to, where the graph itself is in another folder.
    """

    num_nodes: int
    num_edges: int
    num_features: int = 0
    classes: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, StoredArray] = field(default_factory=dict)
    counts: dict[str, StoredArray] = field(default_factory=dict)
    counts_of: str = ""

    def write(self, folder: Path) -> None:
        """Write the manifest; it appears complete or not at all."""
        content = {"format": FORMAT, "version": VERSION, **vars(self)}
        for name in ("arrays", "counts"):
            content[name] = {key: stored._asdict() for key, stored in content[name].items()}
        with atomic_write(folder / FILE) as file:
            file.write(json.dumps(with_checksum(content), indent=1).encode())


def is_store(path: Path) -> bool:
    """Whether a path is a folder with a packed graph."""
    return (path / FILE).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a store, or of a folder of counts."""
    path = folder / FILE
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    if not path.is_file():
        raise ValueError(f"{folder}: holds no packed graph (no {FILE}); make one with `mcn pack`")
    with reading(path, "not a manifest"):
        check_memory(path, _JSON_TIMES * path.stat().st_size)
        content = json.loads(path.read_bytes())
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise ValueError(f"{path}: not the manifest of a packed graph")
        if content.get("version") != VERSION:
            raise ValueError(
                f"{path}: version {content.get('version')!r}; this mcn reads version {VERSION}: pack again"
            )
        return _checked(content, path)


def _checked(content: Mapping[str, Any], path: Path) -> Manifest:
    check_fields(content, _FIELDS)
    for name in ("num_nodes", "num_edges", "num_features"):
        value, most = content[name], MAX_NODES if name == "num_nodes" else 2**40
        if not 0 <= value <= most:
            raise ValueError(f"{path}: {name} is {value!r}; expected a number, at most {most:,}")
    arrays, counts = (
        {name: StoredArray(**values | {"shape": tuple(values["shape"])}) for name, values in listed.items()}
        for listed in (content["arrays"], content.get("counts") or {})
    )
    stated = {name: content[name] for name in _FIELDS if name in content}
    manifest = Manifest(**stated | {"arrays": arrays, "counts": counts})
    _check_arrays(manifest, path)
    if "sha256" in content:  # graphs packed by 0.2.0 have none
        check_checksum(content)
    return manifest


def _check_arrays(manifest: Manifest, path: Path) -> None:
    """Every array must have the shape and type that the numbers of nodes and edges ask for."""
    n, m, arrays = manifest.num_nodes, manifest.num_edges, manifest.arrays
    lengths = {name: arrays[name].shape[:1] if name in arrays else () for name in ("x_values", "ids_text")}
    expected: dict[str, tuple[str, tuple[int, ...]]] = {
        "indptr": ("<i8", (n + 1,)),
        "indices": ("<i4", (2 * m,)),
        "x": ("<f4", (n, manifest.num_features)),
        "x_indptr": ("<i8", (n + 1,)),
        "x_indices": ("<i4", lengths["x_values"]),
        "x_values": ("<f4", lengths["x_values"]),
        "y": ("<i8", (n,)),
        "ids": ("<i8", (n,)),
        "ids_text": ("|u1", lengths["ids_text"]),
        "ids_ptr": ("<i8", (n + 1,)),
        **{f"{part}_mask": ("|b1", (n,)) for part in ("train", "val", "test")},
    }
    for name, stored in arrays.items():
        if name not in expected:
            raise ValueError(f"{path}: an array {shown(name)}; this mcn knows {', '.join(expected)}")
        dtype, shape = expected[name]
        if (stored.dtype, stored.shape) != (dtype, shape):
            raise ValueError(
                f"{path}: {name} is {stored.dtype} of shape {list(stored.shape)}; expected {dtype} of shape "
                f"{list(shape)}"
            )
    for names in ({"indptr", "indices"}, {"x_indptr", "x_indices", "x_values"}, {"ids_text", "ids_ptr"}):
        if names & arrays.keys() and not names <= arrays.keys():
            raise ValueError(f"{path}: {', '.join(sorted(names))} belong together, and some are missing")
    for motif, stored in manifest.counts.items():
        named = motif.isascii() and motif.replace("-", "").isalnum()
        if not named or stored.shape != (2 * m,) or stored.dtype not in ("<i4", "<i8"):
            raise ValueError(f"{path}: the counts of {shown(motif)} do not fit this graph")


def write_array(
    folder: Path,
    name: str,
    values: NDArray[Any] | Iterable[NDArray[Any]],
    dtype: Any,
    columns: int | None = None,
) -> StoredArray:
    """Write an array, whole or in pieces of rows; the file appears under its name when it is complete.

    The array may be mapped into memory. `columns` are those of a matrix that comes in pieces.
    """
    kind, sha, rows = np.dtype(dtype).newbyteorder("<"), hashlib.sha256(), 0
    if isinstance(values, np.ndarray):
        columns = None if values.ndim == 1 else values.shape[1]
        values = np.array_split(values, values.nbytes // _PIECE + 1)  # views
    beside = () if columns is None else (columns,)
    with atomic_write(folder / f"{name}.npy") as file:
        header = {"descr": kind.str, "fortran_order": False}
        npy.write_array_header_1_0(file, header | {"shape": (0, *beside)})  # with room for any number of rows
        for rows_given in values:
            piece = np.ascontiguousarray(rows_given, kind)
            if piece.shape[1:] != beside:
                raise ValueError(
                    f"{name}.npy: rows of shape {list(piece.shape[1:])}; expected {columns} columns"
                )
            content = piece.reshape(-1).view(np.uint8).data
            file.write(content)
            sha.update(content)
            rows += len(piece)
        file.seek(0)
        npy.write_array_header_1_0(file, header | {"shape": (rows, *beside)})
    return StoredArray(kind.str, (rows, *beside), sha.hexdigest())


def open_array(folder: Path, name: str, stored: StoredArray) -> NDArray[Any]:
    """Map an array into memory, read-only, after a look at its header and size."""
    path = folder / f"{name}.npy"
    with reading(path, "the file is truncated or another one; pack again"):
        array = npy.open_memmap(path, mode="r")
        if (array.dtype.str, array.shape) != (stored.dtype, stored.shape) or not array.flags.c_contiguous:
            raise ValueError(f"{path}: its header does not say what the manifest says; pack again")
        if path.stat().st_size != array.offset + array.nbytes:
            raise ValueError(f"{path}: longer than its header says; pack again")
    return array


def describe_array(folder: Path, name: str) -> StoredArray:
    """Return what the manifest should say of a file of numbers; it is read from end to end."""
    array = npy.open_memmap(folder / f"{name}.npy", mode="r")
    return StoredArray(array.dtype.str, array.shape, _sha256(array))


def _sha256(array: NDArray[Any]) -> str:
    flat, sha = array.reshape(-1).view(np.uint8), hashlib.sha256()
    for start in range(0, len(flat), _PIECE):
        sha.update(flat[start : start + _PIECE].data)
    return sha.hexdigest()


def check_sum(folder: Path, name: str, stored: StoredArray) -> None:
    """Read an array from end to end and compare it with its SHA-256."""
    found = _sha256(open_array(folder, name, stored))
    if found != stored.sha256:
        raise ValueError(
            f"{folder / name}.npy: SHA-256 is {found}, expected {shown(stored.sha256)}: "
            "the file is damaged or was altered; pack again"
        )


def as_bytes(size: Any, name: str) -> int:
    """Return a size as people write it as a number of bytes; `name` is the option's, for the message.

    >>> as_bytes("1.5GB", "memory"), as_bytes("2 MiB", "memory"), as_bytes(7, "memory")
    (1500000000, 2097152, 7)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    parts = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if parts is None or float(parts[1]) == 0:
        raise ValueError(f"{name} must be a size such as 500MB or 1GB, got {shown(str(size))[1:-1]}")
    unit = _UNITS[parts[2].upper()]
    return int(float(parts[1]) * (1024 ** (len(str(unit)) // 3) if parts[3] else unit))
