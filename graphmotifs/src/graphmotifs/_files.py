"""Files that appear complete or not at all, and locks that end with the process that holds them."""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import sys
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphmotifs._messages import brief, shown

_PART = ".part"
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes; others unpack without a bound


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` for writing; rename it to `path` on success.

    On an error nothing is left behind and an earlier file of that name stays as it was. What a process that
    was killed left behind is removed by the next one that writes to `path`. An `OSError` names `path`,
    whatever call failed.
    """
    target = Path(path)
    _sweep(target)
    with naming(target):
        claim = _temporary(target)
        # The lock lasts until both are closed; Windows has no lock, and renames only files that are closed.
        writing = claim.handle if sys.platform == "win32" else os.dup(claim.handle)
    try:
        with naming(target):
            with os.fdopen(writing, "wb") as file:
                yield file
                file.flush()
                os.fsync(writing)
            claim.path.replace(target)
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell
            claim.path.unlink(missing_ok=True)
        raise
    finally:
        if writing != claim.handle:
            os.close(claim.handle)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, complete or not at all."""
    with atomic_write(path) as file:
        file.write(text.encode())


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error of the operating system that names no file, or a temporary one, name `path`.

    That of a full disk names none.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or not str(error.filename or _PART).endswith(_PART):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def read_arrays(
    path: str | os.PathLike[str], names: Collection[str], problem: str
) -> dict[str, NDArray[Any]]:
    """Read those of the named arrays that an .npz file holds; nothing in it is unpickled.

    Raises:
        ValueError: the file is damaged, which is said as the `problem`, or its arrays take more memory than
            `MCN_MAX_BYTES` in the environment allows (2 GiB if that is not set).
        OSError: the file is not there or cannot be read.
    """
    limit = os.environ.get("MCN_MAX_BYTES") or str(2**31)
    if not re.fullmatch("[0-9]{1,18}", limit):
        raise ValueError(
            f"the environment variable MCN_MAX_BYTES is {shown(limit)}; expected a number of bytes"
        )
    try:
        content = Path(path).read_bytes() if Path(path).stat().st_size <= int(limit) else None
        # The list of an archive's members takes Python a kilobyte per member.
        if content is None or len(content) + 1000 * content.count(b"PK\1\2") > int(limit):
            raise ValueError(f"{path}: reading it takes more than {int(limit):,} bytes (MCN_MAX_BYTES)")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            present = [name for name in names if f"{name}.npy" in archive.namelist()]
            members = [archive.getinfo(f"{name}.npy") for name in present]
            if any(member.compress_type not in _PACKINGS or member.flag_bits & 1 for member in members):
                raise ValueError("packed or encrypted in a way that NumPy does not use")
            # An announced size bounds what is unpacked: no more than that is read.
            if sum(member.file_size for member in members) > int(limit):
                raise ValueError(f"{path}: unpacks to more than {int(limit):,} bytes (MCN_MAX_BYTES)")
            contents = [io.BytesIO(archive.read(member)) for member in members]
        arrays = [np.lib.format.read_array(content, allow_pickle=False) for content in contents]
        return dict(zip(present, arrays, strict=True))
    except (Exception, MemoryError) as error:
        if isinstance(error, ValueError | OSError) and str(path) in str(error):
            raise
        raise ValueError(f"{path}: {problem} ({brief(error)})") from error


def _temporary(target: Path) -> Claim:
    """A new file that `_sweep` of another process leaves alone."""
    while True:
        claim = try_claim(target.with_name(f".{target.name}.{secrets.token_hex(4)}{_PART}"), mode=0o666)
        if claim is not None:
            return claim


def _sweep(target: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote to `target`."""
    if sys.platform == "win32":  # without locks nobody knows who is still writing
        return
    ours = re.compile(rf"\.{re.escape(target.name)}\.\w{{8}}{re.escape(_PART)}")
    leftovers: list[str] = []
    with suppress(OSError), os.scandir(target.parent) as entries:
        leftovers += [entry.path for entry in entries if ours.fullmatch(entry.name)]
    for path in leftovers:
        with suppress(OSError):  # gone, or not ours to remove
            claim = try_claim(Path(path), create=False)
            if claim is not None:
                claim.release()


@dataclass
class Claim:
    """A locked file that stands for work under way; a process that dies gives up its locks."""

    path: Path
    handle: int

    def release(self) -> None:
        """Give it up; the file goes first, so that nobody locks one that is about to go."""
        with suppress(OSError):  # what stays is an empty file, which is in nobody's way
            self.path.unlink(missing_ok=True)
        os.close(self.handle)


def try_claim(path: Path, *, create: bool = True, mode: int = 0o600) -> Claim | None:
    """Lock the file `path`, made if it is not there (and `create`), or return None while another has it.

    What a dead process left is no hindrance: the lock is the operating system's, not the file.
    """
    while True:
        handle = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), mode)
        try:
            with naming(path):
                locked = _lock(handle)
                if locked and _same_file(handle, path):
                    return Claim(path, handle)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if not locked:
            return None  # else the last holder removed it between our opening and locking: once more


def _lock(handle: int) -> bool:
    """Lock an open file for this process; False while another has it.

    Where there are no such locks (Windows, some network file systems) every lock is granted.
    """
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
