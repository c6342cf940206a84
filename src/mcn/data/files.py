"""Where raw files are looked for, how they are checked, and how missing ones are fetched."""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcn._files import atomic_write
from mcn.data.border import read_bytes

_TIMEOUT = 30.0
_LARGEST = 256 * 1024 * 1024


class DatasetNotFound(FileNotFoundError):
    """The raw files of a data set are in none of the places and could not be downloaded."""


def cache_folder() -> Path:
    """The user's cache: `$XDG_CACHE_HOME/mcn` or `~/.cache/mcn`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mcn"


def places(root: str | Path | None = None) -> list[Path]:
    """The folders to look in, in order: `root`, `$MCN_DATA`, the user's cache."""
    given = [root, os.environ.get("MCN_DATA")]
    return [Path(place).expanduser() for place in given if place] + [cache_folder()]


def locate(folders: Sequence[str], files: Sequence[str], root: str | Path | None = None) -> Path | None:
    """Find the first folder, place by place, that holds all of `files`."""
    for place in places(root):
        for folder in folders:
            if all((place / folder / name).is_file() for name in files):
                return place / folder
    return None


def read_checked(folder: Path, sums: Mapping[str, str]) -> dict[str, bytes]:
    """Read every file and compare it with its SHA-256; what was hashed is what is returned."""
    return {name: check_sum(read_bytes(folder / name), str(folder / name), sums[name]) for name in sums}


def check_sum(content: bytes, source: str, expected: str) -> bytes:
    """Return `content` if its SHA-256 is `expected`."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ValueError(
            f"{source}: SHA-256 is {found}, expected {expected}: the file is damaged or another version; "
            "remove it to have it downloaded again"
        )
    return content


def fetch(url: str, timeout: float = _TIMEOUT) -> bytes:
    """Download `url` into memory, where it stays until it has been checked.

    Raises:
        OSError: no network, an HTTP error, a timeout.
        ValueError: more than 256 MB.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "mcn"})  # noqa: S310 - fixed https homes
    with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
        content: bytes = answer.read(_LARGEST + 1)
        announced = answer.headers.get("Content-Length")
    if len(content) > _LARGEST:
        raise ValueError(f"{url}: larger than {_LARGEST} bytes, refused")
    if announced is not None and int(announced) != len(content):
        raise OSError(f"{url}: the connection broke after {len(content)} of {announced} bytes")
    return content


def store(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files so that each appears complete or not at all (private file, fsync, rename)."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        with atomic_write(folder / name) as file:
            file.write(content)


def obtain(
    dataset: str,
    folders: Sequence[str],
    sums: Mapping[str, str],
    root: str | Path | None,
    download: bool,
    home: str,
) -> dict[str, bytes]:
    """Return the checked files of a data set: found in one of the places, else fetched into the cache.

    Args:
        dataset: its name, for messages.
        folders: where the files may lie below each place; fetched ones are stored in the first.
        sums: the SHA-256 of each file.
        root: the folder to look in first.
        download: whether files that are nowhere are fetched.
        home: the address that the names of the files are appended to.

    Raises:
        DatasetNotFound: the files are nowhere and cannot be downloaded.
        ValueError: a file is not the one that it should be.
    """
    names = sorted(sums)
    found = locate(folders, names, root)
    if found is not None:
        return read_checked(found, sums)
    if not download:
        raise not_found(dataset, folders[0], names, root, "downloading was not asked for")
    try:
        files = {file: check_sum(fetch(f"{home}/{file}"), f"{home}/{file}", sums[file]) for file in names}
    except OSError as error:
        raise not_found(dataset, folders[0], names, root, f"{home} could not be read ({error})") from error
    store(cache_folder() / folders[0], files)
    return files


def not_found(
    dataset: str, folder: str, files: Sequence[str], root: str | Path | None, why: str
) -> DatasetNotFound:
    """Make the error for a data set that is nowhere: it says what to put where."""
    looked = ", ".join(str(place / folder) for place in places(root))
    return DatasetNotFound(
        f"{dataset}: the files {', '.join(files)} are in none of {looked}, and {why}. "
        "Put them into one of these folders; they are looked for in this order: the folder given as root, "
        "$MCN_DATA, the cache."
    )
