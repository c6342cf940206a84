"""NumPy archives, read member by member: sizes are compared with what is there before memory is taken."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from mcn.data.border import check_nodes, check_size, read_bytes
from mcn.data.mtx import Entries
from mcn.data.sparse import check_csr

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes
_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}


class Archive:
    """An `.npz` file, opened and bounded; its arrays are read when asked for, never unpickled.

    Args:
        path: the file, or what it is called in messages if its `content` is given.
        content: its bytes, if they were read before.

    Raises:
        ValueError: damaged, packed or made in a way that NumPy does not use, or too large. The message is
            meant to be put behind the file's name, as `border.reading` does.
    """

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self._path = path
        self._zip = zipfile.ZipFile(io.BytesIO(read_bytes(path) if content is None else content))
        self._taken = 0
        self.names = [name.removesuffix(".npy") for name in self._zip.namelist()]

    def __getitem__(self, name: str) -> NDArray[Any]:
        member = self._zip.getinfo(f"{name}.npy")
        if member.compress_type not in _PACKED or member.flag_bits & 1:
            raise ValueError(f"{name!r} is packed or encrypted in a way that NumPy does not use")
        self._taken += member.file_size
        check_size(self._path, self._taken, "unpacks to")
        with self._zip.open(member) as stream:
            return _array(stream.read(member.file_size), name)

    def read(self, names: Collection[str]) -> dict[str, NDArray[Any]]:
        """Read the arrays of these names.

        Raises:
            ValueError: one of them is not there.
        """
        missing = [name for name in names if name not in self.names]
        if missing:
            raise ValueError(f"there is no {', '.join(map(repr, missing))} in it")
        return {name: self[name] for name in names}


def _array(content: bytes, name: str) -> NDArray[Any]:
    """An array in the `.npy` format, if its header and its bytes agree."""
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"{name!r} has version {version} of the format; expected 1.0 or 2.0")
    try:
        shape, fortran, dtype = _HEADERS[version](stream)
    except MemoryError:  # what Python's parser says of too many brackets in a few kB
        raise ValueError(f"{name!r} has a header with brackets inside brackets") from None
    if dtype.hasobject or dtype.itemsize == 0:
        raise ValueError(f"{name!r} holds Python objects; expected numbers without pickles")
    held = len(content) - stream.tell()
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != held:
        raise ValueError(f"{name!r} declares shape {list(shape)} of {dtype}, but holds {held:,} bytes")
    flat = np.frombuffer(content, dtype, offset=stream.tell())
    return flat.reshape(shape, order="F" if fortran else "C").copy()


def sparse_entries(archive: Archive, path: Path) -> Entries:
    """Read the entries of a SciPy sparse matrix as `scipy.sparse.save_npz` writes it, checked."""
    kind = archive["format"]
    if kind.shape != () or kind.dtype.kind not in "US":
        raise ValueError(f"its format is an array of {kind.dtype}; expected a word")
    form = kind.item().decode("ascii") if kind.dtype.kind == "S" else str(kind.item())
    if form not in _PARTS:
        raise ValueError(f"its format is {form[:20]!r}; expected one of {', '.join(_PARTS)}")
    names = _PARTS[form]
    if form == "coo" and "coords" in archive.names:
        names = ("data", "coords")
    arrays = archive.read(("shape", *names))
    for name, array in arrays.items():
        wanted = "biufc" if name == "data" else "iu"
        if array.dtype.kind not in wanted:
            raise ValueError(
                f"{name!r} holds {array.dtype}; expected {'num' if name == 'data' else 'integ'}ers"
            )
    n = _side(arrays["shape"], path)
    rows, columns, data = _places(form, arrays, n)
    return Entries(n, rows, columns, data != 0, bool(((data != 0) & (data != 1)).any()))


def _side(shape: NDArray[Any], path: Path) -> int:
    sizes = shape.tolist()
    if shape.shape != (2,) or sizes[0] != sizes[1] or sizes[0] < 0:
        raise ValueError(f"{path}: a matrix of shape {sizes}; expected a square adjacency matrix")
    check_nodes(path, sizes[0])
    return int(sizes[0])


def _places(
    form: str, arrays: dict[str, NDArray[Any]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Row, column and value of every stored entry."""
    data = arrays["data"]
    if form in ("csr", "csc"):
        if data.ndim != 1:
            raise ValueError(f"'data' has shape {list(data.shape)}; expected one dimension")
        check_csr(arrays["indptr"], arrays["indices"], (n, n), "the matrix", values=data)
        starts = arrays["indptr"].astype(np.int64)
        major = np.repeat(np.arange(n), starts[1:] - starts[:-1])
        minor = arrays["indices"].astype(np.int64)
        return (major, minor, data) if form == "csr" else (minor, major, data)
    if form == "coo":
        ends = arrays["coords"] if "coords" in arrays else _stacked(arrays["row"], arrays["col"])
        if data.ndim != 1 or ends.shape != (2, len(data)):
            raise ValueError(f"ends of shape {list(ends.shape)} for data of shape {list(data.shape)}")
        if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < n:
            raise ValueError(f"a row or column outside 0..{n - 1}")
        return ends[0].astype(np.int64), ends[1].astype(np.int64), data
    if form == "bsr":
        if data.ndim != 3 or not all(side > 0 and n % side == 0 for side in data.shape[1:]):
            raise ValueError(f"blocks of shape {list(data.shape)} do not divide {n} rows and columns")
        blocks = (n // data.shape[1], n // data.shape[2])
        check_csr(arrays["indptr"], arrays["indices"], blocks, "the matrix of blocks", values=data)
        parts = (data, arrays["indices"].astype(np.int64), arrays["indptr"].astype(np.int64))
        coo: Any = sparse.bsr_array(parts, shape=(n, n)).tocoo()
        return coo.row.astype(np.int64), coo.col.astype(np.int64), coo.data
    return _diagonals(data, arrays["offsets"], n)


def _stacked(row: NDArray[Any], col: NDArray[Any]) -> NDArray[Any]:
    if row.shape != col.shape or row.ndim != 1:
        raise ValueError(f"rows of shape {list(row.shape)} and columns of shape {list(col.shape)}")
    return np.stack([row.astype(np.int64), col.astype(np.int64)])


def _diagonals(
    data: NDArray[Any], offsets: NDArray[Any], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Column j of row i of `data` stands in column j of the matrix, on diagonal `offsets[i]`; zeros are no
    entries, as in SciPy.
    """
    if offsets.ndim != 1 or data.ndim != 2 or len(offsets) != len(data):
        raise ValueError(f"{list(offsets.shape)} diagonals for data of shape {list(data.shape)}")
    where, columns = np.nonzero(data[:, :n])
    near = [max(-n, min(offset, n)) for offset in offsets.tolist()]
    rows = columns - np.array(near, np.int64)[where]
    inside = (rows >= 0) & (rows < n)
    where, rows, columns = where[inside], rows[inside], columns[inside]
    return rows, columns, data[where, columns]
