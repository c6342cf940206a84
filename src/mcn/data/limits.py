"""Limits for files from strangers: memory is bounded before it is taken, and errors name the file.

Such a file may be damaged, or small on disk and huge in memory. The environment variable `MCN_MAX_BYTES` is
the most memory that reading one file may take (2 GiB if it is not set), everything counted: what the file
unpacks to, its lines, cells and ids as Python or NumPy hold them, and the arrays of the graph that is made of
them. Every reader states what its next step takes, by `check_memory`, before it takes it. Raise the limit for
graphs that are meant to be larger. Whatever a parser raises, `ValueError` or `OSError` comes out.
"""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import brief, shown

_DEFAULT_BYTES = 2**31
_CHUNK = 2**22
_MOST_PROBLEMS = 10  # that are shown
# While a graph is made: ids, row pointers and features; both ends as read, sorted, and as arcs.
_NODE_BYTES, _EDGE_BYTES = 80, 72
_MEMBER_BYTES = 1000  # of an entry of an archive's list
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


def check_memory(path: object, size: int) -> None:
    """Refuse a file if what is in memory of it and what its next step takes exceed `max_bytes`."""
    check_size(path, size, "reading it takes")


def check_nodes(path: object, count: int, edges: int = 0, held: int = 0) -> None:
    """Refuse a graph, by its numbers of nodes and edges, if making it takes more than `max_bytes`.

    `held` are further bytes that are in memory by then.
    """
    if count > MAX_NODES:
        raise ValueError(f"{path}: {count} nodes; at most 2**31 are supported: number them without gaps")
    limit, beside = max_bytes(), f" and {edges:,} edges" if edges else ""
    if count * _NODE_BYTES + edges * _EDGE_BYTES + held > limit:
        raise ValueError(
            f"{path}: {count:,} nodes{beside} take more than {limit:,} bytes; number nodes without gaps, "
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


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file to read its bytes, unpacked if its name ends in `.gz` or `.GZ`."""
    if path.suffix.lower() != ".gz":
        with path.open("rb") as plain:
            yield plain
        return
    try:
        with gzip.open(path) as packed:
            yield packed
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: not a readable gzip file, damaged or truncated ({error})") from error


def size_verb(path: Path) -> str:
    """Say what a file does with its bytes: a `.gz` file unpacks to them."""
    return "unpacks to" if path.suffix.lower() == ".gz" else "holds"


def read_bytes(path: Path) -> bytes:
    """Return a file's content, unpacked if its name ends in `.gz` or `.GZ`; at most `max_bytes` of it."""
    packed = path.suffix.lower() == ".gz"
    size = 0 if packed else path.stat().st_size
    check_size(path, size)
    with open_bytes(path) as stream:
        return _bounded(stream, path, size_verb(path), size)


def _bounded(stream: IO[bytes] | gzip.GzipFile, path: Path, does: str, expected: int = 0) -> bytes:
    """Read to the end; a file of the `expected` size is read in one go; there is no second copy of it."""
    limit = max_bytes()
    content = io.BytesIO(stream.read(expected))
    content.seek(0, io.SEEK_END)
    while part := stream.read(min(_CHUNK, limit + 1 - content.tell())):
        content.write(part)
        check_size(path, content.tell(), does)
    return content.getvalue()


class Archive:
    """An `.npz` file whose arrays are read by NumPy when asked for, never unpickled, never beyond the limit.

    If its `content` is given, `path` is what messages call it.
    """

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self._path = path
        content = read_bytes(path) if content is None else content
        check_memory(path, len(content) + _MEMBER_BYTES * content.count(b"PK\1\2"))
        self._zip = zipfile.ZipFile(io.BytesIO(content))
        self.held = len(content)
        """The bytes of the file, and of the arrays that were read."""
        self.names = [name.removesuffix(".npy") for name in self._zip.namelist()]

    def __getitem__(self, name: str) -> NDArray[Any]:
        member = self._zip.getinfo(f"{name}.npy")
        if member.compress_type not in _PACKINGS or member.flag_bits & 1:
            raise ValueError(f"{name!r} is packed or encrypted in a way that NumPy does not use")
        self.held += member.file_size
        check_size(self._path, self.held, "unpacks to")
        with self._zip.open(member) as stream:  # it unpacks no more bytes than are announced
            try:
                array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
            except MemoryError:  # a shape of terabytes, or brackets inside brackets in the header
                raise ValueError(f"{name!r} declares more than it holds") from None
            if array.dtype.itemsize == 0 or stream.read(1):
                raise ValueError(
                    f"{name!r} declares shape {list(array.shape)} of {array.dtype}, but holds more"
                )
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


class Problems(ValueError):
    """All that is wrong with a user's files: it collects problems, and is raised where there are several.

    `lines` has each of them; the message is the first ones, and counts the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._first: Exception = self

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Keep an error for `raise_all`, and go on behind this block."""
        try:
            yield
        except (ValueError, OSError) as error:
            self._first = self._first if self.lines else error
            lines = error.lines if isinstance(error, Problems) else [str(error)]
            self.lines += [line for line in lines if line not in self.lines]

    def raise_all(self) -> None:
        """Raise the only problem as it is, several as one error."""
        if self.lines:
            raise self if len(self.lines) > 1 else self._first

    def __str__(self) -> str:
        more = len(self.lines) - _MOST_PROBLEMS
        return "\n".join([*self.lines[:_MOST_PROBLEMS], *[f"and {more:,} more problems"] * (more > 0)])


def also_in(places: Sequence[Any], unit: str = "line") -> str:
    """Say in which further lines, rows or nodes there is the same problem.

    >>> also_in([5, 6, 9, 12]), also_in([5]), also_in([])
    ('; also in lines 5, 6, 9 and 1 more', '; also in line 5', '')
    """
    more = f" and {len(places) - 3:,} more" if len(places) > 3 else ""
    shown_places = ", ".join(map(str, places[:3]))
    return f"; also in {unit}{'s' * (len(places) > 1)} {shown_places}{more}" if len(places) else ""


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return quoted names, of which the first are shown and the others counted.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(map(shown, names[:most]))}{more}"
