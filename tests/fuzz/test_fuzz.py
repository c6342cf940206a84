"""A short run of the fuzzer, the inputs that once were findings, and the fuzzer's own guards."""

import os
import re
import time
from pathlib import Path

import pytest

from tests.conftest import python
from tests.fuzz import guard, runner  # noqa: F401 - registers the targets
from tests.fuzz.guard import Finding
from tests.fuzz.runner import minimise
from tests.fuzz.target import TARGETS, Target

REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*--*"))


def test_a_short_run_finds_nothing(repository: Path, tmp_path: Path) -> None:
    """In a process of its own: it forks, and the one that tests run in has threads."""
    words = ["--inputs", "40", "--seed", "0", "--found", tmp_path / "found"]
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    done = python("-m", "tests.fuzz", *words, check=False, cwd=repository, env=alone)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in TARGETS:
        assert re.search(rf"^{re.escape(name)} +40 ", done.stdout, re.MULTILINE)
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.name)
def test_what_was_found_stays_mended(path: Path, tmp_path: Path) -> None:
    target = TARGETS[path.name.split("--")[0]]
    batch = guard.run(target, lambda _: path.read_bytes(), 0, 1, tmp_path)
    assert batch.tried == 1
    assert batch.findings == []


def _do(content: bytes, folder: Path) -> None:
    """Do what the content says."""
    if content == b"abort":
        os.abort()
    if content == b"sleep":
        time.sleep(60)
    while content == b"turn":
        pass
    if content == b"greedy":
        assert bytearray(600 * 2**20).count(1) == 0
    if content == b"endless":
        bytearray(2**40)
    errors = {b"other": KeyError("edge"), b"wrong": AssertionError("too short")}
    errors |= {b"refuse": ValueError("input: refused"), b"nameless": ValueError("something is wrong")}
    if content in errors:
        raise errors[content]
    if b"(" in content and b")" in content:
        raise TypeError("brackets")


ODD = Target("odd", lambda: [b"seed"], lambda rng, content, corpus: content, _do, "input")


def test_a_crash_is_found_and_the_others_still_tried(tmp_path: Path) -> None:
    batch = guard.run(ODD, lambda index: b"abort" if index == 3 else b"refuse", 0, 10, tmp_path)
    assert batch.findings == [Finding("odd", 3, "the process ends with SIGABRT")]
    assert (batch.tried, batch.refused) == (10, 9)


@pytest.mark.parametrize("content", [b"sleep", b"turn"])
def test_a_hang_is_found(content: bytes, tmp_path: Path) -> None:
    batch = guard.run(ODD, lambda index: content if index == 2 else b"", 0, 4, tmp_path, hang=0.2)
    assert [finding.index for finding in batch.findings] == [2]
    assert batch.findings[0].problem == "hangs for 0.2 s"
    assert (batch.tried, batch.taken) == (4, 3)


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"greedy", "takes [56].. MiB"),
        (b"endless", "MemoryError"),
        (b"nameless", "the message does not name the file"),
        (b"other", "KeyError"),
        (b"wrong", "AssertionError: too short"),
    ],
)
def test_what_counts_as_a_finding(content: bytes, problem: str, tmp_path: Path) -> None:
    batch = guard.run(ODD, lambda _: content, 0, 1, tmp_path)
    assert len(batch.findings) == 1
    assert re.match(problem, batch.findings[0].problem)


def test_findings_are_made_small(tmp_path: Path) -> None:
    content = b"some words (and more) of them"
    batch = guard.run(ODD, lambda _: content, 0, 1, tmp_path)
    assert minimise(ODD, content, batch.findings[0], tmp_path) == b"()"


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_depend_on_the_seed_alone(name: str) -> None:
    target = TARGETS[name]
    corpus = target.seeds()
    first = [target.input(7, index, corpus) for index in range(20)]
    assert first == [target.input(7, index, target.seeds()) for index in range(20)]
    assert first[: len(corpus)] == corpus
    assert first != [target.input(8, index, corpus) for index in range(20)]
