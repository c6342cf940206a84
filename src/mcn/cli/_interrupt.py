"""What to say when a run is interrupted: how to go on with it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcn.cli.main import EXIT_INTERRUPTED


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """On Ctrl-C, print the command that goes on with the run in `folder`, and end with exit code 130."""
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        # numba's kernels wrap an interrupt in a SystemError.
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        command = shlex.join(["mcn", *_again(sys.argv[1:], folder)])
        print(f"mcn: interrupted; go on with: {command}", file=sys.stderr)
        # typer would turn the interrupt into a bare exit code and the line above into two.
        raise SystemExit(EXIT_INTERRUPTED) from None


def _again(words: list[str], folder: Path) -> list[str]:
    given = any(word == "--out" or word.startswith("--out=") for word in words)
    kept = [word for word in words if word != "--resume"]
    return [*kept, *([] if given else ["--out", str(folder)]), "--resume"]
