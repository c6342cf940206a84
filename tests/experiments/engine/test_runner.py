import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcn.experiments import Ledger, Unit, WorkerDied, run_unit, run_units
from mcn.experiments.engine.workers import LocalWorkers
from tests.conftest import REPOSITORY, refuses
from tests.experiments.engine.units import KARATE, quick, timeless

EPOCHS, SEEDS = 60, 3
UNITS = [quick(method, seed, max_epochs=EPOCHS) for seed in range(SEEDS) for method in ("paper", "gat")]
BAD = [quick(lr=1e30, seed=seed) for seed in range(2)]


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    """What an undisturbed run leaves."""
    rows = [run_unit(unit) for unit in UNITS]
    return timeless(sorted(rows, key=lambda row: (row["method"], row["seed"])))


def start(path: Path, jobs: int, epochs: int = EPOCHS, seeds: int = SEEDS) -> subprocess.Popen[str]:
    """A process that runs UNITS."""
    driver = ["-m", "tests.experiments.engine.units", str(path), *map(str, (jobs, epochs, seeds))]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *driver], cwd=REPOSITORY, start_new_session=True, **pipes)


def await_rows(process: subprocess.Popen[str], number: int) -> None:
    for line in process.stdout:
        if int(line) >= number:
            return


def children(pid: int) -> Iterator[int]:
    """The processes that `pid` has started."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            yield int(entry.parent.name)


def gone(pids: list[int], patience: float = 20.0) -> bool:
    limit = time.monotonic() + patience
    while time.monotonic() < limit:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.05)
    return False


def test_rows_in_the_order_of_the_units(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    units = [quick(seed=2), Unit(KARATE, "majority"), quick(seed=1), quick(seed=2)]
    told: list[tuple[int, int]] = []
    rows = run_units(units, ledger, jobs=1, progress=lambda done, total: told.append((done, total)))
    order = [(row["method"], row["seed"]) for row in rows]
    assert order == [("paper", 2), ("majority", 0), ("paper", 1), ("paper", 2)]
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert timeless(rows[:3]) == timeless([run_unit(unit) for unit in units[:3]])
    assert len(ledger) == 3
    again = run_units([*units, quick(seed=4)], ledger, jobs=1)
    assert again[:4] == rows
    assert len(ledger) == 4


def test_workers_give_the_same_rows(tmp_path: Path, expected: list[dict[str, Any]]) -> None:
    """Those of failures too."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    rows = run_units([*UNITS, *BAD], ledger, jobs=2, keep_failures=True)
    assert timeless([row for row in ledger.rows() if row["error"] is None]) == expected
    assert [row["key"] for row in rows] == [unit.key() for unit in (*UNITS, *BAD)]
    assert timeless(rows[-2:]) == timeless(run_units(BAD, jobs=1, keep_failures=True))
    assert list((tmp_path / ".ledger.sqlite.claims").iterdir()) == []


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_killed_and_resumed(tmp_path: Path, expected: list[dict[str, Any]], jobs: int) -> None:
    path = tmp_path / "ledger.sqlite"
    number = 3 - jobs
    process = start(path, jobs)
    await_rows(process, number)
    time.sleep(random.Random(jobs).random() * 0.3)
    workers = list(children(process.pid))
    process.kill()
    process.communicate()
    assert gone(workers)  # they end with the process that started them
    assert timeless(Ledger(path).rows()) == [row for row in expected if Ledger(path).get(row["key"])]
    assert len(Ledger(path)) >= number
    run_units(UNITS, Ledger(path), jobs=1)
    assert timeless(Ledger(path).rows()) == expected


def test_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    process = start(path, jobs=2, epochs=100_000, seeds=2)
    await_rows(process, 0)
    deadline = time.monotonic() + 60
    while len(list((tmp_path / ".ledger.sqlite.claims").glob("*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    workers = list(children(process.pid))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=60)
    assert err.count("KeyboardInterrupt") == 1
    assert err.count("Traceback") == 1  # of the driver; the workers are silent
    assert gone(workers)
    assert Ledger(path).rows() == []
    claim = Ledger(path).claim(quick(max_epochs=100_000).key())
    claim.release()


@pytest.mark.slow
def test_two_at_once(tmp_path: Path, expected: list[dict[str, Any]]) -> None:
    path = tmp_path / "ledger.sqlite"
    both = [start(path, jobs=1), start(path, jobs=1)]
    for process in both:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert timeless(Ledger(path).rows()) == expected


def test_a_unit_that_another_process_runs_is_left_to_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    row = run_unit(quick()) | {"seconds": 123.0}
    claim = ledger.claim(row["key"])

    def theirs(done: int, total: int) -> None:
        if done == 1:  # ours is done, and only the claimed one is left
            ledger.add(row)
            claim.release()

    rows = run_units([quick(), quick(seed=1)], ledger, jobs=1, progress=theirs)
    assert rows[0] == row
    assert rows[1]["seed"] == 1


@pytest.fixture
def workers() -> Iterator[LocalWorkers]:
    pool = LocalWorkers(1)
    yield pool
    pool.close()


def outcome(workers: LocalWorkers, kill: bool = False) -> tuple[str, Any]:
    """The next that comes in; meanwhile the worker may be killed again and again."""
    while True:
        if kill:
            workers._workers[0].process.kill()
        if finished := workers.wait(1.0):
            return finished[0]


def test_a_worker_that_dies_at_work_or_idle_is_replaced_and_two_are_an_error(workers: LocalWorkers) -> None:
    unit = quick(max_epochs=EPOCHS)
    workers.submit("at work", unit)
    for submitted in ("at work", "idle"):
        workers._workers[0].process.kill()
        if submitted == "idle":
            workers.submit(submitted, unit)
        key, row = outcome(workers)
        assert key == submitted
        assert timeless([row]) == timeless([run_unit(unit)])
    workers.submit("k", quick(max_epochs=100_000))
    _, error = outcome(workers, kill=True)
    assert isinstance(error, WorkerDied)
    assert "paper on karate, seed 0, died 2 times (last: signal 9)" in str(error)


def test_failures_and_wrong_use(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    refuses("lower the learning rate", run_units, BAD, ledger, jobs=1)
    assert len(ledger) == 0
    rows = run_units([*BAD, quick()], ledger, jobs=1, keep_failures=True)
    assert ["lower the learning rate" in str(row["error"]) for row in rows] == [True, True, False]
    assert rows[0]["val_accuracy"] is None
    assert run_units(BAD, ledger, keep_failures=True) == rows[:2]
    refuses(r"ledger.sqlite: this run failed before: .*lower the learning", run_units, BAD, ledger)
    refuses("jobs must be an integer of at least 1, got 0", run_units, [quick()], jobs=0)
    assert run_units([]) == []
