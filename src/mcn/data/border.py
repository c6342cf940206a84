"""The border for files: their size is bounded before memory is taken, and errors name the file.

A file from a stranger may be damaged, or small on disk and huge in memory. The environment variable
`MCN_MAX_BYTES` is the most that one file may take, unpacked (2 GiB if it is not set); raise it for graphs
that are meant to be larger. Whatever a parser raises, `ValueError` or `OSError` comes out.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_DEFAULT_BYTES = 2**31
_CHUNK = 2**22
_NODE_BYTES = 32  # what a node without edges takes at least: its id, its row pointers, its features
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
        named = any(str(name) in str(error) for name in (path, *others) if name is not None)
        if isinstance(error, ValueError | OSError) and named:
            raise
        raise ValueError(f"{path}: {problem} ({brief(error)})") from error


def brief(error: BaseException) -> str:
    """Return the first line of an error's message, or its kind if it has none, at most 200 characters."""
    text = str(error).strip()
    line = text.splitlines()[0] if text else type(error).__name__
    return line if len(line) <= 200 else line[:199] + "…"


def told(value: object) -> str:
    """Return a value for a message as Python would write it, in one line of at most 80 characters."""
    line = re.sub(r"\n\s*", " ", repr(value))  # arrays have several
    return line if len(line) <= 80 else line[:79] + "…"


def shown(text: str, most: int = 80) -> str:
    """Return a quoted piece of a file for a message, shortened to `most` characters."""
    return repr(text if len(text) <= most else text[: most - 1] + "…")
