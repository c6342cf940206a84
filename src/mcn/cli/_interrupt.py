"""What to say when a run is interrupted: how to go on with it."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcn.cli.main import EXIT_FAILED, EXIT_INTERRUPTED

if TYPE_CHECKING:
    from mcn.train.processes import Team


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """On Ctrl-C, print the command that goes on with the run in `folder`, and end with exit code 130."""
    try:
        yield
    except (KeyboardInterrupt, SystemError) as error:
        # numba's kernels wrap an interrupt in a SystemError.
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        print(f"mcn: interrupted; go on with: {go_on(folder)}", file=sys.stderr)
        # typer would turn the interrupt into a bare exit code and the line above into two.
        raise SystemExit(EXIT_INTERRUPTED) from None


@contextmanager
def together(folder: Path, team: Team) -> Iterator[None]:
    """If another process of the run is lost, say in one line how to go on; exit code 1."""
    if team.size == 1:
        yield
        return

    def ended(*_: object) -> None:
        # torchrun ends the others when one is lost. The first process speaks; of two, whichever is left.
        if team.leads or team.size == 2:
            line = f"mcn: a process of the run was lost; go on with: {go_on(folder)}\n"
            os.write(sys.stderr.fileno(), line.encode())
        os._exit(EXIT_FAILED)  # the processes that are left must not wait for each other

    before = signal.signal(signal.SIGTERM, ended)
    try:
        yield
    except RuntimeError as error:
        from mcn.train.processes import is_lost

        if not is_lost(error):
            raise
        ended()
    finally:
        signal.signal(signal.SIGTERM, before)


def go_on(folder: Path) -> str:
    """Return the command that goes on with the run in `folder`."""
    start = ["mcn"]
    if "LOCAL_WORLD_SIZE" in os.environ:
        start = ["torchrun", "--nproc-per-node", os.environ["LOCAL_WORLD_SIZE"], "-m", "mcn"]
    return shlex.join([*start, *_again(sys.argv[1:], folder)])


def _again(words: list[str], folder: Path) -> list[str]:
    given = any(word == "--out" or word.startswith("--out=") for word in words)
    kept = [word for word in words if word != "--resume"]
    return [*kept, *([] if given else ["--out", str(folder)]), "--resume"]
