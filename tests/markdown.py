"""The code blocks of a Markdown file, and running them."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    text: str
    line: int


class Command(NamedTuple):
    words: list[str]
    output: str


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in BLOCK.finditer(text)]


def commands(path: Path) -> list[Command]:
    """The `$ mcn …` lines of console blocks, each with the lines below it."""
    return [command for block in blocks(path) for command in _commands(block)]


def _commands(block: Block) -> list[Command]:
    if block.language != "console":
        return []
    found = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        found.append(Command(shlex.split(line), output))
    return found


def run_examples(path: Path, shell: Callable[[Command], None] | None = None) -> int:
    """Run the Python blocks of a file in one namespace; the number of blocks that were run.

    Blocks with prompts must print what they show; the others must run. Commands of console blocks are given
    to `shell`, in their place among the other blocks.
    """
    names: dict[str, object] = {}
    ran = 0
    for block in blocks(path):
        if block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(block.text, names, path.name, str(path), block.line)
            runner = doctest.DocTestRunner(optionflags=doctest.REPORT_ONLY_FIRST_FAILURE)
            report: list[str] = []
            runner.run(test, out=report.append, clear_globs=False)
            assert runner.failures == 0, "".join(report)
            names = test.globs
        elif block.language == "python":
            exec(compile(block.text, f"{path.name}:{block.line}", "exec"), names)
        elif block.language == "console" and shell is not None:
            for command in _commands(block):
                shell(command)
        else:
            continue
        ran += 1
    return ran
