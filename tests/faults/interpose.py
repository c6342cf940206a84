"""Standing between the program and its files: every call that changes one is a point where it may fail.

Patched are the functions of `os` by which Python opens for writing, syncs, renames, removes and makes
folders, the writes of file objects, and the opening of an SQLite database. Only the watched folder counts.
"""

import builtins
import errno
import io
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

KINDS = ("ENOSPC", "EIO", "EACCES", "kill")
_SQLITE = {"ENOSPC": "SQLITE_FULL", "EIO": "SQLITE_IOERR", "EACCES": "SQLITE_READONLY"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Interposer:
    """Counts the points of a run, and strikes at one of them.

    Args:
        folder: what is watched.
        strike_at: the number of the point, from 0; None only counts.
        kind: one of `KINDS`.
    """

    def __init__(self, folder: Path, strike_at: int | None = None, kind: str = "kill") -> None:
        self.folder, self.strike_at, self.kind = os.fspath(folder), strike_at, kind
        self.points: list[str] = []

    def point(self, what: str, path: object) -> None:
        """Pass a point, or fail here."""
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else str(path)
        if not name.startswith(self.folder):
            return
        self.points.append(f"{what} {name[len(self.folder) :].lstrip('/')}")
        if self.strike_at is None or len(self.points) != self.strike_at + 1:
            return
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "connect":
            error = sqlite3.OperationalError(f"made to fail: {self.kind}")
            error.sqlite_errorname = _SQLITE[self.kind]
            raise error
        number = getattr(errno, self.kind)
        # As the operating system does: a call on an open file names none.
        raise OSError(number, os.strerror(number), *([] if what in ("write", "fsync") else [name]))

    def install(self) -> None:
        """Patch, for the rest of this process."""
        self._patch_handles()
        for name in ("mkdir", "chmod", "unlink", "remove"):
            self._patch(os, name, name)
        for name in ("replace", "rename"):
            self._patch(os, name, name, argument=1)
        self._patch(sqlite3, "connect", "connect")

    def _patch(self, module: Any, name: str, what: str, argument: int = 0) -> None:
        real: Callable[..., Any] = getattr(module, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.point(what, args[argument] if len(args) > argument else kwargs.get("path", ""))
            return real(*args, **kwargs)

        setattr(module, name, call)

    def _patch_handles(self) -> None:
        paths: dict[int, str] = {}
        open_, fdopen, fsync, close, plain = os.open, os.fdopen, os.fsync, os.close, io.open
        dup = os.dup

        def os_open(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
            if flags & _WRITING:
                self.point("open", path)
            handle = open_(path, flags, *args, **kwargs)
            if flags & _WRITING:
                paths[handle] = os.fspath(path)
            return handle

        def os_dup(handle: int) -> int:
            copy = dup(handle)
            if handle in paths:
                paths[copy] = paths[handle]
            return copy

        def os_close(handle: int) -> None:
            paths.pop(handle, None)
            close(handle)

        def os_fsync(handle: int) -> None:
            self.point("fsync", paths.get(handle, ""))
            fsync(handle)

        def os_fdopen(handle: int, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if mode != "wb" or handle not in paths:
                return fdopen(handle, mode, *args, **kwargs)
            return _Writer(self, paths[handle], io.FileIO(handle, "wb"))

        def io_open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            watched = isinstance(file, str | os.PathLike) and os.fspath(file).startswith(self.folder)
            if not watched or not set(mode) & set("wax+"):
                return plain(file, mode, *args, **kwargs)
            self.point("open", file)
            raw = io.FileIO(file, mode.replace("b", "").replace("t", ""))
            writer = _Writer(self, os.fspath(file), raw)
            return writer if "b" in mode else io.TextIOWrapper(writer, encoding="utf-8", write_through=True)

        os.open, os.close, os.fsync, os.fdopen = os_open, os_close, os_fsync, os_fdopen  # type: ignore[assignment]
        os.dup = os_dup
        io.open = builtins.open = io_open


class _Writer(io.BufferedWriter):
    """A file whose first, second, fourth, eighth … write is a point: half of it is written, then it fails."""

    def __init__(self, interposer: Interposer, path: str, raw: io.FileIO) -> None:
        super().__init__(raw)
        self._interposer, self._path, self._writes = interposer, path, 0

    def write(self, content: Any) -> int:
        self._writes += 1
        if self._writes & (self._writes - 1) == 0:
            if self._interposer.strike_at == len(self._interposer.points):  # what a full disk leaves
                whole = memoryview(content).cast("B")
                super().write(whole[: len(whole) // 2])
                super().flush()
            self._interposer.point("write", self._path)
        return super().write(content)
