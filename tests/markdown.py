"""The code blocks of a Markdown file, and running them on a small graph."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mcn.cli.main import main

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What makes a command short: it must run, how well it trains is not the matter here. The last of two counts.
SHORT = {"view": ["--no-open"], "train": ["--max-epochs", "20"], "compare": ["--max-epochs", "20"]}


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
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [
        Command(shlex.split(line), output) for line, _, output in (part.partition("\n") for part in parts)
    ]


def write_graph(folder: Path) -> None:
    """Write edges.csv and nodes.csv, the names that pages use: 40 people in groups of four, in a ring."""
    groups = [range(4 * number, 4 * number + 4) for number in range(10)]
    edges = [(a, b) for group in groups for a in group for b in group if a < b]
    edges += [(group[-1], (group[-1] + 1) % 40) for group in groups]
    nodes = [(f"p{i}", ("red", "blue")[i // 4 % 2], 20 + i % 7, i % 3) for i in range(40)]
    lines = [f"p{a},p{b}" for a, b in edges]
    (folder / "edges.csv").write_text("\n".join(["source,target", *lines]) + "\n")
    rows = [",".join(map(str, node)) for node in nodes]
    (folder / "nodes.csv").write_text("\n".join(["id,label,age,visits", *rows]) + "\n")


def run_in_process(command: Command) -> None:
    """Run a command of a page in this process; a page to look at is written and not opened."""
    program, verb, *words = command.words
    assert program == "mcn", command
    of_auto = ["--set", "repeats=1"] if verb == "train" and "--graph" in words else []
    assert main([verb, *words, *SHORT.get(verb, []), *of_auto]) == 0, command


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
