"""Running a command once per fault, each in a fork of a process that has imported and compiled everything."""

import os
import re
import shutil
import sys
import threading
import traceback
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from tests.faults.interpose import KINDS, Interposer
from tests.faults.scenarios import QUICK, SCENARIOS, SPACE, Scenario, content


@dataclass
class Tally:
    """What came of a command: its points, the faults that were made, and what was wrong after any."""

    name: str
    points: list[str]
    faults: int = 0
    problems: list[str] = field(default_factory=list)


def prepare(base: Path) -> Path:
    """Make what the commands need: a finished run and a search space; from now on, save at every epoch."""
    from mcn.train.callbacks import Checkpoints

    torch.set_num_threads(1)  # no threads before a fork
    os.environ["MPLBACKEND"] = "agg"
    Checkpoints.__init__.__defaults__ = (0.0,)
    needs = base / "needs"
    needs.mkdir()
    (needs / "space.yaml").write_text(SPACE)
    words = ["train", "--dataset", "karate", "--recipe", "mcn", *QUICK, "--out", str(needs / "run")]
    code, told = _fork(words, needs, None)
    if code:
        raise RuntimeError(f"the command without a fault failed: {told}")
    return needs


def warm_up(names: list[str], base: Path, needs: Path) -> None:
    """Run each command once in this process: its forks then find everything imported and compiled."""
    from mcn.cli.main import main

    for name in names:
        out = base / "warm"
        out.mkdir()
        with Path(os.devnull).open("w") as sink, redirect_stdout(sink), redirect_stderr(sink):
            code = main(SCENARIOS[name].words(out, needs))
        shutil.rmtree(out)
        if code:
            raise RuntimeError(f"{name} without a fault ended with {code}")
    if threading.active_count() > 1:
        raise RuntimeError(f"threads before a fork: {threading.enumerate()}")


def try_faults(name: str, base: Path, needs: Path, every: int = 1, kinds: tuple[str, ...] = KINDS) -> Tally:
    """Run a command without a fault, then once for every `every`-th point and kind of fault, and look."""
    scenario = SCENARIOS[name]
    out = base / "out"  # the same folder for all: some files name it
    points = _count(scenario, out, needs)
    expected = {path: content(out / path) for path in _files(out)}
    shutil.rmtree(out)
    tally = Tally(name, points)
    strikes = [(at, kind) for at in range(len(points)) for kind in kinds]
    for at, kind in strikes[::every]:
        problem = _one(scenario, out, needs, at, kind, expected)
        tally.faults += 1
        if problem:
            tally.problems.append(f"{kind} at {at} ({points[at]}): {problem}")
        shutil.rmtree(out, ignore_errors=True)
    return tally


def _count(scenario: Scenario, out: Path, needs: Path) -> list[str]:
    out.mkdir()
    log = out.parent / "points"
    code, told = _fork(scenario.words(out, needs), out, None, log)
    if code:
        raise RuntimeError(f"the command without a fault failed: {told}")
    return log.read_text().splitlines()


def _one(
    scenario: Scenario, out: Path, needs: Path, at: int, kind: str, expected: dict[str, Any]
) -> str | None:
    """Return what was wrong after one fault, or after going on from it."""
    out.mkdir()
    words = scenario.words(out, needs)
    code, told = _fork(words, out, (at, kind))
    return (
        wrong_end(code, told, kind, out)
        or half_written(scenario, out, expected)
        or _not_resumed(scenario, words, out, expected)
    )


def wrong_end(code: int, told: str, kind: str, out: Path) -> str | None:
    """Return what is wrong with how a command ended after a fault: one line that names a file is right."""
    if kind == "kill":
        return None if code == -9 else f"ended with {code} instead of being killed"
    if code == 0:  # an error that does not matter, such as that of removing a leftover
        return None
    lines = told.strip().splitlines()
    if code not in (1, 2) or len(lines) != 1 or not lines[0].startswith("mcn: "):
        return f"ended with {code}: {told[-300:]!r}"
    return None if str(out) in lines[0] else f"names no file: {lines[0]!r}"


def half_written(scenario: Scenario, out: Path, expected: dict[str, Any]) -> str | None:
    """Return which file of those that a fault left is not whole, or should not be there."""
    for path in _files(out):
        if path in scenario.logs:
            if not expected[path].startswith(_lines((out / path).read_bytes())):
                return f"{path} is not a beginning of what it should be"
        elif path in expected and path.endswith(".sqlite"):
            content(out / path)  # it opens, and every row is whole
        elif path in expected and content(out / path) != expected[path]:
            return f"{path} is there but not whole"
        elif path not in expected and not _unfinished(path):
            return f"{path} is there and should not be"
    return None


def _lines(raw: bytes) -> bytes:
    return raw[: raw.rfind(b"\n") + 1]


def _unfinished(path: str) -> bool:
    """Whether a file may stand in a folder whose command was ended: hidden, or of a run to be resumed."""
    return Path(path).name.startswith(".") or Path(path).name == "last.safetensors" or ".claims/" in path


def _not_resumed(scenario: Scenario, words: list[str], out: Path, expected: dict[str, Any]) -> str | None:
    code, told = _fork([*words, *scenario.resume], out, None)
    if code:
        return f"going on ended with {code}: {told[-300:]!r}"
    found = _files(out)
    left = sorted(set(found) - set(expected))
    missing = sorted(set(expected) - set(found))
    if left or missing:
        return f"after going on, {left} were left and {missing} missing"
    for path in found:
        if content(out / path) != expected[path]:
            return f"after going on, {path} is not what it would have been"
    return None


def _files(folder: Path) -> list[str]:
    every = (path for path in folder.rglob("*") if path.is_file())
    names = sorted(str(path.relative_to(folder)) for path in every)
    return [name for name in names if not re.search(r"\.sqlite-(journal|wal|shm)$|\.claims/", name)]


def _fork(
    words: list[str], folder: Path, strike: tuple[int, str] | None, log: Path | None = None
) -> tuple[int, str]:
    """Run a command in a fork: its exit code (negative: the signal), and what it said on standard error."""
    told = folder.parent / "told"
    child = os.fork()
    if child == 0:
        code = 70
        try:
            sink = os.open(os.devnull, os.O_WRONLY)
            errors = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(sink, 1)
            os.dup2(errors, 2)
            code = _inside(words, folder, strike, log)
        except BaseException:  # noqa: BLE001 - whatever it is, the parent is told
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), told.read_text(errors="replace")


def _inside(words: list[str], folder: Path, strike: tuple[int, str] | None, log: Path | None) -> int:
    from mcn.cli.main import main

    sys.argv = ["mcn", *words]
    interposer = Interposer(folder, *(strike or ()))
    if strike is not None or log is not None:
        interposer.install()
    code = main(words)
    if log is not None:
        log.write_text("".join(f"{point}\n" for point in interposer.points))
    return code
