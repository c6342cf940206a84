"""Claims: which process is running a unit. The operating system gives up the claims of a dead one."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Claim:
    """A locked file that stands for a unit under way."""

    path: Path
    handle: int

    def release(self) -> None:
        """Give it up; the file goes first, so that nobody locks one that is about to go."""
        self.path.unlink(missing_ok=True)
        os.close(self.handle)


def try_claim(folder: Path, key: str) -> Claim | None:
    """Lock the file `key` in `folder`, or None while another has it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / key
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            locked = _lock(handle)
        except BaseException:
            os.close(handle)
            raise
        if not locked:
            os.close(handle)
            return None
        if _same_file(handle, path):
            return Claim(path, handle)
        os.close(handle)  # the last holder removed it between our opening and locking


def _lock(handle: int) -> bool:
    if sys.platform == "win32":  # has no such locks: every claim is granted, the ledger keeps one row anyway
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
