"""Some of the faults in every test run, all of them when asked for; and the harness itself."""

import os
from pathlib import Path

import pytest

from tests.conftest import python
from tests.faults.harness import half_written, wrong_end
from tests.faults.interpose import KINDS
from tests.faults.scenarios import SCENARIOS

ANY = SCENARIOS["predict"]


def faults(repository: Path, *words: str) -> str:
    """Run in a process of its own: it forks and patches, and the one that tests run in has threads."""
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    done = python("-m", "tests.faults", *words, check=False, cwd=repository, env=alone)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_some_faults(repository: Path) -> None:
    """A table is opened, written, synced and renamed: fewer points would mean that some are not seen."""
    (line,) = (line for line in faults(repository, "--only", "predict").splitlines() if "predict" in line)
    points, made, wrong = map(int, line.split()[1:4])
    assert points >= 4
    assert (made, wrong) == (4 * points, 0)


@pytest.mark.slow
def test_every_fault(repository: Path) -> None:
    shown = faults(repository)
    for name in SCENARIOS:
        assert f"\n{name} " in shown


@pytest.mark.parametrize(
    ("code", "told", "kind", "problem"),
    [
        (2, "mcn: /out/p.csv: Permission denied\n", "EACCES", None),
        (0, "", "EIO", None),
        (-9, "", "kill", None),
        (1, "mcn: No space left on device\n", "ENOSPC", "names no file"),
        (1, "Traceback\nOSError\n", "EIO", "ended with 1"),
        (70, "mcn: /out/p.csv\n", "EIO", "ended with 70"),
        (0, "", "kill", "instead of being killed"),
    ],
)
def test_how_a_command_may_end(code: int, told: str, kind: str, problem: str | None) -> None:
    assert kind in KINDS
    found = wrong_end(code, told, kind, Path("/out"))
    assert found is None if problem is None else problem in str(found)


def test_what_may_be_left(tmp_path: Path) -> None:
    expected = {"p.csv": b"node\n1\n"}
    assert half_written(ANY, tmp_path, expected) is None
    (tmp_path / ".p.csv.abcdefgh.part").write_bytes(b"no")
    (tmp_path / "p.csv").write_bytes(b"node\n1\n")
    assert half_written(ANY, tmp_path, expected) is None
    (tmp_path / "p.csv").write_bytes(b"node\n")
    assert half_written(ANY, tmp_path, expected) == "p.csv is there but not whole"
    (tmp_path / "p.csv").unlink()
    (tmp_path / "other").touch()
    assert half_written(ANY, tmp_path, expected) == "other is there and should not be"
