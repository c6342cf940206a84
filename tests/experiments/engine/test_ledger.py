import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcn.experiments import Ledger
from tests.conftest import python, refuses


def row(key: str = "a", **changes: Any) -> dict[str, Any]:
    return {
        "key": key, "dataset": "karate", "method": "mcn", "settings": {"motifs": ["edge"]}, "seed": 0,
        "test": True, "val_accuracy": 0.5, "val_loss": 0.25, "test_accuracy": None, "epochs": 7,
        "seconds": 1.5, "version": "0.1.0", "error": None, "config": {"lr": 0.005},
        "metrics": {"val": {"accuracy": 0.5, "roc-auc": None}, "test": None},
        **changes,
    }  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger(path)


def execute(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Do with the file what any program can do."""
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(sql).fetchall()


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "new" / "ledger.sqlite")
    assert len(ledger) == 0
    assert ledger.get("a") is None
    failed = row("b", val_accuracy=None, error='no <room> für "it"', config=None, metrics=None, test=False)
    rows = [row("a"), failed]
    for one in rows:
        ledger.add(one)
    ledger.add(row("a", val_accuracy=0.75))  # a second row of a key changes nothing
    again = Ledger(tmp_path / "new" / "ledger.sqlite")
    assert [again.get("a"), again.get("b")] == rows
    assert len(again) == 2


def test_filtering_and_order(ledger: Ledger) -> None:
    for one in (row("c", seed=10), row("b", seed=9), row("a", method="gat"), row("d", settings={})):
        ledger.add(one)
    assert [r["key"] for r in ledger.rows()] == ["a", "b", "c", "d"]
    assert [r["key"] for r in ledger.rows(method="mcn", settings={"motifs": ["edge"]})] == ["b", "c"]
    assert [r["key"] for r in ledger.rows(test_accuracy=None, seed=9)] == ["b"]
    assert ledger.rows(test=False) == []
    assert [r["key"] for r in ledger.rows(metrics=row()["metrics"], seed=9)] == ["b"]
    assert ledger.rows(metrics=None) == []
    refuses("no column 'sede'; there are key, dataset", ledger.rows, sede=1)


def test_readable_with_plain_sqlite_and_every_row_complete(ledger: Ledger) -> None:
    ledger.add(row())
    query = "SELECT dataset, json_extract(settings, '$.motifs[0]'), val_accuracy FROM runs"
    assert execute(ledger.path, query) == [("karate", "edge", 0.5)]
    wrong = row(colour=1)
    del wrong["seed"]
    refuses("not the row of a run: colour, seed missing or not known", ledger.add, wrong)


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to have a header" * 10)
    refuses(r"notes.txt: not a ledger of runs, or damaged", Ledger, text)
    other = tmp_path / "other.sqlite"
    execute(other, "CREATE TABLE mine (x)")
    before = other.read_bytes()
    refuses(r"other.sqlite: an SQLite file, but not a ledger", Ledger, other)
    assert other.read_bytes() == before
    refuses("expected a ledger's file", Ledger, tmp_path, error=IsADirectoryError)
    with pytest.raises(NotADirectoryError):
        Ledger(text / "ledger.sqlite")


@pytest.mark.skipif(sys.platform == "win32" or not Path("/proc/self").is_dir(), reason="needs Linux's /proc")
def test_a_folder_that_cannot_be_written() -> None:
    with pytest.raises(OSError, match=r"the ledger cannot be opened") as caught:
        Ledger("/proc/self/ledger.sqlite")
    assert caught.value.filename == "/proc/self/ledger.sqlite"


FULL = """
import resource, sys
from tests.experiments.engine.test_ledger import row
from mcn.experiments import Ledger
ledger = Ledger(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
try:
    for i in range(1000):
        ledger.add(row(str(i), error="x" * 1000))
except OSError as error:
    print(i, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on file sizes")
def test_no_more_room_leaves_the_rows_before(path: Path, repository: Path) -> None:
    done = python("-c", FULL, path, cwd=repository)
    added, _, message = done.stdout.partition(" ")
    assert "is the disk full?" in message
    assert str(path) in message
    assert 0 < len(Ledger(path)) == int(added) < 1000


def test_claims_exclude_each_other_and_that_of_a_dead_process_is_free(path: Path) -> None:
    first, second = Ledger(path), Ledger(path)
    claim = first.claim("k")
    assert second.claim("k") is None
    other = second.claim("l")
    claim.release()
    again = second.claim("k")
    again.release()
    other.release()
    assert list(path.with_name(".ledger.sqlite.claims").iterdir()) == []
    code = "import os, sys, mcn.experiments as e; held = e.Ledger(sys.argv[1]).claim('k'); os._exit(9)"
    subprocess.run([sys.executable, "-c", code, path], check=False)
    assert (path.with_name(".ledger.sqlite.claims") / "k").exists()
    claim = Ledger(path).claim("k")
    claim.release()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runs SET settings = 'x'",
        "UPDATE runs SET settings = '" + "[" * 100_000 + "'",
        "UPDATE runs SET config = x'ff00'",
        "UPDATE runs SET dataset = x'ff00'",
        "UPDATE runs SET dataset = CAST(x'ff' AS TEXT)",
        "UPDATE runs SET val_accuracy = 'high'",
        "UPDATE runs SET key = NULL",
        "UPDATE runs SET epochs = 'x'",
        "UPDATE runs SET test = 'x'",
    ],
)
def test_odd_values_in_a_ledger(sql: str, ledger: Ledger) -> None:
    ledger.add(row())
    execute(ledger.path, sql)
    refuses(r"ledger\.sqlite: .*damaged", ledger.rows)


ANOTHER = "a ledger of another version, its columns are"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END", ".*use another file"),
        ("CREATE VIEW v AS SELECT 1", ".*use another file"),
        ("DROP TABLE runs", ".*use another file"),
        ("ALTER TABLE runs ADD COLUMN later", f"{ANOTHER} .*, later"),
        ("ALTER TABLE runs DROP COLUMN epochs", f"{ANOTHER} key, .*, metrics;"),
    ],
)
def test_a_schema_that_is_no_ledger_s(sql: str, message: str, ledger: Ledger) -> None:
    ledger.add(row())
    execute(ledger.path, sql)
    before = ledger.path.read_bytes()
    refuses(rf"ledger\.sqlite: {message}", Ledger, ledger.path)
    assert ledger.path.read_bytes() == before


def test_damage_anywhere_in_the_file_is_told(path: Path, ledger: Ledger) -> None:
    """Each byte of the pages in use may be wrong: rows come, or one line that names the file."""
    for seed in range(40):
        ledger.add(row(f"k{seed}", seed=seed))
    whole = path.read_bytes()
    told = []
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            Ledger(path).rows()
        except (ValueError, OSError) as error:
            told.append(str(error))
    assert told
    assert [line for line in told if str(path) not in line or "\n" in line] == []
    # SQLite's message quotes the name of a damaged index, whatever it holds: told in one line all the same.
    path.write_bytes(whole.replace(b"sqlite_autoindex_runs_1", b"sqlite_autoindex_run\ns_1"))
    refuses(r"ledger\.sqlite: not a ledger of runs, or damaged", Ledger, path)
