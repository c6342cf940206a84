"""Sharing inputs out between targets and processes; making findings small."""

import contextlib
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import torch

from tests.fuzz import arrays, files, guard, objects, stored  # noqa: F401 - they register targets
from tests.fuzz.guard import Finding
from tests.fuzz.target import Target

SLICE = 3.0  # seconds of a target before the next has its turn; twice as many for one with fewer inputs
LEAST = 10_000  # than this, and a sixth of that for the others until there is no such target
_WARM = -1  # the seed of inputs whose outcome is not looked at
_TRIES = 120  # smaller versions of a finding that are tried,
_SECONDS = 15.0  # for as long


@dataclass
class Tally:
    """What came of one target."""

    target: str
    tried: int = 0
    taken: int = 0
    refused: int = 0
    kept: list[tuple[str, str]] = field(default_factory=list)  # problem, and where its input is


def warm_up(targets: Sequence[Target], folder: Path) -> None:
    """Compile and import what the targets need, so that children find it."""
    torch.set_num_threads(1)  # no threads before a fork
    for target in targets:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for content in target.seeds():
                with contextlib.suppress(ValueError):
                    target.run(content, folder)
        corpus = target.seeds()
        # Other kinds of arrays have kernels of their own: a child has them compiled and stored, in its time.
        guard.run(target, partial(target.input, _WARM, corpus=corpus), 0, 60, folder, hang=300.0)


def fuzz(
    targets: Sequence[Target],
    folder: Path,
    seed: int,
    minutes: float | None,
    inputs: int | None,
    jobs: int,
    found: Path,
) -> list[Tally]:
    """Run the targets in turn, in `jobs` processes, until the time is up or each had its inputs."""
    shares = [list(targets[job::jobs]) for job in range(jobs)]
    children = []
    for job, share in enumerate(shares):
        own = folder / str(job)
        own.mkdir()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _turns(share, own, seed, minutes, inputs, found)
                code = 0
            finally:
                os._exit(code)
        children.append((child, own))
    made: dict[str, Tally] = {}
    for child, own in children:
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError(f"a process of the fuzzer itself ended with status {status}")
        for line in json.loads((own / "tallies.json").read_text()):
            made[line["target"]] = Tally(**line)
    return [made[target.name] for target in targets]


def _turns(
    targets: Sequence[Target], folder: Path, seed: int, minutes: float | None, inputs: int | None, found: Path
) -> None:
    """Run the targets in turn; after each round, leave what came of them in `tallies.json`."""
    tallies = {target.name: Tally(target.name) for target in targets}
    corpora = {target.name: target.seeds() for target in targets}
    kinds: set[tuple[str, str]] = set()
    end = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
    stop = inputs if inputs is not None else 10**12
    waiting = list(targets)
    while waiting and time.monotonic() < end:
        for target in list(waiting):
            tally = tallies[target.name]
            corpus = corpora[target.name]

            def make(index: int, target: Target = target, corpus: list[bytes] = corpus) -> bytes:
                return target.input(seed, index, corpus)

            left = 1e9
            if minutes is not None:  # short enough for every target to have two turns
                behind = any(other.tried < LEAST for other in tallies.values())
                share = SLICE * (2 if tally.tried < LEAST else 1 / 3 if behind else 1)
                left = min(share, 30 * minutes / len(targets), end - time.monotonic())
            batch = guard.run(target, make, tally.tried, stop, folder, left)
            tally.tried += batch.tried
            tally.taken += batch.taken
            tally.refused += batch.refused
            for finding in batch.findings:
                if (target.name, finding.kind) not in kinds:
                    kinds.add((target.name, finding.kind))
                    small = minimise(target, make(finding.index), finding, folder)
                    tally.kept.append((finding.problem, _keep(found, target, small)))
                    _say(f"found: {target.name}: {finding.problem}")
            if tally.tried >= stop:
                waiting.remove(target)
            if time.monotonic() >= end:
                break
        _say(f"{sum(tally.tried for tally in tallies.values()):,} inputs so far")
        (folder / "tallies.json").write_text(json.dumps([asdict(tally) for tally in tallies.values()]))


def _say(line: str) -> None:
    """Say how far it is: nobody should wait an hour to hear of a finding."""
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def minimise(target: Target, content: bytes, finding: Finding, folder: Path) -> bytes:
    """Leave out pieces of an input, ever smaller ones, as long as it has the same kind of problem."""
    hang = 3.0 if finding.problem.startswith("hangs") else guard.HANG_SECONDS

    def still(smaller: bytes) -> bool:
        batch = guard.run(target, lambda _: smaller, 0, 1, folder, hang=hang)
        kinds = {other.kind for other in batch.findings}
        return finding.kind in kinds or (hang == 3.0 and any(kind.startswith("hangs") for kind in kinds))

    tries, size, end = 0, max(1, len(content) // 2), time.monotonic() + _SECONDS
    while tries < _TRIES and time.monotonic() < end:
        at, shorter = 0, False
        while at < len(content) and tries < _TRIES and time.monotonic() < end:
            smaller = content[:at] + content[at + size :]
            tries += 1
            if still(smaller):
                content, shorter = smaller, True
            else:
                at += size
        if size == 1 and not shorter:
            break
        size = max(1, size // 2)
    return content


def _keep(found: Path, target: Target, content: bytes) -> str:
    found.mkdir(parents=True, exist_ok=True)
    name = f"{target.name}--{hashlib.sha256(content).hexdigest()[:12]}"
    (found / name).write_bytes(content)
    return str(found / name)
