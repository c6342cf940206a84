"""The ledger: one row per run on disk, so that nothing is ever run twice."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from graphmotifs._files import Claim, try_claim
from graphmotifs._messages import brief, shown

_APPLICATION = 0x6D636E31  # "mcn1", in the header of the file
_COLUMNS = {
    "key": "TEXT PRIMARY KEY",
    "dataset": "TEXT NOT NULL",
    "method": "TEXT NOT NULL",
    "settings": "TEXT NOT NULL",
    "seed": "INTEGER NOT NULL",
    "test": "INTEGER NOT NULL",
    "val_accuracy": "REAL",
    "val_loss": "REAL",
    "test_accuracy": "REAL",
    "epochs": "INTEGER",
    "seconds": "REAL",
    "version": "TEXT NOT NULL",
    "error": "TEXT",
    "config": "TEXT",
    "metrics": "TEXT",
}
_JSON = ("settings", "config", "metrics")
_ORDER = "dataset, method, settings, seed, test, key"
_BUSY = 60.0  # seconds to wait for another process that is writing


class Ledger:
    """Rows of finished runs in an SQLite file, one per key; several processes may use it at once.

    The table is `runs`, its columns are those of `mcn.experiments.run_unit`'s row (`settings`, `config` and
    `metrics` as JSON). Every `add` is one durable transaction: a process that is killed at any moment, or a
    full disk, leaves the rows that were added before. Each call opens the file anew, so nothing needs to be
    closed. A file that is no ledger is a ValueError, one that cannot be read or written an OSError.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.parent.is_file():
            raise NotADirectoryError(errno.ENOTDIR, "a file; expected a folder", str(self.path.parent))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder; expected a ledger's file", str(self.path))
        with self._open() as db:
            if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
                self._create(db)
            else:
                self._check_schema(db)

    def _create(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        if db.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION:
            return  # another process was faster
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise ValueError(f"{self.path}: an SQLite file, but not a ledger of runs; use another file")
        columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        db.execute(f"CREATE TABLE runs ({columns})")
        db.execute(f"PRAGMA application_id = {_APPLICATION}")

    def _check_schema(self, db: sqlite3.Connection) -> None:
        """Refuse what a ledger never has (a view or a trigger may compute for ever), and other columns."""
        for kind, name in db.execute("SELECT type, name FROM sqlite_master"):
            if kind not in ("table", "index"):
                raise ValueError(
                    f"{self.path}: not a ledger of runs, it has a {kind} {shown(name)}; use another file"
                )
        columns = [" ".join(row[1].split()) for row in db.execute("PRAGMA table_info(runs)")]
        if columns != list(_COLUMNS):
            raise ValueError(
                f"{self.path}: a ledger of another version, its columns are {', '.join(columns)}; "
                "use another file"
            )

    def get(self, key: str) -> dict[str, Any] | None:
        """The row of this key, or None."""
        return next(iter(self.rows(key=key)), None)

    def add(self, row: dict[str, Any]) -> None:
        """Add a row, durably; where the key is there already, nothing changes."""
        if row.keys() != _COLUMNS.keys():
            wrong = ", ".join(sorted(row.keys() ^ _COLUMNS.keys()))
            raise ValueError(f"not the row of a run: {wrong} missing or not known")
        values = [_json(row[name]) if name in _JSON else row[name] for name in _COLUMNS]
        marks = ", ".join("?" * len(values))
        with self._open() as db:
            db.execute(f"INSERT INTO runs VALUES ({marks}) ON CONFLICT (key) DO NOTHING", values)  # noqa: S608

    def rows(self, **where: Any) -> list[dict[str, Any]]:
        """All rows, or those whose columns have the given values (`method="gat", test=True`).

        By data set, method, settings and seed, whatever the order in which they were added.
        """
        for name in where:
            if name not in _COLUMNS:
                raise ValueError(f"a ledger has no column {name!r}; there are {', '.join(_COLUMNS)}")
        values = [_json(value) if name in _JSON else value for name, value in where.items()]
        condition = " AND ".join(f"{name} IS ?" for name in where) or "1"
        with self._open() as db:
            query = f"SELECT * FROM runs WHERE {condition} ORDER BY {_ORDER}"  # noqa: S608
            return [_row(found, self.path) for found in db.execute(query, values)]

    def __len__(self) -> int:
        with self._open() as db:
            return int(db.execute("SELECT count(*) FROM runs").fetchone()[0])

    def claim(self, key: str) -> Claim | None:
        """The sole right to run the unit of this key, or None while another process has it.

        The right ends with `release`, or with the process.
        """
        folder = self.path.with_name(f".{self.path.name}.claims")
        folder.mkdir(mode=0o700, exist_ok=True)
        return try_claim(folder / key)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are committed at the end; SQLite's errors made plain."""
        try:
            with closing(sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None)) as db:
                db.row_factory = sqlite3.Row
                with db:
                    yield db
        except sqlite3.Error as error:
            raise _explained(error, self.path) from error
        except UnicodeDecodeError as error:  # SQLite's own message quotes the damage
            raise ValueError(f"{self.path}: not a ledger of runs, or damaged; use another file") from error


_ERRORS = {
    "SQLITE_FULL": (errno.ENOSPC, "the disk is full; free some space and go on"),
    "SQLITE_READONLY": (errno.EACCES, "the ledger cannot be written to; check the file's permissions"),
    "SQLITE_CANTOPEN": (errno.EACCES, "the ledger cannot be opened; check the folder and its permissions"),
    "SQLITE_BUSY": (errno.EBUSY, f"another process has kept the ledger locked for {_BUSY:.0f} s"),
    "SQLITE_IOERR": (errno.EIO, "reading or writing the ledger failed; is the disk full?"),
}
"""By how the names of SQLite's errors begin."""


def _explained(error: sqlite3.Error, path: Path) -> Exception:
    for start, (number, text) in _ERRORS.items():
        if str(getattr(error, "sqlite_errorname", "")).startswith(start):
            return OSError(number, text, str(path))
    return ValueError(f"{path}: not a ledger of runs, or damaged ({brief(error)}); use another file")


_KINDS = {"TEXT": str, "INTEGER": int, "REAL": int | float}


def _row(found: sqlite3.Row, path: Path) -> dict[str, Any]:
    """Return a row as plain values; SQLite lets a column hold anything, so every kind is checked."""
    row = dict(found)
    for name, declaration in _COLUMNS.items():
        kind, _, rest = declaration.partition(" ")
        if not (isinstance(row[name], _KINDS[kind]) or (row[name] is None and not rest)):
            raise ValueError(
                f"{path}: damaged, the {name} of a run is {shown(repr(row[name]))}; use another file"
            )
    try:
        for name in _JSON:
            row[name] = None if row[name] is None else json.loads(row[name])
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path}: damaged, the {name} of a run is not JSON ({error}); use another file"
        ) from None
    return row | {"test": bool(row["test"])}


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)
