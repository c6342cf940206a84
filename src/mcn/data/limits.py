"""Limits for files from strangers: their size is bounded before memory is taken, and errors name the file.

Such a file may be damaged, or small on disk and huge in memory. The environment variable `MCN_MAX_BYTES` is
the most that one file may take, unpacked (2 GiB if it is not set); raise it for graphs that are meant to be
larger. Whatever a parser raises, `ValueError` or `OSError` comes out.
"""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import brief, shown

_DEFAULT_BYTES = 2**31
_CHUNK = 2**22
_NODE_BYTES = 32  # what a node without edges takes at least: its id, its row pointers, its features
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes
MAX_NODES = 2**31
TOO_LARGE = "raise the limit with the environment variable MCN_MAX_BYTES if this is meant"
NO_MEMORY = "does not fit into memory"


def max_bytes() -> int:
    """The most that one file may take in memory: `$MCN_MAX_BYTES`, or 2 GiB."""
    given = os.environ.get("MCN_MAX_BYTES", "")
    if not given:
        return _DEFAULT_BYTES
    if not given.isascii() or not given.isdigit() or len(given) > 18 or int(given) == 0:
        raise ValueError(
            f"the environment variable MCN_MAX_BYTES is {shown(given)}; expected a number of bytes"
        )
    return int(given)


def check_size(path: object, size: int, does: str = "holds") -> None:
    """Refuse a file that would take more than `max_bytes`, before it does."""
    limit = max_bytes()
    if size > limit:
        raise ValueError(f"{path}: {does} more than {limit:,} bytes; {TOO_LARGE}")


def check_nodes(path: object, count: int) -> None:
    """Refuse a number of nodes that a file declares, if they alone would take more than `max_bytes`."""
    if count > MAX_NODES:
        raise ValueError(f"{path}: {count} nodes; at most 2**31 are supported: number them without gaps")
    limit = max_bytes()
    if count * _NODE_BYTES > limit:
        raise ValueError(
            f"{path}: {count:,} nodes take more than {limit:,} bytes; number them without gaps, "
            f"or {TOO_LARGE}"
        )


def existing_file(path: Any) -> Path:
    """Return a path to a file that is there."""
    if not isinstance(path, str | os.PathLike):
        raise ValueError(
            f"got a {type(path).__name__}; expected a path, a pandas or polars frame, a NetworkX or igraph "
            "graph, or a SciPy sparse matrix"
        )
    with suppress(RuntimeError):  # a home folder of nobody: the name is taken as it is
        path = Path(path).expanduser()
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return Path(path)


def read_bytes(path: Path) -> bytes:
    """Return a file's content, unpacked if its name ends in `.gz` or `.GZ`; at most `max_bytes` of it."""
    if path.suffix.lower() != ".gz":
        size = path.stat().st_size
        check_size(path, size)
        with path.open("rb") as plain:
            return _bounded(plain, path, "holds", size)
    try:
        with gzip.open(path) as packed:
            return _bounded(packed, path, "unpacks to")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: not a readable gzip file, damaged or truncated ({error})") from error


def _bounded(stream: IO[bytes] | gzip.GzipFile, path: Path, does: str, expected: int = 0) -> bytes:
    """Read to the end; a file of the `expected` size is read in one go, without a second copy of it."""
    limit, parts, size = max_bytes(), [], 0
    while part := stream.read(min(max(_CHUNK, expected - size), limit + 1 - size)):
        parts.append(part)
        size += len(part)
        check_size(path, size, does)
    return b"".join(parts)


class Archive:
    """An `.npz` file whose arrays are read by NumPy when asked for, never unpickled, never beyond the limit.

    If its `content` is given, `path` is what messages call it.
    """

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self._path = path
        self._zip = zipfile.ZipFile(io.BytesIO(read_bytes(path) if content is None else content))
        self._unpacked = 0
        self.names = [name.removesuffix(".npy") for name in self._zip.namelist()]

    def __getitem__(self, name: str) -> NDArray[Any]:
        member = self._zip.getinfo(f"{name}.npy")
        if member.compress_type not in _PACKINGS or member.flag_bits & 1:
            raise ValueError(f"{name!r} is packed or encrypted in a way that NumPy does not use")
        self._unpacked += member.file_size
        check_size(self._path, self._unpacked, "unpacks to")
        with self._zip.open(member) as stream:  # asked for as many bytes as are announced, it unpacks no more
            content = io.BytesIO(stream.read(member.file_size))
        try:
            array: NDArray[Any] = np.lib.format.read_array(content, allow_pickle=False)
        except MemoryError:  # a shape of terabytes, or brackets inside brackets in the header
            raise ValueError(f"{name!r} declares more than it holds") from None
        if array.dtype.itemsize == 0 or content.read(1):
            raise ValueError(f"{name!r} declares shape {list(array.shape)} of {array.dtype}, but holds more")
        return array

    def read(self, names: Collection[str]) -> dict[str, NDArray[Any]]:
        """Read the arrays of these names."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise ValueError(f"there is no {', '.join(map(repr, missing))} in it")
        return {name: self[name] for name in names}


@contextmanager
def reading(path: str | os.PathLike[str], problem: str, *others: object) -> Iterator[None]:
    """Turn whatever a parser raises into a `ValueError` that names the file and the `problem`.

    A `ValueError` or `OSError` that names this file, or one of the `others`, passes as it is.
    """
    try:
        yield
    except MemoryError as error:
        raise ValueError(f"{path}: {NO_MEMORY}") from error
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # numba's kernels wrap it in a SystemError
            raise
        named = any(str(name) in str(error) for name in (path, *others) if name is not None)
        if isinstance(error, ValueError | OSError) and named:
            raise
        raise ValueError(f"{path}: {problem} ({brief(error)})") from error
