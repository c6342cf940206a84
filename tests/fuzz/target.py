"""What can be fuzzed: a name, valid inputs to begin with, a way to change them, and a call."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcn.data.limits import NO_MEMORY
from tests.fuzz.mutate import Change


@dataclass(frozen=True)
class Target:
    """A reader or a function of arrays.

    An input is a string of bytes: a file's content, or what arrays are made from. `run` may accept it, or
    refuse it by a `ValueError` or an `OSError` in one line; anything else is a finding, also an
    `AssertionError` about what was accepted.
    """

    name: str
    seeds: Callable[[], list[bytes]]
    mutate: Change
    run: Callable[[bytes, Path], None]
    mention: str = ""  # what every message must name: the file

    def wrong_message(self, message: str) -> str:
        """What is wrong about the message of a refusal, if anything."""
        if NO_MEMORY in message:
            return f"memory ran out before the size was looked at: {message[:200]}"
        if self.mention not in message:
            return f"the message does not name the file: {message[:200]}"
        lines = message.split("\n")  # one problem each, ten at most, and how many there are beside them
        if len(lines) > 11 or not all(line.strip() and len(line) <= 1500 for line in lines):
            return f"the message is not a short line per problem: {message[:200]}"
        return ""

    def input(self, seed: int, index: int, corpus: Sequence[bytes]) -> bytes:
        """Input number `index` of a run: the seeds as they are first, then changed ones."""
        if index < len(corpus):
            return corpus[index]
        rng = random.Random(f"{seed}/{self.name}/{index}")
        content = rng.choice(corpus)
        for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
            content = self.mutate(rng, content, corpus)
        return content


TARGETS: dict[str, Target] = {}


def register(target: Target) -> None:
    """Add a target to those that `python -m tests.fuzz` runs."""
    if target.name in TARGETS:
        raise ValueError(f"two targets are called {target.name!r}")
    TARGETS[target.name] = target


@contextmanager
def written(folder: Path, name: str, content: bytes) -> Iterator[Path]:
    """A file with this content, for as long as it is read."""
    path = folder / name
    path.write_bytes(content)
    try:
        yield path
    finally:
        path.unlink()


def reading(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], None]:
    """A call that puts an input into a file of this name and reads it."""

    def run(content: bytes, folder: Path) -> None:
        with written(folder, name, content) as path:
            read(path)

    return run
