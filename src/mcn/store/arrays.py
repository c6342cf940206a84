"""Arrays on disk: `.npy` files written piece by piece, read through the page cache, never unpickled."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_HEADER = 128
_PIECE = 2**24


class Entry(NamedTuple):
    """What the manifest says of an array: enough to notice a file that is not the one written."""

    dtype: str
    shape: tuple[int, ...]
    sha256: str  # of the numbers, without the header

    @classmethod
    def from_plain(cls, values: Any, where: str) -> Entry:
        """Take an entry from a manifest.

        Raises:
            ValueError: it is not one.
        """
        sound = (
            isinstance(values, dict)
            and {"dtype", "shape", "sha256"} <= set(values)
            and values["dtype"] in ("<i8", "<i4", "<f4", "|b1", "|u1")
            and isinstance(values["shape"], list)
            and 1 <= len(values["shape"]) <= 2
            and all(isinstance(size, int) and 0 <= size < 2**48 for size in values["shape"])
            and isinstance(values["sha256"], str)
        )
        if not sound:
            raise ValueError(f"{where}: not the description of an array; the manifest was altered")
        return cls(values["dtype"], tuple(values["shape"]), values["sha256"])

    def plain(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {"dtype": self.dtype, "shape": list(self.shape), "sha256": self.sha256}


class ArrayWriter:
    """Writes one array piece by piece; the file appears under its name when it is complete.

    Args:
        folder: where to.
        name: without `.npy`.
        dtype: of the numbers; they are written little-endian.
        columns: of a matrix; None for a vector.
    """

    def __init__(self, folder: Path, name: str, dtype: Any, columns: int | None = None) -> None:
        self._path = folder / f"{name}.npy"
        self._part = folder / f".{name}.npy.part"
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._columns = columns
        self._rows = 0
        self._sha = hashlib.sha256()
        self._file: IO[bytes] = self._part.open("wb")
        self._file.write(bytes(_HEADER))

    def append(self, rows: NDArray[Any]) -> None:
        """Write further rows.

        Raises:
            OSError: they do not fit on the disk; says how much room there is.
        """
        piece = np.ascontiguousarray(rows, self._dtype)
        if piece.shape[1:] != (() if self._columns is None else (self._columns,)):
            raise ValueError(
                f"{self._path.name}: rows of shape {list(piece.shape[1:])}; expected {self._columns} columns"
            )
        content = piece.reshape(-1).view(np.uint8).data
        need_room(self._path.parent, len(content))
        with naming_file(self._path):
            self._file.write(content)
        self._sha.update(content)
        self._rows += len(piece)

    def close(self) -> Entry:
        """Finish the file, and return what the manifest says of it."""
        shape = (self._rows,) if self._columns is None else (self._rows, self._columns)
        with naming_file(self._path):
            self._file.seek(0)
            self._file.write(_header(self._dtype, shape))
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        self._part.replace(self._path)
        return Entry(self._dtype.str, shape, self._sha.hexdigest())

    def abandon(self) -> None:
        """Leave nothing of it."""
        with suppress(OSError):  # what is still in a buffer may not fit either
            self._file.close()
        self._part.unlink(missing_ok=True)


def write_array(folder: Path, name: str, values: NDArray[Any], dtype: Any) -> Entry:
    """Write a whole array that is in memory, or mapped into it."""
    writer = ArrayWriter(folder, name, dtype, None if values.ndim == 1 else values.shape[1])
    try:
        step = max(1, _PIECE // max(1, values[:1].nbytes))
        for start in range(0, len(values), step):
            writer.append(values[start : start + step])
        return writer.close()
    except BaseException:
        writer.abandon()
        raise


def open_array(folder: Path, name: str, entry: Entry) -> NDArray[Any]:
    """Map an array into memory, read-only, after a look at its header and size.

    Raises:
        ValueError: the file is not the one that the manifest describes.
        OSError: it is not there or cannot be read.
    """
    path = folder / f"{name}.npy"
    bytes_per_row = int(np.prod(entry.shape[1:], dtype=object)) * np.dtype(entry.dtype).itemsize
    expected = _HEADER + entry.shape[0] * bytes_per_row
    size = path.stat().st_size
    if size != expected:
        raise ValueError(
            f"{path}: {size:,} bytes, expected {expected:,}: the file is truncated or another one; pack again"
        )
    with path.open("rb") as file:
        if file.read(_HEADER) != _header(np.dtype(entry.dtype), entry.shape):
            raise ValueError(f"{path}: its header does not say what the manifest says; pack again")
    if 0 in entry.shape:  # an empty file cannot be mapped
        return np.empty(entry.shape, entry.dtype)
    return np.memmap(path, np.dtype(entry.dtype), "r", _HEADER, entry.shape)


def check_sum(folder: Path, name: str, entry: Entry) -> None:
    """Read an array from end to end and compare it with its SHA-256.

    Raises:
        ValueError: it is another one.
    """
    path = folder / f"{name}.npy"
    sha = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(_HEADER)
        while piece := file.read(_PIECE):
            sha.update(piece)
    if sha.hexdigest() != entry.sha256:
        raise ValueError(
            f"{path}: SHA-256 is {sha.hexdigest()}, expected {entry.sha256}: the file is damaged or was "
            "altered; pack again"
        )


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Let an error of the disk say which file could not be written."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def need_room(folder: Path, size: int) -> None:
    """Refuse to write more than the disk has room for, before it is full.

    Raises:
        OSError: says what is needed and what there is.
    """
    free = shutil.disk_usage(folder).free
    if size > free:
        raise OSError(
            errno.ENOSPC, f"not enough room on the disk: {size:,} bytes more, {free:,} are free", str(folder)
        )


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The header of version 1.0, as NumPy writes it, always of the same length."""
    described = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode("latin1")
    start = b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little")
    return start + described.ljust(_HEADER - 11) + b"\n"
