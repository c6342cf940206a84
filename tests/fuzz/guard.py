"""Running many inputs in a child process with little memory, whose crash or hang the parent survives."""

import faulthandler
import json
import mmap
import os
import resource
import signal
import struct
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.target import Target

HANG_SECONDS = 10.0  # of a processor's time,
PATIENCE = 3  # or that many times as long by the clock, waiting for something
MEMORY = 3 * 2**29  # bytes that a child may take beyond what it starts with
GROWTH = 400 * 2**20  # bytes that one input may add to the most that was in use
MAX_BYTES = 2**23  # what the readers are told to allow a file
_STATE = struct.Struct("qqqqq")  # input under way, taken, refused, when it began by clock and processor (ns)


@dataclass(frozen=True)
class Finding:
    """An input that did what no input may do."""

    target: str
    index: int
    problem: str

    @property
    def kind(self) -> str:
        """The problem without the numbers in it: two inputs of one kind are one finding."""
        return "".join(c for c in self.problem if not c.isdigit())[:50]


@dataclass
class Batch:
    """What came of a range of inputs."""

    tried: int = 0
    taken: int = 0
    refused: int = 0
    findings: list[Finding] = field(default_factory=list)


def run(
    target: Target,
    make: Callable[[int], bytes],
    start: int,
    stop: int,
    folder: Path,
    seconds: float = 1e9,
    hang: float = HANG_SECONDS,
) -> Batch:
    """Run inputs `start` to `stop` (or until `seconds` have passed) in children, one after another's end."""
    session, began = _Session(target, make, stop, folder, hang), time.monotonic()
    while start < stop and time.monotonic() - began < seconds:
        start = session.child(start, seconds - (time.monotonic() - began))
    return session.batch


@dataclass
class _Session:
    """Inputs up to number `stop`, and what came of those that were tried."""

    target: Target
    make: Callable[[int], bytes]
    stop: int
    folder: Path
    hang: float
    batch: Batch = field(default_factory=Batch)

    def child(self, start: int, seconds: float) -> int:
        """Fork, watch, and return the first input that was not tried."""
        shared = mmap.mmap(-1, _STATE.size)
        shared[:] = _STATE.pack(start, 0, 0, time.monotonic_ns(), 0)
        log, batch = self.folder / "findings.jsonl", self.batch
        log.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            self._inside(start, time.monotonic() + seconds, shared)
        done, status = os.waitpid(child, os.WNOHANG)
        while not done:
            *_, since, used = _STATE.unpack(shared[:])
            clock = (time.monotonic_ns() - since) / 1e9
            if clock > self.hang and _hangs(child, clock, used / 1e9, self.hang):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                status = -1
                break
            time.sleep(0.005)
            done, status = os.waitpid(child, os.WNOHANG)
        index, taken, refused, *_ = _STATE.unpack(shared[:])
        shared.close()
        batch.taken += taken
        batch.refused += refused
        if log.exists():
            lines = map(json.loads, log.read_text().splitlines())
            batch.findings += [Finding(self.target.name, line["index"], line["problem"]) for line in lines]
        if status == 0:
            batch.tried += index - start
            return index
        problem = f"hangs for {self.hang:g} s" if status == -1 else f"the process ends with {_how(status)}"
        batch.findings.append(Finding(self.target.name, index, problem))
        batch.tried += index + 1 - start
        return index + 1

    def _inside(self, index: int, end: float, shared: mmap.mmap) -> None:
        """The child: never returns."""
        code = 1
        try:
            _limit()
            taken = refused = 0
            while index < self.stop and time.monotonic() < end:
                shared[:] = _now(index, taken, refused)
                accepted, problem = judge(self.target, self.make(index), self.folder)
                if problem:
                    with (self.folder / "findings.jsonl").open("a") as log:
                        log.write(json.dumps({"index": index, "problem": problem}) + "\n")
                taken, refused, index = taken + accepted, refused + (not accepted), index + 1
            shared[:] = _now(index, taken, refused)
            code = 0
        finally:
            os._exit(code)


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"code {os.WEXITSTATUS(status)}"


def _now(index: int, taken: int, refused: int) -> bytes:
    return _STATE.pack(index, taken, refused, time.monotonic_ns(), time.process_time_ns())


def _hangs(child: int, clock: float, used: float, hang: float) -> bool:
    """Whether a child had its processor time, or waits; not if it is ready and others are served first."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # nobody tells: the clock alone decides
        return True
    spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent - used > hang or (clock > PATIENCE * hang and fields[0] != "R")


def _limit() -> None:
    faulthandler.disable()  # a crash is reported by the parent
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    statm = Path("/proc/self/statm")
    if statm.exists():
        now = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    os.environ["MCN_MAX_BYTES"] = str(MAX_BYTES)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    warnings.simplefilter("error")
    for message in target_warnings:
        warnings.filterwarnings("ignore", message)


target_warnings = [
    "Sparse CSR tensor support is in beta",
    "no training node of class",
    "Unable to accurately infer 'num_nodes'",
    "The given NumPy array is not writable",
    r"data\..* of the edges: not used",
    "[0-9,]+ edges are given in one direction only",
]
"""Warnings that are meant for the user, or for nobody."""


def judge(target: Target, content: bytes, folder: Path) -> tuple[bool, str]:
    """Run one input: whether it was accepted, and what was wrong about that, if anything."""
    before = _peak()
    accepted, problem = False, ""
    try:
        target.run(content, folder)
        accepted = True
    except (ValueError, OSError) as error:
        problem = target.wrong_message(str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        problem = f"{type(error).__name__}: {error}"
    if not problem and _peak() - before > GROWTH:
        problem = f"takes {(_peak() - before) // 2**20} MiB"
    return accepted, problem


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
