"""How far the way of the data is: files of the package that a command passes, and switches between them.

    python benchmarks/flow.py [--source SRC] [COMMAND ...]

Runs each command in a process of its own, in which every call of a Python function of the package is counted,
until it counts motifs (`enumerate_edges`) and until the first epoch (`run_epoch` of a trainer). A file is
passed when one of its functions is called. A switch is a call of a function in another file than that of the
call before it. Bodies of modules and classes, which run while a file is imported, are no calls. Kernels in
the cache of numba are not compiled anew; a first run that compiles them is made without counting.

0.2.0 (`--source` of another checkout, its folder `src`) has 39 files and 535 switches before it counts for
`mcn train`, 78 and 1,309 before the first epoch, 20 and 54 before `mcn motifs` counts.
"""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

COMMANDS = {
    "train": ["train", "--max-epochs", "1", "--no-report", "--out", "{out}"],
    "train --graph": [
        *("train", "--graph", "{folder}/edges.csv", "--nodes", "{folder}/nodes.csv", "--max-epochs", "1"),
        *("--no-report", "--out", "{out}"),
    ],
    "motifs": ["motifs"],
}
COUNTING, EPOCH = "enumerate_edges", "run_epoch"
MOMENTS = {COUNTING: "before counting", EPOCH: "before the first epoch"}


class Passed(BaseException):
    """Raised in the command where there is nothing left to count; no handler of errors stops it."""


class Counter:
    """Counts files and switches from call to call.

    Args:
        package: folder of the package.
        until: the last function to count for, of `MOMENTS`.
    """

    def __init__(self, package: Path, until: str) -> None:
        self._prefix, self._until = f"{package}{os.sep}", until
        self._files: set[str] = set()
        self._last, self._switches = "", 0
        self.lines: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take a call; `sys.setprofile` makes it."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self._prefix):
            return
        if not code.co_flags & inspect.CO_OPTIMIZED:  # the body of a module or a class
            return
        self._switches += bool(self._last) and code.co_filename != self._last
        self._last = code.co_filename
        self._files.add(code.co_filename)
        name = code.co_name
        if name in MOMENTS and all(MOMENTS[name] not in line for line in self.lines):
            self.lines.append(f"{len(self._files)} files, {self._switches:,} switches {MOMENTS[name]}")
            if name == self._until:
                sys.setprofile(None)
                raise Passed


def write_strong_ties(folder: Path) -> None:
    """Write the embedded graph as two tables, as a user would have them."""
    import mcn

    data: Any = mcn.load_dataset("strong-ties", dense=True)
    edges = [f"{u},{v}" for u, v in data.edge_index.T.tolist() if u < v]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    columns = [f"word{number}" for number in range(data.num_features)]
    rows = [
        ",".join(map(str, (node, f"class{label}", *words)))
        for node, (label, words) in enumerate(zip(data.y.tolist(), data.x.int().tolist(), strict=True))
    ]
    (folder / "nodes.csv").write_text("\n".join([",".join(["id", "label", *columns]), *rows]) + "\n")


def count(words: list[str], folder: Path) -> list[str]:
    """Run a command in this process up to its last moment, and return a line per moment."""
    import mcn
    from mcn.cli.main import main

    counter = Counter(Path(mcn.__file__).parent, COUNTING if words[0] == "motifs" else EPOCH)
    out = folder / f"run-{os.getpid()}"
    sys.argv = ["mcn", *(word.format(folder=folder, out=out) for word in words)]
    sys.setprofile(counter)
    try:
        main(sys.argv[1:])
    except Passed:
        pass
    finally:
        sys.setprofile(None)
    return counter.lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=f"of {', '.join(COMMANDS)}; all")
    parser.add_argument("--source", type=Path, help="folder with the package; this checkout's")
    parser.add_argument("--inside", help=argparse.SUPPRESS)  # a folder: this is the process that counts
    asked = parser.parse_args()
    wanted = asked.commands or list(COMMANDS)
    for name in wanted:
        if name not in COMMANDS:
            parser.error(f"no command {name!r}; there are {', '.join(COMMANDS)}")
    if asked.inside:
        for line in count(COMMANDS[wanted[0]], Path(asked.inside)):
            print(f"mcn {wanted[0]}: {line}", flush=True)
        os._exit(0)  # threads of the command that was left may be waiting
    source = asked.source or Path(__file__).resolve().parents[1] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    with tempfile.TemporaryDirectory() as folder:
        made = [
            sys.executable,
            "-c",
            "import flow, sys, pathlib; flow.write_strong_ties(pathlib.Path(sys.argv[1]))",
        ]
        subprocess.run([*made, folder], env=environment, cwd=Path(__file__).parent, check=True)
        for name in wanted:
            words = [sys.executable, __file__, "--inside", folder, name]
            subprocess.run(words, env=environment, check=True, capture_output=True)  # compiles
            subprocess.run(words, env=environment, check=True)


if __name__ == "__main__":
    main()
